"""Text in other letters: by table, by uroman, by ICU's rules; and letters exchanged at random, as a control.

What an encoder gains from transliteration can come from letters that it knows, or from words that become like those
of a relative that it knows (Muller et al., 2021, "When Being Unseen from mBERT is just the Beginning"). Exchanging
the letters of the result at random keeps the first and takes away the second.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from babelscope.core.errors import InputError, did_you_mean
from babelscope.core.hashing import digest
from babelscope.core.outside import given_path
from babelscope.corpora.letter_tables import Change, Rule, by_rules, read_table
from babelscope.corpora.lines import content_digest
from babelscope.world.lexicon import SCRIPTS
from babelscope.world.world import VERSION

TABLES = (
    "buckwalter", "cyrillic", "cyrillic-published", "georgian", "georgian-published", "greek", "mari", "mingrelian",
    "sorani", "sorani-published", "uyghur", "uyghur-published",
)  # fmt: skip
"""Tables that come with the package."""
PERMUTE = "+permute:"
"""Between a transliteration and the seed of the permutation of its letters."""
PERMUTATION = 2
"""The edition of permutations: in the first, the capitals I and S stayed themselves."""
USAGE = (
    f"Transliterate by a table of the package ({', '.join(TABLES)}, or world for the artificial languages), kana for "
    "Japanese, uroman, icu:RULES such as icu:Any-Latin, or table:FILE with lines FROM<TAB>TO; "
    f"{PERMUTE}SEED after it exchanges the Latin letters of the result at random"
)


def transliteration(by: str) -> Change:
    """How to change a text, by name: `uyghur`, `uroman`, `icu:Any-Latin`, `table:FILE`, `cyrillic+permute:1`.

    Raises:
        InputError: there is no such way, or it is not installed.
        DataError: the file of a table cannot be used; names the line.
    """
    name, seed = _parts(by)
    change = _change(name)
    if seed is None:
        return change
    letters = permutation(seed)
    return lambda text: change(text).translate(letters)


def rules_digest(by: str) -> str:
    """What decides the result of a transliteration besides its name: the rules' content, or who made them.

    Raises:
        InputError, DataError: as of `transliteration`.
    """
    transliteration(by)
    name, seed = _parts(by)
    rules = _digest_of(name)
    # The world has no capitals, and its numbers are those of the first edition.
    return rules if seed is None or name == "world" else digest({"rules": rules, "permutation": PERMUTATION})


def _digest_of(name: str) -> str:
    kind, _, rest = name.partition(":")
    if name in TABLES or kind == "table":
        return content_digest(table_of(name) if name in TABLES else given_path(rest))
    return digest({"world": VERSION} if name == "world" else {kind: metadata.version(_MAKERS[kind])})


def table_file(by: str) -> str | None:
    """The file of one's own that a transliteration is in, as it was given; None: it is in none."""
    kind, _, rest = _parts(by)[0].partition(":")
    return rest if kind == "table" else None


def _parts(by: str) -> tuple[str, int | None]:
    """The name of a transliteration, and the seed of the permutation after it."""
    name, permuted, seed = by.partition(PERMUTE)
    if permuted and not re.fullmatch("[0-9]{1,18}", seed):
        raise InputError(f"{by!r:.100}: after + only permute:SEED can follow, a whole number", USAGE)
    return name, int(seed) if seed else None


_MAKERS = {"kana": "pykakasi", "uroman": "uroman", "icu": "PyICU"}
"""The packages whose rules are used."""


def table_of(name: str) -> Path:
    """The file of a table of the package."""
    return Path(__file__).parent / "transliterations" / f"{name}.tsv"


def _change(name: str) -> Change:
    kind, _, rest = name.partition(":")
    if name in TABLES:
        return by_rules(read_table(table_of(name)))
    if name == "world":
        return by_rules([Rule(chr(to), chr(letter)) for letters in SCRIPTS.values() for letter, to in letters.items()])
    if name == "uroman":
        return _uroman()
    if name == "kana":
        return written_in_kana()
    if kind == "icu" and rest:
        return _icu(rest)
    if kind == "table" and rest:
        return by_rules(read_table(given_path(rest)))
    near = did_you_mean(name, [*TABLES, "world", "uroman", "kana"])
    raise InputError(f"{name!r}: no such transliteration{near}", USAGE)


def permutation(seed: int) -> Mapping[int, str]:
    """A table for `str.translate` that exchanges the Latin letters, capitals like small ones; marks stay on letters.

    No small letter stays itself, nor its capital, so that words keep their lengths and their repetitions and nothing
    else. Letters that are no plain one with a mark, such as ə and ŋ, are exchanged among themselves. Capitals that are
    those of no one small letter stay: İ, ẞ, Ⱥ, Ⱦ, and pairs such as ǅ.
    """
    chance = random.Random(seed)  # noqa: S311
    pairs = _exchanged([chr(code) for code in range(ord("a"), ord("z") + 1)], chance)
    others = [letter for letter in map(chr, MARKED) if letter.islower()]
    plain = [letter for letter in others if _base(letter) == letter]
    for alike in (True, False):  # those with a capital of their own, and those without
        pairs |= _exchanged([letter for letter in plain if _has_capital(letter) is alike], chance)
    pairs |= {
        letter: _replaced_base(letter, pairs) for letter in others if _base(letter) in pairs and letter not in pairs
    }
    small = {ord(letter): other for letter, other in pairs.items()}
    return small | {ord(a.upper()): b.upper() for a, b in pairs.items() if _has_capital(a)}


MARKED = (*range(0xC0, 0x2B0), *range(0x1E00, 0x1F00))
"""The Latin letters beyond ASCII, by their numbers."""
LATER_CAPITALS = "ƛɤ"
"""Which have capitals as of Unicode 16: the same table is made by every version of Python."""


def _exchanged(letters: Sequence[str], chance: random.Random) -> dict[str, str]:
    """Each with another one."""
    others = list(letters)
    while any(map(str.__eq__, letters, others)):
        chance.shuffle(others)
    return dict(zip(letters, others, strict=True))


def _has_capital(letter: str) -> bool:
    """Whether it has one of its own: that of ı is I, and that of ß is two letters."""
    return (
        letter not in LATER_CAPITALS and len(letter.upper()) == 1 and letter.upper() != letter == letter.upper().lower()
    )


def _base(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0]


def _replaced_base(marked: str, pairs: Mapping[str, str]) -> str:
    return unicodedata.normalize("NFC", pairs[_base(marked)] + unicodedata.normalize("NFD", marked)[1:])


@lru_cache(maxsize=1)
def _uroman() -> Change:
    try:
        import uroman
    except ImportError:
        raise InputError("uroman is not installed: pip install 'babelscope[translit]'") from None
    romanizer: Any = uroman.Uroman()
    return lambda text: str(romanizer.romanize_string(text))


@lru_cache(maxsize=1)
def written_in_kana() -> Change:
    """Japanese by how its words are read, as a dictionary says, in Hepburn's letters; with spaces between the words.

    Raises:
        InputError: the dictionary is not installed.
    """
    try:
        import pykakasi
    except ImportError:
        raise InputError("pykakasi is not installed: pip install 'babelscope[kana]'") from None
    reader: Any = pykakasi.kakasi()
    return lambda text: " ".join(" ".join(str(word["hepburn"]) for word in reader.convert(text)).split())


def _icu(rules: str) -> Change:
    try:
        import icu
    except ImportError:
        raise InputError("PyICU is not installed: see https://pypi.org/project/pyicu for how to") from None
    try:
        transliterator: Any = icu.Transliterator.createInstance(rules)
    except icu.ICUError as error:
        raise InputError(f"icu:{rules}: no such rules: {error}") from None
    return lambda text: str(transliterator.transliterate(text))
