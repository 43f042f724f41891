"""New pieces in a vocabulary: what they are, what they weigh, and what stays."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from babelscope.core.errors import InputError
from babelscope.encoders.extend import extend_vocabulary, new_pieces, words_of
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.segmenter import BYTES, NewPiece, Segmenter
from babelscope.encoders.state import names_per_piece, weights_of
from families import DECODERS, FAMILIES
from processes import outputs_of
from tokenizer_kinds import FAMILY_OF, GEORGIAN, KINDS, LATIN, WITH_BYTES, kinds, made


def encoder_of(kind: str) -> Encoder:
    return made(KINDS[kind](), FAMILY_OF[kind])


def added_pieces(before: Encoder, after: Encoder) -> dict[str, int]:
    old = before.tokenizer.get_vocab()
    return {piece: number for piece, number in after.tokenizer.get_vocab().items() if piece not in old}


def pieces_of(tokenizer: PreTrainedTokenizerBase, lines: list[str]) -> Counter[int]:
    return Counter(number for ids in tokenizer(lines, add_special_tokens=False)["input_ids"] for number in ids)


@pytest.mark.parametrize(
    ("kind", "family"), [*FAMILY_OF.items(), *(("WordPiece", family) for family in FAMILIES if family != "bert")]
)
def test_old_pieces_keep_ids_and_weights_and_nothing_else_changes(kind, family):
    before = made(KINDS[kind](), family)
    weights = {name: weight.clone() for name, weight in weights_of(before).items()}
    vocabulary = before.tokenizer.get_vocab()
    after = extend_vocabulary(before, LATIN + GEORGIAN, 12)
    assert {piece: after.tokenizer.get_vocab()[piece] for piece in vocabulary} == vocabulary
    assert before.tokenizer.get_vocab() == vocabulary and len(after.tokenizer) == len(before.tokenizer) + 12
    for name, weight in weights_of(after).items():
        assert torch.equal(weight[: len(weights[name])], weights[name]), name
        assert (len(weight) == len(weights[name]) + 12) == (name in names_per_piece(before)), name
    assert all(torch.equal(weight, weights[name]) for name, weight in weights_of(before).items())
    assert after.model.config.vocab_size == len(after.tokenizer)
    assert len(names_per_piece(before)) == (1 if family in DECODERS else 2)


def places(tokenizer: PreTrainedTokenizerBase, line: str) -> list[tuple[int, int, int]]:
    """Each piece of a line with where it begins and ends."""
    encoded = tokenizer(line, add_special_tokens=False, return_offsets_mapping=True)
    return [(number, *place) for number, place in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)]


@kinds
def test_new_rows_are_means_of_those_of_the_pieces_before(kind):
    """The oracle: what the old tokenizer makes of the same letters of the text."""
    before = encoder_of(kind)
    after = extend_vocabulary(before, LATIN * 2, 8)
    found: dict[int, list[int]] = {}
    for line in LATIN:
        old = places(before.tokenizer, line)
        for number, start, end in places(after.tokenizer, line):
            found[number] = [one for one, first, last in old if start <= first and last <= end]
    weights, new = weights_of(before), weights_of(after)
    added = added_pieces(before, after)
    assert len(added) == 8
    for piece, number in added.items():
        if "BPE" in kind and number not in found:
            continue  # only longer ones are made of it
        for name in names_per_piece(before):
            torch.testing.assert_close(new[name][number], weights[name][found[number]].mean(0), msg=piece)


@pytest.mark.parametrize("kind", ["WordPiece", "lower-case WordPiece", "Unigram"])
def test_a_script_that_there_was_nothing_of_becomes_covered(kind):
    before = encoder_of(kind)
    after = extend_vocabulary(before, [*LATIN, *GEORGIAN * 2], 45)
    unknown = before.tokenizer.unk_token_id
    assert unknown in before.tokenizer("კატა")["input_ids"]
    assert unknown not in pieces_of(after.tokenizer, GEORGIAN)
    assert unknown not in pieces_of(after.tokenizer, ["კატახედავს ხეკატა"]), "words that the text does not have"
    weights, new = weights_of(before), weights_of(after)
    letter = after.tokenizer.convert_tokens_to_ids("კ")
    ordinary = sorted(set(before.tokenizer.get_vocab().values()) - set(before.tokenizer.all_special_ids))
    for name in names_per_piece(before):
        torch.testing.assert_close(new[name][letter], weights[name][ordinary].mean(0))


def test_pieces_are_learned_as_the_tokenizer_normalises_text():
    after = extend_vocabulary(encoder_of("lower-case WordPiece"), ["Élan ÉLAN élan elan Щи щи"], 7)
    added = added_pieces(encoder_of("lower-case WordPiece"), after)
    assert {"щ", "##и", "elan", "щи"} <= set(added) and not any("É" in piece or "L" in piece for piece in added)
    assert after.tokenizer.tokenize("ÉLAN Щи") == ["elan", "щи"]


def test_the_first_merge_saves_the_most_pieces():
    before = encoder_of("lower-case WordPiece")
    lines = [f"{line} there thence other" for line in LATIN]
    counts: Counter[str] = Counter()
    for line in lines:
        for word in line.split():
            cut = before.tokenizer.tokenize(word)
            counts.update(one + two.removeprefix("##") for one, two in pairwise(cut))
    (first,) = added_pieces(before, extend_vocabulary(before, lines, 1))
    assert counts[first] == max(counts.values()) > 6


WORDS = st.lists(st.text("abcжქ", min_size=1, max_size=6), min_size=1, max_size=12)


@settings(max_examples=25)
@given(WORDS, st.integers(1, 12))
@pytest.mark.parametrize("kind", ["lower-case WordPiece", "Unigram", "Unigram with bytes"])
def test_every_frequent_character_is_known(kind, words, count):
    tokenizer, lines = KINDS[kind](), [" ".join(words)] * 2
    old = Segmenter.of(tokenizer)
    pieces = new_pieces(old, words_of(tokenizer.backend_tokenizer, lines), count)
    after = old.extended(pieces).put_into(tokenizer)
    assert len({piece.spelling for piece in pieces}) == len(pieces) <= count
    assert {piece: after.get_vocab()[piece] for piece in old.ids} == old.ids
    if len(pieces) < count:
        assert old.lacking.isdisjoint(pieces_of(after, lines))


@settings(max_examples=25)
@given(WORDS)
@example(["b", "ж", "ca", "ca", "acb", "cba", "babcb", "aaaaaa"])
@pytest.mark.parametrize("kind", ["lower-case WordPiece", "Unigram", "Unigram with bytes"])
def test_of_all_that_there_are_every_new_piece_is_used(kind, words):
    """Of the first few one may be used only beside another that is not among them."""
    tokenizer, lines = KINDS[kind](), [" ".join(words)] * 2
    old = Segmenter.of(tokenizer)
    pieces = new_pieces(old, words_of(tokenizer.backend_tokenizer, lines), 1000)
    after = old.extended(pieces).put_into(tokenizer)
    used = pieces_of(after, lines)
    assert all(used[after.get_vocab()[piece.spelling]] for piece in pieces if piece.pair)
    assert old.lacking.isdisjoint(used)


@settings(max_examples=25)
@given(WORDS, st.integers(1, 12))
@kinds
def test_pieces_that_no_word_has_in_it_make_no_difference(kind, words, count):
    """The oracle: the tokenizer with all of its pieces."""
    tokenizer = KINDS[kind]()
    whole = Segmenter.of(tokenizer)
    counted = words_of(tokenizer.backend_tokenizer, [*LATIN, " ".join(words)] * 2)
    old = whole.extended(new_pieces(whole, counted, count))
    less = old.within(counted)
    assert less.segment(list(counted)) == old.segment(list(counted))
    assert less.ids.items() <= old.ids.items()
    least = old.within(["the"])
    assert least.ids.keys() < less.ids.keys()
    likely = [each.extended([NewPiece("ყ", ("ყ",))]).scores["ყ"] for each in (old, less, least)]
    assert len(set(likely)) == 1


with_bytes = pytest.mark.parametrize("kind", WITH_BYTES)


@settings(max_examples=25)
@given(WORDS, st.integers(1, 12))
@with_bytes
def test_pieces_are_of_one_word_and_of_no_bytes(kind, words, count):
    tokenizer, lines = KINDS[kind](), [" ".join(words), "  ".join(["", *words])]
    counted = words_of(tokenizer.backend_tokenizer, lines)
    old = Segmenter.of(tokenizer)
    pieces = new_pieces(old, counted, count)
    assert not any("▁" in piece.spelling[1:] or ">" in piece.spelling for piece in pieces)
    if len(pieces) < count:
        after = old.extended(pieces).put_into(tokenizer)
        assert old.lacking.isdisjoint(pieces_of(after, lines))
        assert [after.decode(after(line)["input_ids"], skip_special_tokens=True).split() for line in lines] == [
            words
        ] * 2
        by_word = [number for word in counted for number in old.extended(pieces).segment([word])[0] * counted[word]]
        assert Counter(by_word) == pieces_of(after, lines), "words are cut alike in sentences, which nothing splits"


@with_bytes
def test_what_was_cut_into_bytes_is_the_mean_of_their_rows(kind):
    before = encoder_of(kind)
    after = extend_vocabulary(before, [*LATIN, *GEORGIAN * 2], 45)
    assert Segmenter.of(before.tokenizer).lacking.isdisjoint(pieces_of(after.tokenizer, GEORGIAN))
    added = {piece: number for piece, number in added_pieces(before, after).items() if not re.search("[a-z]", piece)}
    assert len(added) >= 20 and BYTES[0] not in added
    for piece, number in added.items():
        spelled = [BYTES[byte] for character in piece.removeprefix("▁") for byte in character.encode()]
        ids = before.tokenizer.convert_tokens_to_ids([*"▁" * piece.startswith("▁"), *spelled])
        for name in names_per_piece(before):
            torch.testing.assert_close(weights_of(after)[name][number], weights_of(before)[name][ids].mean(0))


def test_marks_of_the_text_are_no_words():
    before = encoder_of("WordPiece")
    after = extend_vocabulary(before, [f"{line} [SEP] {line}" for line in GEORGIAN], 60)
    assert not any(mark in piece for piece in added_pieces(before, after) for mark in ("[", "]", "SEP"))


@kinds
def test_it_is_saved_and_loaded_again(kind, tmp_path):
    before = encoder_of(kind)
    after = extend_vocabulary(before, LATIN + GEORGIAN, 10)
    after.tokenizer(["a", "the bird"], truncation=True, max_length=5, padding=True)
    save_encoder(after, tmp_path)
    again = load_encoder(tmp_path)
    assert again.tokenizer.get_vocab() == after.tokenizer.get_vocab()
    for line in LATIN + GEORGIAN:
        assert again.tokenizer(line)["input_ids"] == after.tokenizer(line)["input_ids"]
    assert again.tokenizer.backend_tokenizer.truncation is None
    for name, weight in weights_of(after).items():
        assert torch.equal(weight, weights_of(again)[name]), name


@kinds
def test_pieces_added_beside_the_model_and_rows_to_spare_stay(kind):
    tokenizer = KINDS[kind]()
    tokenizer.add_tokens(["[BESIDE]"])
    beside, size = tokenizer.convert_tokens_to_ids("[BESIDE]"), len(tokenizer)
    before = made(tokenizer, vocabulary=size + 3)
    after = extend_vocabulary(before, ["a bird [BESIDE] a bird", *LATIN, *GEORGIAN], 5)
    assert after.tokenizer.convert_tokens_to_ids("[BESIDE]") == beside
    assert sorted(added_pieces(before, after).values()) == list(range(size, size + 5))
    assert beside in after.tokenizer("a bird [BESIDE] a bird")["input_ids"]
    for name in names_per_piece(before):
        assert len(weights_of(after)[name]) == size + 5
        assert torch.equal(weights_of(after)[name][:size], weights_of(before)[name][:size])


PROGRAM = """
import hashlib, random
from babelscope.encoders.extend import new_pieces, words_of
from babelscope.encoders.segmenter import BYTES, NewPiece, Segmenter
from babelscope.encoders.tokenizer import train_wordpiece
chance = random.Random(0)
words = ["".join(chance.choice("abcdefghijклмноп") for _ in range(chance.randint(1, 8))) for _ in range(300)]
tokenizer = train_wordpiece(["abcdefghij"] * 3 + words[:20], 90)
lines = [" ".join(chance.choices(words, k=9)) + " ." for _ in range(300)]
words = words_of(tokenizer.backend_tokenizer, lines)
print(hashlib.sha256(repr(new_pieces(Segmenter.of(tokenizer), words, 200)).encode()).hexdigest())
"""


def test_every_process_learns_the_same_pieces():
    (output,) = outputs_of(PROGRAM, 2)
    assert len(output) == 64


def test_what_gives_no_piece_is_refused(encoder):
    with pytest.raises(InputError, match=r"new_pieces=9: 2 words of text give tiny no new piece"):
        extend_vocabulary(encoder, ["the cat"], 9)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, "a")))
    with pytest.raises(InputError, match=r"type WordLevel; pieces can be added to WordPiece, BPE, Unigram"):
        extend_vocabulary(replace(encoder, tokenizer=tokenizer), ["a b"], 9)
