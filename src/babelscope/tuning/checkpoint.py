"""Checkpoints: everything a run needs to go on exactly where it was, in one safetensors file with its own digest."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from babelscope.core.crash import crash_point
from babelscope.core.errors import OtherRunError, StepError
from babelscope.encoders.written import check_finite, tensors_digest, write_tensors

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
_DIGEST = "sha256"
"""The entry of a file's metadata that is of all the rest of the file."""


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
    """What the run is: a digest of its folder's name, which is the step's key, settings, seed and data."""
    step: int = 0
    best: float | None = None
    best_step: int = 0
    without_best: int = 0
    """Validations since the best one."""
    loss_sum: float = 0.0
    loss_steps: int = 0
    """Training loss since the last point of the curve."""
    points: list[Point] = field(default_factory=list)


def write_weights(path: Path, weights: Mapping[str, Tensor], run: str | None = None) -> None:
    """Write a model's weights in one atomic move: a reader sees the whole file or none.

    With a `run` a line in a file beside it says, until `forget_runs`, that this run wrote them: best weights may be
    newer than the checkpoint that they go with, which cannot say it.

    Raises:
        DivergedError: some are NaN or infinite.
    """
    check_finite(weights)
    # With more metadata than the digest the file's bytes would vary: several entries are written in no fixed order.
    _write(path, weights, {}, run)


def _write(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str], run: str | None = None) -> None:
    draft, own = _draft(path), {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    draft.unlink(missing_ok=True)
    written = tensors_digest(own, metadata)
    write_tensors(draft, own, {**metadata, _DIGEST: written})
    crash_point("weights-written")
    if run is not None:  # before the move, and after what earlier lines say: whatever a kill leaves there is named
        if not _is_own(runs := _runs(path)):
            forget_runs(path)
        with runs.open("a", encoding="utf-8") as file:
            file.write(f"\n{run} {written}\n")  # on a line of its own, also after one that was damaged
    draft.replace(path)
    crash_point("weights-moved")


def remove_drafts(paths: Iterable[Path]) -> None:
    """Remove what a kill inside `write_weights` to these paths has left behind."""
    for path in paths:
        _draft(path).unlink(missing_ok=True)


def forget_runs(path: Path) -> None:
    """Remove what says which run wrote these weights, or what stands in its place."""
    runs = _runs(path)
    if runs.is_dir() and not runs.is_symlink():
        shutil.rmtree(runs)
    else:
        runs.unlink(missing_ok=True)


def _runs(path: Path) -> Path:
    return path.with_suffix(".runs")


def _is_own(path: Path) -> bool:
    """Whether it is a file, and no link to one, which would be followed."""
    return path.is_file() and not path.is_symlink()


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
    """The tensors of a published file that `write_weights` wrote; the store has its checksum."""
    return load_file(path)


def kept_weights(path: Path, run: str | None = None) -> dict[str, Tensor]:
    """The tensors of a file that `write_weights` wrote, in this `run` if one is given.

    Raises:
        StepError: they are not what was written.
    """
    if (written := _read(path) if run is None else _read_of(run, path)) is None:
        raise StepError(f"{path}: is not as it was written; see that the disk is sound, then run again")
    return written.tensors


class _Written(NamedTuple):
    tensors: dict[str, Tensor]
    metadata: dict[str, str]
    digest: str


def _read_of(run: str, path: Path) -> _Written | None:
    """What `write_weights` wrote in this run; None if it is gone, damaged or another run's."""
    runs, written = _runs(path), _read(path)
    named = runs.read_text(encoding="utf-8", errors="replace").splitlines() if _is_own(runs) else []
    return written if written and f"{run} {written.digest}" in named else None


def _read(path: Path) -> _Written | None:
    """What `write_weights` and `save_checkpoint` wrote; None if it is gone, unreadable, damaged or without digest."""
    try:
        with safe_open(path, framework="pt") as file:
            names, metadata = list(file.keys()), file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in names}
    except (OSError, SafetensorError):
        return None
    recorded = metadata.pop(_DIGEST, None)
    found = tensors_digest(tensors, metadata)
    return _Written(tensors, metadata, found) if recorded == found else None


def save_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, state: State) -> None:
    """Write weights, the moments of an optimizer with one parameter a group, and the state."""
    tensors = {f"model/{name}": tensor for name, tensor in module_weights(model).items()}
    for number, group in enumerate(optimizer.param_groups):
        moments = optimizer.state[group["params"][0]]  # empty while a group waits for its first step
        tensors |= {f"{moment}/{number}": moments[moment] for moment in _MOMENTS if moments}
    _write(path, tensors, {"state": json.dumps(asdict(state))})
    crash_point("checkpoint-moved")


def load_checkpoint(path: Path, best: Path, model: nn.Module, optimizer: torch.optim.Optimizer, run: str) -> State:
    """Set the model and the optimizer as they were, and return the state; a new one without a checkpoint.

    One that is not as it was written, or that goes with such weights in `best` or another run's, counts as none, with
    a warning.

    Raises:
        OtherRunError: the checkpoint is of another run.
    """
    if not path.exists():
        return State(run)
    written = _read(path)
    state = _state_of(written) if written else None
    if written and state and (state.run != run or not _fits(model, written.tensors)):
        raise OtherRunError(f"{path}: a checkpoint of another training run. Delete it, or give another folder")
    if written is None or state is None or (state.best_step and _read_of(run, best) is None):
        file = best if written and state else path
        warnings.warn(
            f"{file}: gone, damaged, another run's or of an older version, so that the training begins again",
            stacklevel=2,
        )
        return State(run)
    _set(model, optimizer, written.tensors)
    return state


def _fits(model: nn.Module, tensors: Mapping[str, Tensor]) -> bool:
    shapes = {f"model/{name}": weight.shape for name, weight in module_weights(model).items()}
    return shapes == {name: tensor.shape for name, tensor in tensors.items() if name.startswith("model/")}


def _set(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    set_weights(model, {name.removeprefix("model/"): tensors[name] for name in tensors if name.startswith("model/")})
    for number, group in enumerate(optimizer.param_groups):
        parameter = group["params"][0]
        saved = {moment: tensors.get(f"{moment}/{number}") for moment in _MOMENTS}
        moments = {moment: tensor.to(parameter.device) for moment, tensor in saved.items() if tensor is not None}
        if moments:
            optimizer.state[parameter] = moments


def _state_of(written: _Written) -> State | None:
    """None if it is another version's."""
    try:
        state = json.loads(written.metadata["state"])
        return State(**{**state, "points": [Point(*point) for point in state["points"]]})
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
