import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.encoders.vocabulary import spelled_pieces
from babelscope.measures.formulas.overlap import (
    Coverage,
    coverage,
    english_like_contexts,
    english_like_pieces,
    shared_pieces,
)
from families import byte_level_tokenizer

WORDPIECE = train_wordpiece(["the cat sees кот", "the dog 猫 ."], 60)


def sentencepiece():
    pieces = ["<unk>", "▁the", "▁", "cat", "▁кот", "s", ".", "▁."]
    pipeline = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0))
    pipeline.pre_tokenizer, pipeline.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, unk_token="<unk>")  # noqa: S106


def test_pieces_of_every_kind_are_spelled_alike():
    assert spelled_pieces(sentencepiece()) == ["<unk>", "the", "▁", "##cat", "кот", "##s", ".", "."]
    byte_level = byte_level_tokenizer(["a cat a cat кот кот seesaws seesaws"] * 9, 280)
    spelling = spelled_pieces(byte_level)
    spelled = {piece: spelling[number] for piece, number in byte_level.get_vocab().items()}
    assert spelled["Ġcat"] == "cat"
    assert spelled["a"] == "##a"
    assert spelled["<|endoftext|>"] == "<|endoftext|>"
    assert spelled["ĠÐºÐ¾ÑĤ"] == "кот"
    assert spelled["Ð"] == "Ð"  # half a character
    assert spelled_pieces(WORDPIECE) == WORDPIECE.convert_ids_to_tokens(range(len(WORDPIECE)))


def test_shared_pieces_are_the_ones_that_both_have():
    other = train_wordpiece(["the cow 猫"], 40)
    assert shared_pieces(WORDPIECE, other) == set(WORDPIECE.get_vocab()) & set(other.get_vocab())
    assert shared_pieces(WORDPIECE, WORDPIECE) == set(WORDPIECE.get_vocab())
    assert shared_pieces(WORDPIECE, sentencepiece()) == {"the", "кот", "##s", "."} & set(WORDPIECE.get_vocab())


def test_english_like_pieces_are_ascii_letters():
    expected = {piece for piece in WORDPIECE.get_vocab() if re.fullmatch("(##)?[A-Za-z]+", piece)}
    assert english_like_pieces(WORDPIECE) == expected
    assert {"the", "##a"} <= expected
    assert not {"кот", "猫", "[CLS]", "."} & expected


@given(st.lists(st.lists(st.sampled_from(["the", "кот", "猫", ".", "sees", "dog"]), max_size=15), max_size=4))
def test_english_like_contexts_are_counted_one_by_one(lines):
    texts = [" ".join(words) for words in lines]
    contexts = []
    for text in texts:
        pieces = WORDPIECE.tokenize(text)
        contexts += [pieces[start : start + 10] for start in range(len(pieces) - 9)]
    english = [sum(bool(re.fullmatch("(##)?[A-Za-z]+", piece)) for piece in context) > 5 for context in contexts]
    share = english_like_contexts(WORDPIECE, texts)
    assert math.isnan(share) if not contexts else share == sum(english) / len(english)


@given(st.lists(st.lists(st.text("acdeghost猫котж.ü7", min_size=1, max_size=5), max_size=6), max_size=4))
def test_coverage_is_counted_word_by_word(sentences):
    found = coverage(WORDPIECE, sentences)
    words = [WORDPIECE.tokenize(word) for sentence in sentences for word in sentence]
    letters = {letter for sentence in sentences for word in sentence for letter in word if letter.isalnum()}
    if not words:
        assert found.words == 0 and math.isnan(found.unknown) and math.isnan(found.fertility)
        return
    assert found.words == len(words)
    assert found.unknown == sum("[UNK]" in pieces for pieces in words) / len(words)
    assert found.fertility == pytest.approx(sum(map(len, words)) / len(words))
    known = [letter for letter in letters if letter in WORDPIECE.get_vocab()]
    assert math.isnan(found.characters) if not letters else found.characters == len(known) / len(letters)


def test_a_byte_level_tokenizer_knows_everything():
    bytes_alone = byte_level_tokenizer([], 257)
    # 6 bytes; a space and 3 bytes; 3 bytes.
    assert coverage(bytes_alone, [["жук", "the"], ["猫"]]) == Coverage(3, unknown=0.0, fertility=13 / 3, characters=1.0)
