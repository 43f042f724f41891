"""Word alignment by the similarity of states, and what alignments say of words counted through all sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.corpora.alignment.links import Links, WordPair
from babelscope.encoders.distance import layer_states


def similarity_links(first: Tensor, second: Tensor, layer: int, sentences: Sequence[WordPair]) -> list[Links]:
    """For each sentence pair, the words that are each other's most similar by cosine in a layer.

    Jalili Sabet et al. (2020, section 3.1, "Argmax"). Of words equally similar, the first is taken.

    Args:
        first: [layers, words, hidden], states of the words of the first language, of all sentences in order.
        second: likewise of the second.
        layer: whose states count; 0 is the embeddings.
        sentences: the words.

    Raises:
        InputError: there is no such layer, or its states are not finite or zeros.
    """
    if layer >= len(first):
        raise InputError(f"aligner_layer={layer}, but the encoder that aligns has {len(first) - 1} layers")
    sides = (_units(first, layer), _units(second, layer))
    links: list[Links] = []
    starts = [0, 0]
    for pair in sentences:
        ends = [start + len(words) for start, words in zip(starts, pair, strict=True)]
        own, other = (side[start:end] for side, start, end in zip(sides, starts, ends, strict=True))
        links.append(_mutual(own @ other.T) if len(own) and len(other) else [])
        starts = ends
    return links


def flat_links(links: Sequence[Links], sentences: Sequence[WordPair]) -> NDArray[np.int64]:
    """[links, 2]: links of words counted through all sentences, as `word_states` does.

    Those of signs without a letter or a digit are left out: full stops and commas are alike in most languages.
    """
    flat, starts = [], (0, 0)
    for found, (first, second) in zip(links, sentences, strict=True):
        flat += [(starts[0] + i, starts[1] + j) for i, j in found if _is_word(first[i]) and _is_word(second[j])]
        starts = (starts[0] + len(first), starts[1] + len(second))
    return np.array(flat, dtype=np.int64).reshape(-1, 2)


def _is_word(form: str) -> bool:
    return any(map(str.isalnum, form))


def _units(states: Tensor, layer: int) -> NDArray[np.float64]:
    array = layer_states(states[layer], layer)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def _mutual(cosines: NDArray[np.float64]) -> Links:
    """[first's words, second's words] -> the pairs that are the highest of their row and column."""
    backward = cosines.argmax(axis=0)
    return [(i, j) for i, j in enumerate(cosines.argmax(axis=1).tolist()) if backward[j] == i]
