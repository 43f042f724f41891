"""Run a plan: what is not in the store yet is computed by local worker processes, each step once."""

from babelscope.engine.events import (
    Blocked,
    Damaged,
    Event,
    Failed,
    Finished,
    Found,
    Progressed,
    Started,
    Waiting,
)
from babelscope.engine.local import Outcome, run_plan

__all__ = [
    "Blocked",
    "Damaged",
    "Event",
    "Failed",
    "Finished",
    "Found",
    "Outcome",
    "Progressed",
    "Started",
    "Waiting",
    "run_plan",
]
