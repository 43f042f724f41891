"""Hidden states by position: two encoders compared as if the n-th tokens of a sentence were the same in both.

They are not where the tokenizers differ. It is here to repeat published numbers; `tap.word_states` compares words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import encode_sentences
from babelscope.encoders.tap import Reading, hidden_states


class Positions(NamedTuple):
    """States of all positions, batch by batch."""

    states: list[Tensor]
    """Each [layers + 1, sequences, pieces, hidden], in 16 bits, on the processor."""
    real: list[Tensor]
    """Each [sequences, pieces], bool: False where padded."""


@torch.no_grad()
def position_states(encoder: Encoder, sentences: Sequence[str], reading: Reading) -> Positions:
    """The states of every position of the encoder's own pieces, special ones and padding included.

    A sentence longer than the encoder is cut, so that every sentence is one sequence whatever the tokenizer.
    """
    was_training = encoder.model.training
    encoder.model.train(reading.dropout)
    pieces, owners = encode_sentences(encoder.tokenizer, sentences, encoder.max_length)
    _, beginnings = np.unique(owners, return_index=True)
    found = Positions([], [])
    for indices in reading.batches(pieces.lengths[beginnings], encoder.model.device):
        batch = pieces.batch(beginnings[indices])
        shown = reading.shown(batch).to(encoder.model.device)
        found.states.append(hidden_states(encoder, shown).half().cpu())
        found.real.append(batch.real)
    encoder.model.train(was_training)
    return found


def matched(own: Positions, other: Positions, padding: bool) -> tuple[Tensor, Tensor]:
    """The positions that both have, each [layers + 1, positions, hidden]; without `padding` those real in both.

    How lengths were matched in the published work is not recorded: here both end where the shorter batch does.
    """
    pairs: tuple[list[Tensor], list[Tensor]] = ([], [])
    for first, second, real, other_real in zip(own.states, other.states, own.real, other.real, strict=True):
        width = min(first.shape[2], second.shape[2])
        both = real[:, :width] & other_real[:, :width]
        kept = torch.ones_like(both) if padding else both
        for states, listed in ((first, pairs[0]), (second, pairs[1])):
            listed.append(states[:, :, :width][:, kept])
    return torch.cat(pairs[0], dim=1), torch.cat(pairs[1], dim=1)
