"""Scores by seed and sentence: what differences and means pair, against loops over every number."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from babelscope.core.inference import effect
from babelscope.core.samples import Samples, joined, mean_of, nothing_kept, shared_seeds
from slowly import judged, share_of_each

SEEDS = st.sets(st.integers(0, 6), min_size=1, max_size=6)
values = st.dictionaries(st.integers(0, 7), st.floats(0, 1), min_size=1, max_size=8)


def test_a_mean_over_test_sets_is_known_from_as_many_sentences_as_the_shortest_has():
    draw = np.random.default_rng(2)
    short, long, one = (samples_of(counted(draw, {0, 1, 2}, count)) for count in (4, 90, 1))
    both = mean_of([short, long])
    assert both is not None and both.known.sentences == 4 and both.at([0, 2]).times(-1).known.sentences == 4
    assert (long - long).known.sentences == 90 and (both - both).known.sentences == 4
    assert (both - long).known_sentences == 4 and (both - one).known_sentences == 0  # other shapes: by seed alone
    assert mean_of([long, one]).known.sentences == 90
    assert effect(*both.known).p > effect(both.table).p


def counted(draw: np.random.Generator, seeds: set[int], sentences: int) -> dict[int | None, list[list[int]]]:
    """[2, sentences] by seed: of one to nine words a sentence some that are right."""
    words = draw.integers(1, 10, sentences)
    return {seed: [draw.binomial(words, 0.7).tolist(), words.tolist()] for seed in seeds}


def samples_of(counts: dict[int | None, list[list[int]]]) -> Samples:
    return Samples.of({seed: sum(right) / sum(words) for seed, (right, words) in counts.items()}, counts)


@given(SEEDS, SEEDS, st.integers(1, 9), st.integers(0, 2**32))
def test_differences_pair_seeds_and_sentences(first_seeds, second_seeds, sentences, number):
    draw = np.random.default_rng(number)
    first, second = (counted(draw, seeds, sentences) for seeds in (first_seeds, second_seeds))
    found = samples_of(first) - samples_of(second)
    shared = sorted(first_seeds & second_seeds)
    if not shared:
        assert found is None
        return
    assert found is not None and list(found.seeds) == shared
    for row, seed in zip(found.table, shared, strict=True):
        ours, theirs = (share_of_each(*side[seed]) for side in (first, second))
        assert row.tolist() == pytest.approx([a - b for a, b in zip(ours, theirs, strict=True)])


@given(SEEDS, st.integers(2, 9), st.integers(2, 9), st.integers(0, 2**32))
def test_other_numbers_of_sentences_leave_the_seeds(seeds, sentences, others, number):
    draw = np.random.default_rng(number)
    first, second = counted(draw, seeds, sentences), counted(draw, seeds, others)
    found = samples_of(first) - samples_of(second)
    assert found is not None and found.table.shape == (len(seeds), sentences if sentences == others else 1)
    for seed, gain in found.by_seed.items():
        right, words, other_right, other_words = map(sum, (*first[seed], *second[seed]))
        assert gain == pytest.approx(right / words - other_right / other_words)


@given(values, values)
def test_where_no_sentences_are_known_it_is_the_paired_t_test(first, second):
    found = Samples.of(first, {}) - Samples.of(second, {})
    shared = sorted(first.keys() & second.keys())
    if found is None:
        assert not shared
        return
    known = effect(found.table)
    assert known.mean == pytest.approx(fmean(first[seed] - second[seed] for seed in shared), abs=1e-12)
    assert known.known or len(shared) < 3 or np.ptp(found.table) < 1e-9
    if len(shared) >= 3 and np.std(found.table) > 1e-6:
        test = stats.ttest_rel([first[seed] for seed in shared], [second[seed] for seed in shared])
        assert known.p == pytest.approx(test.pvalue, rel=1e-6, abs=1e-9)
        assert (known.low, known.high) == pytest.approx(tuple(test.confidence_interval()), rel=1e-6, abs=1e-9)


def test_differences_that_only_rounding_tells_apart_do_not_vary():
    difference = Samples.of({0: 0.9, 1: 0.8, 2: 0.3}, {}) - Samples.of({0: 0.8, 1: 0.7, 2: 0.2}, {})
    assert difference is not None and len(set(difference.by_seed.values())) > 1
    assert effect(difference.table)[:4] == (pytest.approx(0.1), None, None, None)


@given(SEEDS, st.integers(1, 9), st.integers(0, 2**32))
def test_what_depends_on_no_seed_is_the_same_at_all(seeds, sentences, number):
    draw = np.random.default_rng(number)
    tuned, constant = counted(draw, seeds, sentences), counted(draw, {None}, sentences)
    baseline = samples_of(constant)
    assert baseline.seeds == () and baseline.by_seed == {}
    better, worse = samples_of(tuned) - baseline, baseline - samples_of(tuned)
    assert better is not None and worse is not None and better.seeds == worse.seeds == tuple(sorted(seeds))
    assert better.table == pytest.approx(-worse.table)
    for row, seed in zip(better.table, sorted(seeds), strict=True):
        ours, theirs = share_of_each(*tuned[seed]), share_of_each(*constant[None])
        assert row.tolist() == pytest.approx([a - b for a, b in zip(ours, theirs, strict=True)])


def test_two_that_depend_on_no_seed_differ_by_a_number():
    difference = Samples.of({None: 0.75}, {}) - Samples.of({None: 0.5}, {})
    assert difference is not None and difference.mean == 0.25 and difference.table.shape == (1, 1)
    assert not effect(difference.table).known


@pytest.mark.parametrize(
    "kept",
    [
        {0: [[1, 2], [3, 4]]},  # of one seed alone
        {0: [[1, 2], [3, 4]], 1: [[1], [4]]},  # of other sentences
        {0: [[1, 2], [3, 4]], 1: [[0, 0], [0, 0]]},  # with nothing to count
        {},
    ],
)
def test_sentences_count_where_all_seeds_have_kept_them(kept):
    found = Samples.of({0: 0.5, 1: 0.25}, kept)
    assert found.table.tolist() == [[0.5], [0.25]]


@given(SEEDS, SEEDS, st.integers(1, 6), st.integers(7, 9), st.integers(0, 2**32))
def test_beyond_is_the_difference_to_other_sentences_by_seed(first_seeds, second_seeds, few, many, number):
    draw = np.random.default_rng(number)
    first, second = counted(draw, first_seeds, few), counted(draw, second_seeds, many)
    found = samples_of(first).beyond(samples_of(second))
    shared = sorted(first_seeds & second_seeds)
    if not shared:
        assert found is None
        return
    assert found is not None and found.seeds == tuple(shared)
    for seed, gain in found.by_seed.items():
        right, words, other_right, other_words = map(sum, (*first[seed], *second[seed]))
        assert gain == pytest.approx(right / words - other_right / other_words, abs=1e-9)


def test_beyond_has_the_spread_of_both_sides():
    """Other sentences vary by themselves: the variances of the two sides are added, as of a Welch test."""
    draw = np.random.default_rng(0)
    ours, theirs = (Samples((0, 1, 2), np.tile(draw.normal(size=500), (3, 1))) for _ in range(2))
    # By chance the two go together a little, as the fast way has them in one table.
    (each,) = [effect(found.table) for found in [ours.beyond(theirs)] if found]
    expected = stats.ttest_ind(ours.table[0], theirs.table[0], equal_var=False)
    assert each.mean == pytest.approx(ours.mean - theirs.mean)
    assert each.p == pytest.approx(expected.pvalue, rel=0.15)


@given(st.lists(values, min_size=1, max_size=4))
def test_means_are_of_the_seeds_that_all_have(several):
    samples = [Samples.of(each, {}) for each in several]
    shared = sorted(set.intersection(*(set(each) for each in several)))
    found, table = mean_of(samples), joined(samples)
    if not shared:
        assert found is table is shared_seeds(samples) is None
        return
    assert found is not None and table is not None and table.shape == (len(shared), 1, len(several))
    assert found.by_seed == pytest.approx({seed: fmean(each[seed] for each in several) for seed in shared})


def test_of_nothing_there_is_no_mean():
    assert mean_of([]) is joined([]) is None
    assert nothing_kept("any") == {}


def test_seeds_are_taken_in_the_order_asked_for():
    found = Samples.of({3: 0.3, 1: 0.1, 2: 0.2}, {})
    assert found.seeds == (1, 2, 3) and found.at([3, 1]).by_seed == {3: 0.3, 1: 0.1}
    assert found.times(-1).by_seed == {1: -0.1, 2: -0.2, 3: -0.3}


@pytest.mark.parametrize("sentences", [1, 6])
def test_languages_drawn_by_chance_are_an_axis_beside_seeds_and_sentences(sentences):
    draw = np.random.default_rng(sentences)
    tables = [draw.normal(0.3 * place, 1, (5, sentences)) for place in range(4)]
    whole = joined([Samples(tuple(range(5)), table) for table in tables])
    assert whole is not None
    found = effect(whole)
    assert found.languages == 4
    slow = judged([[[table[seed][k] for table in tables] for k in range(sentences)] for seed in range(5)])
    assert (found.mean, found.low, found.high, found.p) == pytest.approx(slow)


def test_a_language_with_fewer_sentences_keeps_its_mean_and_its_variance():
    draw = np.random.default_rng(2)
    few, many = (Samples((0, 1, 2), draw.normal(size=(3, count))) for count in (50, 400))
    table = joined([few, many])
    assert table is not None and table.shape == (3, 400, 2)
    for place, each in enumerate((few, many)):
        np.testing.assert_allclose(table[:, :, place].mean(axis=1), each.table.mean(axis=1), atol=1e-12)
    of_mean = [(table[0, :, 0].var(ddof=1) / 400), few.table[0].var(ddof=1) / 50]
    assert of_mean[0] == pytest.approx(of_mean[1], rel=0.03)
