"""Means between tuned models: against loops over every number, where pairs share their models, and what they show."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.inference import best_of
from babelscope.core.row import Row
from babelscope.report.sections.between.findings import _fall, between_findings
from babelscope.report.sections.between.gains import seed_means
from babelscope.report.sections.between.line_tables import rise_table
from babelscope.report.sections.between.lines import Between
from babelscope.report.sections.between.means import Run, over_pairs, subtracted, table_over_pairs
from between_rows import SEEDS, TARGETS, along, lines, report, row
from slowly import by_seed_and_language, judged, known_from


def drawn(number: int, tasks: int, sources: int, targets: int, seeds: int, kept: float) -> dict[Run, float]:
    """Some number for every task, pair and seed, or for some of these."""
    draw = np.random.default_rng(number)
    pairs = [(str(task), (f"s{source}", f"t{target}"), f"t{target}")
             for task in range(tasks) for source in range(sources) for target in range(targets)]  # fmt: skip
    there = [pair for pair in pairs if draw.random() < kept] or pairs[:1]
    runs = [Run(*pair, seed) for pair in there for seed in range(seeds)]
    return {run: draw.normal() for run in runs if draw.random() < (1 + kept) / 2}


values = st.builds(
    drawn, st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(1, 6),
    st.sampled_from([0.6, 0.9, 1.0]),
)  # fmt: skip


@given(values)
def test_the_table_is_that_of_loops_over_seeds_languages_tasks_and_pairs(values):
    numbers = {(run.task, "+".join(run.models), *run[2:]): each for run, each in values.items()}
    expected = by_seed_and_language(numbers)
    table, mean = table_over_pairs(values), over_pairs(values)
    if not expected:
        assert table is None and mean is None
        return
    assert table is not None and mean is not None
    assert np.squeeze(table.table) == pytest.approx(np.squeeze(expected))
    assert mean.mean == pytest.approx(np.mean(expected))
    if len(expected) < 3:
        assert mean.interval.low is mean.p is None
    elif mean.known:
        slow = judged(expected, known_from(numbers))
        assert (mean.low, mean.high, mean.p) == pytest.approx((slow.low, slow.high, slow.p))


@given(values, st.sampled_from(["models", "task"]))
def test_a_copy_of_the_same_models_changes_nothing(values, column):
    """A second pair, or a second task, with the numbers of the first says nothing new."""
    twice = values | {
        run._replace(**{column: (*run.models, "again") if column == "models" else f"{run.task} again"}): value
        for run, value in values.items()
    }
    once, again = over_pairs(values), over_pairs(twice)
    if once is None or again is None:
        assert once is again is None
        return
    assert again.mean == pytest.approx(once.mean)
    if once.known:
        assert (again.low, again.high, again.p) == pytest.approx((once.low, once.high, once.p))


@given(values, values)
def test_differences_are_of_what_both_have(first, second):
    assert subtracted(first, second) == {run: first[run] - second[run] for run in first.keys() & second.keys()}
    assert not any(subtracted(first, first).values())


def noisy(number: int) -> list[Row]:
    """Lines whose scores vary with the seed, as those of one model do: alike in whatever pair it is."""
    noise = np.random.default_rng(number).normal(0, 0.02, (len(SEEDS), 2))
    return [
        row.labelled(value=row.value + (1 - row.alpha1) * noise[row.seed or 0, int(row.language == "qaa")])
        for row in lines()
    ]


@pytest.mark.parametrize("number", range(5))
def test_pairs_that_share_their_models_do_not_narrow_intervals(number):
    """Every target stands there twice, under two names: no wider claim, and no model more."""
    rows = noisy(number)
    copies = [along(_renamed(row.path), row).labelled(language=_renamed(row.language)) for row in rows]
    once, twice = (Between.of(report(*each)).means() for each in (rows, [*rows, *copies]))
    assert once.keys() == twice.keys()
    for place, mean in once.items():
        if place.alpha != 1:
            width, other = (each.high - each.low for each in (mean, twice[place]))
            assert other == pytest.approx(width) if place.language == "source" else other >= width * (1 - 1e-9)
            assert twice[place].mean == pytest.approx(mean.mean)


def _renamed(text: str | None) -> str:
    for target in TARGETS:
        text = (text or "").replace(target, f"{target}again")
    return text or ""


def rising(language: str, by_seed: dict[float, list[float]]) -> list[Row]:
    """Scores on the line to the bilingual model, whose own is 1: at each place those of all seeds."""
    return [
        row("accuracy", value, path="qaa > qaa+qab", language=language, alpha1=alpha, seed=seed)
        for alpha, scores in (by_seed | {1.0: [1.0] * 3}).items()
        for seed, value in enumerate(scores)
    ]


def said(*rows: Row) -> str:
    return "\n".join(between_findings(report(*rows), Between.of(report(*rows))))


SOURCE, TARGET = {0.0: [0.98, 0.975, 0.965]}, {0.0: [0.9, 0.8, 0.7]}


def test_all_claims_are_one_family():
    """What shows alone does not beside another that does not: twice 0.026 is more than 0.05."""
    p, other = (judged([1 - score for score in scores[0.0]]).p for scores in (SOURCE, TARGET))
    assert p < 0.05 < 2 * p < other + 0.01
    alone, beside = said(*rising("qaa", SOURCE)), said(*rising("qaa", SOURCE), *rising("qab", TARGET))
    assert f"(shows, p = {p:.3f})" in alone
    assert f"(does not show among 2 claims, p = {p:.3f})" in beside and f"(does not show, p = {other:.3f})" in beside


def test_the_lines_of_the_table_are_corrected_for_their_number():
    """The smaller p of two counts twice by Benjamini and Hochberg too; what is over all tasks is claimed elsewhere."""

    def verdicts(*rows: Row) -> list[str]:
        return [line[-1].text for line in rise_table(Between.of(report(*rows))).lines]

    one, other = rising("qaa", SOURCE), [row.labelled(task="xnli") for row in rising("qaa", {0.0: [0.9, 0.8, 0.7]})]
    assert verdicts(*one) == [""]
    assert verdicts(*one, *other) == ["", "does not show", "does not show"]
    surely = [row.labelled(task="xnli") for row in rising("qaa", {0.0: [0.5, 0.51, 0.52]})]
    assert verdicts(*one, *surely) == ["", "shows", "shows"]


def test_two_seeds_are_not_enough_to_say():
    rows = [row for row in [*rising("qaa", SOURCE), *rising("qab", TARGET)] if row.seed != 2]
    assert said(*rows).count("not enough seeds to say") == 2 and "p =" not in said(*rows)


def test_the_largest_fall_is_held_against_having_been_picked():
    """Its p is that of the largest of four: more than that of one, and less than four times that."""
    draw = np.random.default_rng(0)
    levels = {0.0: 0.95, 0.2: 0.96, 0.4: 0.93, 0.6: 0.94}
    curve = {alpha: (level + draw.normal(0, 0.006, 3)).tolist() for alpha, level in levels.items()}
    falls = [np.subtract(before, after) for before, after in pairwise([*curve.values(), [1.0] * 3])]
    plain = judged(falls[1].tolist())
    text = said(*rising("qaa", curve))
    assert f"its largest fall, of 4 from one point to the next, is {100 * plain.mean:.1f} points" in text
    p = float(text.split("its largest fall")[1].split("p = ")[1][:5])
    assert plain.p < 0.05 and 1.2 * plain.p < p < 4 * plain.p


def test_a_fall_between_points_that_lack_a_seed_is_told():
    """Of an unfinished study: what has too few seeds is not among those that the largest was picked from."""
    points = [
        {
            Run("pos", ("qaa",), code, seed): level + 0.001 * seed * (place + 1) * (1 + len(code))
            for code in ("qab", "qac", "qad")
            for seed in seeds
        }
        for place, (level, seeds) in enumerate([(0.95, (0, 1, 2)), (0.93, (0, 1, 2)), (0.92, (0, 1))])
    ]
    first, claim, end = _fall(points)
    assert first == "its largest fall, of 2 from one point to the next, is " and end == "."
    assert claim.more.p == pytest.approx(best_of([table_over_pairs(subtracted(*points[:2]))])[0])


def chained(gains: list[float], losses: list[float]) -> list[Row]:
    """Lines from seed to seed, by how much the middle of each is above the mean of its ends; and the mean of all."""
    rows = []
    for seed, (gain, loss) in enumerate(zip(gains, losses, strict=True)):
        for language in ("qaa", "qab"):
            shared = {"path": "qaa > qaa", "language": language, "seed": seed, "split": "test"}
            ends = {0.0: 0.5 + 0.01 * seed, 1.0: 0.51 + 0.01 * seed}
            rows += [row("accuracy", value, alpha1=alpha, **shared) for alpha, value in ends.items()]
            rows.append(row("accuracy", sum(ends.values()) / 2 + gain, alpha1=0.5, **shared))
            rows += [row("loss", value, alpha1=alpha, **shared) for alpha, value in ((0, 1), (0.5, 1 + loss), (1, 1))]
    share = 1 / (len(gains) + 1)
    mean = {"path": " > ".join(["qaa"] * (len(gains) + 1)), "split": "test", "alpha1": share, "alpha2": share}
    return [*rows, *(row("accuracy", 0.6, language=language, **mean) for language in ("qaa", "qab"))]


def test_means_of_two_seeds_are_judged_on_lines_that_share_no_model():
    gains, losses = [-0.2, 0.9, -0.3, 0.9, -0.25], [0.4, 9.0, 0.5, 9.0, 0.7]
    rows = chained(gains, losses)
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.models == 6 and found.barrier == pytest.approx(np.mean(losses))
    for effect, numbers in ((found.halfway, gains[::2]), (found.loss, losses[::2])):
        slow = judged(numbers)
        assert effect.seeds == 3
        assert (effect.mean, effect.low, effect.high, effect.p) == pytest.approx(tuple(slow))
    assert "The mean of two gains −25.0 points [−37.4, −12.6] (the reverse shows, p = " in said(*rows)
    assert said(*chained(gains[:4], losses[:4])).count("not enough seeds to say") == 2
