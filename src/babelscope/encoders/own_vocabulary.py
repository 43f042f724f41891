"""A vocabulary of a language's own, beside the one that an encoder has: what is learned, and what the two share."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable

from tokenizers import Tokenizer, normalizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from babelscope.core.errors import InputError
from babelscope.corpora.codes import known_as
from babelscope.encoders.extend import OFTEN, new_pieces, words_of
from babelscope.encoders.footprint import MOST_PIECES
from babelscope.encoders.load import Encoder
from babelscope.encoders.segmenter import Segmenter
from babelscope.encoders.vocabulary import without_letters

FEWEST = 1000
"""How many pieces are learned at least where no number is given."""
WORDS_A_PIECE = 20
"""How many words of text a piece is learned from, between `FEWEST` and `MOST_PIECES`."""


def own_vocabulary(
    encoder: Encoder, lines: Iterable[str], size: int | None = None, *, keep_accents: bool = True
) -> PreTrainedTokenizerBase:
    """A tokenizer of the encoder's kind whose pieces are learned from lines of text, the same in every process.

    Text is normalised, split and framed by special pieces as the encoder's tokenizer does it. What there is no letter
    in (digits, punctuation, single bytes, those that characters without a piece fall back to) and what is special is
    cut as ever and keeps its ids. All else is learned, as `extend_vocabulary` learns it, and has ids after the
    encoder's last embedding, even what the encoder spells alike: `die` of German is not `die` of English. Characters
    that the lines hardly have are those of the encoder, where it knows them. Other languages that were brought in
    change ids, but not how text is cut.

    Args:
        encoder: has the tokenizer that the new one is like, and the embeddings that the new ids come after.
        lines: the text.
        size: at most how many pieces are learned; by default one for every 20 words, but 1,000 to 5,000.
        keep_accents: whether accents stay that a BERT's tokenizer strips. What it does with case it does here too.

    Raises:
        InputError: no piece can be added to a tokenizer of this kind, or the lines give none.
    """
    pipeline = _pipeline(encoder.tokenizer, keep_accents)
    words = words_of(pipeline, lines)
    if size is None:
        size = min(max(words.total() // WORDS_A_PIECE, FEWEST), MOST_PIECES)
    old = Segmenter.of(encoder.tokenizer)
    first = encoder.model.config.vocab_size
    shared = _shared(encoder.tokenizer, old)
    learned = new_pieces(old.only(shared, first), words, size)
    if not learned:
        raise InputError(
            f"{words.total()} words of text give no piece, since no letter and no two pieces in a row occur {OFTEN} "
            "times; give more text"
        )
    fallback = {piece for piece in old.ids if len(piece.removeprefix(old.prefix)) == 1}
    kept = shared | (fallback - {piece.spelling for piece in learned})
    pipeline.model = old.only(kept, first).extended(learned).model
    return _read_from(pipeline, encoder.tokenizer)


def check_own(language: str | None, languages: Collection[str]) -> None:
    """Refuse a language that somebody has named and that has no tokenizer of its own, where others have one.

    Raises:
        InputError: names those that have.
    """
    if language and languages and not known_as(language, languages):
        have = ", ".join(dict.fromkeys(languages))
        raise InputError(
            f"{language} has no tokenizer of its own in this model; {have} have. Name the one of them "
            "in whose pieces the text is to be read; a text in none of them is read best in those of a language that "
            "the model read before any was brought in"
        )


def renumbered(tokenizer: PreTrainedTokenizerBase, first: int, now: int) -> PreTrainedTokenizerBase:
    """An own vocabulary whose own ids begin at `now`, since other languages were brought in before it.

    Args:
        tokenizer: as from `own_vocabulary`.
        first: where its own ids begin: how many embeddings the encoder had that it was made for.
        now: how many the encoder has that it is for; no fewer.
    """
    return Segmenter.of(tokenizer).moved(first, now - first).put_into(tokenizer) if now > first else tokenizer


def _shared(tokenizer: PreTrainedTokenizerBase, old: Segmenter) -> set[str]:
    """The pieces of a tokenizer that every language has; where all are made of single bytes, these are among them."""
    special = {token.content for token in tokenizer.added_tokens_decoder.values()} | set(tokenizer.all_special_tokens)
    made_of_bytes = old.needs_pairs and not old.byte_pieces
    single = {piece for piece in old.ids if len(piece) == 1} if made_of_bytes else set()
    return without_letters(tokenizer) | special | single


def _pipeline(tokenizer: PreTrainedTokenizerBase, keep_accents: bool) -> Tokenizer:
    """A copy of what tokenizer.json describes, which cuts and pads nothing to a length."""
    pipeline = copy.deepcopy(tokenizer.backend_tokenizer)
    pipeline.no_truncation()
    pipeline.no_padding()
    if keep_accents and isinstance(pipeline.normalizer, normalizers.BertNormalizer):
        pipeline.normalizer.strip_accents = False
    return pipeline


def _read_from(pipeline: Tokenizer, like: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """A tokenizer that is read from its tokenizer.json alone, whatever class the one is of that it is like."""
    return PreTrainedTokenizerFast(
        tokenizer_object=pipeline,
        model_max_length=like.model_max_length,
        padding_side=like.padding_side,
        model_input_names=like.model_input_names,
        **like.special_tokens_map,
    )
