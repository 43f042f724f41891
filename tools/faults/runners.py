"""Three runners on one store, of which some are killed, interrupted or stopped for a while."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

from babelscope.core.crash import VARIABLE, Point
from babelscope.engine.sharing.cache import PLACE
from babelscope.engine.sharing.leases import VARIABLE as VARIABLE_OF_LAPSE
from faults.attempts import Attempt, WrongError
from faults.limits import Command
from faults.stores import Laboratory, strict

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
POINTS: tuple[Point, ...] = ("claimed", "training-step", "checkpoint-moved", "manifest-written", "publication-moved")


def runner_attempts(laboratory: Laboratory) -> dict[str, Attempt]:
    """Runners that are left alone; whose workers are killed; and that are killed themselves."""
    attempts = {
        "three runners": lambda chance, folder: _together(laboratory, folder, chance, [], 0),
        "three runners, workers killed": lambda chance, folder: _together(laboratory, folder, chance, list(POINTS), 0),
        "three runners, two killed": lambda chance, folder: _together(laboratory, folder, chance, [], 2),
        "three machines, two killed": lambda chance, folder: _apart(laboratory, folder, chance),
    }
    return {kind: strict(attempt) for kind, attempt in attempts.items()}


def _together(
    laboratory: Laboratory, folder: Path, chance: random.Random, points: list[Point], killed: int
) -> Counter[str]:
    tally, store = Counter[str](), folder / "store"
    runners = []
    for number in range(3):
        crash = {VARIABLE: f"{chance.choice(points)}:{chance.randint(1, 3)}"} if points and number else {}
        runners.append(laboratory.run(store, **crash))
    for runner in runners[:killed]:
        runner.await_words()  # before that, a signal interrupts Python, not Babelscope
        time.sleep(chance.uniform(0, 3))
        _disturb(runner, chance.choice(SIGNALS), chance)
        tally["runner: disturbed"] += 1
    for number, runner in enumerate(runners):
        ended = runner.end()
        if ended.status and number >= killed and not points:
            raise WrongError(f"a runner beside two others failed: {ended}")
    laboratory.finish(store)
    if aside := list((store / "damaged").iterdir()):
        raise WrongError(f"another runner's work was taken for damage: {aside}")
    return tally


def _apart(laboratory: Laboratory, folder: Path, chance: random.Random) -> Counter[str]:
    """Each with a folder of its own, and claims that lapse."""
    tally, address, store = Counter[str](), f"file://{folder / 'shared'}", folder / "store"

    def run(number: int) -> Command:
        own = {PLACE: str(folder / f"machine {number}"), VARIABLE_OF_LAPSE: "3"}
        return laboratory.run(store, address=address, **own)

    runners = [run(number) for number in range(3)]
    for runner in runners[1:]:
        runner.await_words()
        time.sleep(chance.uniform(0, 6))
        _disturb(runner, chance.choice(SIGNALS), chance)
        tally["runner: disturbed"] += 1
    ended = [runner.end() for runner in runners]
    if ended[0].status:
        raise WrongError(f"a runner beside two others failed: {ended[0]}")
    pulled = Command(folder, "store", "pull", address, "--store", str(store), **{PLACE: str(folder / "reader")}).end()
    if pulled.status:
        raise WrongError(f"results cannot be pulled: {pulled}")
    laboratory.check_all(store)
    return tally


def _disturb(runner: Command, number: signal.Signals, chance: random.Random) -> None:
    runner.signal(number)
    if number == signal.SIGSTOP:
        time.sleep(chance.uniform(0, 3))
        runner.signal(signal.SIGCONT)
