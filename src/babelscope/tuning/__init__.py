"""Tuning: settings, batches, the training loop and its checkpoints, schedules and probes.

A schedule is a strategy, which says what is trained when, with options. A strategy is a class in a file of its own in
`schedules/`; a new file there is all that a new schedule takes.
"""

from importlib import import_module

from babelscope.tuning.strategy import Strategy

import_module("babelscope.tuning.schedules")  # at the end, so that the files there can import from here

__all__ = ["Strategy"]
