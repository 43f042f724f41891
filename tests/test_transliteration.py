"""Text in other letters: what is changed, what stays, and what can be read back."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.core.hashing import digest
from babelscope.corpora.scripts import script_of_letter, script_shares
from babelscope.corpora.transliteration import (
    TABLES,
    Rule,
    by_rules,
    permutation,
    read_table,
    rules_digest,
    transliteration,
    written_in_kana,
)
from babelscope.world import FAMILY, World

FOLDER = Path(__file__).parent.parent / "src" / "babelscope" / "corpora" / "transliterations"
SCRIPTS = {
    "buckwalter": "Arab",
    "uyghur": "Arab",
    "sorani": "Arab",
    "uyghur-published": "Arab",
    "sorani-published": "Arab",
    "cyrillic": "Cyrl",
    "cyrillic-published": "Cyrl",
    "georgian-published": "Geor",
    "georgian": "Geor",
    "greek": "Grek",
    "mari": "Cyrl",
    "mingrelian": "Geor",
}
ALPHABETS = {
    "sorani": "ئابپتجچحخدرڕزژسشعغفڤقکگلڵمنھهەوۆیێ",
    "uyghur": "ئاەبپتجچخدرزژسشغفقكگڭلمنھوۇۆۈۋېىي",
    "buckwalter": "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي",
    "georgian": "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
    "mingrelian": "აბგდევზთიკლმნოპჟრსტუფქღყჸშჩცძწჭხჯჰჷ",
    "mari": "абвгдеёжзийклмнҥоӧпрстуӱфхцчшщъыьэюяӓӹ",
    "cyrillic": "абвгдеёжзийклмнопрстуфхцчшщъыьэюяөүһ",
}
"""The letters of each language; of Mari those of Meadow and Hill Mari, of Cyrillic of Russian, Erzya and Buryat."""


@pytest.mark.parametrize(
    ("by", "text", "latin"),
    [
        ("uyghur", "ئۇيغۇر تىلى، ياخشىمۇ؟", "uyğur tili, yahşimu?"),
        ("sorani", "کوردی دەوڵەت باوک سوور", "kurdî dewlet bawk sûr"),
        ("cyrillic", "Щука, Юля и ЮЛЯ: эрзянь кель", "Shchuka, Yulya i YULYA: erzyan kel"),
        ("georgian", "საქართველო", "sakartvelo"),
        # The Kurdish alphabet of Hawar (1932), without the short i, which Sorani does not write.
        ("sorani", "ئازادی ڕۆژ یەک دوو چوار", "azadî roj yek dû çwar"),
        ("sorani", "هەولێر خوێندن گەورە شەو", "hewlêr xwêndn gewre şew"),
        ("sorani", "ئومێد و ئینگلیزی و ئوستاد وەک ئێمە", "umêd û înglîzî û ustad wek ême"),
        # Code of Muller et al. (2021), and the package transliterate that it calls.
        ("uyghur-published", "ئۇيغۇر تىلى، ياخشىمۇ؟ ۲۰", "uyğur tili, yaxşimu? 20"),
        ("cyrillic-published", "Щука хэлэн юм хүн ёһо йылме шӱдӧ еҥ", "Schuka helen jum hүn eһo jylme shӱdӧ eҥ"),
        ("georgian-published", "საქართველო ქართული წყალი ჭხ", "saqartvelo qartuli tsyali ch'kh"),
        ("uyghur-published", "قىز كىچىك ئېيىق ئۆڭكۈر", "qiz kiçik ëyiq öngkür"),
        ("sorani-published", "کوردی دەوڵەت سوور ڕۆژ جوان", "kwrdy dewlet sûr řoj vwân"),
        # Mari in the transcription of Uralic studies.
        ("mari", "марий йылме Йошкар-Ола", "marij jəlme Joškar-Ola"),
        ("mari", "еҥ шӱдӧ ЯЛ поэт ме", "jeŋ šüdö JAL poet me"),
        # The national system of Georgia (2002), and the schwa and the glottal stop of Mingrelian.
        ("mingrelian", "მარგალური თბილისი ჸუდე ჷ", "margaluri tbilisi 'ude ə"),
        # Buckwalter (2002).
        ("buckwalter", "سَلامٌ شَمْس ذلك", "salAmN $amos *lk"),
        # Russian as English writes it (BGN/PCGN, 1947, simplified).
        ("cyrillic", "Хрущёв Чайковский", "Khrushchyov Chaykovskiy"),
        ("greek", "Ευχαριστώ αυτός Ουρανός ΟΥΡΑΝΟΣ άγγελος", "Efcharisto aftos Ouranos OURANOS angelos"),
        ("buckwalter", "العربيّة", "AlErby~p"),
        ("world", "абц αβς", "abc abc"),
    ],
)
def test_words_are_written_as_the_systems_say(by, text, latin):
    assert transliteration(by)(text) == latin


@pytest.mark.parametrize("name", TABLES)
def test_tables_know_the_letters_of_their_script_and_leave_none_of_it(name):
    rules = read_table(FOLDER / f"{name}.tsv")
    letters = {letter for rule in rules for letter in rule.letters if script_of_letter(letter)}
    assert {script_of_letter(letter) for letter in letters} == {SCRIPTS[name]}
    result = transliteration(name)("".join(sorted(letters)))
    assert not any(script_of_letter(letter) == SCRIPTS[name] for letter in result)
    assert transliteration(name)("plain, text 1") == "plain, text 1" or name == "greek"


@pytest.mark.parametrize("name", ALPHABETS)
def test_no_letter_of_an_alphabet_is_left_in_its_script(name):
    alphabet = ALPHABETS[name]
    result = transliteration(name)(f"{alphabet} {alphabet.upper()}")
    assert not any(script_of_letter(letter) == SCRIPTS[name] for letter in result)
    assert len(alphabet) == len(set(alphabet)) and len(set(result)) > 15


ARABIC = [rule.letters for rule in read_table(FOLDER / "buckwalter.tsv")]


@given(st.lists(st.sampled_from([*ARABIC, " "])).map("".join))
def test_buckwalter_can_be_read_back(text):
    rules = read_table(FOLDER / "buckwalter.tsv")
    back = {ord(rule.to): rule.letters for rule in rules}
    # Composed letters (alif with madda) come out of the normalisation as one letter.
    assert len(back) == len(rules) and transliteration("buckwalter")(text).translate(back) == unicodedata.normalize(
        "NFC", text
    )


@pytest.mark.parametrize("code", [code for code, member in FAMILY.items() if member.language.script != "Latn"])
def test_the_worlds_scripts_are_read_back_to_the_letter(code):
    world = World()
    latin = [transliteration("world")(sentence) for sentence in world.text(code, 30)]
    assert {tuple(script_shares(sentence)) for sentence in latin} == {("Latn",)}
    relative = FAMILY[code].lexicon_of
    if relative and FAMILY[code].grammar == FAMILY[relative].grammar:
        words = {word for sentence in world.text(relative, 2000) for word in sentence.split()}
        own = [word for sentence in latin for word in sentence.split()]
        assert sum(word in words for word in own) > 0.95 * len(own)


def slow(rules: list[tuple[str, str]], text: str) -> str:
    """At each place the longest key that fits, the first of equals."""
    result, place = "", 0
    while place < len(text):
        fits = [(key, to) for key, to in rules if key and text.startswith(key, place)]
        key, to = max(fits, key=lambda pair: len(pair[0]), default=(text[place], text[place]))
        result, place = result + to, place + len(key)
    return result


@given(
    st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), st.text("xyz", max_size=2)), min_size=1, max_size=6),
    st.text("abcd"),
)
def test_the_longest_rule_applies_and_of_equals_the_first(rules, text):
    assert by_rules([Rule(*rule) for rule in rules])(text) == slow(rules, text)


def test_contexts_decide_among_rules_of_one_letter():
    change = by_rules([Rule("w", "u", "[kb]", "[kb]"), Rule("w", "o", "", r"(?!\w)"), Rule("w", "v")])
    assert change("kwb wk bw kwa") == "kub vk bo kva"


@given(st.integers(0, 200), st.text("abcxyzABCéñşÜ ", max_size=30))
def test_a_permutation_exchanges_every_letter_and_keeps_the_rest(seed, text):
    table = permutation(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    images = letters.translate(table)
    assert sorted(images) == list(letters) and not any(a == b for a, b in zip(letters, images, strict=True))
    changed = text.translate(table)
    assert [one.isspace() for one in unicodedata.normalize("NFD", changed)] == [
        one.isspace() for one in unicodedata.normalize("NFD", text)
    ]
    assert [one.isupper() for one in changed if one in letters + letters.upper()] == [
        one.isupper() for one, to in zip(text, changed, strict=False) if to in letters + letters.upper()
    ] or len(changed) != len(text)
    back = {ord(image): letter for letter, image in zip(letters, images, strict=True)}
    plain = "".join(one for one in text if one in letters + " ")
    assert plain.translate(table).translate(back) == plain


@given(st.integers(0, 200))
def test_capitals_are_exchanged_like_small_letters(seed):
    """I and S are the capitals of ı and ſ as well, which had taken their places."""
    letters, table = "abcdefghijklmnopqrstuvwxyz", permutation(seed)
    assert letters.upper().translate(table) == letters.translate(table).upper()


@pytest.mark.parametrize("seed", range(4))
def test_no_latin_letter_stays_itself(seed):
    """Nor one that is no plain letter with a mark (ə, ŋ, đ), nor one with marks below (ṛ, ệ), nor their capitals."""
    small = [letter for letter in map(chr, [*range(0xC0, 0x2B0), *range(0x1E00, 0x1F00)]) if letter.islower()]
    capitals = [c for c in (letter.upper() for letter in small) if len(c) == 1 and c.lower() in small]
    table = permutation(seed)
    assert {"ə", "ŋ", "đ", "ṛ", "ệ"} < set(small) and {"Ə", "Ŋ", "Ṛ"} < set(capitals)
    assert [letter for letter in small + capitals if letter == letter.translate(table)] == []
    plain = [letter for letter in small if unicodedata.normalize("NFD", letter) == letter]
    assert sorted(letter.translate(table) for letter in plain) == sorted(plain)


def test_later_versions_of_unicode_change_no_permutation(monkeypatch):
    """Of the 16th ƛ and ɤ have capitals, with which all other letters went elsewhere."""

    class Newer(str):
        def upper(self):
            return {"ƛ": "\ua7dc", "ɤ": "\ua7cb"}.get(str(self), super().upper())

    before = [permutation(seed) for seed in range(3)]
    monkeypatch.setattr("babelscope.corpora.transliteration.chr", lambda code: Newer(chr(code)), raising=False)
    assert [permutation(seed) for seed in range(3)] == before


def test_permuted_text_of_the_first_edition_has_another_digest_but_the_worlds():
    assert rules_digest("cyrillic+permute:1") != rules_digest("cyrillic")
    assert rules_digest("world+permute:1") == rules_digest("world")


def test_a_control_follows_a_transliteration():
    text = "ئۇيغۇر تىلى"
    assert transliteration("uyghur+permute:3")(text) == transliteration("uyghur")(text).translate(permutation(3))
    assert transliteration("uyghur+permute:3")(text) != transliteration("uyghur+permute:4")(text)


def test_uroman_is_what_the_library_says(monkeypatch):
    uroman = pytest.importorskip("uroman")
    monkeypatch.setattr(uroman, "Uroman", cache(uroman.Uroman))  # reads its tables for seconds
    text = "ئۇيغۇر 日本 Щука"
    assert transliteration("uroman")(text) == uroman.Uroman().romanize_string(text)


class Reader:
    """As pykakasi gives words: the reading of each in several scripts."""

    READINGS: ClassVar[dict[str, str]] = {"日本": "nihon", "語": "go", " ": " ", "abc": "abc"}

    def convert(self, text: str) -> list[dict[str, str]]:
        words = re.findall("|".join(self.READINGS), text)
        return [{"orig": word, "hira": "", "hepburn": self.READINGS[word]} for word in words]


def test_japanese_is_written_as_its_words_are_read(monkeypatch):
    """The dictionary is a library's; what is ours is which of its readings stand, and the spaces between them."""
    monkeypatch.setitem(sys.modules, "pykakasi", SimpleNamespace(kakasi=Reader))
    monkeypatch.setattr(metadata, "version", lambda package: {"pykakasi": "2.3.0"}[package])
    written_in_kana.cache_clear()
    assert transliteration("kana")("日本語 abc") == "nihon go abc"
    assert rules_digest("kana") == digest({"kana": "2.3.0"})
    written_in_kana.cache_clear()


def test_without_the_dictionary_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pykakasi", None)
    written_in_kana.cache_clear()
    with pytest.raises(InputError, match=r"pykakasi is not installed: pip install 'babelscope\[kana\]'"):
        transliteration("kana")


@pytest.mark.parametrize("by", ["", "latin", "icu:", "table:", "uyghur+permute", "uyghur+shuffle:1", "permute:1"])
def test_what_there_is_not_is_refused_with_what_there_is(by):
    with pytest.raises(InputError) as caught:
        transliteration(by)
    assert "buckwalter" in caught.value.advice
