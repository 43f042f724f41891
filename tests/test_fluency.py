"""Which of two texts an encoder reads."""

from __future__ import annotations

import pytest
from transformers import tokenization_utils_base

from babelscope.encoders.fluency import pieces_a_letter, seem_exchanged
from babelscope.encoders.load import load_encoder
from babelscope.world import World
from command_line import babelscope

PAIRS = World().parallel_text("qaa", "qai", 100)
KNOWN, FOREIGN = ([pair[side] for pair in PAIRS] for side in (0, 1))


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("world-natural")


def test_pieces_are_counted_by_letters_and_unknown_ones_by_theirs(encoder):
    tokenizer, pieces, letters = encoder.tokenizer, 0, 0
    for word in " ".join([*KNOWN, "ჯჯჯ"]).split():
        own = tokenizer.tokenize(word)
        pieces += len(word) if own == [tokenizer.unk_token] else len(own)
        letters += len(word)
    assert tokenizer.tokenize("ჯჯჯ") == [tokenizer.unk_token]
    assert pieces_a_letter(encoder, [*KNOWN, "ჯჯჯ"]) == pytest.approx(pieces / letters)


def test_what_is_cut_more_finely_is_hardly_the_language_that_is_read(encoder):
    assert seem_exchanged(encoder, FOREIGN, KNOWN)
    assert not seem_exchanged(encoder, KNOWN, FOREIGN)
    assert not seem_exchanged(encoder, KNOWN, KNOWN)


def test_of_text_without_spaces_or_without_letters_nothing_is_said(encoder):
    assert not seem_exchanged(encoder, ["".join(sentence.split()) for sentence in FOREIGN], KNOWN)
    assert not seem_exchanged(encoder, [""], KNOWN) and not seem_exchanged(encoder, FOREIGN, [""])


@pytest.mark.parametrize("first", [0, 1])
def test_columns_that_are_exchanged_are_asked_about(tmp_path, first):
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"{pair[first]}\t{pair[1 - first]}\n" for pair in PAIRS), encoding="utf-8")
    languages = ("--language", "new", "--source", "qaa")
    answer = babelscope("bring-in", "world-natural", *languages, "--parallel", table, "-o", tmp_path / "made")
    assert answer.status == 0, answer.errors
    assert ("\nnote: the model reads what is given as new better" in answer.output) == bool(first)


def test_nothing_is_said_of_long_sentences(encoder, monkeypatch):
    """Which are counted here, and not read by the encoder."""
    said = []
    monkeypatch.setattr(tokenization_utils_base.logger, "warning", lambda message, *_: said.append(message))
    monkeypatch.setattr(encoder.tokenizer, "model_max_length", 3)
    assert pieces_a_letter(encoder, ["the cat sees the dog"]) > 0 and said == []
