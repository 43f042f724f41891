"""Contrasts of a study that is not finished: what both sides have is compared, and nothing else."""

from __future__ import annotations

import random

import pytest

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.sections.effect_tables import effect_table
from babelscope.report.sections.effects import claims, effects
from contrast_rows import ALIKE, scored
from slowly import judged as slowly_judged


def slowly(made: list[Row], training: str, schedule: str | None) -> list[list[float]]:
    """By seed, the differences at the places that both sides have; without the seeds that lack one."""
    values = {
        (row.surgery, row.language, row.seed): row.value
        for row in made
        if (row.train_languages, row.schedule) == (training, schedule)
    }
    places = [
        place for place in ("qaa", "qab", "qac")
        if all(any((side, place, seed) in values for seed in range(3)) for side in (None, "clean"))
    ]  # fmt: skip
    found = []
    for seed in range(3):
        sides = [[values.get((side, place, seed)) for place in places] for side in (None, "clean")]
        if places and None not in sides[0] + sides[1]:
            found.append([a - b for a, b in zip(*sides, strict=True)])
    return found


@pytest.mark.parametrize("chance", range(20))
def test_an_unfinished_study_compares_what_both_sides_have(chance):
    draw = random.Random(chance)
    made = [
        scored("e", {seed: draw.random()}, surgery=surgery, language=place, train_languages=training, schedule=schedule)
        for training in ("qaa", "qab") for schedule in (None, "freeze:4") for surgery in (None, "clean")
        for place in ("qaa", "qab", "qac") for seed in range(3) if draw.random() < 0.9
    ]  # fmt: skip
    rows = [row for part in made for row in part]
    found = {one.where: one for one in effects(Report("t", "q", rows, contrasts=[ALIKE]))}
    assert len(found) == 4
    for training in ("qaa", "qab"):
        for schedule, spoken in ((None, "everything trained"), ("freeze:4", "schedule freeze:4")):
            one = found[f"Part-of-speech tagging, trained on {training}, {spoken}"]
            gains = slowly(rows, training, schedule)
            if not gains:
                assert (one.effect, one.verdict) == (None, "cannot be said yet")
                continue
            means = [sum(by_place) / len(by_place) for by_place in gains]
            assert (one.effect.mean, one.effect.seeds) == (pytest.approx(sum(means) / len(means)), len(means))
            assert one.effect.known == (len(gains) == 3)
            if one.effect.known:
                expected = slowly_judged(gains if len(gains[0]) == 3 else means)
                assert (one.effect.low, one.effect.high, one.effect.p) == pytest.approx(expected[1:])


def test_a_place_that_one_side_alone_has_does_not_count():
    made = scored("e", {0: 0.9, 1: 0.8, 2: 0.7}) + scored("e", {0: 0.8, 1: 0.71, 2: 0.605}, surgery="clean")
    (alone,) = effects(Report("t", "q", made, contrasts=[ALIKE]))
    more = made + scored("e", {0: 0.1, 1: 0.2}, language="qab") + scored("e", {0: 0.1}, surgery="clean", language="qac")
    (beside,) = effects(Report("t", "q", more, contrasts=[ALIKE]))
    assert beside.compared.by_language_and_seed == alone.compared.by_language_and_seed
    assert beside._replace(compared=alone.compared) == alone
    assert alone.where == "Part-of-speech tagging" and alone.effect.mean == pytest.approx(0.095)


def test_where_no_seed_has_all_places_it_cannot_be_said_yet():
    first = scored("e", {0: 0.9}) + scored("e", {1: 0.9}, language="qab")
    second = scored("e", {0: 0.5}, surgery="clean") + scored("e", {1: 0.5}, surgery="clean", language="qab")
    report = Report("t", "q", first + second, contrasts=[ALIKE])
    found = effects(report)
    assert [(one.verdict, one.effect) for one in found] == [("cannot be said yet", None)]
    assert claims(found) == ["c: cannot be said yet for e, Part-of-speech tagging."]
    assert [cell.text for cell in effect_table(found).lines[0][2:7]] == ["", "", "", "", "cannot be said yet"]
    sides = scored("e", {0: 0.9, 1: 0.8, 2: 0.4}), scored("e", {0: 0.4, 1: 0.7, 2: 0.5}, surgery="clean")
    whole = [row.labelled(task="parsing", measure="las") for side in sides for row in side]
    overall, *each = effects(Report("t", "q", first + second + whole, contrasts=[ALIKE]))
    assert (overall.where, overall.verdict) == ("all tasks", "cannot be said yet")
    assert {one.setting.task: one.verdict for one in each} == {"pos": "cannot be said yet", "parsing": "does not show"}
