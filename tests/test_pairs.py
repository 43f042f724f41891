import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError
from babelscope.core.examples import SentencePair
from babelscope.corpora.benchmarks import GLUE
from babelscope.corpora.pairs import Layout, read_pairs, write_pairs, written_layout

RTE = GLUE["RTE"].layout
SINGLE = GLUE["SST-2"].layout
STS = GLUE["STS-B"].layout
ALL_LANGUAGES = Layout("sentence1", "sentence2", "gold_label", {"neutral": "neutral"}, language="language")

SAMPLE = """\
index\tsentence1\tsentence2\tlabel
0\t"Hi," he said.\tHe spoke. \tentailment
1\t It's 5'10" tall.\tIt is "short\tnot_entailment
"""
EXPECTED = [
    SentencePair('"Hi," he said.', "He spoke.", "entailment"),
    SentencePair("It's 5'10\" tall.", 'It is "short', "not_entailment"),
]


@pytest.fixture
def file(tmp_path):
    """A function that writes a file and gives its path."""

    def write(content: str | bytes):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# What is read


@pytest.mark.parametrize(
    "content",
    [
        SAMPLE,
        gzip.compress(SAMPLE.encode(), mtime=0),
        "\ufeff" + SAMPLE,
        SAMPLE.replace("\n", "\r\n"),
        SAMPLE.removesuffix("\n"),
    ],
    ids=["plain", "gzip", "byte order mark", "CRLF", "no last line end"],
)
def test_pairs_are_read_and_quotes_are_text(file, content):
    assert read_pairs(file(content), RTE) == EXPECTED


def test_columns_go_by_their_names(file):
    shuffled = "label\tsentence2\tgenre\tsentence1\nentailment\tb\tnews\ta\n"
    assert read_pairs(file(shuffled), RTE) == [SentencePair("a", "b", "entailment")]


def test_single_sentences_have_no_second(file):
    assert read_pairs(file("sentence\tlabel\nso so \t0\n"), SINGLE) == [SentencePair("so so", None, "0")]


def test_cola_has_no_header(file):
    content = "gj04\t1\t\tThey drank the pub dry.\ngj04\t0\t*\tThey drank the pub.\n"
    found = read_pairs(file(content), GLUE["CoLA"].layout)
    assert found == [SentencePair("They drank the pub dry.", None, "1"), SentencePair("They drank the pub.", None, "0")]


def test_sts_has_no_header_and_now_and_then_more_columns(file):
    content = "news\tMSRpar\t2012\t0001\t3.800\ta\tb\nnews\tMSRpar\t2012\t0002\t0\tc\td\tsource\tsource\n"
    assert read_pairs(file(content), STS) == [SentencePair("a", "b", 3.8), SentencePair("c", "d", 0.0)]


def test_one_language_is_read_of_a_file_with_all(file):
    content = "language\tgold_label\tsentence1\tsentence2\nde\tneutral\ta\tb\nfr\tneutral\tc\td\n"
    assert read_pairs(file(content), ALL_LANGUAGES, "fr") == [SentencePair("c", "d", "neutral")]
    with pytest.raises(DataError, match="holds no example of language 'es'; its languages are de, fr"):
        read_pairs(file(content), ALL_LANGUAGES, "es")


# What is refused

HEADER = "index\tsentence1\tsentence2\tlabel\n"
STS_LINE = "news\tMSRpar\t2012\t1\t{}\ta\tb\n"


@pytest.mark.parametrize(
    "layout, content, fault",
    [
        (RTE, "", "1: no column 'sentence1' in the header, which has nothing"),
        (RTE, "index\tsentence1\tlabel\n", "1: no column 'sentence2' in the header, which has index, sentence1, label"),
        (RTE, HEADER.replace("\t", ","), "1: no column 'sentence1' in the header, which has index,sentence1"),
        (RTE, HEADER.replace("index", "label"), "1: 2 columns are named 'label' in the header, which has label, sent"),
        (RTE, HEADER, " holds no example"),
        (RTE, HEADER + "0\ta\tentailment\n", "2: 3 cells separated by tabs; expected 4"),
        (RTE, HEADER + "0\ta\tb\tc\tentailment\n", "2: 5 cells separated by tabs; expected 4"),
        (RTE, HEADER + "0\ta\tb\tentailment\n\n", "3: 1 cells separated by tabs; expected 4"),
        (
            RTE,
            HEADER + "0\ta\tb\tmaybe\n",
            "2: unknown label 'maybe' in column 'label'; expected entailment, not_",
        ),
        (RTE, HEADER + "0\ta\tb\t\n", "2: unknown label '' in column 'label'; expected entailment"),
        (RTE, HEADER + "0\ta\t \tentailment\n", "2: no text in column 'sentence2'"),
        (SINGLE, "sentence\tlabel\n\t1\n", "2: no text in column 'sentence'"),
        (STS, STS_LINE.format("high"), "1: the score 'high' in column 5 is no number"),
        (STS, STS_LINE.format("5.1"), "1: the score 5.1 in column 5 is not between 0 and 5"),
        (STS, STS_LINE.format("nan"), "1: the score 'nan' in column 5 is no number"),
        (STS, STS_LINE.format("0_5"), "1: the score '0_5' in column 5 is no number"),
        (STS, STS_LINE.format("1e999"), "1: the score 1e999 in column 5 is not between 0 and 5"),
        (STS, "news\tMSRpar\t2012\t1\t5\ta\n", "1: 6 cells separated by tabs; expected at least 7"),
        (GLUE["CoLA"].layout, "gj04\t1\tThey drank.\n", "1: 3 cells separated by tabs; expected 4"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(file, layout, content, fault):
    path = file(content)
    with pytest.raises(DataError) as caught:
        read_pairs(path, layout)
    assert str(caught.value).startswith(f"{path}:{fault}")


def test_lines_that_end_in_cr_alone_are_named_and_not_repeated(file):
    """The whole file was the header, and stood in the message."""
    path = file(HEADER.replace("\n", "\r") + "1\ta\tb\tentailment\r" * 400)
    with pytest.raises(DataError, match=r"\[\.\.\.\] .*its lines end in CR alone, write them with LF") as caught:
        read_pairs(path, Layout("first", "second", "gold", {"a": "a"}))
    assert len(str(caught.value)) < 800


def test_other_encodings_and_damage_are_refused(file):
    with pytest.raises(DataError, match=":2: not UTF-8"):
        read_pairs(file(SAMPLE.encode().replace(b"Hi", b"\xff")), RTE)
    with pytest.raises(DataError, match="gzip data is damaged"):
        read_pairs(file(gzip.compress(SAMPLE.encode(), mtime=0)[:-9]), RTE)


TEXT = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(TEXT, TEXT, st.sampled_from(["0", "1"])), min_size=1), st.booleans())
def test_what_is_written_is_read(tmp_path_factory, rows, pair):
    examples = [SentencePair(a.strip(), b.strip() if pair else None, label) for a, b, label in rows]
    path = tmp_path_factory.mktemp("pairs") / "file.tsv"
    write_pairs(path, examples)
    assert read_pairs(path, written_layout(pair, ("0", "1"))) == examples


@given(st.data())
def test_any_damage_is_read_or_refused_with_the_file(tmp_path_factory, data):
    """Bytes changed, added or removed at any place: examples in full, or a DataError."""
    content = bytearray(SAMPLE.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.mktemp("damaged") / "file.tsv"
    path.write_bytes(content)
    try:
        examples = read_pairs(path, RTE)
    except DataError as error:
        assert str(error).startswith(f"{path}:")
    else:
        assert all(one.first and one.second and one.label in ("entailment", "not_entailment") for one in examples)
        assert examples
