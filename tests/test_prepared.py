"""What is kept of prepared data: the same to the last bit, and never what it should not be."""

import gc
import hashlib
import os
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.collection import uncollected
from babelscope.core.errors import DataError
from babelscope.core.examples import UPOS, Multiword, Sentence, Word
from babelscope.corpora import parsed, prepared
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.lines import content_digest
from babelscope.corpora.parsed_table import as_table, of_table
from babelscope.encoders import encoded
from babelscope.encoders.encoded import encoded_words
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.encoders.windows import Windows, encode_words
from babelscope.tasks.parse import Parser
from babelscope.tasks.tag import Tagger
from babelscope.world import World
from treebank import EXPECTED, SAMPLE

WORDS = st.builds(Word, st.text(), st.text(), st.integers(0, 99), st.text(), st.text(), misc=st.text())
TOKENS = st.builds(Multiword, st.integers(1, 9), st.integers(1, 9), st.text())
SENTENCES = st.builds(
    Sentence, st.text(), st.lists(WORDS).map(tuple), st.lists(TOKENS).map(tuple), st.none() | st.text()
)


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """The folder of tables, of which none is too small to be kept."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "caches"))
    monkeypatch.setattr(prepared, "LEAST", 0)
    monkeypatch.setattr(encoded, "MANY", 1)
    parsed.forget()
    yield tmp_path / "caches" / "prepared"
    parsed.forget()


def refused(*given):
    pytest.fail("it was made again")


def kept(made_of, make):
    return prepared.prepared(made_of, make, as_table, of_table)


@given(st.lists(SENTENCES))
def test_sentences_come_back_from_their_table(sentences):
    assert of_table(as_table(sentences)) == sentences


def test_what_is_kept_is_not_made_again(tables):
    assert kept(["a", 1], lambda: EXPECTED) == EXPECTED
    assert kept(["a", 1], refused) == EXPECTED
    assert kept(["a", 2], lambda: EXPECTED[:1]) == EXPECTED[:1]
    assert len(list(tables.iterdir())) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"PRON", b"NOUN"),
        lambda content: content + b"\0",
        lambda content: SAMPLE.encode(),
    ],
    ids=["empty", "a byte less", "half", "another tag", "a byte more", "something else"],
)
def test_what_is_damaged_is_made_again(tables, damage):
    kept("a", lambda: EXPECTED)
    [file] = tables.iterdir()
    whole = file.read_bytes()
    assert damage(whole) != whole
    file.write_bytes(damage(whole))
    assert kept("a", lambda: EXPECTED[:1]) == EXPECTED[:1]
    assert kept("a", refused) == EXPECTED[:1]


def test_another_table_under_the_name_of_this_one_is_not_taken_for_it(tables):
    kept("a", lambda: EXPECTED)
    [file] = tables.iterdir()
    kept("b", lambda: EXPECTED[:1])
    [other] = set(tables.iterdir()) - {file}
    other.replace(file)
    assert kept("a", lambda: EXPECTED[1:]) == EXPECTED[1:]


def test_without_a_folder_to_write_everything_is_made(tables):
    tables.parent.write_text("a file")
    assert kept("a", lambda: EXPECTED) == EXPECTED


def test_what_fails_leaves_nothing(tables):
    with pytest.raises(ZeroDivisionError):
        kept("a", lambda: 1 / 0)
    assert not tables.exists()


def test_small_tables_are_not_worth_a_file(tables, monkeypatch):
    monkeypatch.setattr(prepared, "LEAST", 10**6)
    assert kept("a", lambda: EXPECTED) == EXPECTED
    assert not tables.exists()


def test_what_was_not_used_for_longest_goes_first(tables, monkeypatch):

    for number, name in enumerate("abc"):
        kept(name, lambda: EXPECTED)
        [newest] = [file for file in tables.iterdir() if file.stat().st_mtime > 100]
        os.utime(newest, (number, number))
    kept("a", refused)  # is used now
    monkeypatch.setattr(prepared, "LIMIT", 3.5 * newest.stat().st_size)
    kept("d", lambda: EXPECTED)
    for name in "acd":
        kept(name, refused)
    assert kept("b", lambda: []) == []


# --- sentences of treebanks


def test_a_file_is_parsed_once_on_a_machine(tmp_path, monkeypatch):
    path = tmp_path / "x.conllu"
    path.write_text(SAMPLE)
    sha256 = content_digest(path)
    first, some = parsed.parsed_sentences(path, sha256=sha256), parsed.parsed_sentences(path, 1, sha256=sha256)
    parsed.forget()
    monkeypatch.setattr(parsed, "read_conllu", refused)
    assert parsed.parsed_sentences(path, sha256=sha256) == first == EXPECTED
    assert some == EXPECTED[:1]


def test_what_a_file_holds_is_not_kept_under_the_digest_of_what_it_held(tmp_path, tables):
    path = tmp_path / "x.conllu"
    path.write_text(SAMPLE)
    before = content_digest(path)
    path.write_text(SAMPLE + "\n")
    with pytest.raises(DataError, match="the file has changed since the study was planned"):
        parsed.parsed_sentences(path, sha256=before)
    assert not any(tables.glob("*"))


def test_what_is_read_of_a_file_is_what_kept_tables_have(tmp_path):
    """Where this fails since `read_conllu` gives something else: raise `READING`, or old tables count as new ones."""
    path = tmp_path / "x.conllu"
    path.write_text(SAMPLE)
    found = hashlib.sha256(repr(read_conllu(path)).encode()).hexdigest()[:16]
    assert (parsed.READING, found) == (2, "afb7e9cd94283425")


# --- windows


def test_what_is_encoded_of_words_is_what_kept_tables_have():
    """Where this fails since `encode_words` gives something else: raise `ENCODING`, or old tables count as new ones."""
    tokenizer = load_encoder(SHIPPED / "world-natural").tokenizer
    table = encoded._as_table(encode_words(tokenizer, [one.forms for one in World().treebank("qaa", "dev", 9)], 12))
    found = hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()[:16]
    assert (encoded.ENCODING, found) == (1, "b3358c90a65ae7e4")


def same(first: Windows, second: Windows) -> bool:
    def arrays(windows):
        pieces = windows.pieces
        return [
            pieces.ids.numpy(), pieces.starts.numpy(), *windows.owned, *windows.places,
            windows.sentence_starts, windows.unknown, windows.widths,
        ]  # fmt: skip

    pairs = list(zip(arrays(first), arrays(second), strict=True))
    alike = all(one.dtype == other.dtype and np.array_equal(one, other) for one, other in pairs)
    return alike and first.pieces.padding_id == second.pieces.padding_id


@pytest.fixture
def words(tagged):
    """Sentences, one that is read in several windows, one that is empty, one with a word that is unknown."""
    return [*(one.words for one in tagged[:9]), [w for one in tagged for w in one.words][:60], [], ["the", "日本"]]


def test_windows_are_encoded_once_on_a_machine(tokenizer, words, monkeypatch):
    made = encode_words(tokenizer, words, 16)
    assert len(made.owned) > len(words) and made.unknown.any() and not made.unknown.all()
    assert same(encoded_words(tokenizer, words, 16), made)
    monkeypatch.setattr(encoded, "encode_words", refused)
    found = encoded_words(tokenizer, [tuple(each) for each in words], 16)
    assert same(found, made)
    found.pieces.ids[0] = 0  # as what is made can be


@pytest.mark.parametrize("change", ["length", "words", "order", "cut", "piece", "padding"])
def test_windows_of_something_else_are_others(tokenizer, words, change):

    encoded_words(tokenizer, words, 16)
    other, length = deepcopy(tokenizer), 17 if change == "length" else 16
    if change == "words":
        words = [*words[:-1], ["the", "cat"]]
    if change == "order":
        words = words[::-1]
    if change == "cut":  # the same text
        words = [[*words[0][:-2], " ".join(words[0][-2:])], *words[1:]]
    if change == "piece":
        other.add_tokens(["日本"])
    if change == "padding":
        other.pad_token = other.mask_token
    assert same(encoded_words(other, words, length), encode_words(other, words, length))


def test_a_tokenizer_with_code_of_its_own_is_not_looked_up(tokenizer, words, tables):
    class Own(type(tokenizer)):
        pass

    own = Own(tokenizer_object=tokenizer.backend_tokenizer, unk_token="[UNK]", pad_token="[PAD]")  # noqa: S106
    assert same(encoded_words(own, words, 16), encode_words(tokenizer, words, 16))
    assert not tables.exists()


@pytest.mark.parametrize("kind", [Parser, partial(Tagger, labels=UPOS)])
def test_of_text_to_predict_nothing_is_kept(tables, kind):
    model = kind(load_encoder(SHIPPED / "world-natural")).eval()
    assert len(model.predict([["one", "two"]])) == 1
    assert not tables.exists()


@pytest.mark.parametrize("before", [True, False])
def test_garbage_is_searched_for_again_as_it_was_before(before):
    (gc.enable if before else gc.disable)()
    try:
        with pytest.raises(DataError), uncollected():
            with uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise DataError("file", None, "malformed")
        assert gc.isenabled() is before
    finally:
        gc.enable()
