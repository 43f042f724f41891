"""Translations of one's own: tables, two files or translation memories, and what is refused of them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.corpora.given_pairs import given_pairs
from babelscope.corpora.parallel import (
    Kept,
    find_named_pairs,
)
from babelscope.steps.card import described
from translation_files import TMX, own, write


def test_a_table_of_ones_own(tmp_path):
    name = own(tmp_path, "tsv", "One \t Eins\nTwo\t\n\nOne\tEins\n\tDrei\nThree\tDrei\n")
    pairs = find_named_pairs(name)
    assert pairs.kept() == Kept([("One", "Eins"), ("Three", "Drei")], empty=3, repeated=1)
    assert str(pairs.kept()) == "2 pairs; left out: 3 without text on a side, 1 repeated"
    assert (pairs.collection, pairs.language) == (None, "de")
    assert find_named_pairs(f"{name}:lines-2-6").read() == [("One", "Eins"), ("Three", "Drei")]
    with pytest.raises(DataError, match=r"own\.tsv:2: 2 tabs in the line"):
        find_named_pairs(own(tmp_path, "tsv", "One\tEins\nTwo\tZwei\tCC BY\n"))
    with pytest.raises(InputError, match="has no pair with text on both sides"):
        find_named_pairs(own(tmp_path, "tsv", "One\t\n"))
    with pytest.raises(InputError, match=r"there is no file .*nowhere\.tsv"):
        find_named_pairs("tsv:de:nowhere.tsv")


def test_units_of_tmx(tmp_path):
    name = own(tmp_path, "tmx", TMX)
    assert find_named_pairs(name).kept() == Kept([("The cat & a dog.", "Die Katze."), ("Yes.", "Ja.")], 1, 0)
    assert find_named_pairs(f"{name}:lines-3-3").read() == [("Yes.", "Ja.")]
    packed = write(tmp_path / "own.tmx.gz", TMX)
    assert find_named_pairs(f"tmx:fr:{packed}").read() == [("Yes.", "Oui.")]
    with pytest.raises(DataError, match="no unit has text in both en-US and it; its languages are DE, de-AT, en, "):
        find_named_pairs(f"tmx:it:{packed}")
    german = own(tmp_path, "tmx", TMX.replace('srclang="en-US"', 'srclang="fr"'))
    assert find_named_pairs(german).read() == [("Oui.", "Ja.")]
    with pytest.raises(DataError, match="translated from en; name another language"):
        find_named_pairs(f"tmx:en:{packed}")
    two = '<tuv lang="zh-CN"><seg>simplified</seg></tuv><tuv lang="zh-TW"><seg>traditional</seg></tuv>'
    scripts = write(tmp_path / "scripts.tmx", TMX.replace('<tuv lang="fr"><seg>Oui.</seg></tuv>', two))
    assert find_named_pairs(f"tmx:zh-TW:{scripts}").read() == [("Yes.", "traditional")]
    with pytest.raises(InputError, match="'zh' can be zh-CN, zh-TW there; name one of them"):
        find_named_pairs(f"tmx:zh:{scripts}")
    assert find_named_pairs(f"tmx:zh_Hant:{scripts}").read() == [("Yes.", "traditional")]
    both = two.replace("zh-CN", "zh-Hant").replace("simplified", "exactly")
    exact = write(tmp_path / "exact.tmx", TMX.replace('<tuv lang="fr"><seg>Oui.</seg></tuv>', both))
    assert find_named_pairs(f"tmx:zho_Hant:{exact}").read() == [("Yes.", "exactly")]
    canadian = write(tmp_path / "canadian.tmx", TMX.replace('"fr"', '"fr-CA"'))
    assert find_named_pairs(f"tmx:fr_Latn:{canadian}").read() == [("Yes.", "Oui.")]
    every = own(tmp_path, "tmx", TMX.replace('srclang="en-US"', 'srclang="*all*"'))
    assert len(find_named_pairs(every).read()) == 2
    with pytest.raises(DataError, match=r"in both en and it; .* names no one srclang, so that English is the source"):
        find_named_pairs(every.replace("tmx:de:", "tmx:it:"))


def test_a_unit_of_tmx_has_one_segment_a_language(tmp_path):
    twice = own(
        tmp_path, "tmx", TMX.replace("<seg>Ja.</seg></tuv>", '<seg>Ja.</seg></tuv><tuv lang="de-AT"><seg/></tuv>')
    )
    with pytest.raises(DataError, match=r"a unit has two segments in de-AT, 'Ja\.' and '': keep one"):
        find_named_pairs(twice)
    assert find_named_pairs(twice.replace("tmx:de:", "tmx:fr:")).read() == [("Yes.", "Oui.")]


def test_xml_that_is_malformed_or_names_what_is_outside_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"own\.tmx:5: no TMX: mismatched tag"):
        find_named_pairs(own(tmp_path, "tmx", TMX.replace("</hi>", "</ho>")))
    damaged = write(tmp_path / "damaged.tmx", TMX * 20)
    damaged.write_bytes(damaged.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"damaged\.tmx: the gzip data is damaged"):
        find_named_pairs(f"tmx:de:{damaged}")
    with pytest.raises(DataError, match=r"own\.tmx: cannot be read: unknown encoding"):
        find_named_pairs(own(tmp_path, "tmx", TMX.replace("utf-8", "klingon")))
    secret = write(tmp_path / "secret.txt", "secret", packed=False)
    doctype = f'<!DOCTYPE tmx [<!ENTITY outside SYSTEM "{secret.as_uri()}">]>'
    outside = TMX.replace('<!DOCTYPE tmx SYSTEM "tmx14.dtd">', doctype).replace("Yes.", "Yes &outside;.")
    with pytest.raises(DataError, match=r"own\.tmx:7: no TMX: undefined entity"):
        find_named_pairs(own(tmp_path, "tmx", outside))
    names = "abcdefghij"
    laughs = "".join(f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in pairwise(names))
    doctype = f'<!DOCTYPE tmx [<!ENTITY a "{"ha" * 50}">{laughs}]>'
    bomb = TMX.replace('<!DOCTYPE tmx SYSTEM "tmx14.dtd">', doctype).replace("Yes.", "&j;")
    with pytest.raises(DataError, match="no TMX: limit on input amplification"):
        find_named_pairs(own(tmp_path, "tmx", bomb))


def test_what_a_person_gives_is_a_table_two_files_or_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = write(tmp_path / "one, two.tsv", "ein Hund\tun cane\n", packed=False)
    lines = {name: write(tmp_path / f"{name}.txt", f"{name}\n", packed=False) for name in ("hund", "cane")}
    for typed, name in (
        ("one, two.tsv", f"tsv:it:{table}"), (str(table), f"tsv:it:{table}"), (f"tsv:ita:{table}", f"tsv:ita:{table}"),
    ):  # fmt: skip
        text = given_pairs(typed, "it", "de")
        assert (text.name, text.source, text.read()) == (name, None, [("ein Hund", "un cane")])
    text = given_pairs("hund.txt,cane.txt", "it", "de")
    assert text.names == (f"text:de:{lines['hund']}", f"text:it:{lines['cane']}")
    assert (text.source, text.language, text.read()) == ("de", "it", [("hund", "cane")])
    assert given_pairs("hund.txt,cane.txt", "it").source == "en"
    with pytest.raises(InputError, match=r"tsv:de:.*: the translations are in de, but .* given for is it; give"):
        given_pairs(f"tsv:de:{table}", "it")
    with pytest.raises(InputError, match=r"'ntrx:it' is no text in two languages \(did you mean ntrex\?\)"):
        given_pairs("ntrx:it", "it")
    (tmp_path / "pairs.csv").write_text("Hund,cane\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pairs.csv: pairs are in a file named \.tsv, .* Save a table as tab-"):
        given_pairs("pairs.csv", "it")
    with pytest.raises(InputError, match=r"text:en:.*nowhere"):
        given_pairs("nowhere.txt,cane.txt", "it")


def test_of_commas_in_names_the_one_between_two_files_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b,c", "a,b", "d,e"):
        write(tmp_path / name, f"{name}\n", packed=False)
    assert given_pairs("a,b,d,e", "it").read() == [("a,b", "d,e")]
    assert given_pairs("d,e,b,c", "it").read() == [("d,e", "b,c")]
    write(tmp_path / "c", "c\n", packed=False)
    with pytest.raises(InputError, match=r"^a,b,c: this can be a and b,c; or a,b and c\. Rename a file"):
        given_pairs("a,b,c", "it")
    with pytest.raises(InputError, match=r"text:en:.*/x: there is no file"):
        given_pairs("x,y,z", "it")


def test_a_card_has_the_names_of_files_and_not_of_folders(tmp_path):
    """It is published with the model; digests say which files they are."""
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    for name, line in (("en.txt", "a"), ("mt.txt", "b")):
        (tmp_path / name).write_text(f"{line}\n")
    one = given_pairs(str(tmp_path / "pairs.tsv"), "mt")
    two = given_pairs(f"{tmp_path / 'en.txt'},{tmp_path / 'mt.txt'}", "mt")
    assert str(tmp_path) in one.name and str(tmp_path) in str(two.names)
    assert [described(text)["text"] for text in (one, two)] == ["tsv:mt:pairs.tsv", "text:en:en.txt, text:mt:mt.txt"]
