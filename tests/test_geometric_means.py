"""Sections that average perplexities do so through their logarithm: curves, layers drawn anew, dropout, heat maps."""

from __future__ import annotations

import math
from statistics import geometric_mean

import pytest

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.sections.alignment.tables import aligned_tables
from babelscope.report.sections.between.line_tables import line_table
from babelscope.report.sections.between.lines import Between
from babelscope.report.sections.curves import by_title, ends_table
from babelscope.report.sections.freezing.changes import changes_table
from babelscope.report.sections.freezing.dropout import frozen_dropout
from babelscope.report.sections.freezing.figures import sweep_figures
from babelscope.report.sections.freezing.sweeps import sweeps
from babelscope.report.sections.other import other_table
from babelscope.report.sections.redrawn_layers.findings import reinitialised_findings
from babelscope.report.sections.redrawn_layers.tables import reinitialised_tables
from babelscope.surgery import parse_operation
from babelscope.tuning.schedule import parse_schedule
from perplexity_rows import a_row


def test_points_of_curves_are_geometric_means():
    labels = {"kind": "curve", "encoder": "e", "task": "mlm", "split": "dev", "language": "qaa"}
    rows = [
        Row(measure, value, seed=seed, step=step, key=str(seed), **labels)
        for measure in ("perplexity", "loss") for seed, values in enumerate([(4.0, 2.0), (100.0, 8.0)])
        for step, value in enumerate(values)
    ]  # fmt: skip
    made = Report("t", "q", rows)
    table = ends_table(made, by_title(made, rows))
    lines = {line[0].text: [cell.number for cell in line[3:5]] for line in table.lines}
    assert "geometric" in table.note
    assert lines["Perplexity on dev"] == pytest.approx([20.0, 4.0])
    assert lines["loss on dev".capitalize()] == pytest.approx([52.0, 5.0])


def by_level(levels: dict[str, float], **labels: object) -> list[Row]:
    """Three seeds a language, which are 1%, 2% and so on apart."""
    return [
        a_row("whole", code, seed, level * 1.01 ** (seed * (k + 1)), **labels)
        for k, (code, level) in enumerate(levels.items())
        for seed in range(3)
    ]


def test_what_drawing_layers_anew_does_to_a_perplexity_is_a_ratio():
    whole, drawn = by_level({"qaa": 5.0, "qab": 8.0}), by_level({"qaa": 6.0, "qab": 16.0})
    rows = [*whole, *(row.labelled(surgery="reinit:layers=0") for row in drawn)]
    surgeries = {"reinit:layers=0": (parse_operation("reinit:layers=0"),)}
    made = Report("t", "q", rows, surgeries=surgeries)
    (table,) = reinitialised_tables(made)
    cells = {line[0].text: [cell.number for cell in line[2:]] for line in table.lines}
    assert cells["qaa → qaa"] == pytest.approx([5.0 * 1.01, 6 / 5]) and cells["qaa → qab"][1] == pytest.approx(2.0)
    assert "how many times as high" in table.note and "geometric" in table.note
    (said,) = reinitialised_findings(made)
    assert "costs the other languages ×2.00 of perplexity, and qaa ×1.20" in said
    assert f"{math.log(2) / math.log(1.2):.1f} times as much in loss per token" in said


def test_what_dropout_does_to_a_perplexity_is_a_ratio():
    names = ("freeze:0", "freeze:0,frozen_dropout")
    rows = [*by_level({"qaa": 5.0}, schedule=names[0]), *by_level({"qaa": 4.0}, schedule=names[1])]
    made = Report("t", "q", rows, schedules={name: parse_schedule(name) for name in names})
    (section,) = frozen_dropout(made, [])
    (line,) = section.tables[0].lines
    assert line[5].text == "×0.80" and line[5].number == pytest.approx(4 / 5) and "ratio" in section.tables[0].note


def test_the_heat_map_of_perplexities_has_the_change_in_percent():
    levels = {-1: 4.0, 0: 5.0, 1: 3.0}
    rows = [row for n, level in levels.items() for row in by_level({"qab": level}, schedule=f"freeze:{n}")]
    made = Report("t", "q", rows, schedules={f"freeze:{n}": parse_schedule(f"freeze:{n}") for n in levels})
    (figure,) = sweep_figures(sweeps(made))
    chart = figure.chart
    (table,) = chart.to_dict()["datasets"].values()
    assert [each["change"] for each in table] == pytest.approx([0, 25, -25])
    assert '"Change (%)"' in chart.to_json()


def test_perplexities_with_more_layers_frozen_are_ratios():
    levels, apart = {-1: 4.0, 0: 5.0, 1: 3.0}, (0.99, 1.0, 1 / 0.99)
    rows = [
        a_row("whole", "qab", seed, level * apart[(seed + n) % 3], schedule=f"freeze:{n}")
        for n, level in levels.items()
        for seed in range(3)
    ]
    made = Report("t", "q", rows, schedules={f"freeze:{n}": parse_schedule(f"freeze:{n}") for n in levels})
    table = changes_table(sweeps(made))
    assert [line[3].number for line in table.lines] == pytest.approx([4.0, 5.0, 3.0])
    assert [line[4].text for line in table.lines] == ["", "×1.25", "×0.75"] and "ratio" in table.note
    low, high = map(float, table.lines[1][6].text.strip("[]").split(", "))
    assert 1 < low < 1.25 < high
    verdicts = [line[8].text for line in table.lines[1:]]
    assert verdicts == ["the reverse shows", "shows"], "lower is better"


def test_the_x_gap_of_perplexities_is_a_ratio():
    alike = [
        Row("linear CKA (debiased)", 0.5, kind="similarity", encoder="e", task="mlm", train_languages="qaa",
            language="qab", dataset="world:qaa-qab", seed=0, layer=layer)
        for layer in range(2)
    ]  # fmt: skip
    made = Report("t", "q", [*by_level({"qaa": 5.0, "qab": 8.0}), *alike])
    (gap,) = (table for table in aligned_tables(made, []) if table.title == "X-Gap")
    (line,) = gap.lines
    ratios = [8 * 1.01 ** (2 * seed) / (5 * 1.01**seed) for seed in range(3)]
    assert line[4].number == pytest.approx(geometric_mean(ratios)) and line[4].text == "×1.62"


def test_scores_of_models_between_models_are_geometric_means():
    between = {"kind": "interpolation", "path": "qaa > qaa+qab", "split": "dev"}
    rows = [row.labelled(alpha1=alpha, **between) for alpha in (0.0, 1.0) for row in by_level({"qab": 5.0 + 3 * alpha})]
    made = Report("t", "q", rows)
    table = line_table(made, Between.of(made))
    (line,) = table.lines
    numbers = {name: line[table.headers.index(name)].number for name in ("α = 0", "α = 1", "Runs")}
    assert numbers == pytest.approx({"α = 0": 5 * 1.01, "α = 1": 8 * 1.01, "Runs": 3}) and "geometric" in table.note


def test_what_no_section_claims_has_geometric_means_too():
    rows = [row.labelled(split="train") for row in by_level({"qaa": 5.0})]
    table = other_table(Report("t", "q", rows), rows)
    (line,) = table.lines
    assert line[table.headers.index("Mean")].number == pytest.approx(5.0 * 1.01)
    assert line[table.headers.index("SD")].number == pytest.approx(1.01) and "geometric" in table.note
