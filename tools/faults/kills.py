"""Kills at every named point of small steps: what was published stays, and the same bits come in the end."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import get_args

from babelscope.core.crash import VARIABLE, Point
from babelscope.core.step import Step
from babelscope.engine.dropping import Dropping
from babelscope.engine.events import Finished, Found
from babelscope.engine.store import Store
from babelscope.engine.worker import attempt as attempt_step
from babelscope.steps.plan import Plan
from faults.attempts import Attempt, WrongError
from faults.limits import PATIENCE
from faults.stores import Laboratory, strict
from faults.warm import Fork

DROPPING = ("drop-noted", "dropped", "put-back", "return-noted")
"""The points of weights that go and come back."""


class _Deaf:
    """In place of the pipe to a runner."""

    def send(self, event: object) -> None:
        """Nothing."""


def kill_attempts(laboratory: Laboratory) -> dict[str, Attempt]:
    """For every point a life in which a process is killed there, and then some more at others."""

    def at(point: str) -> Attempt:
        return strict(lambda chance, folder: _life(laboratory, folder / "store", point, chance))

    return {f"killed at {point}": at(point) for point in get_args(Point)}


def _life(laboratory: Laboratory, store: Path, point: str, chance: random.Random) -> Counter[str]:
    tally, published = Counter[str](), 0
    drops = point in DROPPING or chance.random() < 0.5
    if point in DROPPING:  # so that there is something to compute again
        run_in_forks(laboratory.plan, store, drops=True)
    others = [f"{other}:{chance.choice([1, 1, 1, 2, 4])}" for other in chance.choices(get_args(Point), k=4)]
    for wanted in [f"{point}:1", *others]:
        killed_at = wanted.partition(":")[0]
        tally[f"kill: {killed_at}"] += run_in_forks(laboratory.plan, store, wanted, drops)
        found = laboratory.check_published(store)
        if found["damaged"] or found["right"] < published:
            raise WrongError(f"killed at {wanted}: {published} results before, {found} after")
        published = found["right"]
    run_in_forks(laboratory.plan, store, drops=drops)
    laboratory.check_all(store)
    if aside := list((store / "damaged").iterdir()):
        raise WrongError(f"a kill was taken for damage: {aside}")
    return tally


def run_in_forks(plan: Plan, folder: Path, killed_at: str = "", drops: bool = False) -> int:
    """Compute every step whose inputs are there in a process of its own; how many were killed at the point.

    Forks need not import again what this process has. If weights are dropped that nothing reads any more, the next run
    computes them again.

    Raises:
        WrongError: one ended otherwise.
    """
    Store(folder).prepare()
    killed = 0
    for key, step in plan.steps.items():
        if all(Store(folder).has(needed.key) for needed in step.inputs):
            status = Fork(lambda step=step: _compute(step, plan, Store(folder), killed_at, drops)).wait()
            if status not in (0, -signal.SIGKILL) or (status and not killed_at):
                log = Store(folder).logs.of(key)
                raise WrongError(f"{step}: status {status} {log.read_text() if log.is_file() else ''}"[:3000])
            killed += status != 0
    return killed


def _compute(step: Step, plan: Plan, store: Store, killed_at: str, drops: bool) -> None:
    signal.alarm(PATIENCE)
    if killed_at:
        os.environ[VARIABLE] = killed_at
    event = attempt_step(step.key, bytes(ForkingPickler.dumps(step)), store, _Deaf())
    if not isinstance(event, Finished | Found):
        raise WrongError(str(event))
    if drops:
        dropping = Dropping(plan, store)
        dropping.drop(dropping.after(step.key), plan.steps.keys() - store.published(plan.steps))
