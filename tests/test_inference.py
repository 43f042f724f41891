"""Differences over seeds and sentences together, against slow computations and in short simulations."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from babelscope.core.inference import (
    Known,
    best_of,
    by_language,
    contributions,
    crossed_variance,
    effect,
    equivalence,
    holm,
)

tables = st.tuples(st.integers(2, 6), st.integers(2, 8), st.integers(0, 2**32)).map(
    lambda shape: np.random.default_rng(shape[2]).standard_normal(shape[:2])
)


def slow_parts(table):
    """Variances of the mean by rows, by columns and by what is left, with loops over every cell."""
    rows, columns = table.shape
    mean = sum(table[i][j] for i, j in product(range(rows), range(columns))) / (rows * columns)
    row = [sum(table[i]) / columns for i in range(rows)]
    column = [sum(table[i][j] for i in range(rows)) / rows for j in range(columns)]
    by_row = sum((value - mean) ** 2 for value in row) / (rows - 1) / rows
    by_column = sum((value - mean) ** 2 for value in column) / (columns - 1) / columns
    rest = sum((table[i][j] - row[i] - column[j] + mean) ** 2 for i, j in product(range(rows), range(columns)))
    return by_row, by_column, rest / ((rows - 1) * (columns - 1)) / (rows * columns)


@given(tables)
def test_the_variance_is_that_of_a_two_way_table(table):
    by_row, by_column, rest = slow_parts(table)
    least, total = max(by_row, by_column), by_row + by_column - rest
    seeds, sentences = table.shape
    if total < least:
        total = (max(0, total) + least) / 2 if min(seeds, sentences) >= 5 else least
    freedom = total**2 / (by_row**2 / (seeds - 1) + by_column**2 / (sentences - 1))
    few = min(table.shape)
    found = crossed_variance(table)
    assert found.of_mean == pytest.approx(total, rel=1e-9)
    assert found.freedom == pytest.approx(freedom if few >= 5 else max(few - 1, freedom * (few - 1) / (few + 1)))


def test_many_seeds_of_one_sentence_effect_leave_the_sentences_alone():
    """Seeds that agree in everything add nothing to what sentences leave open: the paired t test over sentences."""
    by_sentence = np.random.default_rng(0).standard_normal(200)
    table = np.tile(by_sentence, (6, 1))
    found = effect(table)
    test = stats.ttest_1samp(by_sentence, 0)
    assert found.p == pytest.approx(test.pvalue, rel=1e-6)
    low, high = test.confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high))


def test_sentences_that_agree_leave_the_seeds_alone():
    by_seed = np.random.default_rng(1).standard_normal(7)
    found = effect(np.tile(by_seed[:, None], (1, 300)))
    assert found.p == pytest.approx(stats.ttest_1samp(by_seed, 0).pvalue, rel=1e-6)


@given(st.integers(0, 2**32))
def test_contributions_have_each_seeds_ratio_as_their_mean(seed):
    generator = np.random.default_rng(seed)
    below = generator.integers(0, 9, (4, 12)) + np.eye(4, 12, dtype=int)
    above = generator.binomial(below, 0.6)
    assert contributions(above, below).mean(axis=1) == pytest.approx(above.sum(axis=1) / below.sum(axis=1))


def test_contributions_spread_as_the_ratio_does_when_sentences_are_drawn_anew():
    generator = np.random.default_rng(3)
    below = generator.integers(1, 30, (1, 400))
    above = generator.binomial(below, 0.7)
    drawn = generator.integers(0, 400, (4000, 400))
    ratios = above[0][drawn].sum(axis=1) / below[0][drawn].sum(axis=1)
    table = contributions(above, below)
    assert math.sqrt(crossed_variance(table).of_mean) == pytest.approx(ratios.std(), rel=0.05)


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(ValueError, match="something to count"):
        contributions([[1, 2]], [[0, 0]])
    with pytest.raises(ValueError, match="something to count"):
        contributions([[1, 2]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="spread of one number"):
        crossed_variance(np.zeros((1, 1)))


def test_where_no_sentences_are_known_it_is_students_t_over_seeds():
    by_seed = np.random.default_rng(11).standard_normal(4) + 0.5
    found, test = effect(by_seed[:, None]), stats.ttest_1samp(by_seed, 0)
    assert found.p == pytest.approx(test.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(test.confidence_interval()))


def test_three_crossed_factors_are_added_up_without_bias():
    """Against the truth: means of tables reinitialised, with seeds, sentences, languages and all that they share."""
    generator = np.random.default_rng(12)
    shape = (6, 12, 7)

    def drawn():
        table = np.zeros(shape)
        for axes, sd in ({(0,): 0.5, (1,): 1.0, (2,): 0.7, (0, 1): 0.6, (1, 2): 0.8, (0, 1, 2): 2.0}).items():
            table = table + sd * generator.standard_normal([n if a in axes else 1 for a, n in enumerate(shape)])
        return table

    tables = [drawn() for _ in range(1500)]
    truth = np.var([table.mean() for table in tables])
    assert np.mean([crossed_variance(table).of_mean for table in tables]) == pytest.approx(truth, rel=0.1)


def test_a_claim_about_languages_needs_three_and_is_less_sure_than_one_about_these():
    generator = np.random.default_rng(13)
    places = [generator.standard_normal((6, 80)) * 0.3 + gain for gain in (0.1, 0.5, 0.9, 0.5)]
    assert not effect(by_language(places[:2])).known
    all_languages, these = effect(by_language(places)), effect(by_language(places).mean(axis=2))
    assert all_languages.mean == pytest.approx(these.mean)
    assert all_languages.error > 2 * these.error
    assert all_languages.languages == 4


@pytest.mark.parametrize("seeds", [1, 2])
def test_two_seeds_are_too_few_to_say(seeds):
    found = effect(np.random.default_rng(0).standard_normal((seeds, 50)))
    assert found.low is found.high is found.p is None
    assert not found.known


def test_where_nothing_varies_nothing_is_known():
    assert not effect(np.full((5, 50), 0.25)).known


def test_the_mean_over_places_is_the_mean_of_their_means():
    generator = np.random.default_rng(5)
    places = [generator.standard_normal((4, sentences)) for sentences in (30, 50, 50)]
    joined = by_language(places)
    assert joined.shape == (4, 50, 3)
    expected = np.array([place.mean(axis=1) for place in places]).T
    assert joined.mean(axis=1) == pytest.approx(expected)
    assert by_language(places[:1])[:, :, 0] == pytest.approx(places[0])


def test_translations_of_the_same_sentences_are_not_taken_for_more_sentences():
    place = np.random.default_rng(6).standard_normal((5, 40))
    together = by_language([place] * 4).mean(axis=2)
    assert crossed_variance(together).of_mean == pytest.approx(crossed_variance(place).of_mean)


def test_tables_of_other_seeds_or_sentences_are_not_the_best_of_each_other():
    generator = np.random.default_rng(10)
    with pytest.raises(ValueError, match="tables of one shape"):
        best_of([Known(generator.standard_normal((seeds, 1))) for seeds in (5, 4)])


def test_equivalence_is_two_one_sided_t_tests():
    by_sentence = np.random.default_rng(7).standard_normal(300) * 0.1
    found = effect(np.tile(by_sentence, (6, 1)))
    sides = [
        stats.ttest_1samp(by_sentence, bound, alternative=way).pvalue
        for bound, way in ((-0.02, "greater"), (0.02, "less"))
    ]
    assert equivalence(found, 0.02) == pytest.approx(max(sides), rel=1e-6)
    assert equivalence(effect(np.zeros((2, 9))), 0.02) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(max_examples=50)
def test_holm_claims_what_stepping_down_claims(p_values):
    named = {str(k): p for k, p in enumerate(p_values)}
    adjusted = holm(named)
    for level in (0.01, 0.05, 0.3):
        claimed = set()
        for rank, name in enumerate(sorted(named, key=named.__getitem__)):
            if named[name] > level / (len(named) - rank):
                break
            claimed.add(name)
        rounding = {name for name in named if math.isclose(adjusted[name], level)}
        assert {name for name in named if adjusted[name] <= level} - rounding == claimed - rounding


def test_the_best_of_like_candidates_counts_once_and_of_unlike_ones_as_often():
    generator = np.random.default_rng(8)
    table = generator.standard_normal((6, 200)) + 0.1
    alone = effect(table).p
    assert best_of([Known(table)] * 6)[0] == pytest.approx(alone, abs=0.02)
    others = [Known(generator.standard_normal((6, 200)) + 0.1 - 0.1) for _ in range(5)]
    found = best_of([Known(table), *others])
    assert found[0] > 2 * alone
    assert best_of([Known(table[:2])]) == [None]
    assert best_of([Known(table), Known(np.zeros((6, 200))), *others]) == [found[0], None, *found[1:]]


def test_a_short_test_set_beside_a_long_one_does_not_count_as_long():
    """Of no difference, the mean over two languages, one of them of four sentences: false in 12% as if of 500."""
    generator, tables = np.random.default_rng(12), []
    for _ in range(400):
        sets = [np.tile(generator.standard_normal(count), (5, 1)) for count in (4, 500)]
        tables.append(by_language(sets).mean(axis=2) + generator.normal(0, 0.01, (5, 1)))
    assert np.mean([effect(table).p < 0.05 for table in tables]) > 0.08
    assert np.mean([effect(table, sentences=4).p < 0.05 for table in tables]) <= 0.06
    (place, _), spread = generator.standard_normal((2, 5, 30)), crossed_variance
    assert spread(place, sentences=30) == spread(place) and spread(place, sentences=8).freedom < spread(place).freedom


def test_the_best_of_several_is_held_against_as_few_languages_as_are_known():
    """Languages that a task lacks fill up with its mean."""
    table = np.random.default_rng(13).standard_normal((5, 1, 9)) + 0.8
    assert best_of([Known(table, drawn=3)])[0] > 2 * best_of([Known(table)])[0]
