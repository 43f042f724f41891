"""Kills at every named point of small steps: what was published stays, and the same bits come in the end."""

from __future__ import annotations

import os
import random
import signal
import traceback
from collections import Counter
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import get_args

import scipy.stats  # noqa: F401  (so that forks need not import it)

from babelscope.core.crash import VARIABLE, Point
from babelscope.engine.events import Finished, Found
from babelscope.engine.store import Store
from babelscope.engine.worker import attempt as attempt_step
from babelscope.steps.plan import Plan
from faults.attempts import Attempt, WrongError
from faults.limits import PATIENCE
from faults.stores import Laboratory, strict


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
    for killed_at in [point, *chance.choices(get_args(Point), k=4)]:
        wanted = f"{killed_at}:{chance.choice([1, 1, 2, 3, 5])}"
        status = _in_a_process_of_its_own(lambda wanted=wanted: _run(laboratory.plan, store, wanted))
        if status not in (0, -signal.SIGKILL):
            raise WrongError(f"exit status {status} of a run that was to be killed at {wanted}")
        tally[f"kill: {killed_at}"] += status != 0
        found = laboratory.check_published(store) if store.exists() else Counter()
        if found["damaged"] or found["right"] < published:
            raise WrongError(f"killed at {wanted}: {published} results before, {found} after")
        published = found["right"]
    if _in_a_process_of_its_own(lambda: _run(laboratory.plan, store, "")):
        raise WrongError("the run after all kills did not succeed")
    laboratory.check_all(store)
    if aside := list((store / "damaged").iterdir()):
        raise WrongError(f"a kill was taken for damage: {aside}")
    return tally


def _run(plan: Plan, folder: Path, killed_at: str) -> None:
    """All steps, one after the other, as a worker computes them."""
    os.environ[VARIABLE] = killed_at
    if not killed_at:
        del os.environ[VARIABLE]
    store = Store(folder)
    store.prepare()
    for key, step in plan.steps.items():
        if not isinstance(
            event := attempt_step(key, bytes(ForkingPickler.dumps(step)), store, _Deaf()), Finished | Found
        ):
            raise WrongError(f"{event}: {store.log(key).read_text() if store.log(key).exists() else 'no log'}")


def _in_a_process_of_its_own(work: Callable[[], None]) -> int:
    """The exit status of a fork, in which what is imported need not be imported again."""
    if not (process := os.fork()):
        signal.alarm(PATIENCE)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
