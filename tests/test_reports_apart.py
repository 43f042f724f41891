"""What a report holds apart, and what it averages: trainings, and languages with several data sets."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.cautions import cautions
from babelscope.report.figures import line_chart
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.report.sections.alignment.alignments import alignments
from babelscope.report.sections.alignment.figures import aligned_figures
from babelscope.report.sections.alignment.tables import aligned_findings, aligned_tables
from babelscope.report.sections.brought_in.figures import curves
from babelscope.report.sections.brought_in.gains import gains
from babelscope.report.sections.brought_in.tables import gain_tables
from babelscope.report.sections.freezing.best import best_in_words
from babelscope.report.sections.freezing.dropout import frozen_dropout
from babelscope.report.sections.freezing.figures import sweep_figures
from babelscope.report.sections.freezing.sweeps import sweeps
from babelscope.report.sections.layers import layer_figures
from babelscope.report.sections.probes.techniques import techniques
from babelscope.report.sections.redrawn_layers.findings import reinitialised_findings
from babelscope.report.sections.scores.answer import answer
from babelscope.report.sections.scores.findings import differences
from babelscope.report.sections.scores.tables import score_table
from babelscope.report.text_sizes import KIND
from babelscope.report.words import bounded, direction
from babelscope.study.encoders import BringingIn
from babelscope.surgery import parse_operation
from babelscope.tuning.schedule import parse_schedule
from seeded_rows import records, report, score, seeds

TEXT = [{"languages": ["qaa", "qab"], "sentences": 40}]


def test_trainings_of_one_technique_stand_apart():
    """One did not learn the text; the last one stood for both."""
    mlm = {"measure": "perplexity", "task": "mlm"}
    rows = [
        row
        for training, level in (("qaa", 10.0), ("qab", 50.0))
        for schedule in ("full", "emb")
        for code in ("qaa", "qab")
        for row in seeds(level, code, train_languages=training, schedule=schedule, **mlm)
    ]
    (section,) = techniques(report(rows), rows)
    named = {line[1].text: line[2].number for line in section.tables[0].lines if line[0].text == "qaa"}
    for training, level in (("qaa", 10.0), ("qab", 50.0)):
        assert named[f"full, trained on {training}"] == pytest.approx(level, abs=0.01)


def redrawn() -> list[Row]:
    """Of German two data sets, on which five times as much is lost as in Dutch and in the source."""
    lost = {("de", "A"): 0.10, ("de", "B"): 0.10, ("nl", "C"): 0.01, ("qaa", "D"): 0.01}
    return [
        row
        for (code, name), loss in lost.items()
        for surgery in (None, "reinit:layers=0")
        for row in seeds(0.8 - loss * (surgery is not None), code, dataset=name, surgery=surgery, step=0.0)
    ]


def test_what_layers_cost_is_over_languages():
    surgeries = {"reinit:layers=0": (parse_operation("reinit:layers=0"),)}
    (said,) = reinitialised_findings(report(redrawn(), surgeries=surgeries))
    assert "the other languages (mean of 2) 5.5 points" in said and "5.5 times as much" in said


def alike(value: float, seed: int | None, layer: int, **labels: Any) -> Row:
    about = {"kind": "similarity", "encoder": "e", "language": "qab", "dataset": "world:qaa-qab"}
    return Row("CKA", value, seed=seed, layer=layer, **about | labels)


def test_likeness_after_several_trainings_is_told_apart():
    rows = [alike(0.5, None, layer) for layer in (0, 1)]
    for training, schedule, level in (("qaa", None, 0.7), ("qaa+qab", None, 0.4)):
        trained = {"task": "pos", "train_languages": training, "schedule": schedule}
        rows += [alike(level, seed, layer, **trained) for seed in range(3) for layer in (0, 1)]
    made = report(rows)
    figure, *_ = aligned_figures(made, [])
    faint = [record for record in records(figure.chart) if "language" in record]
    assert len({(record["stage"], record["layer"]) for record in faint}) == len(faint) == 6
    named = {line[3].text for line in aligned_tables(made, [])[0].lines}
    after = "after part-of-speech tagging, trained on"
    assert named == {"before tuning", f"{after} qaa", f"{after} qaa+qab"}
    assert f"{after} qaa in layer 0" in aligned_findings(made, [])[0]


def test_likeness_of_other_numbers_of_languages_says_so():
    """And what shares no seed, since some failed, is left out and no error."""
    rows = [alike(0.4, None, 0, language=code) for code in ("qab", "qac", "qad")]
    trained = {"task": "pos", "train_languages": "qaa"}
    rows += [alike(0.9, 0, 0, **trained), alike(0.8, 1, 0, task="ner", train_languages="qaa")]
    rows += [alike(0.9, 0, 0, language="qac", task="ner", train_languages="qaa")]
    made = report(rows)
    (said,) = aligned_findings(made, [])
    assert "before tuning in layer 0 (0.40; 0.40 in the last; mean over 3 languages)" in said
    assert "tagging in layer 0 (0.90; 0.90 in the last; one language)" in said
    assert {each.stage.task for each in alignments(made)} == {"", "pos"} and sections_of(made)


def brought_in(name: str, after_tuning: bool) -> BringingIn:
    given = {"name": name, "encoder": "f", "languages": {"de": TEXT}, "after_tuning": after_tuning}
    return BringingIn.model_validate(given)


def test_languages_brought_in_before_tuning_and_after_are_two_lines():
    made = {"b40": False, "b400": False, "a40": True, "a400": True}
    rows = [row for k, name in enumerate(made) for row in seeds(0.5 + 0.1 * k, "de", encoder=name)]
    rows += seeds(0.4, "de", encoder="f")
    pairs = [
        Row("pairs", float(name.strip("ab")), kind="alignment", encoder=name, language="de", key=name) for name in made
    ]
    declared = {name: brought_in(name, later) for name, later in made.items()}
    given = report([*rows, *pairs], brought_in=declared)
    figures = curves(given, gains(given, pairs))
    assert [figure.title.rpartition(", brought in ")[2] for figure in figures] == ["before tuning", "after tuning"]
    for figure in figures:
        points = [record for record in records(figure.chart) if record["pairs"]]
        assert sorted(record["pairs"] for record in points) == [40, 400]


def test_levels_of_languages_with_tokens_of_their_own_are_per_character():
    """Per token it would look worse, while the gain beside it says better."""
    mlm = {"measure": "perplexity", "task": "mlm", "dataset": "text"}
    rows = [*seeds(20.0, "de", encoder="f", **mlm), *seeds(60.0, "de", encoder="b40", **mlm)]
    sizes = [
        Row(name, count, kind=KIND, encoder=encoder, task="mlm", language="de", dataset="text", split="test")
        for encoder, tokens in (("f", 900), ("b40", 600))
        for name, count in {"tokens": tokens, "characters": 3000, "bytes": 3000}.items()
    ]
    pairs = [Row("pairs", 40, kind="alignment", encoder="b40", language="de", key="b40")]
    given = report([*rows, *sizes, *pairs], brought_in={"b40": brought_in("b40", False)})
    (table,) = gain_tables(given, gains(given, pairs))
    *_, before, after, size, _ = table.lines[0]
    assert [before.number, after.number] == pytest.approx([20 ** (900 / 3000), 60 ** (600 / 3000)], abs=1e-3)
    assert size.number == pytest.approx(after.number / before.number, abs=1e-3) and "per character" in size.text


def test_the_mean_of_curves_ends_where_the_first_run_does():
    """Two flat runs, of which one stopped early: the mean does not jump to the other."""
    rows = [
        score(level, seed, "qaa", kind="curve", split="dev", step=step, key=str(seed))
        for seed, (level, last) in enumerate(((0.6, 100), (0.9, 200)))
        for step in range(50, last + 1, 50)
    ]  # fmt: skip
    means = [record for record in records(line_chart(report(rows), rows, "step")) if "run" not in record]
    assert [(record["step"], record["value"]) for record in means] == [
        (50, pytest.approx(75)),
        (100, pytest.approx(75)),
    ]


def test_means_over_layers_are_of_languages_that_all_have():
    about = {"kind": "anisotropy", "layer": 0}
    values = {("e", "de"): 0.9, ("e", "nl"): 0.1, ("f", "de"): 0.8}
    rows = [Row("anisotropy", value, encoder=e, language=code, **about) for (e, code), value in values.items()]
    (figure,) = layer_figures(report(rows), rows)
    means = {record["condition"]: record["value"] for record in records(figure.chart) if "run" not in record}
    assert means == pytest.approx({"e": 0.9, "f": 0.8})
    assert figure.caption.startswith("Mean over those languages that all lines have")


def swept(by_seed: dict[int, dict[int, float]], task: str = "pos") -> Report:
    rows = [
        score(value, seed, code, schedule=f"freeze:{frozen}", task=task, measure="accuracy" if task == "pos" else "las")
        for frozen, values in by_seed.items()
        for seed, value in values.items()
        for code in ("qab",)
    ]
    return report(rows, schedules={f"freeze:{n}": parse_schedule(f"freeze:{n}") for n in by_seed})


def test_the_best_number_of_frozen_layers_is_chosen_at_shared_seeds():
    """A seed that only the first has, and was bad at, made it look worse than it is."""
    made = swept(
        {0: {0: 0.50, 1: 0.72, 2: 0.721, 3: 0.722}, 1: {1: 0.695, 2: 0.70, 3: 0.702}, 2: dict.fromkeys(range(4), 0.1)}
    )
    (said,) = best_in_words(sweeps(made))
    assert "is best on average with the embeddings frozen (72.1%)" in said
    (figure,) = sweep_figures(sweeps(made))
    (change,) = {record["change"] for record in records(figure.chart) if record["frozen"] == 1}
    assert change == pytest.approx(100 * (0.699 - 0.721)) and figure.about == {"task": "Part-of-speech tagging"}


def test_dropout_of_several_trainings_is_told_apart():
    names = ("freeze:0", "freeze:0,frozen_dropout")
    rows = [
        row
        for training, more in (("qaa", 0.05), ("qab", -0.05))
        for name in names
        for row in seeds(0.5 + more * (name == names[1]), "de", schedule=name, train_languages=training, step=0.0)
    ]
    (section,) = frozen_dropout(report(rows, schedules={name: parse_schedule(name) for name in names}), [])
    (table,) = section.tables
    assert [(line[2].text, line[5].number) for line in table.lines] == [
        ("qaa", pytest.approx(5.0)), ("qab", pytest.approx(-5.0)),
    ]  # fmt: skip


def test_an_average_is_over_languages_where_one_has_several_data_sets():
    rows = [*seeds(0.9, "de", dataset="A"), *seeds(0.9, "de", dataset="B"), *seeds(0.3, "nl", dataset="C")]
    scores = report(rows).scores
    assert "60.0% on average over three data sets of two languages" in answer(scores, differences(scores))[0]


def test_equal_scores_are_neither_better_nor_worse():
    """Sums of floating-point numbers differ by rounding."""
    assert direction([1e-18, -1e-18], "better", "worse") == "neither better nor worse of two languages"
    assert bounded(Interval(-1e-18, -0.01, 0.01, None, 1), 100) == "0.0 [−1.0, 1.0]"


def test_an_encoder_that_is_scored_before_and_after_its_training_is_two_conditions():
    """A reference, which is the encoder that the study tunes in one way; it was an error."""
    mlm = {"measure": "perplexity", "task": "mlm"}
    rows = [*seeds(10.0, "qaa", **mlm), score(20.0, None, "qaa", train_languages=None, **mlm)]
    made = report(rows)
    assert {each.condition: each.interval.mean for each in made.scores} == pytest.approx(
        {"e": math.exp(sum(math.log(10 + 0.01 * k) for k in (-1, 0, 1)) / 3), "e, not tuned": 20.0}
    )
    assert sections_of(made)
    assert report(rows[3:]).scores[0].condition == "e", "nothing to tell apart"


def test_cautions_name_whom_they_are_of():
    rows = [*seeds(0.5, "de"), *seeds(0.5, "de", encoder="f")[:2]]
    made = report(rows)
    (said,) = (line for line in cautions(made, made.scores) if "seed" in line)
    assert said.startswith("Part-of-speech tagging: two seeds (f). Nothing can be said")


def test_what_does_not_vary_is_no_difference_that_does_not_show():
    rows = [*seeds(0.6, "de", step=0.0), *seeds(0.5, "de", surgery="reinit", step=0.0)]
    scores = report(rows).scores
    assert answer(scores, differences(scores))[-1].endswith("undecided, cannot be said: nothing varies.")
    assert measure_of("accuracy").sign == 1 and replace(scores[0]).is_whole_source is False


def test_how_an_encoder_was_made_is_no_training_of_it():
    """Its own curve has the task of language modelling, too: it hid how short the tunings were, and how bad."""
    mlm = {"task": "mlm", "split": "train", "kind": "curve", "measure": "loss"}
    rows = seeds(10.0, "qaa", measure="perplexity", task="mlm")
    rows += [score(value, seed, "", step=step, **mlm) for seed in range(3) for step, value in ((1, 4.7), (3, 4.8))]
    rows += [score(v, 0, "", step=step, **mlm | {"train_languages": None}) for step, v in ((50, 6.0), (150, 4.8))]
    made = report(rows)
    told = cautions(made, made.scores)
    assert any("as few as three optimiser steps (e)" in line for line in told)
    assert any("did not fall (e; from 4.7 to 4.8)" in line for line in told)
    (curves,) = (part for part in sections_of(made) if part.title == "Learning curves")
    lines = {line[1].text: [cell.text for cell in line[3:]] for line in curves.tables[0].lines}
    assert lines == {"e": ["4.700", "4.800", "3", "3"], "e, in the making": ["6.000", "4.800", "150", "1"]}


def test_gaps_are_at_the_seeds_that_both_have():
    rows = [score(value, seed, "qaa") for seed, value in enumerate((0.6, 0.7, 0.8))]
    rows += [score(value, seed, "qad") for seed, value in ((1, 0.6), (2, 0.7))]
    (gap,) = (line[8].number for line in score_table(report(rows).scores).lines if line[0].text == "qad")
    assert gap == pytest.approx(10.0)
