"""Sentences and their translations by one name: collections, tables, TMX; what is kept of them."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError, InputError
from babelscope.corpora import translations
from babelscope.corpora.codes import same_language
from babelscope.corpora.parallel import (
    Kept,
    NamedPairs,
    WorldPairs,
    check_source,
    find_named_pairs,
    find_pairs,
    joined,
)
from babelscope.corpora.translations import COLLECTIONS, translation_files
from translation_files import TMX, own, write


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    return tmp_path


def ntrex(folder: Path, code: str = "deu", german: str = "Eins\nZwei\nDrei\nVier\n") -> None:
    write(folder / "ntrex" / "newstest2019-src.eng.txt.gz", "One\nTwo\nThree\nFour\n")
    write(folder / "ntrex" / f"newstest2019-ref.{code}.txt.gz", german)


# Collections


@pytest.mark.parametrize(
    ("name", "source", "translation"),
    [
        ("flores:zh", "parallel/flores200/eng.devtest.txt.gz", "parallel/flores200/cmn_Hans.devtest.txt.gz"),
        ("ntrex:sr", "ntrex/newstest2019-src.eng.txt", "ntrex/newstest2019-ref.srp-Cyrl.txt.gz"),
    ],
)
def test_two_files_are_read_line_by_line(data, name, source, translation):
    write(data / source, "One\nTwo\n", source.endswith(".gz"))
    write(data / translation, "1\n2\n")
    assert find_named_pairs(name).read() == [("One", "1"), ("Two", "2")]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("tico:es", "parallel/tico19/en-es_LA.tsv.gz"),
        ("tatoeba:de", "parallel/tatoeba/eng-deu.tsv.gz"),
        ("tatoeba:deu", "parallel/tatoeba/eng-deu.tsv"),
    ],
)
def test_tables_are_read(data, name, file):
    write(data / file, "One\tEins\nTwo\tZwei\n", file.endswith(".gz"))
    assert find_named_pairs(name).read() == [("One", "Eins"), ("Two", "Zwei")]


def test_a_text_is_known_by_its_content_and_says_whose_it_is(data):
    ntrex(data)
    pairs = find_named_pairs("ntrex:de")
    contents = (b"One\nTwo\nThree\nFour\n", b"Eins\nZwei\nDrei\nVier\n")
    assert pairs.sha256 == tuple(hashlib.sha256(content).hexdigest() for content in contents)
    assert (pairs.language, pairs.collection.licence) == ("de", "CC BY-SA 4.0")
    assert str(data) not in pairs.model_dump_json()
    licences = {name: collection.licence for name, collection in COLLECTIONS.items()}
    assert licences == {
        "ntrex": "CC BY-SA 4.0", "flores": "CC BY-SA 4.0", "tico": "CC0 1.0", "tatoeba": "CC BY 2.0 FR"
    }  # fmt: skip
    assert "tatoeba.org" in COLLECTIONS["tatoeba"].attribution
    write(data / "ntrex" / "newstest2019-ref.deu.txt.gz", "Eins\nZwei\nDrei\nFuenf\n")
    with pytest.raises(DataError, match=r"deu\.txt\.gz: the file has changed since the study was planned"):
        pairs.read()


def test_a_text_beside_itself_is_no_translation(tmp_path):
    """An encoder would be taught that the language is the one that it reads."""
    (tmp_path / "same.tsv").write_text("one two\tone two\nthree\tthree\n")
    (tmp_path / "lines.txt").write_text("one two\n\nthree\n")
    lines = tmp_path / "lines.txt"
    for find in (
        lambda: find_named_pairs(f"tsv:it:{tmp_path / 'same.tsv'}"),
        lambda: find_pairs(f"text:en:{lines}", f"text:it:{lines}"),
    ):
        with pytest.raises(InputError, match="all 2 sentences are the same on both sides; give their translations"):
            find()
    (tmp_path / "names.tsv").write_text("Roma\tRoma\none\tuno\n")
    assert len(find_named_pairs(f"tsv:it:{tmp_path / 'names.tsv'}").read()) == 2


def test_a_part_is_the_same_lines_of_every_language(data):
    ntrex(data, "deu", "Eins\n\nDrei\nVier\n")
    ntrex(data, "fra", "Un\nDeux\nTrois\nQuatre\n")
    assert find_named_pairs("ntrex:de:lines-2-3").read() == [("Three", "Drei")]
    assert find_named_pairs("ntrex:fr:lines-2-3").read() == [("Two", "Deux"), ("Three", "Trois")]
    whole = find_named_pairs("ntrex:fr")
    assert [
        pair for part in ("1-3", "4-4") for pair in find_named_pairs(f"ntrex:fr:lines-{part}").read()
    ] == whole.read()
    assert find_named_pairs("ntrex:fr:lines-2-4", 2).read() == whole.read()[1:3]
    assert find_named_pairs("ntrex:fr:lines-2-3").sha256 == whole.sha256
    for part in ("0-2", "3-2", "1-5"):
        with pytest.raises(InputError, match=rf"lines-{part}: ntrex:fr has the lines 1 to 4; .* ntrex:fr:lines-A-B"):
            find_named_pairs(f"ntrex:fr:lines-{part}")
    with pytest.raises(InputError, match=r"ntrex:fr:lines-1-9{5000}: "):
        find_named_pairs(f"ntrex:fr:lines-1-{'9' * 5000}")


def test_faults_of_names_and_files(data):
    ntrex(data, "deu", "Eins\nZwei\nDrei\n")
    write(data / "parallel/tatoeba/eng-deu.tsv.gz", "One\tEins\n\nTwo Zwei\n")
    with pytest.raises(InputError, match=r"src\.eng\.txt\.gz, has 4 lines and newstest2019-ref\.deu\.txt\.gz has 3;"):
        find_named_pairs("ntrex:de")
    with pytest.raises(DataError, match=r"eng-deu\.tsv\.gz:3: no tab in the line; expected one"):
        find_named_pairs("tatoeba:de")
    with pytest.raises(InputError, match=r"^tico:de: there is no language 'de'; there are am, ar, bn, "):
        find_named_pairs("tico:de")
    with pytest.raises(InputError, match=r"can be eng-GB, eng-IN, eng-US there; name one of them"):
        find_named_pairs("ntrex:en")
    with pytest.raises(InputError, match="'ntrex' is no text in two languages; such are named ntrex:CODE, flores:CODE"):
        find_named_pairs("ntrex")
    with pytest.raises(InputError, match="'foo:de' is no text in two languages"):
        find_named_pairs("foo:de")


def test_without_the_files_they_are_fetched_and_checked(tmp_path, monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    english, french = "A\nB\n", "À\nÉ\n"
    public = translations._public("tatoeba")["fra"]
    sums = [hashlib.sha256(text.encode()).hexdigest() for text in (english, french)]
    text = public._replace(source_sha256=sums[0], sha256=sums[1])
    monkeypatch.setattr(translations, "_public", lambda collection: {"fra": text})
    urls = []

    def copy(url, output_file, pooch):
        urls.append(url)
        Path(output_file).write_text(english if url.endswith(".eng") else french, encoding="utf-8")

    files = translation_files("tatoeba:fr", tmp_path, copy)
    assert [file.read_text(encoding="utf-8") for file in files] == [english, french]
    assert translation_files("tatoeba:fr", tmp_path, refused) == files
    root = "https://raw.githubusercontent.com/Helsinki-NLP/OPUS-MT-testsets/ac0f19c0be3cb4e0d9450fcb2d7a9847c4bdd180/"
    folder = "datasets/helsinki_nlp/tatoeba/testsets/eng-fra/tatoeba-test-v2021-08-07"
    assert urls == [f"{root}{folder}.eng", f"{root}{folder}.fra"]
    french = "something else\n"
    with pytest.raises(InputError, match=r"(?s)tatoeba:fr could not be fetched from https://.*known hash"):
        translation_files("tatoeba:fr", tmp_path / "other", copy)


def refused(url, output_file, pooch):
    raise OSError("no network in tests")


def test_no_network_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    with pytest.raises(InputError) as caught:
        translation_files("flores:zh", tmp_path, refused)
    message = str(caught.value)
    assert "flores:zh could not be fetched from https://github.com/Helsinki-NLP/OPUS-MT-testsets" in message
    assert "parallel/flores200/eng.devtest.txt and parallel/flores200/cmn_Hans.devtest.txt (.gz may follow)" in message


def test_the_table_of_public_files_is_complete():
    for name in COLLECTIONS:
        rows = translations._public(name)
        assert rows and all(re.fullmatch("[0-9a-f]{64}", row.sha256) for row in rows.values())
        assert len({row.sha256 for row in rows.values()}) > 0.9 * len(rows)
        assert all(
            bool(row.folder) == any("{folder}" in part for part in COLLECTIONS[name].public) for row in rows.values()
        )
    for name in ("ntrex", "flores"):  # one English file for all
        assert len({row.source_sha256 for row in translations._public(name).values()}) == 1


@pytest.mark.parametrize("name", ["ntrex:de", "flores:de", "tico:fr"])
def test_files_in_the_data_folder_are_the_public_ones(name):
    if not Path(os.environ.get("BABELSCOPE_DATA", ""), "parallel").is_dir():
        pytest.skip("BABELSCOPE_DATA has no folder parallel")
    row = next(row for code, row in translations._public(name.split(":")[0]).items() if same_language(code, name[-2:]))
    pairs = find_named_pairs(name)
    if len(pairs.sha256) == 2:
        assert pairs.sha256 == (row.source_sha256, row.sha256)
    else:
        source, translation = ("".join(f"{side}\n" for side in sides) for sides in zip(*pairs.read(), strict=True))
        assert hashlib.sha256(source.encode()).hexdigest() == row.source_sha256
        assert hashlib.sha256(translation.encode()).hexdigest() == row.sha256


# What is kept


sides = st.sampled_from(["", "a", "b", "c"])


@given(st.lists(st.tuples(sides, sides)), st.integers(1, 3))
def test_each_full_pair_is_kept_once_in_order(pairs, parts):
    kept, empty, repeated = [], 0, 0
    for pair in pairs:
        if pair[0] == "" or pair[1] == "":
            empty += 1
        elif pair in kept:
            repeated += 1
        else:
            kept.append(pair)
    assert Kept.of(pairs) == (kept, empty, repeated)
    pieces = [Kept.of(pairs[part::parts]) for part in range(parts)]
    counted = sum(len(piece.pairs) + piece.empty + piece.repeated for piece in pieces)
    assert counted == len(pairs)


def test_texts_are_joined_without_what_they_share(data):
    ntrex(data, "deu", "Eins\n\nDrei\nVier\n")
    table = find_named_pairs(own(data, "tsv", "One\tEins\nFive\tFünf\nFive\tFünf\n"))
    world = WorldPairs(languages=("qaa", "qab"), sentences=5)
    files = find_pairs("ntrex:en", "ntrex:de")
    news = find_named_pairs("ntrex:de")
    assert joined([news, table]) == Kept([*news.read(), ("Five", "Fünf")], 1, 2)
    assert joined([news, files]) == Kept(news.read(), 1, 3)
    assert joined([world, table]).pairs == [*world.read(), *table.read()]
    assert news.read() == files.read()


def test_a_step_gets_back_the_value_that_it_was_declared_with(data):
    ntrex(data)
    pairs = find_named_pairs("ntrex:de:lines-1-2", 1)
    assert NamedPairs.model_validate_json(pairs.model_dump_json()) == pairs


def test_what_is_known_to_be_from_another_language_is_refused(data, tmp_path):
    """An encoder would read English as if it were German; a table and two files do not say what they are from."""
    ntrex(data)
    (tmp_path / "memory.tmx").write_text(TMX, encoding="utf-8")
    (tmp_path / "pairs.tsv").write_text("ein Hund\ta dog\n", encoding="utf-8")
    for name in ("ntrex:de", f"tmx:de:{tmp_path / 'memory.tmx'}"):
        text = find_named_pairs(name)
        for source in ("en", "eng", "en-GB"):
            check_source(text, source)
        with pytest.raises(InputError, match=r"^x: the translations are of sentences in en.* are in fr; give transl"):
            check_source(text, "fr", "x: ")
    (tmp_path / "french.tmx").write_text(TMX.replace('srclang="en-US"', 'srclang="fr"'), encoding="utf-8")
    check_source(find_named_pairs(f"tmx:de:{tmp_path / 'french.tmx'}"), "fr")
    with pytest.raises(InputError, match="sentences in fr, but those that are to be read are in en"):
        check_source(find_named_pairs(f"tmx:de:{tmp_path / 'french.tmx'}"), "en")
    check_source(find_named_pairs(f"tsv:en:{tmp_path / 'pairs.tsv'}"), "de")
