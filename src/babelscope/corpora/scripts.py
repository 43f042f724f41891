"""Which script a text is written in."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from babelscope.core.errors import InputError

FIRST = 1000
"""Sentences by which the script of a text is known."""

CODES = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr", "GEORGIAN": "Geor",
    "ARMENIAN": "Armn", "DEVANAGARI": "Deva", "BENGALI": "Beng", "GURMUKHI": "Guru", "GUJARATI": "Gujr",
    "TAMIL": "Taml", "TELUGU": "Telu", "KANNADA": "Knda", "MALAYALAM": "Mlym", "SINHALA": "Sinh", "THAI": "Thai",
    "LAO": "Laoo", "KHMER": "Khmr", "MYANMAR": "Mymr", "TIBETAN": "Tibt", "ETHIOPIC": "Ethi", "MONGOLIAN": "Mong",
    "SYRIAC": "Syrc", "THAANA": "Thaa", "COPTIC": "Copt", "TIFINAGH": "Tfng", "NKO": "Nkoo", "HANGUL": "Hang",
    "HIRAGANA": "Hira", "KATAKANA": "Kana", "CJK": "Hani", "OL": "Olck", "ORIYA": "Orya", "CHEROKEE": "Cher",
    "IDEOGRAPHIC": "Hani", "CANADIAN": "Cans", "ADLAM": "Adlm", "MEETEI": "Mtei", "YI": "Yiii", "JAVANESE": "Java",
    "SUNDANESE": "Sund", "CHAKMA": "Cakm", "TAGALOG": "Tglg", "SYLOTI": "Sylo", "KAYAH": "Kali", "HANIFI": "Rohg",
}  # fmt: skip
"""First word of a letter's name in Unicode -> ISO 15924 code."""
UNKNOWN = "Zzzz"
"""The code of every script that is not in the table."""
_OF_NO_SCRIPT = frozenset({"MODIFIER", "CARON", "VEDIC", "VERTICAL", "MASU"})
"""First words of letters that several scripts have, such as the apostrophe of Hawaiian."""


@lru_cache(maxsize=100_000)
def script_of_letter(letter: str) -> str | None:
    """The ISO 15924 code of a letter's script, `Zzzz` if it is not known here; None for what is of no script."""
    if unicodedata.category(letter)[0] != "L":
        return None
    plain = unicodedata.normalize("NFKC", letter)[0]  # of a full-width letter, or the micro sign
    words = _first_word(letter), _first_word(plain)
    return next((CODES[word] for word in words if word in CODES), None if words[1] in _OF_NO_SCRIPT else UNKNOWN)


def _first_word(letter: str) -> str:
    return unicodedata.name(letter, "").replace("-", " ").split(" ")[0]


def script_shares(text: str) -> dict[str, float]:
    """Script -> its share of the letters, most frequent first; empty where there are none."""
    counts = Counter(script for letter in text if (script := script_of_letter(letter)))
    return {script: count / counts.total() for script, count in counts.most_common()}


def check_script(code: str, sentences: Sequence[str]) -> None:
    """Refuse text that is not in the script that a code names, as `sr-Latn` does.

    Codes that name none are not looked at, nor are those of Chinese, whose kinds share their letters' names.

    Raises:
        InputError: most letters of the first sentences are of another script.
    """
    named = {part.title() for part in re.split("[-_]", code)[1:]} & set(CODES.values())
    there = script_shares("\n".join(sentences[:FIRST]))
    most = next(iter(there), None)
    if named and most and most not in named:
        raise InputError(
            f"{code}: {there[most]:.0%} of the letters of its text are {most}; give text in {', '.join(named)}, or the "
            "code of what the text is in"
        )
