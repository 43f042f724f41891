"""Three runners on one store, of which some are killed, interrupted or stopped for a while."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

from babelscope.core.crash import VARIABLE, Point
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


def _disturb(runner: Command, number: signal.Signals, chance: random.Random) -> None:
    runner.signal(number)
    if number == signal.SIGSTOP:
        time.sleep(chance.uniform(0, 3))
        runner.signal(signal.SIGCONT)
