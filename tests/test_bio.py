import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Tagged
from babelscope.corpora.bio import read_bio, repaired, split_tag, write_bio
from babelscope.corpora.lines import LONGEST_LINE
from entity_file import EXPECTED, HARMLESS, SAMPLE, real_file


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "x.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_words_and_tags_are_read(file):
    assert read_bio(file(SAMPLE)) == EXPECTED


@pytest.mark.parametrize("change", HARMLESS)
def test_harmless_differences_do_not_matter(file, change):
    changed = change(SAMPLE)
    assert changed != SAMPLE
    assert read_bio(file(changed), prefix="wo:") == EXPECTED
    assert read_bio(file(gzip.compress(changed.encode())), prefix="wo:") == EXPECTED


def test_the_scheme_of_conll_2003_reads_as_bio(file):
    """There an entity begins with I-, unless it follows another one of the same type."""
    path = file("Wolff NNP I-NP I-PER\n, , O O\nMay NNP I-NP I-LOC\nRome NNP I-NP B-LOC\nPio NNP I-NP I-PER\n")
    assert read_bio(path)[0].labels == ["B-PER", "O", "B-LOC", "B-LOC", "B-PER"]


def test_a_word_may_contain_a_space_between_tabs(file):
    assert read_bio(file("10 000\tB-DATE\nans\tI-DATE\n")) == [Tagged(["10 000", "ans"], ["B-DATE", "I-DATE"])]


def test_types_are_mapped_after_the_repair(file):
    path = file("a B-GPE\nb I-LOC\nc I-DATE\nd I-DATE\ne B-work-of-art\n")
    read = read_bio(path, ("LOC", "ART"), {"GPE": "LOC", "DATE": "O", "work-of-art": "ART"})
    assert read[0].labels == ["B-LOC", "B-LOC", "O", "O", "B-ART"]


def test_a_type_outside_the_inventory_is_refused_with_its_line(file):
    path = file(SAMPLE)
    assert read_bio(path, ("DATE", "LOC", "ORG", "PER")) == EXPECTED
    with pytest.raises(DataError) as caught:
        read_bio(path, ("LOC", "ORG", "PER"))
    assert str(caught.value).startswith(
        f"{path}:9: entity type 'DATE' is not one of LOC, ORG, PER; say what it counts as"
    )


def test_a_mapping_to_a_type_outside_the_inventory_is_refused(tmp_path):
    with pytest.raises(InputError, match="leads to entity type 'GPE'; allowed are LOC, PER, or O"):
        read_bio(tmp_path / "unread", ("LOC", "PER"), {"LOC": "GPE"})


FAULTS = [
    ("Sekk I-PER", "Sekk", 2, "expected a word and its tag, found 'Sekk' alone"),
    ("Sekk I-PER", "I-PER", 2, "found 'I-PER' alone"),
    ("Sekk I-PER", " I-PER", 2, "found 'I-PER' alone"),
    ("Sekk I-PER", "\tI-PER", 2, "the word '' is empty"),
    ("Sekk I-PER", "Sekk\t", 2, "'' is not a BIO tag"),
    ("Sekk I-PER", "Sekk II I-PER", 2, "3 columns, but line 1 has 2; does a word contain a space?"),
    ("Sekk I-PER", "Sekk B-", 2, "'B-' is not a BIO tag; allowed are O, B-TYPE and I-TYPE"),
    ("Sekk I-PER", "Sekk I", 2, "'I' is not a BIO tag"),
    ("Sekk I-PER", "Sekk E-PER", 2, "'E-PER' is not a BIO tag; allowed are O, B-TYPE and I-TYPE, such as B-PER; conv"),
    ("Sekk I-PER", "Sekk b-PER", 2, "'b-PER' is not a BIO tag"),
    ("Sekk I-PER", "Sekk PER", 2, "'PER' is not a BIO tag"),
    ("wax O", "wax 0", 3, "'0' is not a BIO tag"),
    ("wax O", "wax o", 3, "'o' is not a BIO tag"),
    ("wax O", "wa\0x O", 3, "control character '\\x00' at position 3"),
    ("wax O", "wax\x0bO", 3, "control character '\\x0b'"),
    ("wax O\n", "wax O\r", 3, "are lines ended by \\r alone?"),
    ("\n\nfan", "\n-DOCSTART- -X- O\n\nfan B-", 10, "3 columns, but line 1 has 2"),
    ("Ndar", "x" * LONGEST_LINE, 1, "more than 1,048,576 bytes"),
]


@pytest.mark.parametrize(("old", "new", "line", "problem"), FAULTS, ids=[fault[3][:40] for fault in FAULTS])
def test_each_fault_is_refused_with_its_line(file, old, new, line, problem):
    assert old in SAMPLE
    path = file(SAMPLE.replace(old, new, 1))
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        read_bio(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert len(str(caught.value)) < len(str(path)) + 500


def test_a_column_that_counts_the_words_is_refused(file):
    """As in GermEval and CoNLL-U: numbers would be read as the words."""
    with pytest.raises(DataError, match=r":1: the first column counts the words .* so that the words come first"):
        read_bio(file("1\tBerlin\tB-LOC\tO\n2\tist\tO\tO\n\n1\tJa\tO\tO\n"))
    assert read_bio(file("1\tB-X\n\n1\tO\n"))[1].words == ["1"]
    assert read_bio(file("1\tO\n2\tO\n\n2\tO\n"))[0].words == ["1", "2"]


def test_a_word_without_the_prefix_of_the_first_is_refused(file):
    with pytest.raises(DataError, match=r"x.txt:2: the word 'die' lacks the 'de:' that the file's first word has"):
        read_bio(file("de:In O\ndie O\n"), prefix="de:")
    with pytest.raises(DataError, match=r"x.txt:1: the word '' is empty"):
        read_bio(file("de: O\n"), prefix="de:")
    assert read_bio(file("die O\nde:In O\n"), prefix="de:")[0].words == ["die", "de:In"]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"", None, "holds no sentence"),
        (b"\n \n-DOCSTART- O\n", None, "holds no sentence"),
        (SAMPLE.encode("latin-1"), 5, "not UTF-8: byte 0xAB at position"),
        (SAMPLE.encode("utf-16"), 1, "not UTF-8: byte 0xFF"),
        ("Ndar O".encode("utf-16-le"), 1, "control character"),
        (gzip.compress(SAMPLE.encode(), mtime=0)[:-9], 13, "damaged or cut short"),
    ],
)
def test_a_file_damaged_as_a_whole_is_refused(file, content, line, problem):
    with pytest.raises(DataError, match=problem) as caught:
        read_bio(file(content))
    assert caught.value.line == line


def test_a_tag_is_split_at_its_first_hyphen():
    assert [split_tag(tag) for tag in ("O", "B-PER", "I-a-b")] == [("O", ""), ("B", "PER"), ("I", "a-b")]
    with pytest.raises(InputError, match="'NOUN' is not a BIO tag"):
        split_tag("NOUN")


# Laws

TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), min_size=1, max_size=12)


@given(TAGS)
def test_the_repair_follows_its_definition(tags):
    expected = []
    for place, tag in enumerate(tags):
        matching = {f"B-{tag[2:]}", f"I-{tag[2:]}"}
        opens = tag.startswith("I-") and (place == 0 or tags[place - 1] not in matching)
        expected.append(tag.replace("I-", "B-") if opens else tag)
    assert repaired(tags) == expected
    assert repaired(expected) == expected


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8).filter(
    lambda word: word == word.strip(" ") and word != "-DOCSTART-"
)


@given(st.lists(st.lists(st.tuples(WORDS, TAGS.map(lambda tags: tags[0])), min_size=1), min_size=1, max_size=4))
def test_reading_undoes_writing(tmp_path_factory, pairs):
    written = [Tagged([word for word, _ in one], repaired([tag for _, tag in one])) for one in pairs]
    path = tmp_path_factory.mktemp("law") / "x.txt"
    write_bio(path, written)
    assert read_bio(path) == written


@pytest.mark.parametrize(
    ("words", "tags", "problem"),
    [
        ([], [], "it has no word"),
        (["a", "b"], ["O"], "it has 2 words, but 1 tags"),
        (["a", ""], ["O", "O"], "the word '' is empty"),
        (["a "], ["O"], "a space at an end"),
        (["a\tb"], ["O"], "a control character"),
        (["a\nb"], ["O"], "a control character"),
        (["-DOCSTART-"], ["O"], "marks a new document"),
        (["a"], ["NOUN"], "'NOUN' is not a BIO tag"),
        (["a"], ["B-A B"], "'B-A B' is not a BIO tag"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, words, tags, problem):
    with pytest.raises(InputError, match=f"sentence 2 cannot be written as BIO: .*{re.escape(problem)}"):
        write_bio(tmp_path / "x.txt", [EXPECTED[0], Tagged(words, tags)])
    assert not (tmp_path / "x.txt").exists()


# Real files


@pytest.mark.parametrize("language", ["bam", "hau", "pcm", "swa", "wol", "yor"])
def test_real_files_are_read_whole(language, tmp_path):
    for split in ("train", "dev", "test"):
        path = real_file(language, split)
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        read = read_bio(path, ("DATE", "LOC", "ORG", "PER"))
        lines = [line.split(" ") for line in text.split("\n") if line]
        assert [word for sentence in read for word in sentence.words] == [word for word, _ in lines]
        assert len(read) == sum(1 for block in re.split("\n\n+", text) if block.strip())
        assert sum(tag != "O" for sentence in read for tag in sentence.labels) == sum(tag != "O" for _, tag in lines)
        write_bio(tmp_path / "again", read)
        assert read_bio(tmp_path / "again") == read
