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
}  # fmt: skip
"""First word of a letter's name in Unicode -> ISO 15924 code."""


@lru_cache(maxsize=100_000)
def script_of_letter(letter: str) -> str | None:
    """The ISO 15924 code of a letter's script; None for what is no letter, or of another script."""
    if unicodedata.category(letter)[0] != "L":
        return None
    return CODES.get(unicodedata.name(letter, "").replace("-", " ").split(" ")[0])


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
