"""Every word that comes in goes out, whatever it is made of."""

import gzip

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from babelscope.core.errors import DataError
from babelscope.core.examples import Tree
from babelscope.corpora.bio import read_bio
from babelscope.corpora.conllu import read_conllu, word_lines
from babelscope.corpora.lines import CONTROL
from babelscope.corpora.raw_text import other_kind
from babelscope.corpora.unlabelled import (
    column_in_words,
    read_bio_words,
    read_conllu_words,
    read_plain_words,
    read_table,
    read_words,
)

LETTERS = st.characters(exclude_categories=["Cs"])
SENTENCES = st.lists(st.lists(st.text(LETTERS, min_size=1, max_size=8), min_size=1, max_size=6), min_size=1, max_size=5)


def split(sentences):
    """The words as plain text has them: nothing that separates words or lines is in one, and no control character."""
    words = [" ".join(sentence).split() for sentence in sentences]
    assume(all(words) and not words[0][0].startswith("\ufeff"))
    assume(not any(CONTROL.search(word) for one in words for word in one))
    return words


def test_a_control_character_is_refused_before_anything_is_predicted(tmp_path):
    (tmp_path / "in.txt").write_text("a good line\na bad\x08 one\n", encoding="utf-8")
    for read in (read_plain_words, read_bio_words):
        with pytest.raises(DataError, match=r"in.txt:2: control character '\\x08'"):
            read(tmp_path / "in.txt")


@given(SENTENCES)
def test_every_word_of_plain_text_is_in_the_conllu(tmp_path_factory, sentences):
    folder, words = tmp_path_factory.mktemp("plain"), split(sentences)
    assume(not other_kind([" ".join(one) for one in words]))  # `0 O` looks like BIO
    (folder / "in.txt").write_text("\n".join(map(" ".join, words)), encoding="utf-8", newline="\n")
    document = read_plain_words(folder / "in.txt")
    assert document.inputs == words
    document.write(folder / "out.conllu", [["NOUN"] * len(sentence) for sentence in words])
    again = read_conllu_words(folder / "out.conllu")
    assert again.inputs == words
    trees = [Tree(range(len(sentence)), ["root", *["dep"] * (len(sentence) - 1)]) for sentence in words]
    again.write(folder / "trees.conllu", trees)
    parsed = read_conllu(folder / "trees.conllu")
    assert [sentence.forms for sentence in parsed] == words
    assert [[word.head for word in sentence.words] for sentence in parsed] == [list(range(len(one))) for one in words]
    assert {tag for sentence in parsed for tag in sentence.upos} == {"NOUN"}


@given(SENTENCES)
def test_every_word_of_plain_text_is_in_the_bio(tmp_path_factory, sentences):
    folder, words = tmp_path_factory.mktemp("bio"), split(sentences)
    assume(words[0][-1][:2] not in ("O", "B-", "I-") and not other_kind([" ".join(one) for one in words]))
    (folder / "in.txt").write_text("\n".join(map(" ".join, words)), encoding="utf-8", newline="\n")
    document = read_bio_words(folder / "in.txt")
    assert document.inputs == words
    document.write(folder / "out.bio", [["B-PER"] * len(sentence) for sentence in words])
    assert [list(sentence.words) for sentence in read_bio(folder / "out.bio")] == words


def test_word_lines_leave_out_multiword_tokens_and_empty_nodes(tmp_path):
    rest = "\t_" * 8
    lines = ["# text = du la", f"1-2\tdu{rest}", f"1\tde{rest}", f"1.1\tx{rest}", f"2\tle{rest}", "", f"1\tla{rest}"]
    with gzip.open(tmp_path / "in.conllu.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join(lines))
    assert word_lines(tmp_path / "in.conllu.gz") == [[3, 5], [7]]
    document = read_conllu_words(tmp_path / "in.conllu.gz")
    assert document.inputs == [["de", "le"], ["la"]]
    document.write(tmp_path / "out", [["ADP", "DET"], ["DET"]])
    expected = [line.replace("\tde\t_\t_", "\tde\t_\tADP") for line in lines]
    expected = [line.replace("\tle\t_\t_", "\tle\t_\tDET").replace("\tla\t_\t_", "\tla\t_\tDET") for line in expected]
    assert (tmp_path / "out").read_text(encoding="utf-8") == "\n".join([*expected, "", ""])


@pytest.mark.parametrize("first", ["-DOCSTART- -X- O O", "-DOCSTART-\n\nthe O", "Paris NNP I-NP B-LOC", "the\tO"])
def test_a_file_that_begins_with_a_tagged_word_is_bio(first, tmp_path):
    columns = len(first.splitlines()[-1].split())
    rest = ["cat", *["O"] * (columns - 1)]
    (tmp_path / "in.txt").write_text(f"\n{first}\n\n" + ("\t" if "\t" in first else " ").join(rest) + "\n")
    assert read_bio_words(tmp_path / "in.txt").inputs[-1] == ["cat"]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["de:Angela", "de:Merkel", "de:kam"], ["Angela", "Merkel", "kam"]),
        (["zh-classical:a", "zh-classical:b:c"], ["a", "b:c"]),
        (["de:Angela", "kam"], ["de:Angela", "kam"]),
        (["de:Angela", "en:came"], ["de:Angela", "en:came"]),
        (["Re:"], ["Re:"]),
        (["re:", "re:vision"], ["re:", "re:vision"]),
    ],
)
def test_a_code_before_every_word_is_not_read_and_stays_in_the_file(words, read, tmp_path):
    """As WikiANN has it, whose words a study reads without it."""
    (tmp_path / "in.bio").write_text("".join(f"{word} O\n" for word in words))
    document = read_bio_words(tmp_path / "in.bio")
    assert document.inputs == [read]
    document.write(tmp_path / "out.bio", [["B-PER", *["O"] * (len(words) - 1)]])
    assert [list(sentence.words) for sentence in read_bio(tmp_path / "out.bio")] == [words]


@pytest.mark.parametrize("first", ["O", "the cat sat", "the cat B-", "the x I- x"])
def test_another_file_is_plain_text(first, tmp_path):
    (tmp_path / "in.txt").write_text(f"{first}\n")
    assert read_bio_words(tmp_path / "in.txt").inputs == [first.split()]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# id 1\nAnna B-PER\nis O\nhere O\n", "BIO"),
        ("Anna S-PER\nis O\nin O\nRome S-LOC\n", "BIO"),
        ("New B-LOC\n", None),
        ("Anna U-PER\nBad B-LOC\nEms L-LOC\n", "BIO"),
        ("Bad E-LOC\nis O\nhere O\n", "BIO"),
        ("Anna PER\nis O\nhere O\n", "BIO"),
        ("she o\nis o\nAnna B-PER\n", "BIO"),
        ("# id 1\nAnna NNP I-NP B-PER\nis VBZ I-VP O\n", "BIO"),
        ("# sent_id = 1\n1\tAnna\t_\tPROPN\t_\t_\t0\troot\t_\t_\n", "CoNLL-U"),
        ("1\tAnna\t_\tPROPN\t_\t_\t0\troot\t_\t_\n", "CoNLL-U"),
    ],
)
def test_what_is_neither_bio_nor_plain_text_is_refused(text, kind, tmp_path):
    """Its tags would be read as words."""
    (tmp_path / "in.txt").write_text(text)
    if kind is None:
        assert read_bio_words(tmp_path / "in.txt").inputs == [["New"]]
        return
    with pytest.raises(
        DataError, match=rf"looks like {kind}, .*give BIO, which begins with a word and one of the tags"
    ):
        read_bio_words(tmp_path / "in.txt")


def test_tags_are_written_as_they_are_scored(tmp_path):
    """An I-X that goes on nothing begins an entity."""
    (tmp_path / "in.txt").write_text("in Bad Ems SPD\n")
    read_bio_words(tmp_path / "in.txt").write(tmp_path / "out.bio", [["O", "I-LOC", "I-LOC", "I-ORG"]])
    assert (tmp_path / "out.bio").read_text() == "in\tO\nBad\tB-LOC\nEms\tI-LOC\nSPD\tB-ORG\n\n"


@pytest.mark.parametrize("name", ["in.csv", "in.json", "in.jsonl", "in.ndjson", "in.csv.gz", "in.JSONL", "in.txt"])
def test_json_and_csv_are_no_plain_texts(name, tmp_path):
    content = b'{"first": "a b"}\n{"first": "c"}\n'
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(DataError, match=r"(JSON|a table).* read .*here: give TSV with the header first, in a file"):
        read_table(tmp_path / name)


def test_a_table_keeps_its_other_columns_where_they_are(tmp_path):
    (tmp_path / "in.tsv").write_text("id\tlabel\tsecond\tfirst\n1\told\tb \ta\n2\t\tB\t A\n")
    document = read_table(tmp_path / "in.tsv", ("first", "second"))
    assert document.inputs == [("a", "b"), ("A", "B")]
    document.write(tmp_path / "out.tsv", ["new", 0.1])
    assert (tmp_path / "out.tsv").read_text() == "id\tlabel\tsecond\tfirst\n1\tnew\tb \ta\n2\t0.1\tB\t A\n"


@pytest.mark.parametrize(
    ("label", "predicted", "column", "before", "after"),
    [
        ("xpos", "NN", 4, "_", "NN"),
        ("feats:Number", "Sing", 5, "_", "Number=Sing"),
        ("feats:Number", "Sing", 5, "Case=Nom|Number=Plur|Tense=Past", "Case=Nom|Number=Sing|Tense=Past"),
        ("feats:Number", "Sing", 5, "abbr=Yes|Tense=Past", "abbr=Yes|Number=Sing|Tense=Past"),
        ("feats:Number", "_", 5, "Case=Nom|Number=Plur", "Case=Nom"),
        ("feats:Number", "_", 5, "Number=Plur", "_"),
        ("misc:Gloss", "cat", 9, "SpaceAfter=No", "Gloss=cat|SpaceAfter=No"),
        ("feats", "Case=Nom", 5, "Number=Plur", "Case=Nom"),
    ],
)
def test_labels_go_to_their_own_column(tmp_path, label, predicted, column, before, after):
    cells = ["1", "x", "x", "NOUN", "_", "_", "0", "root", "_", "_"]
    cells[column] = before
    (tmp_path / "in.conllu").write_text("\t".join(cells) + "\n\n")
    read_words(tmp_path / "in.conllu", label).write(tmp_path / "out.conllu", [[predicted]])
    cells[column] = after
    assert (tmp_path / "out.conllu").read_text() == "\t".join(cells) + "\n\n"


def test_it_is_said_where_labels_stand():
    assert column_in_words("upos") == "the column UPOS"
    assert column_in_words("feats:Number") == "the column FEATS, as Number"


def test_a_table_may_have_its_text_and_labels_in_columns_of_other_names(tmp_path):
    (tmp_path / "in.tsv").write_text("topic\ttitle\tbody\nold\ta\tb\n")
    document = read_table(tmp_path / "in.tsv", ("title", "body"), "topic")
    assert document.inputs == [("a", "b")]
    document.write(tmp_path / "out.tsv", ["new"])
    assert (tmp_path / "out.tsv").read_text() == "topic\ttitle\tbody\nnew\ta\tb\n"
    with pytest.raises(DataError, match="no column 'text' in the header, which has topic, title, body"):
        read_table(tmp_path / "in.tsv", ("text",))


@pytest.mark.parametrize("header", ["first\tfirst", "label\tfirst\tlabel"])
def test_a_table_that_has_a_column_twice_is_refused(tmp_path, header):
    (tmp_path / "in.tsv").write_text(f"{header}\n" + "\t".join("abc"[: header.count("\t") + 1]) + "\n")
    with pytest.raises(DataError, match=r"in\.tsv:1: 2 columns are named '(first|label)'"):
        read_table(tmp_path / "in.tsv")


@pytest.mark.parametrize("name", ["in.tsv", "in.tsv.gz"])
def test_a_table_of_one_column_is_no_plain_text(tmp_path, name):
    """Its header would be a text."""
    content = b"sentence\na b\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(DataError, match=r"in\.tsv.*: no column 'first' in the header, which has sentence"):
        read_table(tmp_path / name)
    (tmp_path / "in.txt").write_bytes(content)
    assert read_table(tmp_path / "in.txt").inputs == ["sentence", "a b"]
