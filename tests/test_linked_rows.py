"""Rows of languages that are brought in: means over links, spelled ones, and ones drawn by chance."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from babelscope.encoders.aligned_text import AlignedLanguage
from babelscope.encoders.bring_in import (
    bring_in,
    linked_rows,
    own_pieces,
    random_rows,
    spelled_rows,
)
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.state import names_per_piece, weights_of, word_embeddings_name
from babelscope.encoders.tokenizer import train_wordpiece
from languages_brought_in import states
from tokenizer_kinds import KINDS, LATIN, WITH_BYTES, made

ONE_PIECE_WORDS = made(train_wordpiece(LATIN * 3, 300), tie_word_embeddings=False)
"""An encoder that has a piece for each word of `LATIN`."""
WORDS = sorted({*" ".join(LATIN).split()})


def foreign(word: str) -> str:
    """In letters that the encoder does not have."""
    return word.translate({ord(letter): ord(letter) + 0x1000 for letter in word})


@settings(max_examples=15)
@given(st.permutations(WORDS), st.randoms(use_true_random=False))
def test_gold_links_of_one_piece_words_give_the_embeddings_of_translations(translations, random):
    """From sentences to rows, with any lexicon that is one to one, translations in any order, and no shrinkage."""
    encoder, lexicon = ONE_PIECE_WORDS, dict(zip(WORDS, map(foreign, translations), strict=True))
    pairs, links = [], []
    for line in LATIN * 3:
        words = line.split()
        order = random.sample(range(len(words)), len(words))
        pairs.append((line, " ".join(lexicon[words[k]] for k in order)))
        links.append([(k, place) for place, k in enumerate(order)])
    language = AlignedLanguage.learned(encoder, pairs, 300, links=links)
    rows = linked_rows(encoder, language.counts(encoder), shrinkage=0)
    after = bring_in(encoder, {"xx": language.tokenizer}, rows)
    for word, translation in lexicon.items():
        assert encoder.tokenizer.tokenize(word) == [word] and language.tokenizer.tokenize(translation) == [translation]
    assert len(names_per_piece(encoder)) == 4
    for name in names_per_piece(encoder):
        table = weights_of(after)[name]
        old, new = encoder.tokenizer.convert_tokens_to_ids(WORDS), list(lexicon.values())
        own = language.tokenizer.convert_tokens_to_ids(new)
        torch.testing.assert_close(table[own], table[old], rtol=0, atol=1e-6)
    for line in LATIN:
        translated = " ".join(lexicon[word] for word in line.split())
        torch.testing.assert_close(states(after.reading("xx"), translated), states(after, line))


WEIGHTS = st.sampled_from([0.0, 0.0, 0.02, 0.5, 1.0, 30.0])


@settings(max_examples=30)
@given(st.lists(st.lists(WEIGHTS, min_size=6, max_size=6), min_size=1, max_size=4), st.sampled_from([0.0, 0.3, 1.0]))
def test_linked_rows_are_shrunk_means_as_long_as_what_they_are_means_of(links, shrinkage):
    """The oracle: loops over links."""
    encoder = made(KINDS["lower-case WordPiece"](), tie_word_embeddings=False)
    made_rows = linked_rows(encoder, csr_array(np.asarray(links)), shrinkage)
    ordinary = [k for k in range(len(encoder.tokenizer)) if k not in encoder.tokenizer.all_special_ids]
    for name in names_per_piece(encoder):
        table = weights_of(encoder)[name].double().numpy()
        for weights, row in zip(links, made_rows[name].numpy(), strict=True):
            terms = [(weight, table[k]) for k, weight in enumerate(weights)]
            terms += [(shrinkage / len(ordinary), table[k]) for k in ordinary]
            if not sum(weight for weight, _ in terms):
                terms = [(1 / len(ordinary), table[k]) for k in ordinary]
            total = sum(weight for weight, _ in terms)
            mean = sum(weight * vector for weight, vector in terms) / total
            if table.ndim == 2:
                length = sum(weight * sum(vector**2) ** 0.5 for weight, vector in terms) / total
                mean = mean / sum(mean**2) ** 0.5 * length
            np.testing.assert_allclose(row, mean, rtol=1e-4, atol=1e-6)


def test_spelled_rows_are_means_of_what_the_encoder_makes_of_the_spelling():
    encoder = made(train_wordpiece([*LATIN, "unter"], 46))
    tokenizer = own_vocabulary(encoder, ["thebird thebird xthebird xthebird ჩიტს ჩიტს"], 60)
    rows = spelled_rows(encoder, tokenizer)
    pieces, ids = own_pieces(encoder, tokenizer), encoder.tokenizer.get_vocab()
    for name in names_per_piece(encoder):
        table = weights_of(encoder)[name]
        expected = {
            "thebird": table[encoder.tokenizer("thebird", add_special_tokens=False)["input_ids"]].mean(0),
            "##t": table[ids["##t"]],
            "ჩიტს": table[sorted(set(ids.values()) - set(encoder.tokenizer.all_special_ids))].mean(0),
        }
        for piece, row in expected.items():
            torch.testing.assert_close(rows[name][pieces.index(piece)], row)


@pytest.mark.parametrize("kind", ["Unigram", *WITH_BYTES])
def test_what_is_spelled_begins_a_word_only_where_the_piece_does(kind):
    encoder = made(KINDS[kind]())
    tokenizer = own_vocabulary(encoder, ["a the a the the"], 30)
    table, pieces = weights_of(encoder)[word_embeddings_name(encoder)], own_pieces(encoder, tokenizer)
    rows = spelled_rows(encoder, tokenizer)[word_embeddings_name(encoder)]
    for piece, spelled in (
        ("▁the", encoder.tokenizer.tokenize("a the")[len(encoder.tokenizer.tokenize("a")) :]),
        ("e", ["e"]),
    ):
        expected = table[encoder.tokenizer.convert_tokens_to_ids(spelled)].mean(0)
        torch.testing.assert_close(rows[pieces.index(piece)], expected)


def test_what_is_spelled_is_first_normalised():
    encoder = made(KINDS["lower-case WordPiece"]())
    tokenizer = own_vocabulary(encoder, ["mögen mögen", "xögen xögen"], 30)
    table, pieces = weights_of(encoder)[word_embeddings_name(encoder)], own_pieces(encoder, tokenizer)
    rows = spelled_rows(encoder, tokenizer)[word_embeddings_name(encoder)]
    for piece, letters in (("mögen", ["m", "##o", "##g", "##e", "##n"]), ("##ö", ["##o"])):
        expected = table[encoder.tokenizer.convert_tokens_to_ids(letters)].mean(0)
        torch.testing.assert_close(rows[pieces.index(piece)], expected)


def test_random_rows_have_mean_and_covariance_of_the_encoders():
    encoder = made(train_wordpiece(LATIN, 60))
    rows = random_rows(encoder, 40_000, 3, "de")
    ordinary = sorted(set(encoder.tokenizer.get_vocab().values()) - set(encoder.tokenizer.all_special_ids))
    for name in names_per_piece(encoder):
        table = weights_of(encoder)[name][ordinary].reshape(len(ordinary), -1)
        drawn = rows[name].reshape(40_000, -1)
        deviation = table.std(0).max()
        torch.testing.assert_close(drawn.mean(0), table.mean(0), rtol=0, atol=0.03 * deviation)
        torch.testing.assert_close(drawn.T.cov(), table.T.cov(), rtol=0, atol=0.05 * deviation**2)
    again, other, elsewhere = (random_rows(encoder, 9, *chosen) for chosen in ((3, "de"), (4, "de"), (3, "ka")))
    for name, row in random_rows(encoder, 9, 3, "de").items():
        assert torch.equal(row, again[name])
        assert not torch.equal(row, other[name]) and not torch.equal(row, elsewhere[name])
