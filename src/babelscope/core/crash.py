"""Places where a kill would hurt most, by name. `make faults` has processes killed there; otherwise nothing happens."""

from __future__ import annotations

import os
import signal
from collections import Counter
from typing import Literal

VARIABLE = "BABELSCOPE_CRASH"
"""Of the environment: `POINT:N` kills the process as it passes that point for the N-th time."""
Point = Literal[
    "claimed", "claim-removed",
    "log-begun",
    "training-step", "weights-written", "weights-moved", "checkpoint-moved",
    "rows-written", "rows-announced", "rows-moved", "rows-added", "digest-written",
    "publication-begun", "manifest-written", "publication-moved",
    "drop-noted", "dropped", "put-back", "return-noted",
]  # fmt: skip
"""Of a claim, a log, a training with its checkpoints, a journal of rows, a publication, weights that are dropped and
that are put back: what has just been done."""
_passed: Counter[str] = Counter()


def crash_point(point: Point) -> None:
    """Die here, as of a kill that nothing can catch, if the environment says so."""
    if wanted := os.environ.get(VARIABLE):
        _passed[point] += 1
        if wanted == f"{point}:{_passed[point]}":
            os.kill(os.getpid(), signal.SIGKILL)


def crashes() -> bool:
    """Whether processes are killed: then trainings of seconds have checkpoints, too."""
    return VARIABLE in os.environ
