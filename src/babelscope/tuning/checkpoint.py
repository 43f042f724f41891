"""Checkpoints: everything a run needs to go on exactly where it was, in one safetensors file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from babelscope.core.errors import InputError
from babelscope.encoders.written import check_finite, write_tensors

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class Point(NamedTuple):
    """One point of a learning curve. `split` is "train", or "dev" followed by the dev set's name."""

    step: int
    split: str
    measure: str
    value: float


@dataclass
class State:
    """Where a run is, next to its weights and moments."""

    run: str
    """What the run is: a digest of its settings, seed and data."""
    step: int = 0
    best: float | None = None
    best_step: int = 0
    without_best: int = 0
    """Validations since the best one."""
    loss_sum: float = 0.0
    loss_steps: int = 0
    """Training loss since the last point of the curve."""
    points: list[Point] = field(default_factory=list)


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Write a model's weights in one atomic move: a reader sees the whole file or none.

    Raises:
        DivergedError: some are NaN or infinite.
    """
    check_finite(weights)
    _write(path, weights, {})


def _write(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    draft = _draft(path)
    write_tensors(draft, tensors, metadata)
    draft.replace(path)


def link_weights(path: Path, other: Path) -> None:
    """Give a written file a second path, without a copy where the disk has links; in one atomic move too."""
    draft = _draft(other)
    draft.unlink(missing_ok=True)
    try:
        draft.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, draft)
    draft.replace(other)


def remove_drafts(paths: Iterable[Path]) -> None:
    """Remove what a kill inside `write_weights` to these paths has left behind."""
    for path in paths:
        _draft(path).unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    return path.with_suffix(".draft")


def module_weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, each shared (tied) tensor once."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


@torch.no_grad()
def set_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into the model, tied tensors included."""
    for name, tensor in module_weights(model).items():
        tensor.copy_(weights[name])


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a file that `write_weights` wrote."""
    return load_file(path)


def save_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, state: State) -> None:
    """Write weights, the moments of an optimizer with one parameter a group, and the state."""
    tensors = {f"model/{name}": tensor for name, tensor in module_weights(model).items()}
    for number, group in enumerate(optimizer.param_groups):
        moments = optimizer.state[group["params"][0]]  # empty while a group waits for its first step
        tensors |= {f"{moment}/{number}": moments[moment] for moment in _MOMENTS if moments}
    _write(path, tensors, {"state": json.dumps(asdict(state))})


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, run: str) -> State:
    """Set the model and the optimizer as they were, and return the state; a new one without a sound checkpoint.

    Raises:
        InputError: the checkpoint is of another run.
    """
    state = _read_state(path)
    if state is None:
        return State(run)
    if state.run != run:
        raise InputError(f"{path}: a checkpoint of another training run. Delete it, or give another folder")
    tensors = read_weights(path)
    set_weights(model, {name.removeprefix("model/"): tensors[name] for name in tensors if name.startswith("model/")})
    for number, group in enumerate(optimizer.param_groups):
        parameter = group["params"][0]
        saved = {moment: tensors.get(f"{moment}/{number}") for moment in _MOMENTS}
        moments = {moment: tensor.to(parameter.device) for moment, tensor in saved.items() if tensor is not None}
        if moments:
            optimizer.state[parameter] = moments
    return state


def _read_state(path: Path) -> State | None:
    """None if the checkpoint is absent or damaged; opening it checks that all of its tensors are there."""
    try:
        with safe_open(path, framework="pt") as file:
            state = json.loads(file.metadata()["state"])
        return State(**{**state, "points": [Point(*point) for point in state["points"]]})
    except (FileNotFoundError, SafetensorError, KeyError, TypeError, ValueError):
        return None
