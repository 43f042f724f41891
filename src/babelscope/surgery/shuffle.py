"""Shuffle: which piece has which word embedding."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.encoders.state import weights_of, with_weights, word_embeddings_name
from babelscope.encoders.vocabulary import spelled_pieces
from babelscope.surgery.fields import ENGLISH_LIKE
from babelscope.surgery.parts import stream


def shuffle(encoder: Encoder, seed: int, classes: Sequence[str] = (ENGLISH_LIKE,)) -> Encoder:
    """The encoder with the rows of its word embeddings permuted (Zhang, 2021, section 4).

    Special pieces keep their rows, and so does a row that stands for no piece. Pieces that one of `classes` matches as
    a whole (regular expressions; the first that matches; spelled as `spelled_pieces` does) change places only among
    themselves, and so do all the others. A decoder that is tied to the embeddings follows; its bias does not.
    """
    name, weights = word_embeddings_name(encoder), weights_of(encoder)
    rows = torch.arange(len(weights[name]))
    for number, members in enumerate(_classes(encoder, classes)):
        order = torch.randperm(len(members), generator=stream(seed, "shuffle", str(number)))
        rows[members] = members[order]
    return with_weights(encoder, weights | {name: weights[name][rows]})


def _classes(encoder: Encoder, patterns: Sequence[str]) -> list[Tensor]:
    """The ids of each class's pieces, and at the end of those that are in none."""
    special = set(encoder.tokenizer.all_special_ids)
    members: list[list[int]] = [[] for _ in range(len(patterns) + 1)]
    for number, piece in enumerate(spelled_pieces(encoder.tokenizer)):
        if piece and number not in special:
            matching = (place for place, pattern in enumerate(patterns) if re.fullmatch(pattern, piece))
            members[next(matching, len(patterns))].append(number)
    return [torch.tensor(ids, dtype=torch.int64) for ids in members]
