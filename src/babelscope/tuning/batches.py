"""Batches of so many tokens or examples: every example once an epoch, in an order that (seed, epoch) alone decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.encoders.pieces import cut_by_tokens
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import DEFAULT_TOKENS, Tuning, check_full

BATCHES_PER_POOL = 50
"""Examples are sorted by length within random pools of about so many batches: little padding, much chance."""


def epoch_batches(
    lengths: NDArray[np.int64], tokens_per_batch: int, seed: int, epoch: int, groups: NDArray[np.int64] | None = None
) -> list[NDArray[np.int64]]:
    """The batches of one epoch, each of examples of similar lengths, as indices of examples.

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


def epoch_of_examples(
    examples_per_batch: int,
    seed: int,
    epoch: int,
    owners: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    drawn: bool,
) -> list[NDArray[np.int64]]:
    """The batches of one epoch with so many examples each, as indices of sequences.

    Examples come in a fresh random order each epoch, as from the random samplers of the papers' code. They are not
    sorted by length: that would save padding, but it would put other examples together than the papers' batches do.

    Args:
        examples_per_batch: in all batches but the last of an epoch (of each group), which is the rest; see `drawn`.
        seed: of the order, together with `epoch`.
        epoch: counted from 0.
        owners: [sequences], ascending: the example that each is a part of.
        groups: [sequences], ascending; a batch is of one group, and all batches of an epoch come in one random order.
        drawn: of several groups, whether the rest is left out, and the group of each batch is drawn by its size until
            its batches are used up.
    """
    generator = np.random.default_rng(derive_seed(seed, "order", epoch))
    _, firsts = np.unique(owners, return_index=True)
    shuffled = generator.permutation(len(firsts))
    parts = [shuffled]
    if groups is not None:
        group_of = groups[firsts]
        parts = [shuffled[group_of[shuffled] == group] for group in np.unique(groups)]
    sequences = np.split(np.arange(len(owners)), firsts[1:])
    whole = drawn and len(parts) > 1
    if whole:
        check_full(map(len, parts), examples_per_batch)
    batches = [
        [np.concatenate([sequences[example] for example in batch]) for batch in _cut(part, examples_per_batch, whole)]
        for part in parts
    ]
    if whole:
        return list(_drawn(batches, [len(part) for part in parts], generator))
    every = [batch for of_group in batches for batch in of_group]
    return every if len(parts) == 1 else [every[place] for place in generator.permutation(len(every))]


def _cut(part: NDArray[np.int64], size: int, whole: bool) -> Iterator[NDArray[np.int64]]:
    """Batches of so many examples, and the rest unless they are to be whole."""
    batches = np.split(part, range(size, len(part), size))
    return (batch for batch in batches if len(batch) == size or not whole)


def _drawn(
    batches: Sequence[Sequence[NDArray[np.int64]]], examples: Sequence[int], generator: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Each group's batches in their order; from which group one comes is drawn by its examples, while any has some."""
    left = [iter(of_group) for of_group in batches]
    shares = np.asarray(examples) / sum(examples)
    missing = sum(map(len, batches))
    while missing:
        batch = next(left[generator.choice(len(left), p=shares)], None)
        if batch is not None:
            missing -= 1
            yield batch


class Turn(NamedTuple):
    """A step's batch, and its place in its epoch."""

    batch: NDArray[np.int64]
    """Indices of sequences."""
    place: int
    """1 for the first batch of an epoch."""
    batches: int
    """Of the epoch."""

    @property
    def ends_epoch(self) -> bool:
        """Whether the batch is the epoch's last."""
        return self.place == self.batches

    def is_validated(self, step: int, tuning: Tuning) -> bool:
        """Whether the dev sets are scored after it, which is a step of the run: at its end they are in any case."""
        if tuning.validate_every is not None:
            return step % tuning.validate_every == 0
        parts = tuning.validations_per_epoch or 1
        return self.place * parts // self.batches > (self.place - 1) * parts // self.batches


@dataclass(frozen=True, eq=False)
class Order:
    """In which batches a run meets its training sequences, which (tuning, seed) alone decide."""

    lengths: NDArray[np.int64]
    """[sequences], pieces of each."""
    tuning: Tuning
    seed: int
    groups: NDArray[np.int64] | None = None
    """[sequences], ascending; a batch is of one group. None: all are one group."""
    owners: NDArray[np.int64] | None = None
    """[sequences], ascending: the example that each is a part of. None: each is an example of its own."""

    def turns(self) -> Iterator[Turn]:
        """The batches of the whole run."""
        made, tuning = 0, self.tuning
        for epoch in count() if tuning.epochs is None else range(tuning.epochs):
            batches = self._epoch(epoch)
            for place, batch in enumerate(batches, start=1):
                yield Turn(batch, place, len(batches))
                made += 1
                if made == tuning.steps:
                    return

    def count_steps(self) -> int:
        """How many steps the run has."""
        tuning = self.tuning if self.groups is None else self.tuning.apart
        counted = tuning.steps_of(self._examples())
        return sum(1 for _ in self.turns()) if counted is None else counted

    def stage_starts(self, schedule: Schedule | None) -> list[int]:
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
            starts = [1, *(step + 1 for step, turn in enumerate(self.turns(), 1) if turn.ends_epoch)]
        total = self.count_steps()
        reached = sum(start <= total for start in starts)
        if reached < stages:
            raise InputError(
                f"schedule {schedule.name}: the run ends after {total} steps, when "
                f"{reached} of {stages} groups are trained; train for longer or give fewer groups"
            )
        return starts[:stages]

    def _epoch(self, epoch: int) -> list[NDArray[np.int64]]:
        if self.tuning.examples_per_batch is None:
            tokens = self.tuning.tokens_per_batch or DEFAULT_TOKENS
            return epoch_batches(self.lengths, tokens, self.seed, epoch, self.groups)
        owners = np.arange(len(self.lengths)) if self.owners is None else self.owners
        drawn = self.tuning.batches == "drawn"
        return epoch_of_examples(self.tuning.examples_per_batch, self.seed, epoch, owners, self.groups, drawn)

    def _examples(self) -> list[int]:
        """Of each group."""
        firsts = np.arange(len(self.lengths)) if self.owners is None else np.unique(self.owners, return_index=True)[1]
        return [len(firsts)] if self.groups is None else np.unique(self.groups[firsts], return_counts=True)[1].tolist()
