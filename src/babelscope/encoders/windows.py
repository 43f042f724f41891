"""Sentences of words as sequences of pieces: the first piece stands for the word, and every word is read once.

A sentence longer than the model is read in windows that overlap by about half. Each word belongs to one window: of
two neighbours, each owns the half of what they share that is further from its edge, so that every word has context
on both sides. Published code has windows of another kind (`repeating_windows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.encoders.pieces import Frame, Pieces


class Span(NamedTuple):
    """A window: the words it reads, and those of them that it owns (0-based, ends excluded)."""

    start: int
    end: int
    own_start: int
    own_end: int


class Window(NamedTuple):
    """What a window reads of a sentence."""

    pieces: list[int]
    """Without special ones."""
    own_start: int
    """The first word that it owns."""
    places: NDArray[np.int64]
    """Where in `pieces` that word begins, and each after it that it owns."""


@dataclass(frozen=True)
class Windows:
    """The windows of many sentences. Words count through all sentences, from 0."""

    pieces: Pieces
    owned: list[NDArray[np.int64]]
    """For each window, the words that it owns."""
    places: list[NDArray[np.int64]]
    """For each window, where the first pieces of these words are in its sequence."""
    sentence_starts: NDArray[np.int64]
    """[sentences + 1]: the first word of each sentence, and the number of words."""
    unknown: NDArray[np.bool_]
    """[words]: whether the tokenizer has an unknown piece for a part of the word."""
    widths: NDArray[np.int64]
    """[words]: pieces of each, at least one. They follow one another in the window that owns the word."""


def spans(widths: NDArray[np.int64], room: int) -> list[Span]:
    """Windows over a sentence for a model that reads `room` pieces.

    `widths` [words] are the pieces of its words, each at most `room`.
    """
    ends = np.cumsum(widths)
    starts = ends - widths
    reaches: list[tuple[int, int]] = []
    start = 0
    while not reaches or reaches[-1][1] < len(widths):
        end = int(np.searchsorted(ends, starts[start] + room, side="right"))
        reaches.append((start, end))
        # The next window starts half a window on; further at most where this one ended, nearer at least a word on.
        half = int(np.searchsorted(starts, starts[start] + room / 2))
        start = min(max(half, start + 1), end)
    # The middle, in pieces, of what two neighbours share; the word that reaches over it goes to the later one.
    middles = [(starts[later] + ends[shared - 1]) / 2 for (_, shared), (later, _) in pairwise(reaches)]
    cuts = [0, *(np.searchsorted(starts, middles, side="right") - 1).tolist(), len(widths)]
    return [Span(*reach, *own) for reach, own in zip(reaches, pairwise(cuts), strict=True)]


def overlapping_windows(words: Sequence[Sequence[int]], room: int) -> Iterator[Window]:
    """A sentence in windows of at most `room` pieces, as `spans` says; none if it has no words."""
    widths = np.asarray([len(pieces) for pieces in words])
    for span in spans(widths, room) if words else ():
        inside = words[span.start : span.end]
        offsets = np.cumsum(widths[span.start : span.end]) - widths[span.start : span.end]
        owned = slice(span.own_start - span.start, span.own_end - span.start)
        yield Window([piece for pieces in inside for piece in pieces], span.own_start, offsets[owned])


def repeating_windows(words: Sequence[Sequence[int]], room: int) -> Iterator[Window]:
    """The same, but a word belongs to the first window that reads it, so that it has context on its left alone.

    A window goes on until the next word has no room in it; the one after it begins with its last pieces, half a window
    of them, whatever word they are of (Wu et al. 2022, appendix A and their code).
    """
    pieces: list[int] = []
    places: list[int] = []
    start = 0
    for number, word in enumerate(words):
        if places and len(pieces) + len(word) > room:
            yield Window(pieces, start, np.asarray(places))
            kept = min((room + 1) // 2, room - len(word))
            pieces, places, start = pieces[len(pieces) - min(kept, len(pieces)) :], [], number
        places.append(len(pieces))
        pieces.extend(word)
    if places:
        yield Window(pieces, start, np.asarray(places))


def encode_words(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sequence[str]], max_length: int, repeating: bool = False
) -> Windows:
    """Encode sentences of words, each in one window or more of at most `max_length` pieces.

    A word that the tokenizer makes nothing of (such as a lone zero-width character) becomes the unknown piece, and a
    word longer than a window is cut to it, so that every word is read. `repeating`: see `repeating_windows`.
    """
    frame, unknown_id = Frame.of(tokenizer), tokenizer.unk_token_id
    room = max_length - len(frame)
    if room < 1:
        raise InputError(f"max_length={max_length} leaves no room for words beside {len(frame)} special pieces")
    divided = repeating_windows if repeating else overlapping_windows
    sequences: list[list[int]] = []
    owned: list[NDArray[np.int64]] = []
    places: list[NDArray[np.int64]] = []
    unknown: list[bool] = []
    all_widths: list[int] = []
    sentence_starts = [0]
    for words in pieces_of_words(tokenizer, sentences):
        words = [pieces[:room] for pieces in words]
        for window in divided(words, room):
            sequences.append(frame.around(window.pieces))
            owned.append(sentence_starts[-1] + window.own_start + np.arange(len(window.places)))
            places.append(window.places + len(frame.before))
        unknown.extend(unknown_id in pieces for pieces in words)
        all_widths.extend(map(len, words))
        sentence_starts.append(sentence_starts[-1] + len(words))
    pieces = Pieces.of(sequences, tokenizer.pad_token_id)
    return Windows(
        pieces,
        owned,
        places,
        np.asarray(sentence_starts),
        np.asarray(unknown, dtype=bool),
        np.asarray(all_widths, dtype=np.int64),
    )


def pieces_of_words(tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sequence[str]]) -> list[list[list[int]]]:
    """For each sentence, the piece ids of each word: at least one.

    The words are encoded as running text, as the encoder read text in its pre-training: a byte-level tokenizer marks
    a word by the space before it, which words alone do not have. That space belongs to the word after it.
    """
    if not sentences:
        return []
    texts = [" ".join(words) for words in sentences]
    unknown_id = tokenizer.unk_token_id
    encoded = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    result = []
    for words, ids, offsets in zip(sentences, encoded["input_ids"], encoded["offset_mapping"], strict=True):
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        pieces: list[list[int]] = [[] for _ in words]
        for piece, word in zip(
            ids, ends.searchsorted([start for start, _ in offsets], side="right").tolist(), strict=True
        ):
            pieces[min(word, len(words) - 1)].append(piece)
        result.append([word_pieces or [unknown_id] for word_pieces in pieces])
    return result
