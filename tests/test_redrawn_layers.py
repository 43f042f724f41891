"""What reports say of layers reinitialised: changes, costs, claims, tables and figures."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from align_rows import LANGUAGES, SEEDS, declared, report, scores, titles, value_of
from babelscope.core.row import Row
from babelscope.report.sections import sections_of
from babelscope.report.sections.redrawn_layers.figures import reinitialised_figures
from babelscope.report.sections.redrawn_layers.findings import reinitialised_findings
from babelscope.report.sections.redrawn_layers.reinitialised import reinitialised
from babelscope.report.sections.redrawn_layers.tables import reinitialised_tables
from babelscope.report.sources import sources
from babelscope.studies.published_numbers import published_rows
from slowly import judged


def test_changes_are_paired_by_seed():
    (one,) = reinitialised(report())
    assert one.layers == [(0, 1), (2, 3), (4, 5)] and one.sources == ["qaa label"] and len(one.foreign) == 5
    for seed in SEEDS:
        expected = [
            value_of(language, "reinit:layers=0+1", seed) - value_of(language, None, seed) for language in LANGUAGES
        ]
        losses = [loss.by_seed[seed] for loss in one.losses((0, 1), one.foreign).values()]
        assert losses == pytest.approx([-change for change in expected])


@pytest.mark.parametrize("turned", [1, -1], ids=["more is better", "less is better"])
def test_changes_and_losses_have_languages_drawn_by_chance(turned):
    """Against loops over seeds and languages; of perplexities a loss is a rise, of the logarithm."""
    draw = np.random.default_rng(8)
    noise = {(row.language, row.surgery, row.seed): draw.normal(0, 0.02) for row in scores()}
    rows = [row.labelled(value=9 + row.value + noise[row.language, row.surgery, row.seed]) for row in scores()]
    measure = {1: "las", -1: "perplexity"}[turned]
    rows = [row.labelled(measure=measure, task={1: "parsing", -1: "mlm"}[turned]) for row in rows]
    (one,) = reinitialised(declared(rows))
    compare = {1: float, -1: math.log}[turned]
    value = {(row.language, row.surgery, row.seed): compare(row.value) for row in rows}
    lowest = "reinit:layers=0+1"
    changes = [[value[code, lowest, seed] - value[code, None, seed] for code in LANGUAGES] for seed in SEEDS]
    own = [value["qaa", lowest, seed] - value["qaa", None, seed] for seed in SEEDS]
    found = [one.change((0, 1), one.foreign), one.loss((0, 1), one.foreign), one.more((0, 1)),
             one.change((0, 1), one.sources), one.score(one.foreign)]  # fmt: skip
    expected = [
        changes,
        [[-turned * each for each in by_seed] for by_seed in changes],
        [[-turned * (each - source) for each in by_seed] for by_seed, source in zip(changes, own, strict=True)],
        own,
        [[value[code, None, seed] for code in LANGUAGES] for seed in SEEDS],
    ]
    for effect, table in zip(found, expected, strict=True):
        assert (effect.mean, effect.low, effect.high, effect.p) == pytest.approx(judged(table))


def test_seeds_that_one_side_lacks_do_not_count():
    rows = [row for row in scores() if row.surgery is None or row.seed != 1]
    (one,) = reinitialised(declared(rows))
    for loss in one.losses((0, 1), one.foreign).values():
        assert loss.seeds == (0, 2)
    change = one.change((0, 1), one.foreign)
    assert change.seeds == 2 and not change.known


def without(rows: list[Row], surgery: str, language: str) -> list[Row]:
    return [row for row in rows if (row.surgery, row.language) != (surgery, language)]


def test_a_mean_that_lacks_a_language_is_not_told():
    """One over four would stand beside those over five, and be called one over five."""
    made = declared(without(scores(), "reinit:layers=0+1", "qab"))
    (one,) = reinitialised(made)
    assert not one.losses((0, 1), one.foreign) and one.change((0, 1), one.foreign) is None
    assert one.more((0, 1)) is None and one.change((2, 3), one.foreign) is not None
    (table,) = reinitialised_tables(made)
    _, mean, lacking, *others = [[cell.text for cell in line] for line in table.lines]
    assert mean[0] == "qaa → X (mean of 5)" and (mean[3], lacking[3]) == ("", "") and mean[4] and lacking[4]
    assert all(line[3] for line in others) and not reinitialised_findings(made)
    (figure,) = reinitialised_figures(made)
    chart = figure.chart.to_dict()
    records = chart["datasets"][chart["data"]["name"]]
    assert [one["layers"] for one in records if one["scored on"] == "the other languages"] == ["3–4", "5–6"]


def test_how_much_more_the_others_lose_is_over_all_of_them():
    """A language that shares no seed with the source is not left out of the mean."""
    rows = [row for row in scores() if (row.language == "qab") == (row.seed == 2)]
    (one,) = reinitialised(declared(rows))
    assert len(one.losses((0, 1), one.foreign)) == 5 and one.more((0, 1)) is None


def test_where_nothing_is_known_of_any_layers_there_is_no_chart():
    rows = [row for row in scores() if row.language == "qab" or row.surgery is None]
    assert not list(reinitialised_figures(declared(rows)))


def test_the_table_has_a_line_for_the_source_the_mean_and_every_language():
    (table,) = reinitialised_tables(report())
    assert table.headers == ["Trained on → scored on", "Encoder", "LAS (%)", "Δ 1–2", "Δ 3–4", "Δ 5–6"]
    assert [line[0].text for line in table.lines][:3] == [
        "qaa → qaa label", "qaa → X (mean of 5)", "qaa → qab label",
    ]  # fmt: skip
    assert table.lines[1][3].text.startswith("−10.20 [") and table.lines[1][3].number == pytest.approx(-10.2)


def test_the_figure_has_the_numbers_of_the_table():
    """Of the training language and of the mean of the others; published numbers have no interval."""
    made = report(*published_rows("align-then-predict@world"))
    (table,) = reinitialised_tables(made)
    (figure,) = reinitialised_figures(made)
    chart = figure.chart.to_dict()
    records = chart["datasets"][chart["data"]["name"]]
    assert {record["panel"] for record in records} >= {"e; trained on qaa", "published: mBERT; trained on en"}
    for record in records:
        encoder, training = record["panel"].split("; trained on ")
        side = f"{training} → " + ("X" if record["scored on"] == "the other languages" else "")
        line = next(line for line in table.lines if line[0].text.startswith(side) and line[1].text == encoder)
        shown = line[table.headers.index(f"Δ {record['layers']}")].text
        low, high = record["low"], record["high"]
        ends = "" if low is None else f" [{low:.2f}, {high:.2f}]"
        assert shown == f"{record['change']:+.2f}{ends}".replace("-", "−")


def test_the_costs_are_told_in_words():
    (found,) = reinitialised_findings(report())
    assert "drawing layers 1–2 anew costs the other languages (mean of 5) 10.2 points [9.7, 10.7] of LAS" in found
    assert "and qaa 2.3 points [1.8, 2.8]; 4.4 times as much [" in found
    assert "That the others lose more: shows (by 7.9 points [" in found
    assert "Layers 5–6 cost the others 0.2 points [−0.3, 0.7]: does not show." in found


def test_what_shows_is_a_family_of_claims():
    """Two claims of one encoder, and of two encoders four: each has a larger p among more (Holm 1979)."""
    rows = [row.labelled(value=row.value + 0.018 * (row.seed or 0) * (row.surgery is not None)) for row in scores()]
    rows = [row if row.language != "qaa" else each for row, each in zip(rows, scores(), strict=True)]
    (one,) = reinitialised(declared(rows))
    more, highest = one.more((0, 1)), one.loss((4, 5), one.foreign)
    assert 0.05 / 4 < more.p < 0.05 / 2 and highest.p > 0.05
    twice = [*rows, *(row.labelled(encoder="f") for row in rows)]
    found = reinitialised_findings(declared(twice))
    assert len(found) == 2 and all("That the others lose more: does not show (" in each for each in found)


def test_published_numbers_stand_beside():
    published = published_rows("align-then-predict@world")
    made = report(*published)
    (table,) = reinitialised_tables(made)
    lines = {(line[0].text, line[1].text): [cell.text for cell in line[2:]] for line in table.lines}
    assert lines["en → X", "published: mBERT"] == ["53.23", "−15.77", "−6.51", "−3.39", "−1.47", "+0.29", "+1.00"]
    cost = "15.8 points of LAS, and en 1.0 points; 16.4 times as much (too few seeds for an interval)"
    assert any(
        f"{cost}. That the others lose more: not enough seeds to say." in one for one in reinitialised_findings(made)
    )
    alone = [(one.condition, one.place, one.by_seed) for one in report().scores]
    assert [(one.condition, one.place, one.by_seed) for one in made.scores] == alone, "they are in no other section"
    assert titles(made)[:-1] == ["Layers reinitialised before tuning", "Dependency parsing: LAS"]


def test_the_section_leads_to_the_rows_of_its_scores_and_not_to_published_ones_which_have_none():
    keyed = [row.labelled(key=f"{place:064x}") for place, row in enumerate(scores())]
    made = declared([*keyed, *published_rows("align-then-predict@world")])
    sections = sections_of(made)
    first = next(k for k, part in enumerate(sections) if part.title == "Layers reinitialised before tuning")
    steps = {step for _, places in sources(made, sections)["groups"][first] for step in places}
    assert len(steps) == len([row for row in keyed if row.kind == "score"]) > 0


def test_intervals_of_scores_end_where_scores_do():
    """Of scores near the top Student's t reaches beyond it; changes may be as large as they are."""
    near = [replace(row, value=(0.99, 0.9, 0.95, 0.97)[row.seed % 4]) for row in report().rows if row.seed is not None]
    table, *_ = reinitialised_tables(declared(near))
    ends = [float(end) for line in table.lines for end in re.findall(r", (\d+\.\d+)\]", line[2].text)]
    assert ends and max(ends) == 100.0
