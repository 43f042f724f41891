"""The training loop."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from babelscope.core.crash import crash_point
from babelscope.core.devices import check_device
from babelscope.core.errors import DivergedError, InputError
from babelscope.core.hashing import digest
from babelscope.core.keyed import keyed_fields
from babelscope.core.seeds import derive_seed
from babelscope.encoders.masks import masks_unread
from babelscope.encoders.pieces import evaluation_tokens
from babelscope.encoders.written import check_finite
from babelscope.tasks.apart import Apart
from babelscope.tasks.task import InParts, Objective
from babelscope.tuning.adapters import merged_weights
from babelscope.tuning.ahead import made_ahead
from babelscope.tuning.batches import Order, Turn, epoch_batches
from babelscope.tuning.checkpoint import (
    Point,
    State,
    forget_runs,
    kept_weights,
    load_checkpoint,
    remove_drafts,
    save_checkpoint,
    set_weights,
    write_weights,
)
from babelscope.tuning.descent import Descent, check_precision, loss_of
from babelscope.tuning.dropout import own_dropout
from babelscope.tuning.freezing import TrainedPart, trained_part
from babelscope.tuning.graphs import beside_graphs, graphed
from babelscope.tuning.losses import Losses
from babelscope.tuning.memory import Portion, portions, recomputing
from babelscope.tuning.optimizer import adamw
from babelscope.tuning.prefix import StateMemo, recalling
from babelscope.tuning.saving import Saving
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import Tuning
from babelscope.tuning.watch import Watch, watching

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
    task: Objective,
    tuning: Tuning,
    seed: int,
    folder: Path,
    progress: Progress = lambda done, total, **numbers: None,
    checkpoint_seconds: float = 60.0,
    schedule: Schedule | None = None,
    memo: StateMemo | None = None,
    watch: Watch | None = None,
) -> History:
    """Train `model` in place; it ends with the weights that were best on the dev sets (the last, without dev sets).

    The order of examples, masks and dropout follow from (seed, step) alone. A checkpoint is kept in `folder` while
    the run goes on; the same call after a fault, with a folder of the same name, continues from it, and ends with the
    same bits (a damaged checkpoint counts as none, with a warning). `folder` finally holds `best.safetensors`.

    With a `schedule` only what it names is trained; the rest keeps its bits. A `memo` keeps what constant layers give
    for a sequence; give it where sequences come again (all tasks but masked language modelling). `watch` is told of
    the start and of the steps that it wants, and has no influence on the run.

    Raises:
        DivergedError: the loss, the best weights or the last ones became NaN or infinite.
        InputError: there is nothing to train on, `folder` holds another run's checkpoint, or the schedule does not
            fit the model.
    """
    if not len(task.lengths):
        raise InputError("no training example: the training data is empty")
    check_precision(model, tuning)
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint, best = (folder / f"{name}.safetensors" for name in ("checkpoint", "best"))
    owners = task.owners if isinstance(task, InParts) else None
    order = Order(task.lengths, tuning, seed, _groups(task), owners)
    total = order.count_steps()
    with (
        numerics(tuning),
        trained_part(
            model.to(tuning.device),
            schedule,
            order.stage_starts(schedule),
            seed,
            tuning.encoder_dropout,
            by_rows=tuning.device == "cpu",
        ) as part,
        recomputing(model, tuning),
        own_dropout(model, seed) if tuning.at_once else nullcontext() as drop,
        graphed(model, tuning.compile) if _as_graphs(tuning, schedule) else nullcontext() as passes,
        recalling(model, schedule, memo, task.lengths, folder, partial(_read, model, task, tuning)) as paused,
    ):
        optimizer = adamw(part.flats, part.rules, tuning)
        run = _run_digest(task, tuning, seed, schedule, folder)
        state = load_checkpoint(checkpoint, best, model, optimizer, run)
        losses = Losses(state, total, tuning)
        descent = Descent(model, task, tuning, part, optimizer, drop, passes, seed, total)
        saving = Saving(partial(_save, checkpoint, model, optimizer, state, losses, part), checkpoint_seconds)
        look = watching(watch, state.step, total, model, part, paused, losses)
        turns = islice(enumerate(order.turns(), 1), state.step, None)
        for (step, turn), batch in made_ahead(turns, partial(_batch, task, tuning, seed), tuning.device):
            losses.add(step, descent.step(step, batch))
            look(step)
            if step == total or turn.is_validated(step, tuning):
                losses.read()
                values = beside_graphs(passes, partial(_evaluate, model, task, part))
                if _validate(values, task, state, step == total):
                    write_weights(best, merged_weights(model), run)
                if _out_of_patience(state, tuning):
                    look(step, ends=True)
                    break
            saving.if_due()
            with saving.if_interrupted():
                progress(step, total, loss=losses.last)
            crash_point("training-step")

        if state.best_step != state.step:
            check_finite(merged_weights(model))  # no loss has told of the last step
    _finish(model, checkpoint, best, run)
    return History(state.points, state.best_step, state.step, total)


def _save(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, state: State, losses: Losses, part: TrainedPart
) -> None:
    losses.read()
    part.settle()
    save_checkpoint(path, model, optimizer, state)


def _out_of_patience(state: State, tuning: Tuning) -> bool:
    """Whether as many validations as it takes to stop early have passed since the best one."""
    return tuning.patience is not None and state.without_best >= tuning.patience


def _as_graphs(tuning: Tuning, schedule: Schedule | None) -> bool:
    """Whether all passes of a run start the same kernels where their batches have the same shape."""
    plain = tuning.encoder_dropout and not (tuning.at_once or tuning.recompute)
    return tuning.device == "cuda" and schedule is None and plain


def _batch(task: Objective, tuning: Tuning, seed: int, numbered: tuple[int, Turn]) -> list[Portion]:
    """The batch of a step; what is drawn for it follows from (seed, step) alone."""
    step, turn = numbered
    return portions(task, turn.batch, derive_seed(seed, "batch", step), tuning.at_once)


def _read(model: nn.Module, task: Objective, tuning: Tuning) -> None:
    """Have the model read all examples, in batches that follow from them alone."""
    tokens = evaluation_tokens(torch.device(tuning.device))
    for indices in epoch_batches(task.lengths, tokens, 0, 0, _groups(task)):
        loss_of(model, task, tuning, task.batch(indices, torch.Generator().manual_seed(0)))


def _groups(task: Objective) -> NDArray[np.int64] | None:
    return task.groups if isinstance(task, Apart) else None


@torch.no_grad()
def _evaluate(model: nn.Module, task: Objective, part: TrainedPart) -> Mapping[str, float]:
    """The dev sets' values of the model as it is."""
    part.settle()
    model.eval()
    values = task.evaluate(model)
    part.train()
    return values


def _validate(values: Mapping[str, float], task: Objective, state: State, ends: bool) -> bool:
    """Add the dev sets' values to the curves; True if their mean is the best so far, or, without any, the run ends."""
    state.points += [Point(state.step, f"dev {name}", task.measure, value) for name, value in values.items()]
    mean = sum(values.values()) / len(values) if values else None
    if mean is not None and not math.isfinite(mean):
        raise DivergedError(f"{task.measure} on the dev sets became {mean} at step {state.step}: {values}")
    if mean is None:
        state.best_step = state.step if ends else 0
        return ends
    sign = 1 if task.higher_is_better else -1
    if state.best is None or sign * mean > sign * state.best:
        state.best, state.best_step, state.without_best = mean, state.step, 0
        return True
    state.without_best += 1
    return False


def _finish(model: nn.Module, checkpoint: Path, best: Path, run: str) -> None:
    """Take the best weights, and remove what only an unfinished run needs."""
    set_weights(model, kept_weights(best, run))
    model.eval()
    remove_drafts((checkpoint, best))
    checkpoint.unlink(missing_ok=True)  # until here a killed run goes on from it
    forget_runs(best)


def _run_digest(task: Objective, tuning: Tuning, seed: int, schedule: Schedule | None, folder: Path) -> str:
    """By the folder's name, too, which is the step's key: data of the same lengths can be others, as can the model."""
    counted = [
        given.model_dump(mode="json", include={name for name, _ in keyed_fields(given)})
        for given in (tuning, schedule) if given is not None
    ]  # fmt: skip
    return digest([folder.resolve().name, counted[0], seed, task.lengths.tolist(), *counted[1:]])


@contextmanager
def numerics(tuning: Tuning) -> Iterator[None]:
    """Threads, deterministic algorithms, random state and masks for a run; all as before afterwards.

    Memory that is handed out is not filled first: it costs a twentieth of a small encoder's run, and shows in the
    results of faulty code alone.
    """
    check_device(tuning.device)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    memory: Any = torch.utils.deterministic
    filled = memory.fill_uninitialized_memory
    torch.set_num_threads(tuning.threads)
    torch.use_deterministic_algorithms(True)
    memory.fill_uninitialized_memory = False
    try:
        with torch.random.fork_rng(), masks_unread():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)
        memory.fill_uninitialized_memory = filled
