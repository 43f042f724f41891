"""Rows of several results that no column tells apart, codes of one language, and what a paper says was trained."""

from __future__ import annotations

import pandas as pd
import pytest

from babelscope.core.row import Row
from babelscope.core.row_table import row_table, write_rows
from babelscope.corpora.codes import language_of
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.sections import sections_of
from babelscope.report.sections.alignment.alignments import gaps
from babelscope.report.sections.effects import effects
from babelscope.report.sections.freezing.best import best_in_words
from babelscope.report.sections.freezing.sweeps import sweeps
from babelscope.report.sections.unseen.gains import gains
from babelscope.report.untold import untold
from babelscope.tuning.schedule import parse_schedule

ABOUT = {"kind": "score", "task": "pos", "train_languages": "en", "split": "test"}


def compared(value: float, key: str, claim: str = "better") -> Row:
    about = {"kind": "comparison", "encoder": "e", "task": "pos", "language": "de"}
    return Row("accuracy gain", value, "share", claim=claim, key=key, **about)


def test_results_that_no_column_tells_apart_are_told_at_the_head_of_a_page():
    """Two comparisons of one claim and first side, which differ in the second alone."""
    (warning,) = Report("t", "q", [compared(0.03, "1"), compared(-0.1, "2")]).warnings
    assert "tells several results of comparison apart (accuracy gain of better, e, pos, de: 0.03 and -0.1)" in warning


@pytest.mark.parametrize(
    "rows",
    [
        [compared(0.03, "1"), compared(-0.1, "2", claim="another")],
        [compared(0.03, "1"), compared(0.03, "1")],
        [compared(0.03, "1"), compared(0.03, "2")],
    ],
    ids=["other claims", "one result", "one number"],
)
def test_what_can_be_told_apart_or_is_the_same_needs_no_warning(rows):
    assert list(untold(rows)) == []


@pytest.mark.parametrize(
    ("code", "one"),
    [
        ("de", "de"),
        ("deu", "de"),
        ("ger", "de"),
        ("de-Latn", "de"),
        ("nb", "no"),
        ("yue", "yue"),
        ("qaa", "qaa"),
        ("x!", "x!"),
    ],
)
def test_a_language_has_one_code(code, one):
    assert language_of(code) == one


def scores_in(values: dict[str, float], encoder: str = "e") -> list[Row]:
    return [
        Row("accuracy", value + seed / 100, "share", encoder=encoder, language=code, dataset=f"treebank:{code}:a",
            seed=seed, **ABOUT)
        for code, value in values.items() for seed in range(3)
    ]  # fmt: skip


def test_codes_of_one_language_count_as_one():
    """Each was a language drawn by chance."""
    codes = ("de", "deu", "de-Latn")
    rows = scores_in(dict.fromkeys(codes, 0.5)) + scores_in({"de": 0.4, "deu": 0.45, "de-Latn": 0.3}, "f")
    labels = dict.fromkeys(codes, "German (Latn)")
    made = Report("t", "q", rows, labels=labels, contrasts=[Contrasted("better", Side("e"), Side("f"))])
    (line,) = effects(made)
    assert line.effect.languages == 1 and list(line.compared.by_language) == ["de"]
    assert len({score.place for score in made.scores}) == 3 and sections_of(made), "told apart by their data sets"
    trained = [row.labelled(train_languages="deu") for row in scores_in({"de": 0.5, "fr": 0.3})]
    assert [score.is_source for score in Report("t", "q", trained).scores] == [True, False]


def test_gaps_are_measured_from_the_letters_that_were_trained_on():
    rows = [row.labelled(train_languages="qah>world") for row in scores_in({"qah": 0.1, "qah>world": 0.2, "qag": 0.2})]
    found = {gap.language: gap.samples.mean for gap in gaps(Report("t", "q", rows))}
    assert found == pytest.approx({"qah": 0.1, "qag": 0.0})


def test_without_a_schedule_nothing_is_frozen():
    """It was left out of the sweep, and the claim was of the rest."""
    levels = {None: 0.6, "freeze:0": 0.5, "freeze:2": 0.4}
    rows = [row.labelled(schedule=name) for name, level in levels.items() for row in scores_in({"de": level})]
    schedules = {name: parse_schedule(name) for name in levels if name}
    (sweep,) = sweeps(made := Report("t", "q", rows, schedules=schedules))
    assert sweep.numbers == [-1, 0, 2]
    assert "best on average with nothing frozen (61.0%)" in best_in_words(sweeps(made))[0]


def test_p_is_a_number_in_tables(tmp_path):
    rows = [Row("accuracy gain", 0.1, p=p) for p in (0.5, 6.3e-07, None)]
    assert row_table(rows)["p"].sort_values().tolist()[:2] == [6.3e-07, 0.5]
    write_rows(rows, tmp_path / "rows.parquet")
    assert pd.read_parquet(tmp_path / "rows.parquet")["p"].dtype.kind == "f"


def test_every_comparison_of_one_claim_has_a_line():
    """The last one stood for all."""
    rows = [compared(0.03, "1" * 64), compared(-0.1, "2" * 64)]
    found = gains(Report("t", "q", rows))
    assert sorted(gain.interval.mean for by_claim in found.values() for gain in by_claim.values()) == [-0.1, 0.03]


def test_angles_at_other_models_than_the_bilingual_one_are_told_apart():
    """And those towards other models, too."""
    paths = {
        "qaa+qab > qaa > qab": 60.0, "qac+qad:10 > qac > qad:10": 40.0, "qaa > qaa+qab > qab": 56.0,
        "qaa > qaa+qab:5 > qab": 20.0,
    }  # fmt: skip
    rows = [
        Row(measure, value, kind="angle", encoder="e", task="pos", path=path, part="all", seed=seed)
        for path, angle in paths.items() for seed in range(3)
        for measure, value in (("angle", angle + seed), ("norm ratio", 1.0 + seed / 10))
    ]  # fmt: skip
    (table,) = (each for part in sections_of(Report("t", "q", rows)) for each in part.tables if "Angle" in each.title)
    assert {line[0].text: line[2].number for line in table.lines} == pytest.approx(
        {
            "e": (61.0 + 41.0) / 2,
            "e, at the model of qaa towards qaa+qab and qab": 57.0,
            "e, at the model of qaa towards qaa+qab:5 and qab": 21.0,
        }
    )
