"""Batches of similar lengths: every example once an epoch, in an order that (seed, epoch) alone decides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.encoders.pieces import cut_by_tokens
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import Tuning

BATCHES_PER_POOL = 50
"""Examples are sorted by length within random pools of about so many batches: little padding, much chance."""


def epoch_batches(
    lengths: NDArray[np.int64], tokens_per_batch: int, seed: int, epoch: int, groups: NDArray[np.int64] | None = None
) -> list[NDArray[np.int64]]:
    """The batches of one epoch, as indices of examples.

    Args:
        lengths: [examples], pieces of each.
        tokens_per_batch: pieces of a batch at most, padding included; a longer example is a batch of its own.
        seed: of the order, together with `epoch`.
        epoch: counted from 0.
        groups: [examples], ascending; a batch is of one group. All batches of an epoch come in one random order, so
            a group is met as often as its share of the batches.
    """
    generator = np.random.default_rng(derive_seed(seed, "order", epoch))
    shuffled = generator.permutation(len(lengths))
    # The pool of an example is where the running number of tokens in shuffled order falls.
    pools = np.cumsum(lengths[shuffled]) // (tokens_per_batch * BATCHES_PER_POOL)
    if groups is None:
        groups = np.zeros(len(lengths), dtype=np.int64)
    ordered = shuffled[np.lexsort((lengths[shuffled], pools, groups[shuffled]))]
    parts = np.split(ordered, np.flatnonzero(np.diff(groups[ordered])) + 1)
    batches = [batch for part in parts for batch in cut_by_tokens(part, lengths, tokens_per_batch)]
    return [batches[place] for place in generator.permutation(len(batches))]


def all_batches(
    lengths: NDArray[np.int64], tuning: Tuning, seed: int, groups: NDArray[np.int64] | None = None
) -> Iterator[tuple[NDArray[np.int64], bool]]:
    """The batches of a whole run, each with whether it ends an epoch."""
    made = 0
    for epoch in count() if tuning.epochs is None else range(tuning.epochs):
        batches = epoch_batches(lengths, tuning.tokens_per_batch, seed, epoch, groups)
        for place, batch in enumerate(batches, start=1):
            yield batch, place == len(batches)
            made += 1
            if made == tuning.steps:
                return


def count_steps(lengths: NDArray[np.int64], tuning: Tuning, seed: int, groups: NDArray[np.int64] | None = None) -> int:
    """How many steps the run has."""
    if tuning.steps is not None:
        return tuning.steps
    return sum(1 for _ in all_batches(lengths, tuning, seed, groups))


def stage_starts(
    schedule: Schedule | None,
    lengths: NDArray[np.int64],
    tuning: Tuning,
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> list[int]:
    """The first step of each stage of a schedule, steps counted from 1.

    Raises:
        InputError: the run ends before the last stage begins.
    """
    if schedule is None or schedule.chosen.stages == 1:
        return [1]
    stages, length = schedule.chosen.stages, schedule.chosen.stage_length
    if length != "epoch":
        starts = [1 + stage * length for stage in range(stages)]
    else:
        batches = enumerate(all_batches(lengths, tuning, seed, groups), 1)
        starts = [1, *(step + 1 for step, (_, ends) in batches if ends)]
    total = count_steps(lengths, tuning, seed, groups)
    reached = sum(start <= total for start in starts)
    if reached < stages:
        raise InputError(
            f"schedule {schedule.name}: the run ends after {total} steps, when "
            f"{reached} of {stages} groups are trained; train for longer or give fewer groups"
        )
    return starts[:stages]
