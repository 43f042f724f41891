"""Tuning: settings, batches, the training loop and its checkpoints, schedules and probes.

A schedule is a strategy, which says what is trained when, with options. A new strategy is one new file in `schedules/`.
"""

from babelscope.tuning import schedules

__all__ = ["schedules"]
