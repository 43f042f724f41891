"""A tokenizer's own model, apart from the pipeline around it: words cut into pieces, and pieces added to it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from babelscope.core.errors import InputError

Model = dict[str, Any]
"""As tokenizer.json describes it: type, vocabulary, and what else belongs to the type."""
_AROUND = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")


class NewPiece(NamedTuple):
    """A piece that a vocabulary is to have."""

    spelling: str
    """As the vocabulary spells pieces: `##ing` in WordPiece."""
    parts: tuple[str, ...]
    """What it was before: old pieces, and characters that were none; such a character is its own part."""
    pair: tuple[str, str] | None = None
    """The two pieces that it was merged from; None of a character."""


@dataclass(frozen=True)
class Segmenter:
    """What cuts words, normalised and split as the tokenizer does it, into pieces."""

    pipeline: dict[str, Any]
    """The tokenizer as tokenizer.json describes it, without anything around its model."""
    unknown: int | None
    """The id of what stands for text that there are no pieces for."""

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Segmenter:
        """A tokenizer's. Its added pieces become pieces of the model, so that new ones come after them.

        Raises:
            InputError: no piece can be added to models of its kind.
        """
        pipeline = json.loads(tokenizer.backend_tokenizer.to_str())
        bare = pipeline | {"added_tokens": []} | dict.fromkeys(_AROUND)
        _check_kind(bare["model"])
        segmenter = cls(bare, tokenizer.unk_token_id)
        added = {number: token.content for number, token in sorted(tokenizer.added_tokens_decoder.items())}
        beside = {content: number for number, content in added.items() if content not in segmenter.ids}
        return segmenter._with(_KINDS[bare["model"]["type"]].place(bare["model"], beside))

    @property
    def model(self) -> Model:
        """What the pieces are, and how words are cut into them."""
        return self.pipeline["model"]

    @cached_property
    def ids(self) -> dict[str, int]:
        """The pieces with their ids."""
        return _KINDS[self.model["type"]].ids(self.model)

    @property
    def prefix(self) -> str:
        """What a piece begins with that goes on with a word, such as `##`."""
        return self.model.get("continuing_subword_prefix") or ""

    @property
    def needs_pairs(self) -> bool:
        """Whether a merged piece is found only where the two that it was merged from are pieces."""
        return self.model["type"] == "BPE"

    def segment(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of each word's pieces."""
        cut = Tokenizer.from_str(json.dumps(self.pipeline))
        return [encoded.ids for encoded in cut.encode_batch_fast(list(words), add_special_tokens=False)]

    def extended(self, pieces: Sequence[NewPiece]) -> Segmenter:
        """The same with more pieces; their ids follow the last one, in their order."""
        return self._with(_KINDS[self.model["type"]].extend(self.model, pieces))

    def only(self, pieces: Collection[str], size: int) -> Segmenter:
        """The same with no other pieces, and `size` ids: those of no piece stand for what no text has."""
        return self._with(_KINDS[self.model["type"]].only(self.model, pieces, size))

    def moved(self, first: int, by: int) -> Segmenter:
        """The same where the ids from `first` on are higher by `by`; those between stand for what no text has."""
        return self._with(_KINDS[self.model["type"]].move(self.model, first, by))

    def put_into(self, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
        """A copy of a tokenizer that cuts words as this does."""
        other = copy.deepcopy(tokenizer)
        other.backend_tokenizer.model = Tokenizer.from_str(json.dumps(self.pipeline)).model
        return other

    def _with(self, model: Model) -> Segmenter:
        return replace(self, pipeline=self.pipeline | {"model": model})


def filler(number: int) -> str:
    """What stands at an id of no piece. Pre-tokenizers leave no space in a word, so no word is cut into it."""
    return f" {number}"


class _Kind(NamedTuple):
    """How one type of model keeps its pieces."""

    ids: Callable[[Model], dict[str, int]]
    place: Callable[[Model, dict[str, int]], Model]
    """The model with pieces that have their ids already."""
    extend: Callable[[Model, Sequence[NewPiece]], Model]
    only: Callable[[Model, Collection[str], int], Model]
    """The model with these pieces alone and a number of ids."""
    move: Callable[[Model, int, int], Model]


def _mapped(model: Model, ids: dict[str, int]) -> Model:
    return model | {"vocab": model["vocab"] | ids}


def _numbered(model: Model, pieces: Sequence[NewPiece]) -> Model:
    first = max(model["vocab"].values()) + 1
    return _mapped(model, {piece.spelling: number for number, piece in enumerate(pieces, start=first)})


def _merged(model: Model, pieces: Sequence[NewPiece]) -> Model:
    """Byte pairs are merged in the order of the list, so all old pieces are put together before the new ones."""
    pairs = [list(piece.pair) for piece in pieces if piece.pair]
    return _numbered(model, pieces) | {"merges": [*model["merges"], *pairs]}


def _listed(model: Model, ids: dict[str, int]) -> Model:
    if sorted(ids.values()) != list(range(len(model["vocab"]), len(model["vocab"]) + len(ids))):
        raise InputError("new_pieces: the tokenizer's ids have gaps, so that its model cannot hold all of its pieces")
    return model | {"vocab": [*model["vocab"], *([piece, 0.0] for piece in ids)]}


def _scored(model: Model, pieces: Sequence[NewPiece]) -> Model:
    """A piece is as likely as the least likely of its parts, more it cannot be: so it wins over these together."""
    scores = dict(model["vocab"])
    lowest = min(scores.values())
    new = [[piece.spelling, min(scores.get(part, lowest) for part in piece.parts)] for piece in pieces]
    return model | {"vocab": [*model["vocab"], *new]}


def _mapped_only(model: Model, pieces: Collection[str], size: int) -> Model:
    kept = {number: piece for piece, number in model["vocab"].items() if piece in pieces}
    return model | {"vocab": {kept.get(number, filler(number)): number for number in range(size)}}


def _merged_only(model: Model, pieces: Collection[str], size: int) -> Model:
    prefix = model.get("continuing_subword_prefix") or ""
    merges = [[first, second] for first, second in model["merges"] if first + second.removeprefix(prefix) in pieces]
    return _mapped_only(model, pieces, size) | {"merges": merges}


def _listed_only(model: Model, pieces: Collection[str], size: int) -> Model:
    kept = [[piece, score] if piece in pieces else [filler(k), 0.0] for k, (piece, score) in enumerate(model["vocab"])]
    return model | {"vocab": kept + [[filler(number), 0.0] for number in range(len(kept), size)]}


def _mapped_moved(model: Model, first: int, by: int) -> Model:
    moved = {piece: number + by * (number >= first) for piece, number in model["vocab"].items()}
    return model | {"vocab": moved | {filler(number): number for number in range(first, first + by)}}


def _listed_moved(model: Model, first: int, by: int) -> Model:
    fillers = [[filler(number), 0.0] for number in range(first, first + by)]
    return model | {"vocab": [*model["vocab"][:first], *fillers, *model["vocab"][first:]]}


_KINDS = {
    "WordPiece": _Kind(lambda model: model["vocab"], _mapped, _numbered, _mapped_only, _mapped_moved),
    "BPE": _Kind(lambda model: model["vocab"], _mapped, _merged, _merged_only, _mapped_moved),
    "Unigram": _Kind(
        lambda model: {piece: k for k, (piece, _) in enumerate(model["vocab"])},
        _listed,
        _scored,
        _listed_only,
        _listed_moved,
    ),
}


def _check_kind(model: Model) -> None:
    kind = model["type"] + (" with byte_fallback" if model.get("byte_fallback") else "")
    if kind not in _KINDS:
        raise InputError(
            f"new_pieces: the tokenizer is of type {kind}; pieces can be added to {', '.join(_KINDS)}. Leave "
            "new_pieces out, or take another encoder"
        )
