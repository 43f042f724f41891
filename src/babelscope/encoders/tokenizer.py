"""WordPiece tokenizers, trained so that the same sentences give the same vocabulary in every process."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from babelscope.core.errors import InputError

SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""The first pieces of every trained vocabulary, ids 0..4."""


def train_wordpiece(sentences: Iterable[str], vocabulary_size: int) -> PreTrainedTokenizerFast:
    """Train a cased WordPiece tokenizer (Schuster and Nakajima, 2012) on sentences of space-separated words.

    Words are split at whitespace and punctuation; case and accents stay. Every character of the sentences is a
    piece, alone and (unless it is punctuation) as a continuation `##x`.

    Raises:
        InputError: there is no sentence, or `vocabulary_size` has no room for the characters.
    """
    sentences = list(sentences)
    characters = _characters(sentences)
    _require_room(len(SPECIAL_PIECES) + len(characters), vocabulary_size, bool(sentences))
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        # The trainer numbers continuation characters in the order of a hash map, and breaks ties between merges by
        # these numbers. Given as special pieces they have fixed numbers, so that nothing is left to chance.
        special_tokens=[*SPECIAL_PIECES, *characters],
        show_progress=False,
    )
    pipeline = _pipeline({})
    pipeline.train_from_iterator(sentences, trainer)
    return _with_special_pieces(_pipeline(pipeline.get_vocab()))


def _characters(sentences: list[str]) -> list[str]:
    """All characters that start a word or stand alone, then all continuations, each in code point order."""
    pipeline = _pipeline({})
    words: set[str] = set()
    for sentence in sentences:
        text = pipeline.normalizer.normalize_str(sentence)
        words.update(word for word, _ in pipeline.pre_tokenizer.pre_tokenize_str(text))
    alone = sorted({character for word in words for character in word})
    continuing = sorted({character for word in words if len(word) > 1 for character in word})
    return [*alone, *(f"##{character}" for character in continuing)]


def _require_room(needed: int, vocabulary_size: int, any_sentence: bool) -> None:
    if not any_sentence:
        raise InputError("no sentence to train a tokenizer on: give at least one")
    if needed > vocabulary_size:
        raise InputError(
            f"vocabulary_size={vocabulary_size} is too small: the special pieces and the characters of these sentences "
            f"need {needed}. Raise it, or leave out text in scripts of many characters"
        )


def _pipeline(vocabulary: dict[str, int]) -> Tokenizer:
    pipeline = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    pipeline.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    pipeline.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pipeline.decoder = decoders.WordPiece()
    return pipeline


def _with_special_pieces(pipeline: Tokenizer) -> PreTrainedTokenizerFast:
    pipeline.add_special_tokens(list(SPECIAL_PIECES))
    ids = {piece: number for number, piece in enumerate(SPECIAL_PIECES)}
    pipeline.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, **dict(zip(names, SPECIAL_PIECES, strict=True)))
