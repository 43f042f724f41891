"""Tables of transliterations: which are refused, with their line, and one of one's own."""

from __future__ import annotations

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.core.patterns import check_pattern
from babelscope.corpora.lines import LONGEST_LINE
from babelscope.corpora.transliteration import (
    Rule,
    by_rules,
    rules_digest,
    transliteration,
)
from command_line import within


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
