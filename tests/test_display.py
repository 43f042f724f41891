"""Sections on a terminal, wide and narrow."""

import io

import pytest
from rich.console import Console

from babelscope.face.display import show_section
from babelscope.report.section import Section
from babelscope.report.tables import Cell, Table

TABLE = Table(
    "Recipes", ["Recipe", "Trained", "Test", "95%", "Behind"],
    [[Cell("an encoder, adapted to the language"), Cell("as usual"), Cell("97.2"), Cell("[93.9, 100.0]"), Cell("")],
     [Cell("BiLSTM"), Cell("as usual"), Cell("93.1"), Cell("[90.9, 95.4]"), Cell("4.1")]],
)  # fmt: skip


@pytest.mark.parametrize(("width", "as_table"), [(120, True), (66, False)])
def test_a_table_that_is_wider_than_the_terminal_is_shown_line_by_line(width, as_table):
    shown = io.StringIO()
    show_section(Section("The verdict", [], [], [TABLE]), Console(file=shown, width=width))
    lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    assert all(len(line) <= width for line in lines)
    assert ("Recipe" in lines[2]) == as_table
    record = ["BiLSTM", "    Trained as usual, Test 93.1, 95% [90.9, 95.4], Behind 4.1"]
    assert (lines[-2:] == record) != as_table
