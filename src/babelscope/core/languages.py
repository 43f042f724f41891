"""Languages and scripts: BCP 47 codes, ISO 15924 scripts, and how they are named in tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """A language as studies name it.

    `code` is a BCP 47 tag (private use `qaa`..`qtz` for the artificial ones), `script` an ISO 15924 code.
    """

    code: str
    name: str
    script: str


_REAL = [
    Language("ar", "Arabic", "Arab"),
    Language("bm", "Bambara", "Latn"),
    Language("bxr", "Buryat", "Cyrl"),
    Language("ckb", "Sorani", "Arab"),
    Language("cs", "Czech", "Latn"),
    Language("de", "German", "Latn"),
    Language("en", "English", "Latn"),
    Language("es", "Spanish", "Latn"),
    Language("eu", "Basque", "Latn"),
    Language("fi", "Finnish", "Latn"),
    Language("fo", "Faroese", "Latn"),
    Language("fr", "French", "Latn"),
    Language("gsw", "Swiss German", "Latn"),
    Language("ha", "Hausa", "Latn"),
    Language("hi", "Hindi", "Deva"),
    Language("id", "Indonesian", "Latn"),
    Language("it", "Italian", "Latn"),
    Language("ja", "Japanese", "Jpan"),
    Language("ko", "Korean", "Hang"),
    Language("mhr", "Mari", "Cyrl"),
    Language("mt", "Maltese", "Latn"),
    Language("myv", "Erzya", "Cyrl"),
    Language("nl", "Dutch", "Latn"),
    Language("nrz", "Narabizi", "Latn"),  # the code that the published study gives it
    Language("olo", "Livvi", "Latn"),
    Language("pcm", "Naija", "Latn"),
    Language("pl", "Polish", "Latn"),
    Language("pt", "Portuguese", "Latn"),
    Language("ru", "Russian", "Cyrl"),
    Language("sd", "Sindhi", "Arab"),
    Language("sv", "Swedish", "Latn"),
    Language("sw", "Swahili", "Latn"),
    Language("th", "Thai", "Thai"),
    Language("tr", "Turkish", "Latn"),
    Language("ug", "Uyghur", "Arab"),
    Language("vi", "Vietnamese", "Latn"),
    Language("wo", "Wolof", "Latn"),
    Language("xmf", "Mingrelian", "Geor"),
    Language("yo", "Yoruba", "Latn"),
    Language("zh", "Chinese", "Hant"),  # of PUD and GSD
]

REAL_LANGUAGES = {language.code: language for language in _REAL}


_FAMILIES = {
    "Afro-Asiatic": "am ar ary arz ha he mt nrz so",
    "Austroasiatic": "km vi",
    "Austronesian": "id jv ms tl",
    "Dravidian": "kn ml ta te",
    "Indo-European": "af bg bn bs ca ckb cs cy da de el en es fa fo fr ga gd gl gsw gu hi hr hsb hy is it kmr lt lv mk "
    "mr nb ne nl nn no pa pl pt ro ru sa sd sk sl sq sr sv uk ur",
    "Japonic": "ja",
    "Kartvelian": "ka xmf",
    "Koreanic": "ko",
    "Mande": "bm",
    "Mongolic": "bxr mn",
    "Niger-Congo": "sw wo yo zu",
    "Sino-Tibetan": "bo my yue zh",
    "Tai-Kadai": "lo th",
    "Turkic": "az kk ky tr tt ug uz",
    "Uralic": "et fi hu kpv mhr myv olo se",
    "none known": "eu",
}
"""Families by Glottolog's names or their usual ones. Creoles are in none."""
_FAMILY_OF = {code: family for family, codes in _FAMILIES.items() for code in codes.split()}


def family_of(code: str) -> str | None:
    """The family of a real language, a regional tag's as that of its language; None where the table has it not."""
    return _FAMILY_OF.get(code.partition("-")[0])


UNSPACED = {"Hani", "Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai", "Tibt"}
"""Scripts that put no space between words."""


def script_of(code: str) -> str | None:
    """The script that a real language is usually written in, by CLDR where the table does not have it; else None."""
    from langcodes import Language as Tag
    from langcodes import LanguageTagError

    if code in REAL_LANGUAGES:
        return REAL_LANGUAGES[code].script
    try:
        known = language_name(code) != code
        return Tag.get(code).maximize().script if known else None
    except LanguageTagError:
        return None


def code_of_name(name: str) -> str | None:
    """The code of a real language that goes by this English name; None if none does."""
    from langcodes import find

    try:
        tag = find(name)
    except (LookupError, ValueError):  # of characters that its table has between names
        return None
    return str(tag) if tag.language_name().lower() == name.lower() else None  # names that are merely near are none


def is_language(code: str) -> bool:
    """Whether a code is that of a real language, with a script or place perhaps; not one for private use."""
    return language_name(code) != code


def language_name(code: str) -> str:
    """The name of a real language, with script and place where the code has them; the code where it is of none."""
    from langcodes import Language as Tag  # here, since the artificial world needs no package at all
    from langcodes import LanguageTagError

    if code in REAL_LANGUAGES:
        return REAL_LANGUAGES[code].name
    try:
        tag = Tag.get(code)
    except LanguageTagError:
        return code
    names = tag.display_name(), tag.language_name()
    return next((name for name in names if "Unknown" not in name), code)


def script_name(code: str) -> str:
    """The English name of a script: `Arabic` of `Arab`; the code where it is of none."""
    from langcodes import Language as Tag

    name = Tag.make(script=code).script_name()
    return code if "Unknown" in name else name
