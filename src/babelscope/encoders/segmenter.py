"""A tokenizer's own model, apart from the pipeline around it: words cut into pieces, and pieces added to it."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerBase

from babelscope.core.errors import InputError

Pair = tuple[str, str]
KINDS = ("WordPiece", "BPE", "Unigram")
"""The types of models that pieces can be added to. The last two may fall back to bytes."""


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
"""How vocabularies spell the pieces that stand for a byte each."""


class NewPiece(NamedTuple):
    """A piece that a vocabulary is to have."""

    spelling: str
    """As the vocabulary spells pieces: `##ing` in WordPiece."""
    parts: tuple[str, ...]
    """What it was before: old pieces, and characters that were none; such a character is its own part."""
    pair: Pair | None = None
    """The two pieces that it was merged from; None of a character."""


@dataclass(frozen=True)
class Segmenter:
    """What cuts words, normalised and split as the tokenizer does it, into pieces."""

    options: dict[str, Any]
    """The model as tokenizer.json describes it, without its pieces."""
    ids: dict[str, int]
    """The pieces with their ids."""
    size: int
    """How many ids there are. Those of no piece stand for what no text has."""
    unknown: int | None
    """The id of what stands for text that there are no pieces for."""
    merges: list[Pair] = field(default_factory=list)
    """Of BPE: which pieces are put together, in this order."""
    scores: dict[str, float] = field(default_factory=dict)
    """Of Unigram: the logarithm of how likely each piece is."""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Segmenter:
        """A tokenizer's. Its added pieces become pieces of the model, so that new ones come after them.

        Raises:
            InputError: no piece can be added to models of its kind.
        """
        options = json.loads(tokenizer.backend_tokenizer.model.__getstate__())
        _check_kind(options["type"])
        vocabulary, merges = options.pop("vocab"), options.pop("merges", ())
        unknown = options.pop("unk_id", tokenizer.unk_token_id)
        scores = dict(vocabulary) if options["type"] == "Unigram" else {}
        ids = {piece: number for number, (piece, _) in enumerate(vocabulary)} if scores else vocabulary
        added = {token.content: number for number, token in sorted(tokenizer.added_tokens_decoder.items())}
        ids = added | ids
        return cls(options, ids, max(ids.values()) + 1, unknown, [(first, second) for first, second in merges], scores)

    @property
    def prefix(self) -> str:
        """What a piece begins with that goes on with a word, such as `##`."""
        return self.options.get("continuing_subword_prefix") or ""

    @property
    def needs_pairs(self) -> bool:
        """Whether a merged piece is found only where the two that it was merged from are pieces."""
        return self.options["type"] == "BPE"

    @property
    def byte_pieces(self) -> list[str]:
        """What a character without a piece becomes, byte by byte; nothing where such a character is unknown."""
        return BYTES if self.options.get("byte_fallback") else []

    @cached_property
    def lacking(self) -> frozenset[int | None]:
        """The ids of what stands for text that there are no pieces for: of the unknown piece, and of bytes."""
        return frozenset({self.unknown, *map(self.ids.get, self.byte_pieces)})

    def before(self, piece: NewPiece) -> list[int]:
        """The ids of the pieces that a new piece was before, its bytes among them; none of what was unknown."""
        parts = [own for part in piece.parts for own in ([part] if part in self.ids else self._in_bytes(part))]
        return [self.ids[part] for part in parts if part in self.ids]

    def _in_bytes(self, character: str) -> list[str]:
        return [self.byte_pieces[byte] for byte in character.encode()] if self.byte_pieces else []

    def segment(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of each word's pieces."""
        pieces = sorted(self.ids, key=self.ids.__getitem__)
        cut = Tokenizer(self._built(pieces)).encode_batch_fast(list(words), add_special_tokens=False)
        numbers = [self.ids[piece] for piece in pieces]
        return [[numbers[k] for k in word.ids] for word in cut]

    def extended(self, pieces: Sequence[NewPiece]) -> Segmenter:
        """The same with more pieces; their ids follow the last one, in their order.

        Byte pairs are merged in the order of the list, so all old pieces are put together before the new ones. In a
        Unigram model a piece is as likely as the least likely of its parts, more it cannot be: so it wins over these
        together.
        """
        ids = {piece.spelling: number for number, piece in enumerate(pieces, start=self.size)}
        lowest = min(self.scores.values(), default=0.0)
        scores = {piece.spelling: min(self.scores.get(part, lowest) for part in piece.parts) for piece in pieces}
        return replace(
            self,
            ids=self.ids | ids,
            size=self.size + len(pieces),
            merges=self.merges + [piece.pair for piece in pieces if piece.pair],
            scores=self.scores | scores,
        )

    def only(self, pieces: Collection[str], size: int) -> Segmenter:
        """The same with no other pieces but what is unknown, and `size` ids."""
        ids = {piece: number for piece, number in self.ids.items() if piece in pieces or number == self.unknown}
        merges = [
            (first, second)
            for first, second in self.merges
            if first in ids and second in ids and first + second.removeprefix(self.prefix) in ids
        ]
        scores = {piece: score for piece, score in self.scores.items() if piece in ids}
        return replace(self, ids=ids, size=size, merges=merges, scores=scores)

    def within(self, words: Iterable[str]) -> Segmenter:
        """The same with no other pieces than words have in them. It cuts these alike, and is made in less time."""
        longest = max(map(len, self.ids))
        parts = (
            word[start:end]
            for word in words
            for start in range(len(word))
            for end in range(start + 1, min(start + longest, len(word)) + 1)
        )
        marks = {("", ""), (self.prefix, ""), ("", self.options.get("end_of_word_suffix") or "")}
        inside = {piece for part in parts for before, after in marks if (piece := before + part + after) in self.ids}
        least_likely = min(self.scores, key=self.scores.__getitem__, default="")
        return self.only({*inside, *self.byte_pieces, least_likely}, self.size)

    def moved(self, first: int, by: int) -> Segmenter:
        """The same where the ids from `first` on are higher by `by`."""
        ids = {piece: number + by * (number >= first) for piece, number in self.ids.items()}
        return replace(self, ids=ids, size=self.size + by)

    def put_into(self, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
        """A copy of a tokenizer that cuts words as this does."""
        other = copy.deepcopy(tokenizer)
        other.backend_tokenizer.model = self.model
        return other

    @property
    def model(self) -> models.Model:
        """With something at every id, since files of models with gaps are read otherwise than written."""
        pieces = [filler(number) for number in range(self.size)]
        for piece, number in self.ids.items():
            pieces[number] = piece
        return self._built(pieces)

    def _built(self, pieces: list[str]) -> models.Model:
        """The model with these pieces, numbered from 0."""
        kind = self.options["type"]
        options = {name: value for name, value in self.options.items() if name != "type" and value is not None}
        ids = {piece: number for number, piece in enumerate(pieces)}
        if kind == "Unigram":
            if unknown := [piece for piece, number in self.ids.items() if number == self.unknown]:
                options["unk_id"] = ids[unknown[0]]
            return models.Unigram([(piece, self.scores.get(piece, 0.0)) for piece in pieces], **options)
        return models.BPE(ids, self.merges, **options) if kind == "BPE" else models.WordPiece(ids, **options)


def filler(number: int) -> str:
    """What stands at an id of no piece. No space is left in a word, so no word is cut into it."""
    return f" {number}"


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(
            f"new_pieces: the tokenizer is of type {kind}; pieces can be added to {', '.join(KINDS)}. Leave "
            "new_pieces out, or take another encoder"
        )
