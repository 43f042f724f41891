"""Sentences of parsing as published code cut them (Wu et al. 2022)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from transformers import PreTrainedTokenizerBase

from babelscope.core.examples import Sentence
from babelscope.encoders.windows import pieces_of_words


def cut_to_pieces(tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sentence], room: int) -> list[Sentence]:
    """Sentences without the word that would bring them to `room` pieces, special ones not counted, and those after."""
    pieces = pieces_of_words(tokenizer, [sentence.forms for sentence in sentences])
    ends = [np.cumsum([len(word) for word in words], dtype=np.int64) for words in pieces]
    return [_first(sentence, int(np.searchsorted(end, room))) for sentence, end in zip(sentences, ends, strict=True)]


def cut_to_words(sentences: Iterable[Sentence], room: int) -> list[Sentence]:
    """Sentences of at most so many words. What hangs on a word that is cut off is never right."""
    return [_first(sentence, room) for sentence in sentences]


def _first(sentence: Sentence, words: int) -> Sentence:
    return replace(sentence, words=sentence.words[:words]) if words < len(sentence.words) else sentence
