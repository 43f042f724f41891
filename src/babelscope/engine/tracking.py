"""Numbers of a run for trackers of experiments: a listener of its events, and one class a tracker.

A tracker looks on: what it is told is in the store besides, and where it fails the run goes on without it.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from babelscope.core.errors import InputError, StoreError, did_you_mean
from babelscope.core.outside import writable_path
from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.engine.events import Event, Finished, Progressed
from babelscope.engine.store import Store
from babelscope.steps import Evaluate
from babelscope.steps.plan import Plan

INTERVAL = 1.0
"""Seconds between two numbers of a running step."""


class Tracker(Protocol):
    """What keeps numbers elsewhere."""

    def add(self, run: str, step: int, numbers: Mapping[str, float]) -> None:
        """Keep numbers, by name, of a training or another step of the study, at one step of its optimizer."""

    def close(self) -> None:
        """Write what is not written yet."""


class TensorBoard:
    """Files for TensorBoard, in a folder for each run."""

    def __init__(self, folder: str, study: str):
        from tensorboardX import SummaryWriter

        self._open: Callable[[str], Any] = SummaryWriter
        self._folder = writable_path(folder) / _of_folder(study)
        self._writers: dict[str, Any] = {}

    def add(self, run: str, step: int, numbers: Mapping[str, float]) -> None:
        """As `Tracker.add`."""
        if run not in self._writers:
            self._writers[run] = self._open(str(self._folder / _of_folder(run)))
        for name, value in numbers.items():
            self._writers[run].add_scalar(_plain(name), value, step)

    def close(self) -> None:
        """As `Tracker.close`."""
        for writer in self._writers.values():
            writer.close()


class MLflow:
    """A server of MLflow: an experiment a study, a run a training."""

    def __init__(self, address: str, study: str):
        from mlflow import MlflowClient
        from mlflow.entities import Metric

        self._client, self._metric = MlflowClient(tracking_uri=address), Metric
        there = self._client.get_experiment_by_name(study)
        self._experiment = there.experiment_id if there else self._client.create_experiment(study)
        self._runs: dict[str, str] = {}

    def add(self, run: str, step: int, numbers: Mapping[str, float]) -> None:
        """As `Tracker.add`."""
        if run not in self._runs:
            self._runs[run] = self._client.create_run(self._experiment, run_name=run).info.run_id
        now = int(time.time() * 1000)
        metrics = [self._metric(_plain(name), value, now, step) for name, value in numbers.items()]
        self._client.log_batch(self._runs[run], metrics=metrics)

    def close(self) -> None:
        """As `Tracker.close`."""
        for identifier in self._runs.values():
            self._client.set_terminated(identifier)


TRACKERS: dict[str, Callable[[str, str], Tracker]] = {"tensorboard": TensorBoard, "mlflow": MLflow}
"""By what `--track` begins with: a class, given the rest of it and the name of the study."""


def tracker_at(given: str, study: str) -> Tracker:
    """The tracker of `tensorboard:FOLDER` or `mlflow:ADDRESS`.

    Raises:
        InputError: there is no such tracker, its package is not installed, or it does not answer.
    """
    kind, _, place = given.partition(":")
    if kind not in TRACKERS or not place:
        near = did_you_mean(kind, TRACKERS)
        raise InputError(f"--track {given}: give tensorboard:FOLDER, or mlflow:ADDRESS of its server{near}")
    try:
        return TRACKERS[kind](place, study)
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"--track {given}: {error}: pip install 'babelscope[{kind}]'") from None
    except Exception as error:  # whatever a package raises whose server or folder is not there
        problem = f"--track {given}: {type(error).__name__}: {error}"
        raise InputError(problem, "Start the server, or leave --track out") from None


class Tracked:
    """Tells trackers what a run tells of its steps."""

    def __init__(self, plan: Plan, store: Store, trackers: Sequence[Tracker], complain: Callable[[str], None]):
        self._plan, self._store, self._trackers, self._complain = plan, store, list(trackers), complain
        self._told_at: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        """Pass on the numbers of an event: how a training goes, now and then, and all rows of what has finished."""
        match event:
            case Progressed(key, done, _, numbers) if time.monotonic() - self._told_at.get(key, -INTERVAL) >= INTERVAL:
                self._told_at[key] = time.monotonic()
                self._add(key, done, {f"running/{name}": value for name, value in numbers.items()})
            case Finished(key) if self._trackers:
                for place, of_rows in _by_place(self._rows(key)).items():
                    self._add(key, place, of_rows)

    def close(self) -> None:
        """Close the trackers."""
        self._tell(lambda tracker: tracker.close())

    def _rows(self, key: str) -> Sequence[Row]:
        """Those of a result; none, with a complaint, where they cannot be read: the run goes on."""
        try:
            return self._store.rows(key)
        except StoreError as error:
            self._complain(f"trackers are not told of {self._plan.steps[key].title}: {error}")
            return ()

    def _add(self, key: str, place: int, numbers: Mapping[str, float]) -> None:
        if numbers:
            run = run_name(self._plan.steps[key])
            self._tell(lambda tracker: tracker.add(run, place, numbers))

    def _tell(self, what: Callable[[Tracker], None]) -> None:
        """Let go of a tracker that fails, whatever its library raises."""
        for tracker in list(self._trackers):
            try:
                what(tracker)
            except Exception as error:
                self._trackers.remove(tracker)
                self._complain(f"{type(tracker).__name__} is told no more of this run: {error}")


def run_name(step: Step) -> str:
    """What trackers call the run that a step's numbers belong to: evaluations belong to the training of their model."""
    owner = step.model if isinstance(step, Evaluate) else step
    return f"{owner.title} {owner.key[:8]}"


def _by_place(rows: Sequence[Row]) -> dict[int, dict[str, float]]:
    """Optimizer step, or else layer, or 0 -> the numbers there by name: `dev/UD_English-EWT/accuracy`."""
    places = defaultdict[int, dict[str, float]](dict)
    for row in rows:
        parts = (row.split, row.dataset or row.language, row.part, row.claim, row.measure)
        x = row.step if row.step is not None else row.layer
        layer = f"layer {row.layer}" if row.step is not None and row.layer is not None else None
        places[x or 0]["/".join(part for part in (*parts, layer) if part)] = row.value
    return dict(sorted(places.items()))


def _plain(name: str) -> str:
    """A name with the signs that all trackers take."""
    return re.sub(r"[^\w./-]+", "_", name)


def _of_folder(name: str) -> str:
    """A name with the signs that all file systems take."""
    return re.sub(r"[^\w-]+", "_", name)
