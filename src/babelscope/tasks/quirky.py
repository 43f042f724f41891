"""Perplexity as a published protocol measured it: on few sentences, with fresh masks, or reading the padding.

It is here to repeat published numbers; `mlm.HeldOut` is what everything else uses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from babelscope.core.intervals import exponential
from babelscope.core.seeds import derive_seed
from babelscope.encoders.pieces import by_length, evaluation_tokens, in_order
from babelscope.tasks.apart import Apart
from babelscope.tasks.mlm import HeldOut, MaskedBatch, MaskedLanguageModelling, hidden_logits
from babelscope.tasks.task import Objective

BATCH, BATCHES = 16, 2
"""Sentences of a batch, and how many batches are read (Hussain and Dudev, appendix A.2 and their code)."""


@dataclass(frozen=True)
class QuirkyTest(HeldOut):
    """A test set, masked and read with quirks (`as_published.OF_LANGUAGE`)."""

    quirks: Collection[str] = ()

    def _batches(self, device: torch.device) -> Iterator[tuple[NDArray[np.int64], MaskedBatch]]:
        as_text = "padding-as-text" in self.quirks
        lengths = self.pieces.lengths
        parts = in_order(len(lengths), BATCH) if as_text else by_length(lengths, evaluation_tokens(device))
        for indices in parts:
            masked = self._masked(indices)
            rows = masked.hidden.numpy() // masked.batch.ids.shape[1]
            yield self.owners[indices][rows], masked.unmasked() if as_text else masked

    def _masked(self, indices: NDArray[np.int64]) -> MaskedBatch:
        batch = self.pieces.batch(indices)
        if "drawn-test-masks" not in self.quirks:
            return self.masking.hide(batch, [self.places[index] for index in indices])
        return self.masking.draw_each(batch, [derive_seed(0, "drawn masks", index) for index in indices.tolist()])


@dataclass(frozen=True)
class QuirkyHeldOut:
    """Held-out sentences, measured with quirks (`tuning.probes.QUIRKS`)."""

    held_out: HeldOut
    quirks: Collection[str]

    @torch.no_grad()
    def perplexity(self, model: PreTrainedModel) -> float:
        """exp of the mean loss of the hidden pieces. Fresh masks follow from the seed of torch's global generator."""
        pieces, masking = self.held_out.pieces, self.held_out.masking
        generator = torch.Generator().manual_seed(torch.initial_seed())
        indices = self._read()
        total, count = 0.0, 0
        for start in range(0, len(indices), BATCH):
            part = indices[start : start + BATCH]
            batch = pieces.batch(part)
            if "fresh-masks" in self.quirks:
                masked = masking.draw(batch, generator)
            else:
                masked = masking.hide(batch, [self.held_out.places[index] for index in part])
            if "no-attention-mask" in self.quirks:
                masked = masked.unmasked()
            masked = masked.to(model.device)
            total += float(cross_entropy(hidden_logits(model, masked).float(), masked.answers, reduction="sum"))
            count += len(masked.answers)
        return exponential(total / count)

    def _read(self) -> NDArray[np.int64]:
        """Which sequences are read."""
        owners = self.held_out.owners
        if "two-batches" not in self.quirks:
            return np.arange(len(owners))
        return np.concatenate([np.flatnonzero(owners == sentence) for sentence in two_batches(int(owners[-1]) + 1)])


def two_batches(sentences: int) -> NDArray[np.int64]:
    """Which of so many sentences are read: two batches drawn once, as a corpus of several languages begins with one."""
    return np.random.default_rng(derive_seed(0, "two batches")).permutation(sentences)[: BATCH * BATCHES]


def with_quirks(objective: Objective, quirks: Collection[str]) -> Objective:
    """What is trained on, with its dev sets measured as the quirks have it, and the higher perplexity for the better.

    Other tasks than language modelling are left as they are.
    """
    if isinstance(objective, Apart):
        held = objective.parts, objective.only_validated
        parts, others = ([with_quirks(part, quirks) for part in objectives] for objectives in held)
        return replace(objective, parts=parts, only_validated=others)
    if not (quirks and isinstance(objective, MaskedLanguageModelling)):
        return objective
    dev = {
        name: QuirkyHeldOut(held_out, quirks)
        for name, held_out in objective.dev.items()
        if isinstance(held_out, HeldOut)
    }
    return replace(objective, dev=dev, higher_is_better="higher-is-best" in quirks)
