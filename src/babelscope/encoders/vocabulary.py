"""The pieces of a tokenizer, spelled in one way whatever its kind, so that vocabularies can be compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tokenizers import decoders
from transformers import PreTrainedTokenizerBase


def spelled_pieces(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Every piece by its id, spelled as in WordPiece: `##` before a piece that goes on with a word.

    WordPiece marks what goes on, byte-level and SentencePiece vocabularies mark what begins a word: `##ing` in the one
    is `ing` in the others, and `the` is `Ġthe` or `▁the`. Punctuation is a word of its own in WordPiece, so it never
    goes on. Bytes that form characters are written as these. Special pieces stay as they are; an id without a piece is
    an empty string.
    """
    vocabulary = tokenizer.get_vocab()
    pieces = [""] * (max(vocabulary.values()) + 1)
    for piece, number in vocabulary.items():
        pieces[number] = piece
    special = set(tokenizer.all_special_ids)
    spell = _speller(json.loads(tokenizer.backend_tokenizer.to_str()))
    return [piece if number in special or not piece else spell(piece) for number, piece in enumerate(pieces)]


def _speller(pipeline: dict[str, Any]) -> Callable[[str], str]:
    """How a pipeline's pieces are to be spelled: found in what it says of itself."""
    around = json.dumps([pipeline[key] for key in ("normalizer", "pre_tokenizer", "decoder")], ensure_ascii=False)
    if '"ByteLevel"' in around:
        return _spell_bytes
    if "▁" in around:
        return lambda piece: _unmarked(piece, "▁")
    prefix = pipeline["model"].get("continuing_subword_prefix") or "##"
    return lambda piece: f"##{piece.removeprefix(prefix)}" if piece.startswith(prefix) else piece


def _unmarked(piece: str, mark: str) -> str:
    bare = piece.removeprefix(mark)
    goes_on = bare == piece and any(character.isalnum() for character in piece)
    return f"##{bare}" if goes_on else bare or piece


def _spell_bytes(piece: str) -> str:
    """What the bytes of a byte-level piece are; the piece as it is where they are only a part of a character."""
    text = decoders.ByteLevel().decode([piece])
    return piece if "\N{REPLACEMENT CHARACTER}" in text else _unmarked(text, " ")
