import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError
from babelscope.core.examples import UPOS, Multiword, Sentence, Word
from babelscope.corpora.conllu import COLUMNS, _cyclic, read_conllu, write_conllu
from babelscope.corpora.lines import LONGEST_LINE, content_digest
from treebank import EXPECTED, SAMPLE


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "x.conllu"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_multiword_tokens_are_kept_and_empty_nodes_left_out(file):
    assert read_conllu(file(SAMPLE)) == EXPECTED


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "\n\n" + text.replace("\n\n", "\n\n\n"),
        lambda text: gzip.compress(text.encode()),
        lambda text: gzip.compress(text[:200].encode()) + gzip.compress(text[200:].encode()),
    ],
    ids=["no final line end", "CRLF", "byte order mark", "more empty lines", "gzip", "gzip of two members"],
)
def test_harmless_differences_do_not_matter(file, change):
    assert read_conllu(file(change(SAMPLE))) == EXPECTED


def test_what_comes_after_the_first_sentences_is_not_looked_at(file):
    path = file(SAMPLE + "no CoNLL-U\n")
    assert read_conllu(path, 2) == EXPECTED
    with pytest.raises(DataError):
        read_conllu(path, 3)


def test_a_sentence_is_written_as_its_text_says(file):
    assert [sentence.written for sentence in read_conllu(file(SAMPLE))] == [
        "Je vais au marché.", "Sam drinks 10 000 teas and Kim milk",
    ]  # fmt: skip


SPACES = [  # the range, its misc, the words that it covers, the next word
    ("1-2\tau\t{}", "_", "au marché"), ("1-2\tau\t{}", "SpaceAfter=No", "aumarché"),
    ("1-2\tau\t{}", "Typo=Yes|SpaceAfter=No", "aumarché"), ("1-2\tau\t{}", "NoSpaceAfter=No", "au marché"),
    (None, "", "àle marché"),
]  # fmt: skip


@pytest.mark.parametrize(("covering", "misc", "text"), SPACES)
def test_without_a_text_the_surface_tokens_are_written(file, covering, misc, text):
    """Never the words that a multiword token covers, whatever their own SpaceAfter says."""
    lines = ["1\tà\tà\tADP\t_\t_\t3\tcase\t_\tSpaceAfter=No", "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_"]
    if covering:
        lines.insert(0, covering.format("\t".join("_" * 7)) + f"\t{misc}")
    lines.append("3\tmarché\tmarché\tNOUN\t_\t_\t0\troot\t_\t_")
    (sentence,) = read_conllu(file("\n".join(lines) + "\n\n"))
    assert (sentence.text, sentence.written) == (None, text)


def test_the_text_of_a_sentence_is_kept_in_a_file(file):
    write_conllu(path := file(""), EXPECTED)
    assert read_conllu(path) == EXPECTED


@pytest.mark.parametrize(
    ("label", "value"),
    [("upos", "VERB"), ("feats", "Number=Plur|Tense=Past"), ("feats:Number", "Plur"), ("feats:Num", "_"),
     ("xpos", "_"), ("misc:Gloss", "a=b"), ("lemma", "go")],
)  # fmt: skip
def test_a_word_is_labelled_by_a_column_or_a_key_of_one(label, value):
    word = Word("went", "VERB", 0, "root", "go", feats="Number=Plur|Tense=Past", misc="Gloss=a=b|SpaceAfter=No")
    assert word.label(label) == value


def test_a_sentence_without_sent_id_is_named_by_its_ordinal(file):
    text = SAMPLE.replace("# sent_id = h-2\n", "")
    assert [sentence.id for sentence in read_conllu(file(text))] == ["h-1", "2"]


FAULTS = [
    ("1\tJe\tje", "1\tJe", 4, "expected 10 tab-separated columns, found 9"),
    ("2:obj\t_", "2:obj\t_\t_", 17, "found 11"),
    ("2\tvais\taller\tVERB\t_\tTense=Pres\t0\troot\t_\t_", "2 vais aller VERB _ _ 0 root _ _", 5, "spaces instead"),
    ("\n\n", "\n \n", 11, "found 1: the line has white space alone, where an empty line ends"),
    ("10 000\tNUM", "10  000\tNUM", 16, "two spaces"),
    ("5\tmarché", "6\tmarché", 9, "the id is 6 where 5 is expected"),
    ("6\t.\t", "x\t.\t", 10, "the id is 'x'"),
    ("6\t.\t", "_\t.\t", 10, "the id is '_'"),
    ("6\t.\t", "9" * 5000 + "\t.\t", 10, "the id is '999"),
    ("\n\n# sent_id = h-2", "\n# sent_id = h-2", 13, "empty line between two sentences missing"),
    ("6.1\tdrinks", "6.2\tdrinks", 20, "the id is 6.2 where 6.1 is expected"),
    ("3-4\tau", "2-4\tau", 6, "the id is 2-4 where 3-4 is expected"),
    ("3-4\tau", "3-9\tau", 6, "up to word 9, but the sentence has 6 words"),
    ("3-4\tau", "4-3\tau", 6, "the id is '4-3'"),
    ("4\tle", "4-5\tle\t_\t_\t_\t_\t_\t_\t_\t_\n4\tle", 8, "the id is 4-5 where 5-5 is expected"),
    ("2\tobl", "zwei\tobl", 9, "the head 'zwei'"),
    ("2\tobl", "_\tobl", 9, "no head"),
    ("2\tobl", "7\tobl", 9, "the head is 7; allowed are 0 (root) to 6"),
    ("2\tobl", "-1\tobl", 9, "the head is -1"),
    ("2\tobl", "2\t_", 9, "no dependency relation"),
    ("0\troot\t_\t_\n3-4", "1\troot\t_\t_\n3-4", 4, "no root"),
    ("2\tobl", "0\tobl", 9, "a second root; the first is at line 5"),
    ("2\tobl", "3\tobl", 7, "cycle"),
    ("2\tobl", "5\tobl", 9, "word 5 is its own ancestor"),
    ("NOUN\t_\t_\t2\tobl", "Noun\t_\t_\t2\tobl", 9, "'Noun' is not a universal part of speech; allowed are ADJ"),
    ("NOUN\t_\t_\t2\tobl", "_\t_\t_\t2\tobl", 9, "not annotated"),
    ("Tense=Pres", "Tense=Pres|Tense=Past", 5, "the features (sixth column) are 'Tense=Pres|Tense=Past'"),
    ("Tense=Pres", "Tense=", 5, "they are _ or such as Case=Nom|Number=Sing, each name once"),
    ("Tense=Pres", "Tense", 5, "the features (sixth column) are 'Tense'"),
    ("Tense=Pres", "Tense=Pres| Mood=Ind", 5, "the features (sixth column) are 'Tense=Pres| Mood=Ind'"),
    ("5\tmarché\tmarché", "5\t\tmarché", 9, "the form (second column) is empty"),
    ("# sent_id = h-2", "# sent_id = h-1", 12, "the sentence at line 1 has the same id, 'h-1'"),
    ("7\tmilk\tmilk\tNOUN\t_\t_\t6\torphan\t6.1:obj\t_\n", "", 20, "does not spell its # text"),
    ("7\tmilk\tmilk", "7\tmelk\tmelk", 21, "does not spell its # text"),
    ("# newdoc", "# only a comment\n\n# newdoc", 1, "a sentence without words"),
    ("# newdoc", "0.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n# newdoc", 1, "a sentence without words"),
    ("# newdoc", "# " + "x" * LONGEST_LINE, 1, "more than 1,048,576 bytes"),
]


@pytest.mark.parametrize(("old", "new", "line", "problem"), FAULTS, ids=[fault[3][:40] for fault in FAULTS])
def test_each_fault_is_refused_with_its_line(file, old, new, line, problem):
    assert old in SAMPLE
    path = file(SAMPLE.replace(old, new, 1))
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        read_conllu(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert len(str(caught.value)) < len(str(path)) + 500


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"", None, "holds no sentence"),
        (b"\n\n", None, "holds no sentence"),
        (SAMPLE.encode("latin-1"), 3, "not UTF-8: byte 0xE9 at position"),
        (SAMPLE.encode("utf-16"), 1, "not UTF-8: byte 0xFF"),
        (b"x" * (LONGEST_LINE + 1), 1, "more than"),
        (gzip.compress(SAMPLE.encode(), mtime=0)[:-9], 23, "damaged or cut short"),
        (gzip.compress(SAMPLE.encode(), mtime=0)[:-8] + b"checksum", 23, "damaged or cut short"),
        (gzip.compress(SAMPLE.encode(), mtime=0) + b"extra", 23, "damaged or cut short"),
        (gzip.compress(SAMPLE.encode(), mtime=0)[:3], 1, "damaged or cut short"),
    ],
)
def test_a_file_damaged_as_a_whole_is_refused(file, content, line, problem):
    with pytest.raises(DataError, match=problem) as caught:
        read_conllu(file(content))
    assert caught.value.line == line


def test_what_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_conllu(tmp_path / "absent.conllu")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_conllu(tmp_path)


# Laws


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """A random tree: word i hangs under one of the words placed before it in a random order."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 8)) + 1)))
    heads = {word: draw(st.sampled_from(order[:place])) if place else 0 for place, word in enumerate(order)}
    form = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
    part = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6)
    features = st.dictionaries(part, part, max_size=3).map(lambda pairs: "|".join(map("=".join, pairs.items())) or "_")
    words = tuple(
        Word(draw(form), draw(st.sampled_from(UPOS)), heads[i], draw(form), xpos=draw(form), feats=draw(features))
        for i in range(1, len(order) + 1)
    )
    first = draw(st.integers(1, len(order)))
    token = Multiword(first, draw(st.integers(first, len(order))), draw(form))
    return Sentence("", words, (token,) if draw(st.booleans()) else ())


@given(st.lists(sentences(), min_size=1, max_size=4))
def test_reading_undoes_writing(tmp_path_factory, written):
    named = [Sentence(f"s{i}", s.words, s.multiwords) for i, s in enumerate(written)]
    if any(word.deprel == "_" for sentence in named for word in sentence.words):
        return  # `_` as a relation means that there is none
    path = tmp_path_factory.mktemp("law") / "x.conllu"
    write_conllu(path, named)
    assert read_conllu(path) == named


class CountedHeads(list[int]):
    looks = 0

    def __getitem__(self, key):
        self.looks += 1
        return super().__getitem__(key)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12))
def test_a_cycle_is_found_exactly_where_walking_up_never_ends(heads):
    def reaches_root(word: int) -> bool:
        for _ in range(len(heads) + 1):
            word = all_heads[word] if word else 0
        return word == 0

    all_heads = CountedHeads([0, *(min(head, len(heads)) for head in heads)])
    found = _cyclic(all_heads)
    assert all_heads.looks <= len(all_heads)
    assert (found is None) == all(reaches_root(word) for word in range(1, len(all_heads)))
    assert found is None or not reaches_root(found)


def test_a_long_chain_is_checked_in_linear_time():
    heads = CountedHeads([0, *range(2, 50_001), 0])
    assert _cyclic(heads) is None
    assert heads.looks <= len(heads)


# Real treebanks

REAL = [
    ("UD_English-EWT", "en_ewt-ud-dev", 2_001, 25_147),
    ("UD_English-EWT", "en_ewt-ud-train", 12_544, 204_577),
    ("UD_French-GSD", "fr_gsd-ud-dev", 1_476, 35_721),
    ("UD_Czech-PUD", "cs_pud-ud-test", 1_000, 18_609),
    ("UD_Arabic-PUD", "ar_pud-ud-test", 1_000, 20_747),
    ("UD_Italian-PUD", "it_pud-ud-test", 1_000, 23_732),
    ("UD_Turkish-IMST", "tr_imst-ud-dev", 1_100, 10_542),
    ("UD_Wolof-WTB", "wo_wtb-ud-dev", 449, 10_294),
]


def _real(treebank: str, file: str) -> Path:
    data = os.environ.get("BABELSCOPE_DATA")
    if not data:
        pytest.skip("BABELSCOPE_DATA is not set")
    return Path(data) / "ud" / treebank / f"{file}.conllu.gz"


@pytest.mark.parametrize(("treebank", "file", "count", "words"), REAL, ids=[row[1] for row in REAL])
def test_real_treebanks_are_read_whole(treebank, file, count, words):
    path = _real(treebank, file)
    read = read_conllu(path)
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    assert len(read) == count
    assert sum(len(sentence.words) for sentence in read) == words
    assert [s.id for s in read] == [line.split(" = ")[1] for line in lines if line.startswith("# sent_id")]
    assert [[str(getattr(word, name)) for name in COLUMNS[1:]] for s in read for word in s.words] == [
        line.split("\t")[1:] for line in lines if re.match(r"\d+\t", line)
    ]
    assert read_conllu(path, 9) == read[:9]
    assert [token.form for s in read for token in s.multiwords] == [
        line.split("\t")[1] for line in lines if re.match(r"\d+-", line)
    ]


def test_a_real_treebank_is_what_the_library_reads_by_itself():
    path = _real("UD_English-EWT", "en_ewt-ud-test")
    oracle = conllu.parse(gzip.decompress(path.read_bytes()).decode())
    assert any("." in str(token["id"]) for sentence in oracle for token in sentence), "no empty node in this file"
    assert [[word[:4] for word in sentence.words] for sentence in read_conllu(path)] == [
        [(t["form"], t["upos"], t["head"], t["deprel"]) for t in sentence if isinstance(t["id"], int)]
        for sentence in oracle
    ]


def test_half_a_real_file_is_refused(tmp_path):
    packed = _real("UD_Czech-PUD", "cs_pud-ud-test").read_bytes()
    path = tmp_path / "half.conllu.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"half.conllu.gz:\d+: the gzip data is damaged or cut short"):
        read_conllu(path)


def test_a_file_and_its_gzip_have_the_same_digest(tmp_path):
    plain, packed = tmp_path / "a", tmp_path / "a.gz"
    plain.write_text(SAMPLE, encoding="utf-8")
    packed.write_bytes(gzip.compress(SAMPLE.encode(), mtime=0))
    assert content_digest(plain) == content_digest(packed)
    plain.write_text(SAMPLE + "\n", encoding="utf-8")
    assert content_digest(plain) != content_digest(packed)
