"""New pieces for what a vocabulary covers badly, learned from text; what was there keeps its ids and weights."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from tokenizers import Tokenizer, models, trainers
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.encoders.load import Encoder
from babelscope.encoders.segmenter import NewPiece, Segmenter
from babelscope.encoders.state import Weights, names_per_piece, weights_of, with_weights
from babelscope.encoders.vocabulary import MARK, marks_words

OFTEN = 2
"""How often something must occur to become a piece."""
_FIRST_SYMBOL = 0x10000
"""The code point that stands for piece 0; those from here on are neither surrogates nor spaces."""
_MARKED = re.compile(f"{MARK}+(?={MARK})|{MARK}?[^{MARK}]+|{MARK}")
"""A word with the mark before it, or marks that there is no word after."""


def extend_vocabulary(encoder: Encoder, lines: Iterable[str], count: int) -> Encoder:
    """The encoder with at most `count` more pieces, learned from lines of text; fewer where these have no more.

    Characters that the vocabulary lacks, so that they are unknown or cut into bytes, come first, the most frequent
    ones before others. Then byte-pair encoding (Sennrich et al., 2016) goes on from the old segmentation: the pair of
    neighbouring pieces that occurs most often in the words of the lines becomes one, again and again, so that each new
    piece saves the text as many pieces as one can. Those that the new tokenizer makes no use of in these lines, since
    longer ones came after them, are left out for others (in BPE they stay, since longer ones are made of them). One may
    stay that is used only beside a piece beyond the `count`.

    The word embedding of a new piece, its row of the decoder and the decoder's bias are the means of those of the old
    pieces that it was segmented into; of what was unknown altogether, the means over all pieces but special ones. Old
    pieces keep ids and weights to the bit. The encoder given is not changed.

    Raises:
        InputError: no piece can be added to a tokenizer of this kind, the lines give none, or languages with
            vocabularies of their own came before.
    """
    if encoder.languages:
        raise InputError(
            f"new_pieces={count}: {encoder.name} has languages with vocabularies of their own "
            f"({', '.join(encoder.languages)}), whose ids come after its last one; add pieces before you bring them in"
        )
    words = words_of(encoder.tokenizer.backend_tokenizer, lines)
    old = Segmenter.of(encoder.tokenizer)
    pieces = new_pieces(old, words, count)
    if not pieces:
        raise InputError(
            f"new_pieces={count}: {sum(words.values())} words of text give {encoder.name} no new piece, since no "
            f"unknown character and no two pieces in a row occur {OFTEN} times; give more text, or leave new_pieces out"
        )
    tokenizer = old.extended(pieces).put_into(encoder.tokenizer)
    return _with_rows(encoder, tokenizer, old, pieces)


def words_of(pipeline: Tokenizer, lines: Iterable[str]) -> Counter[str]:
    """How often each word is there, normalised and split as a tokenizer does it, without its added pieces.

    Where a tokenizer marks words but does not split at the marks, this does: no piece that is learned goes on from one
    word to the next.
    """
    added = sorted((token.content for token in pipeline.get_added_tokens_decoder().values()), key=len, reverse=True)
    special = re.compile("|".join(map(re.escape, added)) or r"\Z")
    parts = (part for line in lines for part in special.split(line))
    words = (word for part in parts for word in _split(pipeline, part))
    if marks_words(pipeline):
        words = (word for marked in words for word in _MARKED.findall(marked))
    return Counter(words)


def _split(pipeline: Tokenizer, text: str) -> list[str]:
    if pipeline.normalizer:
        text = pipeline.normalizer.normalize_str(text)
    if not pipeline.pre_tokenizer:
        return [text]
    return [word for word, _ in pipeline.pre_tokenizer.pre_tokenize_str(text)]


def new_pieces(old: Segmenter, words: Counter[str], count: int) -> list[NewPiece]:
    """At most `count` pieces learned from words, as `extend_vocabulary` says it."""
    old = old.within(words)
    characters = _unknown_characters(old, words)[:count]
    spelled = old.extended(characters)
    merged = _merges(spelled, words)
    return [*characters, *_used(spelled, words, merged, count - len(characters))]


def _unknown_characters(old: Segmenter, words: Counter[str]) -> list[NewPiece]:
    """The characters that words are unknown for, or in bytes, alone and as continuations, the most frequent first."""
    counts: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    for word, ids in zip(words, old.segment(list(words)), strict=True):
        for place, character in enumerate(word) if not old.lacking.isdisjoint(ids) else ():
            counts[character] += words[word]
            forms[old.prefix * (place > 0) + character] += words[word]
            for form in (character, old.prefix + character) if len(word) > 1 else ():
                forms[form] += 0
    lacking = (form for form in forms if form not in old.ids and counts[form[-1]] >= OFTEN)
    return [NewPiece(form, (form,)) for form in sorted(lacking, key=lambda form: (-forms[form], form))]


def _merges(old: Segmenter, words: Counter[str]) -> list[NewPiece]:
    """The pieces that byte-pair encoding makes of the pieces of words, in its order.

    To the library's trainer each piece is a character. Without pieces of two characters or marks of continuation to
    begin with, it orders characters by their code points, so that nothing is left to chance.
    """
    texts = _as_symbols(old, words)
    trainer = trainers.BpeTrainer(
        vocab_size=len(old.ids) + sum(map(len, texts)), min_frequency=OFTEN, show_progress=False
    )
    learner = Tokenizer(models.BPE())
    learner.train_from_iterator(texts.elements(), trainer)
    pieces = {number: piece for piece, number in old.ids.items()}
    merged: dict[str, NewPiece] = {}
    for pair in json.loads(learner.to_str())["model"]["merges"]:
        first, second = (tuple(pieces[ord(symbol) - _FIRST_SYMBOL] for symbol in side) for side in pair)
        whole = _joined(first + second, old.prefix)
        if whole not in old.ids:
            new = NewPiece(whole, first + second, (_joined(first, old.prefix), _joined(second, old.prefix)))
            merged.setdefault(whole, new)
    return list(merged.values())


def _as_symbols(old: Segmenter, words: Counter[str]) -> Counter[str]:
    """Words with a character for each piece; those with something unknown, or in bytes, are left out."""
    return Counter({
        "".join(chr(_FIRST_SYMBOL + number) for number in ids): words[word]
        for word, ids in zip(words, old.segment(list(words)), strict=True)
        if old.lacking.isdisjoint(ids)
    })  # fmt: skip


def _joined(parts: Sequence[str], prefix: str) -> str:
    return parts[0] + "".join(part.removeprefix(prefix) for part in parts[1:])


def _used(old: Segmenter, words: Counter[str], merged: Sequence[NewPiece], count: int) -> list[NewPiece]:
    """The first `count` pieces that are still used when there are those after them too."""
    if old.needs_pairs:
        return list(merged[:count])
    taken, kept = 0, list[NewPiece]()
    while len(kept) < count and taken < len(merged):
        taken += count - len(kept)
        tried = old.extended(merged[:taken])
        used = {number for ids in tried.segment(list(words)) for number in ids}
        kept = [piece for piece in merged[:taken] if tried.ids[piece.spelling] in used]
    return kept[:count]


def _with_rows(
    encoder: Encoder, tokenizer: PreTrainedTokenizerBase, old: Segmenter, pieces: Sequence[NewPiece]
) -> Encoder:
    """The encoder with a tokenizer that has new pieces, and an entry for each in all weights that have one a piece."""
    ids = tokenizer.get_vocab()
    numbers = [ids[piece.spelling] for piece in pieces]
    sources = [old.before(piece) for piece in pieces]
    ordinary = sorted(set(old.ids.values()) - set(tokenizer.all_special_ids))
    config = copy.deepcopy(encoder.model.config)
    config.vocab_size = max(config.vocab_size, max(numbers) + 1)
    weights = weights_of(encoder)
    new: Weights = {}
    for name in names_per_piece(encoder):
        table = weights[name]
        new[name] = table.new_zeros(config.vocab_size, *table.shape[1:])
        new[name][: len(table)] = table
        new[name][numbers] = means_of(table, sources, ordinary)
    return with_weights(encoder, weights | new, config=config, tokenizer=tokenizer)


def means_of(table: Tensor, sources: Sequence[Sequence[int]], ordinary: Sequence[int]) -> Tensor:
    """[sources, ...]: the mean of each source's rows; of none, that of the ordinary ones."""
    overall = table[ordinary].mean(0)
    return torch.stack([table[source].mean(0) if source else overall for source in sources])
