"""Sections of reports: for a measure that nobody knows, and as a function of one's own."""

import pytest

from babelscope.core.row import Row
from babelscope.report import Report, markdown
from babelscope.report.page import render
from babelscope.report.section import REGISTERED
from babelscope.report.sections import Section, section, sections_of

pytestmark = pytest.mark.usefixtures("in_process")


def test_a_measure_that_nobody_knows_has_a_chart_and_a_table():
    rows = [
        Row("anisotropy", 0.1 * layer, kind="anisotropy", encoder=encoder, language="qab", seed=seed, layer=layer)
        for encoder in ("one", "two") for layer in range(3) for seed in (0, 1)
    ]  # fmt: skip
    (part,) = sections_of(Report("t", "q", rows, labels={"qab": "near"}))
    assert part.title == "Layer by layer" and [figure.title for figure in part.figures] == ["Anisotropy, near"]
    (table,) = part.tables
    assert list(table.headers) == ["Measure", "Condition", "Language", "0", "1", "2", "Runs"]
    assert [cell.text for cell in table.lines[0]] == ["anisotropy", "one", "near", "0", "0.1", "0.2", "2"]
    assert "### By layer" in markdown(Report("t", "q", rows)) and "Anisotropy" in render(Report("t", "q", rows))


def test_layers_of_many_languages_are_one_chart_with_a_line_for_each():
    """However many languages there are, a page has a chart a measure."""
    rows = [
        Row("anisotropy", layer + seed, kind="anisotropy", encoder="e", language=code, seed=seed, layer=layer)
        for code in ("qab", "qac", "qad") for layer in range(3) for seed in (0, 2)
    ]  # fmt: skip
    (part,) = sections_of(Report("t", "q", rows))
    (figure,) = part.figures
    assert figure.title == "Anisotropy" and figure.caption.startswith("Mean over languages; every one faintly.")
    chart = figure.chart.to_dict()
    faint, bold = (chart["datasets"][layer["data"]["name"]] for layer in chart["layer"])
    assert sorted(each["value"] for each in faint) == sorted(3 * [1.0, 2.0, 3.0])
    assert {each["language"] for each in faint} == {"qab", "qac", "qad"}  # which the page's filters go by
    assert len({each["run"] for each in faint}) == 3 and [each["value"] for each in bold] == [1.0, 2.0, 3.0]


def test_numbers_that_differ_in_more_than_the_seed_are_not_pooled():
    shared = {"kind": "odd", "encoder": "e", "language": "qab", "layer": 1}
    rows = [
        Row("depth", value, **shared | labels, seed=seed)
        for value, labels in enumerate([{}, {"part": "head"}, {"task": "pos"}, {"dataset": "a"}, {"dataset": "b"}])
        for seed in (0, 1)
    ]
    for each in (rows, [row.labelled(layer=None) for row in rows]):
        (part,) = sections_of(Report("t", "q", each))
        (table,) = part.tables
        assert len(table.lines) == 5 and {line[-1].text for line in table.lines} == {"2"}


def test_a_section_of_ones_own_is_a_function(monkeypatch):
    monkeypatch.setattr("babelscope.report.section.REGISTERED", dict(REGISTERED))

    @section("depth", order=5)
    def depths(report, rows):
        yield Section("Depth", [f"{len(rows)} depths"] if rows else [])

    deep = Row("depth", 1.0, kind="depth")
    (own,) = sections_of(Report("t", "q", [deep]))
    assert (own.title, own.findings) == ("Depth", ["1 depths"])
    assert [part.title for part in sections_of(Report("t", "q", [deep.labelled(kind="width")]))] == ["Further results"]


def test_rows_that_their_section_says_nothing_of_are_in_the_last_one():
    half = Row("accuracy", 0.5, kind="similarity", language="qab", layer=1, surgery="reverse")
    assert [part.title for part in sections_of(Report("t", "q", [half]))] == ["Layer by layer"]
