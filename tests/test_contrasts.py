"""Contrasts: the effects that a study looks for, from rows."""

from __future__ import annotations

import pytest

from babelscope.report.contrasts import effects
from babelscope.report.findings import claims, differences
from babelscope.report.model import Contrasted, Report
from babelscope.report.tables import effect_table
from babelscope.rows import Row
from babelscope.statistics import student_t_interval

WHOLE = {"pos": [0.9, 0.8, 0.85], "acceptability": [0.5, 0.7, 0.6]}
CLEAN = {"pos": [0.6, 0.7, 0.5], "acceptability": [0.1, 0.1, 0.4]}
PRETRAINED = Contrasted("Pre-trained is better", ("e", None), ("e", "clean"))


def rows() -> list[Row]:
    made = []
    for surgery, values in ((None, WHOLE), ("clean", CLEAN)):
        for task, measure, unit in (("pos", "accuracy", "share"), ("acceptability", "matthews", "correlation")):
            labels = {"surgery": surgery, "task": task, "train_languages": "qaa", "language": "qaa", "split": "test"}
            made += [Row(measure, v, unit, encoder="e", seed=k, **labels) for k, v in enumerate(values[task])]
    return made


def test_differences_are_paired_by_seed_on_each_task_and_over_all():
    overall, *each = effects(Report("t", "q", rows(), contrasts=[PRETRAINED]))
    by_task = {
        task: [a - b for a, b in zip(WHOLE[task], CLEAN[task], strict=True)] for task in ("pos", "acceptability")
    }
    assert [one.task for one in each] == ["pos", "acceptability"]
    for one in each:
        assert one.interval.mean == pytest.approx(sum(by_task[one.task]) / 3)
    means = [sum(pair) / 2 for pair in zip(*by_task.values(), strict=True)]
    expected = student_t_interval(means)
    assert overall.task == ""
    assert (overall.interval.low, overall.interval.high) == pytest.approx((expected.low, expected.high))
    assert overall.verdict == "shows"


def test_the_other_way_round_the_reverse_shows_and_what_is_missing_is_left_out():
    turned = Contrasted("Clean is better", PRETRAINED.second, PRETRAINED.first)
    absent = Contrasted("Nobody is better", ("nobody", None), ("e", None))
    found = effects(Report("t", "q", rows(), contrasts=[turned, absent]))
    assert {one.claim for one in found} == {"Clean is better"}
    assert found[0].verdict == "the reverse shows"
    (sentence,) = claims(found)
    assert sentence.startswith("Clean is better: the reverse shows for e clean (−")
    table = effect_table(found)
    assert len(table.lines) == 3 and table.lines[0][1].text == "all tasks"


def scored(encoder: str, values: dict[int, float], **labels: str) -> list[Row]:
    """Rows of accuracy by seed; the labels replace those of an encoder as it is, tuned and tested on one language."""
    named = {"task": "pos", "train_languages": "qaa", "language": "qaa", "split": "test"} | labels
    return [Row("accuracy", value, "share", encoder=encoder, seed=seed, **named) for seed, value in values.items()]


@pytest.mark.parametrize(
    "gains, verdict",
    [
        ((0.02, 0.021, 0.019), "shows"),
        ((-0.02, -0.021, -0.019), "the reverse shows"),
        ((0.02, -0.02, 0.001), "does not show"),
        ((0.02, 0.02, 0.02), "cannot be said: all seeds alike"),
    ],
)
def test_a_comparison_has_one_verdict_by_the_seeds_that_both_ran(gains, verdict):
    fresh = {0: 0.9, 1: 0.7, 2: 0.5}
    whole = {seed: fresh[seed] + gain for seed, gain in enumerate(gains)}
    whole[3] = 0.1  # alone, so that it is left out
    made = scored("e", whole) + scored("e", fresh, surgery="reinit")
    report = Report("t", "q", made, contrasts=[Contrasted("c", ("e", None), ("e", "reinit"))])
    (effect,), (difference,) = effects(report), differences(report.scores)
    assert effect.verdict == difference.verdict == verdict
    assert difference.shows == (verdict == "shows")
    assert effect.interval == difference.interval and effect.interval.n == 3


def test_one_seed_says_nothing():
    some = [row for row in rows() if row.seed == 0]
    assert {one.verdict for one in effects(Report("t", "q", some, contrasts=[PRETRAINED]))} == {
        "cannot be said: one seed"
    }
