"""Sentence pairs written as TSV: reading gives what was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair
from babelscope.corpora.pairs import write_pairs

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
