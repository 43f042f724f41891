"""From differences to what a report says of them: corrections, margins, languages, and why nothing is said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from babelscope.core.inference import Effect, benjamini_hochberg, effect, holm
from babelscope.core.samples import Samples
from babelscope.report.judged import Verdict, chance, judged, over_places, said, verdict
from slowly import judged as slowly_judged

signed = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([1, -1])), min_size=1, max_size=8)


def an_effect(p: float, sign: int = 1) -> Effect:
    return Effect(0.1 * sign, 0.0, 0.2, p, 0.05, 2.0, 3, 1)


def stepping_down(p_values: list[float]) -> set[int]:
    """Holm (1979): from the smallest on, as long as each is below its share of the level."""
    shown: set[int] = set()
    for rank, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        if p_values[k] * (len(p_values) - rank) >= 0.05:
            break
        shown.add(k)
    return shown


def stepping_up(p_values: list[float]) -> set[int]:
    """Benjamini and Hochberg (1995): all up to the largest that is below its share of the level."""
    ordered = sorted(range(len(p_values)), key=lambda k: p_values[k])
    below = [rank for rank, k in enumerate(ordered, 1) if p_values[k] * len(p_values) / rank < 0.05]
    return set(ordered[: max(below, default=0)])


@pytest.mark.parametrize(("adjust", "slowly"), [(holm, stepping_down), (benjamini_hochberg, stepping_up)])
@settings(max_examples=150, deadline=None)
@given(drawn=signed)
def test_what_shows_is_corrected_for_all_that_is_claimed(adjust, slowly, drawn):
    p_values = [p**3 for p, _ in drawn]  # small ones too
    shown = slowly(p_values)
    expected = [
        ("shows" if sign > 0 else "the reverse shows") if k in shown else "does not show"
        for k, (_, sign) in enumerate(drawn)
    ]
    effects = [an_effect(p, sign) for p, (_, sign) in zip(p_values, drawn, strict=True)]
    assert judged(effects, adjust) == expected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_benjamini_and_hochberg_is_scipys_and_a_slow_loop(p_values):
    found = list(benjamini_hochberg({str(k): p for k, p in enumerate(p_values)}).values())
    rank = {k: r for r, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k]), 1)}
    slow = [min(p_values[j] * len(rank) / rank[j] for j in rank if rank[j] >= rank[k]) for k in range(len(rank))]
    assert found == pytest.approx(slow)
    assert found == pytest.approx(stats.false_discovery_control(p_values).tolist())
    assert benjamini_hochberg({}) == holm({}) == {}


def test_what_is_unknown_is_no_part_of_the_family():
    """One claim that cannot be judged makes the others no harder."""
    few = effect(np.array([[0.1], [0.2]]))
    assert judged([an_effect(0.03), few, None]) == ["shows", "not enough seeds to say", "cannot be said yet"]
    assert judged([an_effect(0.03), an_effect(0.04)]) == ["does not show", "does not show"]
    assert judged([]) == []


@pytest.mark.parametrize(("p", "family", "said"), [(0.02, 2, "shows"), (0.02, 3, "does not show"), (0.02, 0, "shows")])
def test_claims_that_are_to_come_count_in_the_family(p, family, said):
    assert judged([an_effect(p), None], family=family) == [said, "cannot be said yet"]


@given(st.lists(st.floats(0, 0.06), min_size=1, max_size=6), st.data())
def test_what_shows_among_claims_that_are_to_come_shows_once_they_are_there(p_values, data):
    known = data.draw(st.integers(1, len(p_values)))
    before = judged([an_effect(p) for p in p_values[:known]], family=len(p_values))
    after = judged([an_effect(p) for p in p_values])
    assert all(later == "shows" for early, later in zip(before, after[:known], strict=True) if early == "shows")


def test_the_level_is_not_reached_by_what_is_equal_to_it():
    assert (
        said(0.1, 0.05) == "does not show" and said(0.1, 0.0499) == "shows" and said(-0.1, 0.01).startswith("the rev")
    )


def test_a_verdict_has_a_sign_where_something_can_be_said():
    """Which way a difference goes is not read out of the words that a report has for it."""
    few = effect(np.array([[0.1], [0.2]]))
    assert [said(0.1, 0.01).sign, said(-0.1, 0.01).sign, said(0.1, 0.5).sign] == [1, -1, 0]
    assert [each.sign for each in judged([an_effect(0.01), few, None])] == [1, None, None]
    assert [each for each in Verdict if each.sign is not None] == [Verdict.SHOWS, Verdict.REVERSED, Verdict.UNSEEN]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (np.zeros((2, 5)), "not enough seeds to say"),
        (np.ones((4, 5)), "cannot be said: nothing varies"),
    ],
)
def test_why_nothing_is_said(table, why):
    assert verdict(effect(table), None) == why


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 8), st.floats(-0.05, 0.05), st.floats(0.001, 0.05), st.integers(0, 2**32))
def test_as_good_as_is_two_one_sided_tests(seeds, mean, margin, number):
    """Schuirmann (1987), by scipy's t test: above minus the margin, and below the margin."""
    gains = mean + np.random.default_rng(number).normal(0, 0.02, seeds)
    sides = [
        stats.ttest_1samp(gains, end, alternative=way).pvalue for end, way in ((-margin, "greater"), (margin, "less"))
    ]
    (found,) = judged([effect(gains[:, None])], margins=[margin])
    assert found == ("shows" if max(sides) < 0.05 else "does not show") or math.isclose(max(sides), 0.05)


def test_a_margin_makes_another_claim_of_the_same_family():
    """A difference that shows is within five points and not within half a point; both sides count."""
    small = effect(np.array([[0.010], [0.011], [0.009], [0.010]]))
    wanted = [None, 0.05, 0.005]
    assert judged([small] * 3, margins=wanted) == ["shows", "shows", "does not show"]
    turned = effect(-np.array([[0.010], [0.011], [0.009], [0.010]]))
    assert judged([turned] * 3, margins=wanted) == ["the reverse shows", "shows", "does not show"]
    few = effect(np.array([[0.01], [0.02]]))
    assert judged([few, None], margins=[0.5, 0.5]) == ["not enough seeds to say", "cannot be said yet"]


def places(count: int, spread: float = 1.0, seed: int = 3) -> list[Samples]:
    draw = np.random.default_rng(seed)
    return [
        Samples((0, 1, 2, 3), 0.5 + spread * level + draw.normal(0, 0.1, (4, 30))) for level in draw.normal(size=count)
    ]


def test_three_languages_stand_for_others_and_two_for_themselves():
    three = places(3)
    drawn, fixed = (over_places({str(k): [each] for k, each in enumerate(some)}) for some in (three, three[:2]))
    assert drawn is not None and fixed is not None
    assert (drawn.languages, fixed.languages) == (3, 1)
    width, narrow = drawn.high - drawn.low, fixed.high - fixed.low
    assert width > 3 * narrow
    slow = slowly_judged((three[0].table + three[1].table) / 2)
    assert (fixed.mean, fixed.low, fixed.high, fixed.p) == pytest.approx(slow)
    slow = slowly_judged(np.stack([each.table for each in three], axis=2))
    assert (drawn.mean, drawn.low, drawn.high, drawn.p) == pytest.approx(slow)


def test_a_language_counts_once_however_many_data_sets_it_has():
    one, two, three, again = places(4)
    found = over_places({"a": [one, again], "b": [two], "c": [three]})
    both = Samples(one.seeds, (one.table + again.table) / 2)
    assert found == over_places({"a": [both], "b": [two], "c": [three]})
    assert found is not None and found.mean == pytest.approx(
        (one.mean / 2 + again.mean / 2 + two.mean + three.mean) / 3
    )


def test_a_language_without_a_seed_of_all_leaves_nothing_to_say():
    lacking = Samples((7,), np.array([[0.5]]))
    assert over_places({"a": places(1), "b": [lacking]}) is None
    assert over_places({"a": [*places(1), lacking], "b": places(1)}) is None
    assert over_places({}) is None


def test_a_note_names_what_intervals_are_over():
    seeds = effect(np.array([[0.1], [0.2], [0.4]]))
    sentences, languages = effect(places(1)[0].table), over_places({str(k): [each] for k, each in enumerate(places(3))})
    assert chance([None, seeds]) == "seeds"
    assert chance([seeds, sentences]) == "seeds and sentences"
    assert chance([seeds, languages]) == "seeds, sentences and languages"
