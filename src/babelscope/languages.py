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
    Language("cs", "Czech", "Latn"),
    Language("de", "German", "Latn"),
    Language("en", "English", "Latn"),
    Language("es", "Spanish", "Latn"),
    Language("eu", "Basque", "Latn"),
    Language("fr", "French", "Latn"),
    Language("gsw", "Swiss German", "Latn"),
    Language("ha", "Hausa", "Latn"),
    Language("hi", "Hindi", "Deva"),
    Language("it", "Italian", "Latn"),
    Language("mt", "Maltese", "Latn"),
    Language("myv", "Erzya", "Cyrl"),
    Language("nl", "Dutch", "Latn"),
    Language("pcm", "Naija", "Latn"),
    Language("pt", "Portuguese", "Latn"),
    Language("ru", "Russian", "Cyrl"),
    Language("sv", "Swedish", "Latn"),
    Language("sw", "Swahili", "Latn"),
    Language("tr", "Turkish", "Latn"),
    Language("ug", "Uyghur", "Arab"),
    Language("vi", "Vietnamese", "Latn"),
    Language("wo", "Wolof", "Latn"),
    Language("yo", "Yoruba", "Latn"),
    Language("zh", "Chinese", "Hant"),  # of PUD and GSD
]

REAL_LANGUAGES = {language.code: language for language in _REAL}

_OTHERS = {
    "afr": "Afrikaans", "aze-Latn": "Azerbaijani", "bel": "Belarusian", "ben": "Bengali", "bul": "Bulgarian",
    "cat": "Catalan", "ckb": "Sorani", "ckb-Arab": "Sorani", "cym": "Welsh", "dan": "Danish", "ell": "Greek",
    "est": "Estonian", "fao": "Faroese", "fas": "Persian", "fo": "Faroese", "gle": "Irish",
    "gsw-ZH": "Swiss German of Zurich", "heb": "Hebrew", "hrv": "Croatian", "hun": "Hungarian", "hye": "Armenian",
    "isl": "Icelandic", "jpn": "Japanese", "kat": "Georgian", "kaz": "Kazakh", "kmr": "Kurmanji", "lav": "Latvian",
    "lit": "Lithuanian", "ltz": "Luxembourgish", "mar": "Marathi", "mhr": "Meadow Mari", "mon": "Mongolian",
    "nob": "Norwegian Bokmål", "nrz": "Narabizi", "olo": "Livvi", "ron": "Romanian", "sd": "Sindhi", "slk": "Slovak",
    "slv": "Slovenian", "snd-Arab": "Sindhi", "som": "Somali", "sqi": "Albanian", "srp-Cyrl": "Serbian in Cyrillic",
    "srp-Latn": "Serbian in Latin", "tam": "Tamil", "tat": "Tatar", "tel": "Telugu", "tha": "Thai", "tuk": "Turkmen",
    "ukr": "Ukrainian", "urd": "Urdu", "uzb": "Uzbek", "xmf": "Mingrelian",
}  # fmt: skip
"""Names of languages that no study has, but texts or published numbers; by codes as these have them."""


def language_name(code: str) -> str:
    """The name of a real language as far as it is known, else its code."""
    return REAL_LANGUAGES[code].name if code in REAL_LANGUAGES else _OTHERS.get(code, code)
