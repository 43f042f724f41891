"""The pieces of a tokenizer, spelled in one way whatever its kind, so that vocabularies can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from unicodedata import category

import torch
from tokenizers import Tokenizer, decoders
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from babelscope.encoders.ids import ids_of
from babelscope.encoders.load import Encoder
from babelscope.encoders.segmenter import BYTES, filler

MARK = "▁"
"""What SentencePiece has in place of a space; it belongs to the word after it."""


def spelled_pieces(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Every piece by its id, spelled as in WordPiece: `##` before a piece that goes on with a word.

    WordPiece marks what goes on, byte-level and SentencePiece vocabularies mark what begins a word: `##ing` in the one
    is `ing` in the others, and `the` is `Ġthe` or `▁the`. Punctuation is a word of its own in WordPiece, so it never
    goes on. Bytes that form characters are written as these. Special pieces stay as they are; an id without a piece is
    an empty string, also where a language's own vocabulary has something that fills its place.
    """
    vocabulary = tokenizer.get_vocab()
    pieces = [""] * (max(vocabulary.values()) + 1)
    for piece, number in vocabulary.items():
        pieces[number] = "" if piece == filler(number) else piece
    special = set(tokenizer.all_special_ids)
    spell = _speller(tokenizer.backend_tokenizer)
    return [piece if number in special or not piece else spell(piece) for number, piece in enumerate(pieces)]


def without_letters(tokenizer: PreTrainedTokenizerBase) -> set[str]:
    """The pieces that no letter is in, nor a mark of one, as the vocabulary has them: digits, punctuation, bytes."""
    vocabulary = tokenizer.get_vocab()
    texts = dict(zip(vocabulary, vocabulary, strict=True)) | dict.fromkeys(BYTES, "")
    if _is_byte_level(tokenizer.backend_tokenizer):
        decoder = decoders.ByteLevel()
        texts = {piece: decoder.decode([piece]) for piece in vocabulary}
    letters = {character for character in set().union(*texts.values()) if category(character)[0] in "LM"}
    return {piece for piece in vocabulary if letters.isdisjoint(texts[piece])}


def marks_words(pipeline: Tokenizer) -> bool:
    """Whether words begin with a `▁` in place of a space, as SentencePiece has it."""
    return MARK in _around(pipeline)


def foreign_pieces(encoder: Encoder) -> Tensor | None:
    """[embeddings], bool: which pieces other languages have and what the encoder reads has not; None: no language does.

    Of an encoder that is `reading` a language these are all but the pieces of its tokenizer, else those of languages
    with tokenizers of their own.
    """
    return foreign_to(encoder, [""]) if encoder.languages else None


def foreign_to(encoder: Encoder, languages: Iterable[str]) -> Tensor:
    """[embeddings], bool: which pieces some language has, but none of the tokenizers that text in `languages` has."""
    foreign = torch.zeros(encoder.model.config.vocab_size, dtype=torch.bool)
    foreign[ids_of(encoder.tokenizer).all] = True
    for tokenizer in encoder.languages.values():
        foreign[ids_of(tokenizer).pieces] = True
    for language in languages:
        foreign[ids_of(encoder.reading(language).tokenizer).pieces] = False
    return foreign


def _is_byte_level(pipeline: Tokenizer) -> bool:
    return '"ByteLevel"' in _around(pipeline)


def _around(pipeline: Tokenizer) -> str:
    """What is around a pipeline's model, as tokenizer.json describes it."""
    parts = (pipeline.normalizer, pipeline.pre_tokenizer, pipeline.decoder)
    return "".join(part.__getstate__().decode() for part in parts if part)


def _speller(pipeline: Tokenizer) -> Callable[[str], str]:
    """How a pipeline's pieces are to be spelled: found in what it says of itself."""
    if _is_byte_level(pipeline):
        return _spell_bytes
    if marks_words(pipeline):
        return lambda piece: _unmarked(piece, MARK)
    prefix = getattr(pipeline.model, "continuing_subword_prefix", None) or "##"
    return lambda piece: f"##{piece.removeprefix(prefix)}" if piece.startswith(prefix) else piece


def _unmarked(piece: str, mark: str) -> str:
    bare = piece.removeprefix(mark)
    goes_on = bare == piece and any(character.isalnum() for character in piece)
    return f"##{bare}" if goes_on else bare or piece


def _spell_bytes(piece: str) -> str:
    """What the bytes of a byte-level piece are; the piece as it is where they are only a part of a character."""
    text = decoders.ByteLevel().decode([piece])
    return piece if "\N{REPLACEMENT CHARACTER}" in text else _unmarked(text, " ")
