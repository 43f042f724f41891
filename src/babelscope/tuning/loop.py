"""The training loop."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from babelscope.errors import DivergedError, InputError
from babelscope.keys import digest
from babelscope.seeds import derive_seed
from babelscope.tasks.apart import Apart
from babelscope.tasks.task import Task
from babelscope.tuning.batches import all_batches, count_steps
from babelscope.tuning.checkpoint import (
    Point,
    State,
    load_checkpoint,
    read_weights,
    remove_drafts,
    save_checkpoint,
    set_weights,
    weights_of,
    write_weights,
)
from babelscope.tuning.flat import flattened
from babelscope.tuning.settings import Tuning

Progress = Callable[..., None]
"""Called as `progress(done, total, loss=...)` after each step."""


@dataclass(frozen=True)
class History:
    """What happened in a run: its learning curves, and which step was the best."""

    points: list[Point]
    best_step: int
    last_step: int
    planned_steps: int


def tune(
    model: nn.Module,
    task: Task,
    tuning: Tuning,
    seed: int,
    folder: Path,
    progress: Progress = lambda done, total, **numbers: None,
    checkpoint_seconds: float = 60.0,
) -> History:
    """Train `model` in place; it ends with the weights that were best on the dev sets (the last, without dev sets).

    The order of examples, masks and dropout follow from (seed, step) alone. A checkpoint is kept in `folder` while
    the run goes on; the same call after a fault continues from it, and ends with the same bits (a damaged checkpoint
    counts as none). `folder` finally holds `best.safetensors` and `last.safetensors`.

    Raises:
        DivergedError: the loss became NaN or infinite.
        InputError: there is nothing to train on, or `folder` holds another run's checkpoint.
    """
    if not len(task.lengths):
        raise InputError("no training example: the training data is empty")
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint, best, last = (folder / f"{name}.safetensors" for name in ("checkpoint", "best", "last"))
    with _numerics(tuning), flattened(decayed_or_not(model.to(tuning.device))) as parameters:
        model.train()
        optimizer = adamw(parameters, tuning)
        groups = task.groups if isinstance(task, Apart) else None
        total = count_steps(task.lengths, tuning, seed, groups)
        state = load_checkpoint(checkpoint, model, optimizer, _run_digest(task, tuning, seed))
        saved_at = time.monotonic()

        for step, (indices, epoch_ends) in enumerate(all_batches(task.lengths, tuning, seed, groups), 1):
            if step <= state.step:
                continue
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, total, tuning)

            torch.manual_seed(derive_seed(seed, "dropout", step))
            batch = task.batch(indices, torch.Generator().manual_seed(derive_seed(seed, "batch", step)))
            with torch.autocast(tuning.device, torch.bfloat16, enabled=tuning.precision == "bfloat16"):
                loss = task.loss(model, batch)
            value = loss.item()
            if not math.isfinite(value):
                raise _diverged(value, step, learning_rate(step, total, tuning), tuning)
            loss.backward()
            if tuning.clip is not None:
                nn.utils.clip_grad_norm_(parameters, tuning.clip)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)

            state.step = step
            state.loss_sum, state.loss_steps = state.loss_sum + value, state.loss_steps + 1
            if step % max(1, total // 100) == 0 or step == total:
                _record_loss(state)
            if step == total or (epoch_ends if tuning.validate_every is None else step % tuning.validate_every == 0):
                if _validate(model, task, state):
                    write_weights(best, weights_of(model))
                if tuning.patience is not None and state.without_best >= tuning.patience:
                    break
            if time.monotonic() - saved_at >= checkpoint_seconds:
                save_checkpoint(checkpoint, model, optimizer, state)
                saved_at = time.monotonic()
            progress(step, total, loss=value)

        write_weights(last, weights_of(model))
        set_weights(model, read_weights(best))
        model.eval()
    remove_drafts((checkpoint, best, last))
    checkpoint.unlink(missing_ok=True)  # last of all: until here a killed run goes on from it
    return History(state.points, state.best_step, state.step, total)


def decayed_or_not(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """The parameters that are trained: matrices, which decay; biases and normalisation weights, which do not."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [one for one in trained if one.ndim > 1], [one for one in trained if one.ndim <= 1]


def adamw(parameters: list[nn.Parameter], tuning: Tuning) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, 2019), fused; of two parameters, flat ones, the first decays."""
    decays = (tuning.weight_decay, 0.0)
    groups = [{"params": [one], "weight_decay": decay} for one, decay in zip(parameters, decays, strict=True)]
    return torch.optim.AdamW(groups, lr=tuning.learning_rate, betas=tuning.betas, eps=tuning.epsilon, fused=True)


def learning_rate(step: int, total: int, tuning: Tuning) -> float:
    """Of step 1..total: up linearly over the warm-up, then down linearly, to reach 0 just after the last step."""
    warmup = math.ceil(tuning.warmup * total)
    share = step / warmup if step <= warmup else (total - step + 1) / (total - warmup)
    return tuning.learning_rate * share


@torch.no_grad()
def _validate(model: nn.Module, task: Task, state: State) -> bool:
    """Add the dev sets' values to the curves; True if their mean is the best so far."""
    model.eval()
    values = task.evaluate(model)
    model.train()
    state.points += [Point(state.step, f"dev {name}", task.measure, value) for name, value in values.items()]
    mean = sum(values.values()) / len(values) if values else None
    if mean is not None and not math.isfinite(mean):
        raise DivergedError(f"{task.measure} on the dev sets became {mean} at step {state.step}: {values}")
    sign = 1 if task.higher_is_better else -1
    if mean is None or state.best is None or sign * mean > sign * state.best:
        state.best, state.best_step, state.without_best = mean, state.step, 0
        return True
    state.without_best += 1
    return False


def _record_loss(state: State) -> None:
    """Close the running mean of the training loss with a point of its curve."""
    state.points.append(Point(state.step, "train", "loss", state.loss_sum / state.loss_steps))
    state.loss_sum, state.loss_steps = 0.0, 0


def _diverged(value: float, step: int, rate: float, tuning: Tuning) -> DivergedError:
    hint = "try a learning rate of half that, a longer warm-up"
    hint += ", or precision float32" if tuning.precision == "bfloat16" else ", or clip=1.0" if not tuning.clip else ""
    return DivergedError(f"the training loss became {value} at step {step}, learning rate {rate:.3g}: {hint}")


def _run_digest(task: Task, tuning: Tuning, seed: int) -> str:
    return digest([tuning.model_dump(mode="json"), seed, task.lengths.tolist()])


@contextmanager
def _numerics(tuning: Tuning) -> Iterator[None]:
    """Threads, deterministic algorithms and random state for a run; all as before afterwards."""
    if tuning.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device='cuda', but torch sees no CUDA device here: use device='cpu'")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(tuning.threads)
    torch.use_deterministic_algorithms(True)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)
