"""Tables of letters that would make text without end, or take without end on a long line, are refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from babelscope.core.errors import DataError
from babelscope.core.patterns import check_pattern
from babelscope.corpora.letter_tables import LONGEST_TO, Rule, by_rules, read_table
from babelscope.corpora.lines import LONGEST_LINE
from command_line import within


def table(folder: Path, *rules: str) -> Path:
    (folder / "t.tsv").write_text("".join(f"{rule}\n" for rule in rules))
    return folder / "t.tsv"


def test_a_rule_puts_no_more_than_some_letters(tmp_path: Path):
    assert read_table(table(tmp_path, f"a\t{'b' * LONGEST_TO}")) == [Rule("a", "b" * LONGEST_TO)]
    with pytest.raises(DataError, match=r"t\.tsv:2: TO has 101 letters; allowed are 100 at most"):
        read_table(table(tmp_path, "b\tc", f"a\t{'b' * (LONGEST_TO + 1)}"))


@pytest.mark.parametrize("context", [".*x", r"\w+!", "(?=a*b)", ".{0,99999}x", ".{0,300}a{0,300}x"])
def test_a_context_that_would_look_along_the_whole_line_is_refused(tmp_path: Path, context: str):
    with pytest.raises(DataError, match=r"t\.tsv:1: the context .* more than 1,000 ways.* a\{0,9\} for a\*"):
        read_table(table(tmp_path, f"a\tb\t\t{context}"))


def test_a_context_that_looks_at_some_letters_is_quick_on_the_longest_line(tmp_path: Path):
    change = by_rules(read_table(table(tmp_path, "a\tb\t\t.{0,9}x")))
    with within(20):
        assert change("a" * (LONGEST_LINE - 5) + "ccccx") == "a" * (LONGEST_LINE - 11) + "b" * 6 + "ccccx"


def test_ways_are_counted_without_numbers_of_a_million_digits():
    began = time.process_time()
    for pattern in ("(aa|b)*", "(a?){1000000}", "((aa|b){0,9}c){0,999999}", "(aa|b){999999}"):
        with pytest.raises(ValueError, match="can match in more than 100,000 ways"):
            check_pattern(pattern, LONGEST_LINE)
    check_pattern("a*", 99_999)
    check_pattern("(aa|b){0,15}", LONGEST_LINE)
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "became"),
    [("aa", "bcbc"), ("Aa", "Bcbc"), ("AA", "BCBC"), ("xAx", "xBcx"), ("XAX", "XBCX"), ("XA", "XBC"), ("A", "Bc")],
)
def test_letters_have_the_case_of_what_stands_beside_them(text: str, became: str):
    assert by_rules([Rule("a", "bc")])(text) == became


def test_many_replacements_in_a_long_line_take_no_time():
    """The text before each had been copied."""
    change, text = by_rules([Rule("a", "b")]), "a" * LONGEST_LINE
    began = time.process_time()
    assert change(text) == "b" * LONGEST_LINE
    assert time.process_time() - began < 10
