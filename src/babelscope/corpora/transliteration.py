"""Text in other letters: by table, by uroman, by ICU's rules; and letters exchanged at random, as a control.

What an encoder gains from transliteration can come from letters that it knows, or from words that become like those
of a relative that it knows (Muller et al., 2021, "When Being Unseen from mBERT is just the Beginning"). Exchanging
the letters of the result at random keeps the first and takes away the second.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import DataError, InputError
from babelscope.core.hashing import digest
from babelscope.core.outside import given_path
from babelscope.core.patterns import check_pattern
from babelscope.corpora.lines import Line, content_digest, numbered_lines
from babelscope.world.lexicon import SCRIPTS
from babelscope.world.world import VERSION

Change = Callable[[str], str]
"""From a text to the same text in other letters."""
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


LONGEST = 1000
"""Letters of a line, about."""
MOST_RULES = 10_000
"""Of a table: each letter of a text is held against all of them."""


class Rule(NamedTuple):
    """One line of a table. Contexts are regular expressions on what stands before and after; empty: anything."""

    letters: str
    to: str
    before: str = ""
    after: str = ""


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
    raise InputError(f"{name!r}: no such transliteration", USAGE)


def read_table(path: Path) -> list[Rule]:
    """The rules of a file: FROM and TO, and if need be BEFORE and AFTER, separated by tabs; "# " begins a comment.

    Raises:
        DataError: a line without FROM and TO or with more columns, a context that is no regular expression, or a rule
            that never applies.
    """
    lines = (line for line in numbered_lines(path) if line.text and not line.text.startswith("# "))
    rules = {line.number: _rule(path, line) for line in islice(lines, MOST_RULES)}
    if not rules:
        raise DataError(path, None, "no rule; expected lines FROM<TAB>TO")
    if more := next(lines, None):
        raise DataError(path, more.number, f"more than {MOST_RULES:,} rules")
    _check_all_apply(path, rules)
    return list(rules.values())


def _check_all_apply(path: Path, rules: Mapping[int, Rule]) -> None:
    """Refuse a rule, by its line, whose place another one for the same letters always takes."""
    first: dict[tuple[str, ...], int] = {}
    for number, rule in rules.items():
        anywhere, here = (rule.letters, "", ""), (rule.letters, rule.before, rule.after)
        if earlier := first.get(anywhere) or first.get(here):
            raise DataError(path, number, f"never applies: line {earlier} is for {rule.letters!r} there, too")
        first[here] = number


def _rule(path: Path, line: Line) -> Rule:
    columns = line.text.split("\t")
    if not 2 <= len(columns) <= 4 or not columns[0]:
        raise DataError(
            path, line.number, f"{len(columns)} columns; expected FROM, TO, and if need be BEFORE and AFTER"
        )
    rule = Rule(*(unicodedata.normalize("NFC", column) for column in columns))
    try:
        for context in (rule.before, rule.after):
            check_pattern(context, LONGEST)
        if re.compile(_pattern(rule)).groupindex:
            raise ValueError("names a group, as no context can")
    except (ValueError, re.error) as error:
        raise DataError(path, line.number, f"the context {error}") from None
    return rule


def by_rules(rules: Sequence[Rule]) -> Change:
    """At each place the rule of most letters applies; of several, the first whose contexts fit.

    What no rule names stays. A capital letter becomes a capital: of several letters the first, or all within a word of
    capitals. Text is normalised to NFC.
    """
    ordered = sorted(rules, key=lambda rule: -len(rule.letters))  # stable: of one length, in the order of the table
    alternatives = (f"(?P<rule{k}>{_pattern(rule)})" for k, rule in enumerate(ordered))
    pattern = re.compile("|".join(alternatives))

    def change(text: str) -> str:
        text = unicodedata.normalize("NFC", text)

        def replaced(match: re.Match[str]) -> str:
            to = ordered[int((match.lastgroup or "").removeprefix("rule"))].to
            return _cased(match[0], to, text[: match.start()][-1:], text[match.end() : match.end() + 1])

        return pattern.sub(replaced, text)

    return change


def _pattern(rule: Rule) -> str:
    """The letters as they are or as capitals: without regard to case the two small sigmas would be one.

    A context that does not begin as a lookaround, `(?`, becomes one; a lookbehind holds one letter or a class of them.
    """
    forms = dict.fromkeys((rule.letters, rule.letters.capitalize(), rule.letters.upper()))
    before = f"(?<={rule.before})" if rule.before and not rule.before.startswith("(?") else rule.before
    after = f"(?={rule.after})" if rule.after and not rule.after.startswith("(?") else rule.after
    letters = "|".join(re.escape(form) for form in forms)
    return f"(?i:{before})(?:{letters})(?i:{after})"


def _cased(letters: str, to: str, before: str, after: str) -> str:
    if not letters[0].isupper():
        return to
    capitals = letters.isupper() and (len(letters) > 1 or after.isupper() or (before.isupper() and not after.islower()))
    return to.upper() if capitals else to[:1].upper() + to[1:]


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
