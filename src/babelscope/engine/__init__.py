"""Run a plan: what is not in the store yet is computed by local worker processes, each step once.

The store is here, with what reads it: rows (of older stores too), steps made again from their keys, how far a study is,
what a plan will cost, and trained models outside of studies. No torch but in workers.
"""

from babelscope.engine.events import (
    Blocked,
    Damaged,
    Event,
    Failed,
    Finished,
    Found,
    Full,
    Lost,
    Progressed,
    Started,
    Waiting,
)
from babelscope.engine.run import Outcome, run_plan

__all__ = [
    "Blocked",
    "Damaged",
    "Event",
    "Failed",
    "Finished",
    "Found",
    "Full",
    "Lost",
    "Outcome",
    "Progressed",
    "Started",
    "Waiting",
    "run_plan",
]
