"""Predictions written back: as many words as came in, and reading gives what was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.write import with_trees, with_upos, write_pairs
from babelscope.errors import InputError
from babelscope.text import UPOS, SentencePair
from test_conllu import EXPECTED, sentences


@given(st.lists(st.tuples(sentences(), sentences()).filter(lambda two: len(two[0].words) >= len(two[1].words))))
def test_only_what_was_predicted_changes(pairs):
    given_sentences = [gold for gold, _ in pairs]
    upos = [[UPOS[len(word.form) % len(UPOS)] for word in gold.words] for gold in given_sentences]
    flat = [([0] + [1] * (len(gold.words) - 1), ["x"] * len(gold.words)) for gold in given_sentences]
    predicted = with_trees(with_upos(given_sentences, upos), flat)
    assert [one.upos for one in predicted] == upos
    assert [[word.head for word in one.words] for one in predicted] == [heads for heads, _ in flat]
    assert [[word.deprel for word in one.words] for one in predicted] == [deprels for _, deprels in flat]
    kept = [(one.id, one.forms, one.multiwords) for one in predicted]
    assert kept == [(one.id, one.forms, one.multiwords) for one in given_sentences]


def test_predictions_are_read_back(tmp_path):
    flat = [([0] + [1] * (len(one.words) - 1), ["root"] + ["dep"] * (len(one.words) - 1)) for one in EXPECTED]
    predicted = with_trees(with_upos(EXPECTED, [["X"] * len(one.words) for one in EXPECTED]), flat)
    write_conllu(tmp_path / "x.conllu", predicted)
    assert read_conllu(tmp_path / "x.conllu") == predicted != EXPECTED
    text = (tmp_path / "x.conllu").read_text(encoding="utf-8")
    assert "# sent_id = h-1\n" in text and "\n3-4\tau\t" in text


def test_a_word_without_a_prediction_is_refused():
    upos = [one.upos for one in EXPECTED]
    with pytest.raises(InputError, match="sentences: 2, but 1 predictions"):
        with_upos(EXPECTED, upos[:1])
    with pytest.raises(InputError, match="sentence h-2: words: 7, but 6 parts of speech"):
        with_upos(EXPECTED, [upos[0], upos[1][:-1]])
    with pytest.raises(InputError, match="sentence h-1: words: 6, but 7 heads"):
        with_trees(EXPECTED[:1], [([0] * 7, ["dep"] * 6)])
    with pytest.raises(InputError, match="sentence h-1: words: 6, but 5 dependency relations"):
        with_trees(EXPECTED[:1], [([0] * 6, ["dep"] * 5)])


CELLS = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), max_size=10)
LABELS = st.sampled_from(["entailment", "neutral"]) | st.floats(0, 5)


PAIRS = st.lists(st.builds(SentencePair, CELLS, CELLS, LABELS))
SINGLE = st.lists(st.builds(SentencePair, CELLS, st.none(), LABELS), min_size=1)


@given(PAIRS | SINGLE)
def test_pairs_are_read_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("law") / "x.tsv"
    write_pairs(path, pairs)
    header, *lines = path.read_bytes().decode().removesuffix("\n").split("\n")
    names = ["first", "label"] if pairs and pairs[0].second is None else ["first", "second", "label"]
    assert header.split("\t") == names
    read = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
    assert [(one["first"], one.get("second")) for one in read] == [pair[:2] for pair in pairs]
    labels = [type(pair.label)(one["label"]) for one, pair in zip(read, pairs, strict=True)]
    assert labels == [pair.label for pair in pairs]


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\r\nb"])
def test_a_text_that_would_break_the_table_is_refused(tmp_path, text):
    path = tmp_path / "x.tsv"
    for pair in (SentencePair(text, "b", "0"), SentencePair("a", text, "0"), SentencePair("a", None, text)):
        with pytest.raises(InputError, match=r"example 1 cannot be written as TSV: .*holds a tab or the end of a line"):
            write_pairs(path, [pair])
    with pytest.raises(InputError, match="pairs and single texts"):
        write_pairs(path, [SentencePair("a", "b", "0"), SentencePair("a", None, "0")])
    assert not path.exists()
