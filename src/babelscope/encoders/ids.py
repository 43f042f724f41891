"""The ids that a tokenizer gives, found once: to list the pieces of a large vocabulary takes a tenth of a second."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from babelscope.encoders.segmenter import filler

_KNOWN: WeakKeyDictionary[PreTrainedTokenizerBase, Ids] = WeakKeyDictionary()


class Ids(NamedTuple):
    """Rising."""

    pieces: NDArray[np.int64]
    """Those of pieces."""
    all: NDArray[np.int64]
    """With those of what fills the places of other tokenizers' pieces."""


def ids_of(tokenizer: PreTrainedTokenizerBase) -> Ids:
    """Found anew where pieces were added since."""
    ids = _KNOWN.get(tokenizer)
    if ids is None or len(ids.all) != len(tokenizer):
        vocabulary = tokenizer.get_vocab()
        pieces = sorted(number for piece, number in vocabulary.items() if piece != filler(number))
        ids = Ids(np.array(pieces, dtype=np.int64), np.array(sorted(vocabulary.values()), dtype=np.int64))
        _KNOWN[tokenizer] = ids
    return ids


def last_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The highest of all."""
    return int(ids_of(tokenizer).all[-1])
