"""Text in other letters, and files of it: what is changed, what stays, and what can be put back."""

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

from babelscope.core.errors import DataError, InputError
from babelscope.core.hashing import digest
from babelscope.core.patterns import check_pattern
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.lines import LONGEST_LINE
from babelscope.corpora.rewriting import restore, rewrite
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
from command_line import within

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
CONLLU = """# sent_id = 1
# text = Щука|Юля не.
1-2\tЩука|Юля\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tЩука\tщука\tNOUN\t_\tCase=Nom\t0\troot\t_\t_
2\tЮля|\tЮля\tPROPN\t_\t_\t1\tflat\t_\tA=B
3\tне\tне\tPART\t_\t_\t1\tadvmod\t_\t_
3.1\tъ\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


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


def test_a_context_is_tried_in_no_more_ways_than_a_text_takes_seconds_for():
    """Thirty times `a?` matches in 2**30 ways; a context that is allowed is quick on a line that it hardly fits."""
    for context in (r"\w{0,99}!", "(?=a{0,9}b)", "(ab|c){0,8}x", ".{0,99}q"):
        check_pattern(context, LONGEST_LINE)
        with within(10):
            by_rules([Rule("a", "b", "", context)])("a" * 5000)
    for context in ("a?" * 30 + "a" * 30, "(a*)*", "(a|aa)+$", "(.*a){20}"):
        with pytest.raises(ValueError, match="leave out repetitions"):
            check_pattern(context, LONGEST_LINE)


@pytest.mark.parametrize(
    ("by", "problem"),
    [
        (f"greek+permute:{'9' * 5000}", "only permute:SEED can follow, a whole number"),
        ("greek+permute:\u0663", "only permute:SEED can follow"),
        ("table:a\0b", "holds a NUL"),
        ("table:\ud800", "not UTF-8"),
        ("table:/dev/zero", "it is no file, but a pipe, a device"),
        ("icu:\0", "."),
        ("", "no such transliteration"),
    ],
)
def test_a_name_that_no_transliteration_has_is_refused_in_words(by, problem):
    with within(5), pytest.raises(InputError, match=problem):
        rules_digest(by)


@pytest.mark.parametrize(("text", "line", "problem"), [
    ("a\tb\nc\n", 2, "1 columns"), ("a\tb\t(\t\n", 1, "not a regular expression"), ("# none\n", None, "no rule"),
    ("\tb\n", 1, "2 columns"), ("a\tb\tc\td\te\n", 1, "5 columns"), ("a\tb\t\t(?P<x>y)\n", 1, "names a group"),
    ("a\tb\t\t(a+)+$\n", 1, "in more than 1,000 ways"), ("a\tb\t\t(a|a)*\n" * 9, 1, "in more than 1,000 ways"),
    ("a\tb\n" * 10_001, 10_001, "more than 10,000 rules"), ("a\tb\t" + "(" * 9000, 1, "nested too deep"),
])  # fmt: skip
def test_a_table_at_fault_is_refused_with_its_line(tmp_path, text, line, problem):
    file = tmp_path / "own.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=problem) as caught:
        transliteration(f"table:{file}")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\tb\nc\td\na\te\n", 3),
        ("a\tb\na\te\t^\n", 2),
        ("a\tb\t\tx\na\tc\na\td\t\tx\n", 3),
        ("\u00e9\ta\ne\u0301\tb\n", 2),
    ],
)
def test_a_rule_that_never_applies_is_refused(tmp_path, text, line):
    """Who has written it believes that it does."""
    file = tmp_path / "own.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"never applies: line [12] is for") as caught:
        transliteration(f"table:{file}")
    assert caught.value.line == line


def test_rules_for_the_same_letters_may_differ_in_what_is_beside_them(tmp_path):
    (tmp_path / "own.tsv").write_text("a\tb\t\tx\na\tc\tx\na\td\n", encoding="utf-8")
    assert transliteration(f"table:{tmp_path / 'own.tsv'}")("ax xa a") == "bx xc d"


def test_a_table_of_ones_own(tmp_path):
    file = tmp_path / "own.tsv"
    file.write_text("# my letters\nx\tks\nxh\th\n", encoding="utf-8")
    assert transliteration(f"table:{file}")("Xaxha") == "Ksaha"


# Files


def test_conllu_keeps_its_annotation_and_can_be_put_back(tmp_path):
    source, latin, back = (tmp_path / name for name in ("a.conllu", "b.conllu", "c.conllu"))
    source.write_text(CONLLU, encoding="utf-8")
    assert rewrite(source, latin, transliteration("cyrillic")) == 4
    before, after = read_conllu(source), read_conllu(latin)
    assert after[0].forms == ["Shchuka", "Yulya|", "ne", "."] and after[0].multiwords[0].form == "Shchuka|Yulya"
    for one, other in zip(CONLLU.splitlines()[2:-1], latin.read_text().splitlines()[2:-1], strict=True):
        own, changed = one.split("\t"), other.split("\t")
        assert own[0] == changed[0] and own[2:9] == changed[2:9] and changed[9].startswith(own[9].strip("_"))
    assert restore(latin, back) == 4
    assert back.read_text(encoding="utf-8") == CONLLU and read_conllu(back) == before
    with pytest.raises(DataError, match=r"orig_text is kept for text that was changed: .* restore it first"):
        rewrite(latin, tmp_path / "d.conllu", transliteration("cyrillic"))
    lines = latin.read_text(encoding="utf-8").splitlines(keepends=True)
    latin.write_text("".join(line for line in lines if not line.startswith("# orig_text")), encoding="utf-8")
    with pytest.raises(DataError, match=r"OrigForm already: .* restore it first"):
        rewrite(latin, tmp_path / "d.conllu", transliteration("cyrillic"))
    assert not (tmp_path / "d.conllu").exists()


def test_what_a_sentence_and_its_words_become_by_rules_with_contexts_may_differ(tmp_path):
    text = "# text = газета «Ъ»\n1\tгазета\t_\tX\t_\t_\t0\troot\t_\t_\n" + "".join(
        f"{number}\t{form}\t_\tX\t_\t_\t1\tdep\t_\tSpaceAfter=No\n" for number, form in ((2, "«"), (3, "Ъ"), (4, "»"))
    )
    (tmp_path / "a.conllu").write_text(text + "\n", encoding="utf-8")
    rewrite(tmp_path / "a.conllu", tmp_path / "b.conllu", transliteration("cyrillic"))
    assert read_conllu(tmp_path / "b.conllu")[0].forms == ["gazeta", "«", "Ъ", "»"]
    restore(tmp_path / "b.conllu", tmp_path / "c.conllu")
    (tmp_path / "b.txt").write_text("two words\n")
    with pytest.raises(InputError, match=r"b.txt: only CoNLL-U, in a file named .conllu, keeps what was there before"):
        restore(tmp_path / "b.txt", tmp_path / "d.txt")
    assert (tmp_path / "c.conllu").read_text(encoding="utf-8") == text + "\n"


@pytest.mark.parametrize("comment", ["# text=и", "#text = и", "#\ttext\t=и"])
def test_the_text_is_known_as_the_reader_knows_it(tmp_path, comment):
    content = f"{comment}\n# text_en = text = a\n1\tи\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    a, b, c = (tmp_path / f"{name}.conllu" for name in "abc")
    a.write_text(content, encoding="utf-8")
    rewrite(a, b, transliteration("cyrillic"))
    assert (read_conllu(a)[0].text, read_conllu(b)[0].text, read_conllu(b)[0].forms) == ("и", None, ["i"])
    with pytest.raises(DataError, match="orig_text is kept for text that was changed"):
        rewrite(b, tmp_path / "d.conllu", transliteration("cyrillic"))
    restore(b, c)
    assert c.read_text(encoding="utf-8") == content


@given(
    form=st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1),
    misc=st.sampled_from(["_", "A=B", "SpaceAfter=No|C=D"]),
)
def test_any_form_is_put_back(tmp_path_factory, form, misc):
    folder = tmp_path_factory.mktemp("forms")
    line = f"1\t{form}\t_\tX\t_\t_\t0\troot\t_\t{misc}\n\n"
    (folder / "a.conllu").write_bytes(line.encode())
    rewrite(folder / "a.conllu", folder / "b.conllu", lambda text: f"{text}|x\\")
    restore(folder / "b.conllu", folder / "c.conllu")
    assert (folder / "c.conllu").read_bytes() == line.encode()


def test_plain_text_is_changed_line_by_line(tmp_path):
    (tmp_path / "a.txt").write_text("Щука\n\n# text = и\nplain\n", encoding="utf-8")
    changed = rewrite(tmp_path / "a.txt", tmp_path / "b.txt", transliteration("cyrillic"))
    assert changed == 2, "a line that begins with # is a line of text"
    assert (tmp_path / "b.txt").read_text() == "Shchuka\n\n# text = i\nplain\n"


def test_nothing_is_overwritten_and_faults_have_their_line(tmp_path):
    (tmp_path / "a.conllu").write_text("1\tx\n", encoding="utf-8")
    with pytest.raises(DataError, match="2 columns") as caught:
        rewrite(tmp_path / "a.conllu", tmp_path / "b.conllu", str.upper)
    assert caught.value.line == 1 and not (tmp_path / "b.conllu").exists()
    with pytest.raises(InputError, match="already there"):
        rewrite(tmp_path / "a.conllu", tmp_path / "a.conllu", str.upper)
    with pytest.raises(InputError, match="cannot be written"):
        rewrite(Path(__file__), tmp_path / "a.conllu" / "b.txt", str.upper)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Щука", "Cyrl"),
        ("日本", "Hani"),
        ("ئۇيغۇر a", "Arab"),
        ("12 .", None),
        ("", None),
        ("ქართული", "Geor"),
        ("한국", "Hang"),
        ("ᐃᓄᒃᑎᑐᑦ ᐊᒻᒪ web", "Cans"),
        ("𞤆𞤵𞤤𞤢𞤪", "Adlm"),
        ("ꯃꯤꯇꯩ", "Mtei"),
        ("ꆈꌠ", "Yiii"),
        ("ꦗꦮ", "Java"),
        ("ᮞᮥᮔ᮪ᮓ", "Sund"),
        ("𑄌𑄋𑄴𑄟𑄳𑄦", "Cakm"),
        ("ᜆᜄᜎᜓᜄ᜔", "Tglg"),
        ("ꠍꠤꠟꠐꠤ", "Sylo"),
        ("ꤊꤢ", "Kali"),
        ("𐴌𐴟", "Rohg"),
        ("ꕙꔤ ok", "Zzzz"),
        ("ʻʻʻ", None),
        ("ｆｕｌｌ", "Latn"),
        ("人々々", "Hani"),
    ],
)
def test_the_script_of_most_letters_comes_first(text, script):
    assert next(iter(script_shares(text)), None) == script


def test_shares_of_scripts_are_of_letters():
    assert script_shares("ab Щ. 9") == {"Latn": pytest.approx(2 / 3), "Cyrl": pytest.approx(1 / 3)}
    assert script_shares("ꕙꔤꕙ a") == {"Zzzz": 0.75, "Latn": 0.25}
