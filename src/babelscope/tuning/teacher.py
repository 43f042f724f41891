"""What a frozen encoder makes of sentences, computed once for each as far as memory goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Frame, Pieces, by_length, evaluation_tokens
from babelscope.encoders.tap import hidden_states
from babelscope.tuning.memo import GIBIBYTE

Ids = tuple[int, ...]
"""A sequence of pieces, special ones included."""


class States(NamedTuple):
    """Of one sentence, in float16."""

    pieces: Tensor
    """[layers, pieces, hidden]: at the layers that are taught."""
    mean: Tensor
    """[hidden]: of the last layer, special pieces left out."""


class Teacher:
    """A frozen encoder that a student is to agree with, and the sentences that it will be asked for.

    They are read in batches that follow from these sentences alone, each batch when one of it is first asked for, and
    kept. Of the batches that memory has no room for, the sentences that are asked for together are read together each
    time. So a run that goes on after a fault gets the same bits.

    Args:
        encoder: is not changed.
        layers: that are taught; 0 stands for the embeddings.
        sentences: all that will be asked for; those that are given twice count once.
        device: where it reads them.
        memory: bytes of states that are kept at most. With two layers of 384 a piece takes 1.5 KB.
    """

    def __init__(
        self, encoder: Encoder, layers: Sequence[int], sentences: Iterable[Ids], device: str, memory: int = GIBIBYTE
    ):
        self.encoder, self.layers, self.device = encoder, tuple(layers), torch.device(device)
        self.frame = Frame.of(encoder.tokenizer)
        distinct = list(dict.fromkeys(sentences))
        self._numbers = {sentence: number for number, sentence in enumerate(distinct)}
        self._pieces = Pieces.of(distinct, encoder.tokenizer.pad_token_id)
        self._groups = self._fitting(by_length(self._pieces.lengths, evaluation_tokens(self.device)), memory)
        self._group_of = {int(number): group for group, members in enumerate(self._groups) for number in members}
        self.kept: dict[int, States] = {}
        """By the number of the sentence."""

    def states(self, sentences: Sequence[Ids]) -> list[States]:
        """Those of some of the sentences, in their order."""
        numbers = [self._numbers[sentence] for sentence in sentences]
        wanted = [number for number in dict.fromkeys(numbers) if number not in self.kept]
        for group in dict.fromkeys(self._group_of[number] for number in wanted if number in self._group_of):
            self.kept |= self._read(self._groups[group])
        beyond = [number for number in wanted if number not in self._group_of]
        fresh = self._read(np.asarray(beyond)) if beyond else {}
        return [fresh[number] if number in fresh else self.kept[number] for number in numbers]

    def _fitting(self, groups: Sequence[NDArray[np.int64]], memory: int) -> list[NDArray[np.int64]]:
        """As many groups as there is memory for, from the first."""
        pieces = np.cumsum([self._pieces.lengths[group].sum() for group in groups])
        sentences = np.cumsum([len(group) for group in groups])
        needed = (len(self.layers) * pieces + sentences) * self.encoder.model.config.hidden_size * 2
        return list(groups[: int(np.searchsorted(needed, memory, side="right"))])

    @torch.no_grad()
    def _read(self, numbers: NDArray[np.int64]) -> dict[int, States]:
        """The states of sentences that are read in one batch."""
        model: nn.Module = self.encoder.model
        model.to(self.device).eval()
        batch = self._pieces.batch(numbers).to(self.device)
        layers = hidden_states(self.encoder, batch)
        taught = layers[list(self.layers)].transpose(0, 1).half().cpu()
        means = mean_states(layers[-1], self.frame.inside(batch)).half().cpu()
        lengths = self._pieces.lengths[numbers]
        return {
            int(number): States(states[:, :length].clone(), mean.clone())
            for number, states, length, mean in zip(numbers, taught, lengths, means, strict=True)
        }


def mean_states(states: Tensor, inside: Tensor) -> Tensor:
    """[sequences, hidden]: the mean of each sequence's states [sequences, pieces, hidden] where `inside` is True."""
    weights = inside.to(states.dtype)[:, :, None]
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
