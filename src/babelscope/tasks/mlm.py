"""Masked language modelling: training with fresh masks, perplexity with fixed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.core.intervals import exponential
from babelscope.core.seeds import derive_seed
from babelscope.core.tasks import MASKING_RATE
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.ids import ids_of, last_id
from babelscope.encoders.on_device import KeptBatches
from babelscope.encoders.pieces import Batch, Pieces, by_length, encode_sentences, evaluation_tokens
from babelscope.tasks.texts import encode_texts


class MaskedBatch(NamedTuple):
    """Pieces with some hidden, and what was there."""

    batch: Batch
    hidden: Tensor
    """[hidden pieces]: their positions in the batch, read row by row."""
    answers: Tensor
    """[hidden pieces]: the ids that were there."""
    foreign: Tensor | None = None
    """[vocabulary], bool: what no answer can be; None: nothing."""

    def unmasked(self) -> MaskedBatch:
        """The same with padding as if it were text."""
        return self._replace(batch=self.batch.unmasked())

    def to(self, device: torch.device) -> MaskedBatch:
        """The same batch on a device."""
        foreign = None if self.foreign is None else self.foreign.to(device)
        return MaskedBatch(self.batch.to(device), self.hidden.to(device), self.answers.to(device), foreign)


class Masking:
    """Which pieces are hidden from the model: never special ones, and never an unknown piece.

    Where languages have tokenizers of their own, pieces that are `foreign` (see `foreign_pieces`) are no answers, since
    a word and its translation, which is like it, would share one probability; nor do they replace others at random.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, rate: float, foreign: Tensor | None = None):
        if not 0 < rate < 1:
            raise InputError(f"masking rate {rate}: give a share of pieces between 0 and 1, such as 0.15")
        self.rate, self.mask_id, self.foreign = rate, tokenizer.mask_token_id, foreign
        numbers = torch.from_numpy(ids_of(tokenizer).all)
        self.pieces = numbers if foreign is None else numbers[~foreign[numbers]]
        self.ordinary = torch.ones(last_id(tokenizer) + 1, dtype=torch.bool)
        self.ordinary[tokenizer.all_special_ids] = False

    def draw(self, batch: Batch, generator: torch.Generator) -> MaskedBatch:
        """Hide each piece with probability `rate`: 80% become [MASK], 10% any piece, 10% stay (Devlin et al., 2019)."""
        chance = torch.rand(batch.ids.shape, generator=generator)
        chance.masked_fill_(~(self.ordinary[batch.ids] & batch.real), 2.0)
        # A batch so small that chance spares every piece hides the one that was nearest to being hidden.
        hidden = ((chance <= max(self.rate, float(chance.min()))) & (chance < 2)).flatten().nonzero().squeeze(1)
        answers = batch.ids.flatten()[hidden]
        way = torch.rand(len(hidden), generator=generator)
        random_ids = self.pieces[torch.randint(len(self.pieces), (len(hidden),), generator=generator)]
        shown = torch.where(way < 0.8, self.mask_id, torch.where(way < 0.9, random_ids, answers))
        return self._hide(batch, hidden, answers, shown)

    def draw_each(self, batch: Batch, seeds: Sequence[int]) -> MaskedBatch:
        """The same with a seed for each sequence, so that it does not matter which are beside it.

        At least one piece of each sequence is hidden.
        """
        width, shown, hidden, answers = batch.ids.shape[1], batch.ids.clone(), [], []
        for row, (length, seed) in enumerate(zip(batch.real.sum(1).tolist(), seeds, strict=True)):
            alone = Batch(batch.ids[row : row + 1, :length], batch.real[row : row + 1, :length])
            drawn = self.draw(alone, torch.Generator().manual_seed(seed))
            shown[row, :length] = drawn.batch.ids[0]
            hidden.append(row * width + drawn.hidden)
            answers.append(drawn.answers)
        return MaskedBatch(batch._replace(ids=shown), torch.cat(hidden), torch.cat(answers), self.foreign)

    def fix(self, pieces: Pieces, seed: int) -> list[NDArray[np.int64]]:
        """The places to hide in each sequence: `rate` of its pieces, at least one; content and `seed` decide which."""
        return [self._places(sequence, seed) for sequence in pieces]

    def hide(self, batch: Batch, places: Sequence[NDArray[np.int64]]) -> MaskedBatch:
        """Replace the pieces at `places` (one array a row) by [MASK]."""
        width = batch.ids.shape[1]
        hidden = torch.from_numpy(np.concatenate([row * width + place for row, place in enumerate(places)]))
        answers = batch.ids.flatten()[hidden]
        return self._hide(batch, hidden, answers, torch.full_like(answers, self.mask_id))

    def _places(self, ids: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
        ordinary = self.ordinary.numpy()[ids].nonzero()[0]
        count = max(1, round(self.rate * len(ordinary)))
        generator = np.random.default_rng(derive_seed(seed, "fixed masks", *ids.tolist()))
        return np.sort(generator.permutation(ordinary)[:count])

    def _hide(self, batch: Batch, hidden: Tensor, answers: Tensor, shown: Tensor) -> MaskedBatch:
        ids = batch.ids.flatten().scatter(0, hidden, shown).view_as(batch.ids)
        return MaskedBatch(batch._replace(ids=ids), hidden, answers, self.foreign)


def hidden_logits(model: PreTrainedModel, masked: MaskedBatch) -> Tensor:
    """[hidden pieces, vocabulary]: the logits of the hidden pieces; the head is computed there and nowhere else."""
    batch = masked.batch
    types = {} if batch.types is None else {"token_type_ids": batch.types}
    states = model.base_model(input_ids=batch.ids, attention_mask=batch.attention_mask, **types).last_hidden_state
    states = states.flatten(0, 1).index_select(0, masked.hidden)
    for path in anatomy_of(model.config).head:
        states = model.get_submodule(path)(states)
    return states if masked.foreign is None else states.masked_fill(masked.foreign, -torch.inf)


class Validation(Protocol):
    """What perplexity is measured on."""

    def perplexity(self, model: PreTrainedModel) -> float:
        """exp of the mean negative log-likelihood of hidden pieces."""


@dataclass(frozen=True)
class HeldOut:
    """Sentences with fixed masks, to measure perplexity on."""

    pieces: Pieces
    owners: NDArray[np.int64]
    places: list[NDArray[np.int64]]
    masking: Masking

    @classmethod
    def of(
        cls,
        tokenizer: PreTrainedTokenizerBase,
        sentences: Sequence[str],
        max_length: int,
        rate: float = MASKING_RATE,
        seed: int = 0,
        foreign: Tensor | None = None,
    ) -> HeldOut:
        """Encode sentences and choose which pieces to hide.

        Raises:
            InputError: not one piece can be hidden, as all are unknown to the tokenizer.
        """
        pieces, owners = encode_sentences(tokenizer, sentences, max_length)
        masking = Masking(tokenizer, rate, foreign)
        places = masking.fix(pieces, seed)
        if not sum(map(len, places)):
            raise InputError(
                f"perplexity of {len(sentences)} sentences: the tokenizer knows no piece of them, so none can be hidden"
            )
        return cls(pieces, owners, places, masking)

    @torch.no_grad()
    def losses(self, model: PreTrainedModel) -> NDArray[np.float64]:
        """[sentences, 2]: summed negative log-likelihood (nats) and number of each sentence's hidden pieces."""
        losses = np.zeros((int(self.owners[-1]) + 1, 2))
        batches = self.batches.on(model.device)
        read = [
            cross_entropy(hidden_logits(model, each).float(), each.answers, reduction="none") for _, each in batches
        ]
        sentences = np.concatenate([owners for owners, _ in batches])
        np.add.at(losses[:, 0], sentences, torch.cat(read).cpu().double().numpy())
        np.add.at(losses[:, 1], sentences, 1)
        return losses

    @cached_property
    def batches(self) -> KeptBatches[tuple[NDArray[np.int64], MaskedBatch]]:
        """All sequences, from the shortest to the longest, each batch with the sentences of its hidden pieces."""
        return KeptBatches(self._batches)

    def _batches(self, device: torch.device) -> Iterator[tuple[NDArray[np.int64], MaskedBatch]]:
        for indices in by_length(self.pieces.lengths, evaluation_tokens(device)):
            places = [self.places[index] for index in indices]
            owners = np.repeat(self.owners[indices], [len(place) for place in places])
            yield owners, self.masking.hide(self.pieces.batch(indices), places)

    def perplexity(self, model: PreTrainedModel) -> float:
        """exp of the mean negative log-likelihood of the hidden pieces, all of them behind [MASK]."""
        return perplexity_of(self.losses(model))


def perplexity_of(losses: NDArray[np.float64]) -> float:
    """exp of the mean loss; from [sentences, 2]: the summed losses (nats) of each sentence, and of how many pieces."""
    total, count = losses.sum(axis=0)
    return exponential(total / count)


@dataclass(frozen=True)
class MaskedLanguageModelling:
    """The task: sentences to train on, alone or each with its translation, and held-out sentences by name."""

    tokenizer: PreTrainedTokenizerBase
    sentences: Sequence[str]
    max_length: int
    rate: float = MASKING_RATE
    dev: Mapping[str, Validation] = field(default_factory=dict)
    measure: str = "perplexity"
    higher_is_better: bool = False
    pairs: Sequence[tuple[str, str]] = ()
    """Sentences with translations (Conneau and Lample, 2019); the two are one sequence, joined by the tokenizer."""
    types: bool = False
    """Whether the model numbers the sentences of a pair, 0 and 1."""
    foreign: Tensor | None = None
    """As of `Masking`."""
    attends_padding: bool = False
    """As in published protocols without a mask."""

    @cached_property
    def encoded(self) -> tuple[Pieces, NDArray[np.int64]]:
        """The training sequences, the pairs last, and the number of the sentence or pair that each is a part of.

        Those without any piece that can be hidden are left out.
        """
        alone, owners = encode_sentences(self.tokenizer, self.sentences, self.max_length)
        paired = encode_texts(self.tokenizer, self.pairs, self.max_length, self.types)
        sequences = [*alone.with_types(), *paired.with_types()]
        numbers = np.concatenate([owners, len(self.sentences) + np.arange(len(paired))])
        usable = [place for place, (ids, _) in enumerate(sequences) if self.masking.ordinary[ids].any()]
        if not usable:
            given = f"{len(self.sentences)} sentences" + (f" and {len(self.pairs)} pairs" if self.pairs else "")
            raise InputError(f"{given} to train on: the tokenizer knows no piece of them")
        ids, types = zip(*(sequences[place] for place in usable), strict=True)
        return Pieces.of(ids, alone.padding_id, types if self.pairs and self.types else None), numbers[usable]

    @property
    def pieces(self) -> Pieces:
        """The training sequences."""
        return self.encoded[0]

    @property
    def owners(self) -> NDArray[np.int64]:
        """[sequences]: the sentence, or pair, of each; pairs are numbered after the sentences."""
        return self.encoded[1]

    @cached_property
    def masking(self) -> Masking:
        """How training sequences are masked."""
        return Masking(self.tokenizer, self.rate, self.foreign)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[sequences]: pieces of each, special pieces included."""
        return self.pieces.lengths

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> MaskedBatch:
        """Training sequences with fresh masks."""
        return self._shown(self.masking.draw(self.pieces.batch(indices), generator))

    def portion(self, indices: NDArray[np.int64], seed: int) -> tuple[MaskedBatch, int]:
        """Training sequences with fresh masks, and their hidden pieces."""
        masked = self.masking.draw_each(self.pieces.batch(indices), [derive_seed(seed, index) for index in indices])
        return self._shown(masked), len(masked.answers)

    def _shown(self, masked: MaskedBatch) -> MaskedBatch:
        return masked.unmasked() if self.attends_padding else masked

    def loss(self, model: PreTrainedModel, batch: MaskedBatch) -> Tensor:
        """Mean negative log-likelihood of the hidden pieces, in nats."""
        batch = batch.to(model.device)
        return cross_entropy(hidden_logits(model, batch).float(), batch.answers)

    def evaluate(self, model: PreTrainedModel) -> dict[str, float]:
        """Perplexity of each held-out set."""
        return {name: held_out.perplexity(model) for name, held_out in self.dev.items()}
