"""What vocabularies share, how English-like they and their texts are, and how well they cover a language."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from transformers import PreTrainedTokenizerBase

from babelscope.encoders.pieces import Frame
from babelscope.encoders.vocabulary import spelled_pieces
from babelscope.encoders.windows import encode_words
from babelscope.surgery.fields import ENGLISH_LIKE

AT_ONCE = 1000
"""Texts that are encoded together."""
CONTEXT, MORE_THAN = 10, 5
"""Pieces of a context, which is English-like if more than so many of them are (Zhang, 2021, section 4.1)."""


class Coverage(NamedTuple):
    """How well a tokenizer covers a text; every share is of what is in the text."""

    words: int
    """Words in the text."""
    unknown: float
    """Share of the words that hold a piece unknown to the tokenizer."""
    fertility: float
    """Pieces per word; a word that the tokenizer makes nothing of counts as one piece."""
    characters: float
    """Share of the distinct letters, digits and marks that the tokenizer has: none of them alone is unknown to it."""


def shared_pieces(first: PreTrainedTokenizerBase, second: PreTrainedTokenizerBase) -> frozenset[str]:
    """The pieces that two vocabularies share, special pieces included.

    Pieces are spelled as in WordPiece (`spelled_pieces`), so that tokenizers of different kinds can be compared.
    """
    return (frozenset(spelled_pieces(first)) & frozenset(spelled_pieces(second))) - {""}


def shared_mass(first: Mapping[int, int], second: Mapping[int, int]) -> float:
    """How much of two texts is made of the same pieces, 0 to 1: the sum over pieces of the smaller share.

    It is 1 minus the total variation distance of the two texts' distributions over pieces. An empty text shares
    nothing.

    Args:
        first: how often each piece comes in one text.
        second: and in the other.
    """
    totals = sum(first.values()), sum(second.values())
    if not all(totals):
        return 0.0
    return sum(min(first[piece] / totals[0], second[piece] / totals[1]) for piece in first.keys() & second.keys())


def english_like_pieces(tokenizer: PreTrainedTokenizerBase) -> frozenset[str]:
    """The pieces of ASCII letters alone (Zhang, 2021, table 2)."""
    return frozenset(piece for piece in spelled_pieces(tokenizer) if re.fullmatch(ENGLISH_LIKE, piece))


def english_like_contexts(tokenizer: PreTrainedTokenizerBase, lines: Iterable[str]) -> float:
    """The share of a text's contexts that are English-like (Zhang, 2021, section 4.1); NaN if there is no context.

    A context is any 10 pieces in a row within a line, without special ones; it is English-like if more than 5 of them
    are. Contexts overlap: a line of n pieces has n - 9.
    """
    english = english_like_pieces(tokenizer)
    is_english = np.asarray([piece in english for piece in spelled_pieces(tokenizer)])
    contexts = english_like = 0
    for ids in _encoded(tokenizer, lines):
        before = np.concatenate([[0], np.cumsum(is_english[ids])])
        counts = before[CONTEXT:] - before[:-CONTEXT]
        contexts, english_like = contexts + len(counts), english_like + int((counts > MORE_THAN).sum())
    return _share(english_like, contexts)


def coverage(tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sequence[str]]) -> Coverage:
    """How well a tokenizer covers sentences of words; shares of nothing are NaN.

    Words are encoded as running text, separated by spaces, as encoders read them.
    """
    windows = encode_words(tokenizer, sentences, max_length=sys.maxsize)
    words, frame = len(windows.unknown), len(Frame.of(tokenizer))
    pieces = int((windows.pieces.lengths - frame).sum())
    written = {character for sentence in sentences for word in sentence for character in word if _is_written(character)}
    known = sum(len(ids) > 0 and tokenizer.unk_token_id not in ids for ids in _encoded(tokenizer, sorted(written)))
    return Coverage(
        words, _share(int(windows.unknown.sum()), words), _share(pieces, words), _share(known, len(written))
    )


def _encoded(tokenizer: PreTrainedTokenizerBase, texts: Iterable[str]) -> Iterator[list[int]]:
    """The piece ids of each text, without special pieces around it."""
    texts = iter(texts)
    while some := list(islice(texts, AT_ONCE)):
        yield from tokenizer(some, add_special_tokens=False, verbose=False)["input_ids"]


def _is_written(character: str) -> bool:
    """Whether a character is a letter, digit or mark, rather than punctuation, a symbol or a space."""
    return unicodedata.category(character)[0] in "LNM"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
