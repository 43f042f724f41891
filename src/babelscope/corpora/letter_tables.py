"""Tables of letters: what each rule of a file puts in the place of which letters, and where."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import DataError
from babelscope.core.patterns import check_pattern
from babelscope.corpora.lines import LONGEST_LINE, Line, numbered_lines

Change = Callable[[str], str]
"""From a text to the same text in other letters."""
LONGEST_TO = 100
"""Letters that a rule of a table puts in the place of others."""
MOST_RULES = 10_000
"""Of a table: each letter of a text is held against all of them."""
MOST_WAYS = 1000
"""In which a context may match, which is tried at each letter of lines of up to a million."""


class Rule(NamedTuple):
    """One line of a table. Contexts are regular expressions on what stands before and after; empty: anything."""

    letters: str
    to: str
    before: str = ""
    after: str = ""


def read_table(path: Path) -> list[Rule]:
    """The rules of a file: FROM and TO, and if need be BEFORE and AFTER, separated by tabs; "# " begins a comment.

    Raises:
        DataError: a line without FROM and TO or with more columns, a TO of more than `LONGEST_TO` letters, a context
            that is no regular expression or takes too long, or a rule that never applies.
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
    if len(columns[1]) > LONGEST_TO:
        raise DataError(path, line.number, f"TO has {len(columns[1]):,} letters; allowed are {LONGEST_TO} at most")
    rule = Rule(*(unicodedata.normalize("NFC", column) for column in columns))
    try:
        for context in (rule.before, rule.after):
            check_pattern(context, LONGEST_LINE, MOST_WAYS)
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
            start, end = match.span()
            to = ordered[int((match.lastgroup or "").removeprefix("rule"))].to
            return _cased(match[0], to, text[max(0, start - 1) : start], text[end : end + 1])

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
