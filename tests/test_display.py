"""Sections on a terminal, wide and narrow."""

import io

import pytest
from rich.console import Console

from babelscope.engine.events import Damaged, Failed, Finished, Started
from babelscope.face.display import RunDisplay
from babelscope.face.printed import show_section
from babelscope.report.section import Section
from babelscope.report.tables import Cell, Table
from babelscope.steps.plan import Plan
from toy_steps import Toy

TABLE = Table(
    "Recipes", ["Recipe", "Trained", "Test", "95%", "Behind"],
    [[Cell("an encoder, adapted to the language"), Cell("as usual"), Cell("97.2"), Cell("[93.9, 100.0]"), Cell("")],
     [Cell("BiLSTM"), Cell("as usual"), Cell("93.1"), Cell("[90.9, 95.4]"), Cell("4.1")]],
)  # fmt: skip


@pytest.fixture
def plan(outside) -> Plan:
    """A step and its reader, the names in brackets as markup has them."""
    first = Toy(name="[/first]", outside=str(outside))
    return Plan.of([Toy(name="reader[cased]", outside=str(outside), left=first)])


def test_plain_lines_have_names_as_they_are(plan):
    shown, (first, reader) = io.StringIO(), plan.steps
    with RunDisplay(plan, 2, Console(file=shown, width=90)) as display:
        for key in (first, reader):
            display(Started(key))
            display(Finished(key, 1.0))
            display(Failed(key, "no [memory]"))
    lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    titles = [plan.steps[key].title for key in (first, reader)]
    assert lines == [
        f"[1/2] {titles[0]}: 1.0 s", f"failed {titles[0]}: no [memory]",
        f"[2/2] {titles[1]}: 1.0 s", f"failed {titles[1]}: no [memory]",
    ]  # fmt: skip


def test_a_reader_that_waits_for_what_was_damaged_has_no_bar(plan):
    first, reader = plan.steps
    with RunDisplay(plan, 1, Console(file=io.StringIO(), force_terminal=True)) as display:
        for event in (Started(reader), Damaged(first, "torn", reader=reader), Started(first), Finished(first, 1.0)):
            display(event)
        assert [task.description for task in display.progress.tasks] == ["[bold]steps"]


@pytest.mark.parametrize(("width", "as_table"), [(120, True), (66, False)])
def test_a_table_that_is_wider_than_the_terminal_is_shown_line_by_line(width, as_table):
    shown = io.StringIO()
    show_section(Section("The verdict", [], [], [TABLE]), Console(file=shown, width=width))
    lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    assert all(len(line) <= width for line in lines)
    assert ("Recipe" in lines[2]) == as_table
    record = ["BiLSTM", "    Trained as usual, Test 93.1, 95% [90.9, 95.4], Behind 4.1"]
    assert (lines[-2:] == record) != as_table
