import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from babelscope.core.errors import InputError
from babelscope.core.intervals import paired_interval
from babelscope.core.scores import (
    MEASURES,
    accuracy,
    accuracy_f1,
    f1,
    matthews,
    pearson,
    pearson_spearman,
    spearman,
)
from babelscope.tasks.metrics import computed, score

LAST_DIGITS = 1e-12
OF_TEXTS = {name: measure for name, measure in MEASURES.items() if measure.compute}
"""Correlations are summed in another order than the libraries sum them; shares and F1 agree to the last digit."""


@pytest.fixture
def labels():
    """The gold classes of WNLI and RTE and the scores of STS-B, from real files."""
    if not os.environ.get("BABELSCOPE_DATA"):
        pytest.skip("BABELSCOPE_DATA is not set")
    glue = Path(os.environ["BABELSCOPE_DATA"]) / "glue"
    column = lambda text, place: [row.split("\t")[place] for row in text.strip().split("\n")]  # noqa: E731
    similarity = gzip.decompress((glue / "STS-B" / "sts-dev.csv.gz").read_bytes()).decode()
    rte = column((glue / "RTE" / "dev.tsv").read_text(), -1)[1:]
    return {
        "WNLI": np.array(column((glue / "WNLI" / "dev.tsv").read_text(), -1)[1:], dtype=int),
        "RTE": np.array([label == "not_entailment" for label in rte], dtype=int),
        "STS-B": np.array(column(similarity, 4), dtype=float),
    }


def agree_on_classes(predicted, gold):
    right = sklearn.metrics.accuracy_score(gold, predicted)
    assert accuracy(predicted, gold) == right
    expected = sklearn.metrics.f1_score(gold, predicted, zero_division=0)
    assert f1(predicted, gold) == expected
    assert accuracy_f1(predicted, gold) == (expected + right) / 2
    assert matthews(predicted, gold) == pytest.approx(
        sklearn.metrics.matthews_corrcoef(gold, predicted), abs=LAST_DIGITS, rel=0
    )


def agree_on_numbers(predicted, gold):
    with warnings.catch_warnings(action="ignore"):  # of constant input, which is undefined there and 0 here
        linear = np.nan_to_num(scipy.stats.pearsonr(predicted, gold).statistic)
        ranked = np.nan_to_num(scipy.stats.spearmanr(predicted, gold).statistic)
    assert pearson(predicted, gold) == pytest.approx(linear, abs=LAST_DIGITS, rel=0)
    assert spearman(predicted, gold) == pytest.approx(ranked, abs=LAST_DIGITS, rel=0)
    assert pearson_spearman(predicted, gold) == pytest.approx((linear + ranked) / 2, abs=LAST_DIGITS, rel=0)


def test_classes_agree_with_scikit_learn():
    chance = np.random.default_rng(0)
    for _ in range(1000):
        size = int(chance.integers(2, 60))
        agree_on_classes(*(chance.random((2, size)) < chance.random((2, 1))).astype(int))


def test_numbers_agree_with_scipy():
    chance = np.random.default_rng(1)
    for _ in range(1000):
        size = int(chance.integers(2, 60))
        both = chance.normal(chance.normal(scale=10), 10.0 ** chance.integers(-6, 6), (2, size))
        both[1] += chance.normal() * both[0]
        agree_on_numbers(*np.round(both, int(chance.integers(0, 8))))


@pytest.mark.parametrize("task", ["WNLI", "RTE"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_real_classes_agree_with_scikit_learn(labels, task, share):
    gold = labels[task]
    assert set(gold.tolist()) == {0, 1}
    agree_on_classes(np.where(np.random.default_rng(2).random(len(gold)) < share, 1 - gold, gold), gold)


@pytest.mark.parametrize("noise", [0.0, 0.5, 5.0])
def test_real_scores_agree_with_scipy(labels, noise):
    gold = labels["STS-B"]
    agree_on_numbers(gold + np.random.default_rng(3).normal(size=len(gold)) * noise, gold)
    agree_on_numbers(np.round(gold), gold)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(*[arrays(float, (3, n), elements=st.floats(-5, 5))] * 2)))
def test_measures_reduce_the_last_axis_to_finite_numbers(case):
    """All rows at once are each row alone, whatever the numbers."""
    for name, measure in OF_TEXTS.items():
        predicted, gold = case if measure.of == "numbers" else (one > 0 for one in case)
        together = measure.compute(predicted, gold)
        assert np.isfinite(together).all(), name
        assert (np.abs(together) <= 1).all(), name
        alone = [measure.compute(*row) for row in zip(predicted, gold, strict=True)]
        np.testing.assert_allclose(together, alone, atol=1e-9)


def test_constant_predictions_are_defined():
    gold = np.array([0, 1, 1])
    for constant in (0, 1):
        assert matthews(np.full(3, constant), gold) == 0
    assert f1(np.zeros(3), np.zeros(3)) == 0
    assert pearson(gold * 1e-200, gold) == 0
    assert pearson(np.full(3, 0.1), gold) == spearman(np.full(3, 0.1), gold) == 0


# Intervals


def test_an_interval_equals_scipys_on_the_plain_statistic():
    chance = np.random.default_rng(4)
    gold = chance.normal(size=80)
    predicted = gold + chance.normal(size=80)
    for name, oracle in (("pearson", scipy.stats.pearsonr), ("spearman", scipy.stats.spearmanr)):
        expected = scipy.stats.bootstrap(
            (predicted, gold), lambda x, y, oracle=oracle: oracle(x, y).statistic, paired=True, vectorized=False,
            n_resamples=1000, batch=100, method="BCa", random_state=np.random.default_rng(0),
        ).confidence_interval  # fmt: skip
        ours = score(name, predicted, gold)
        assert (ours.low, ours.high) == pytest.approx(tuple(expected), abs=1e-10)
        assert ours.low < ours.value < ours.high
        assert ours.value == pytest.approx(oracle(predicted, gold).statistic, abs=LAST_DIGITS)
        assert score(name, predicted, gold) == ours


@pytest.mark.parametrize("name", [name for name in OF_TEXTS if MEASURES[name].of != "numbers"])
def test_shares_have_intervals_too(name):
    chance = np.random.default_rng(5)
    gold = chance.integers(0, 2, 200)
    predicted = np.where(chance.random(200) < 0.8, gold, 1 - gold)
    found = score(name, predicted, gold)
    assert found.value == MEASURES[name].compute(predicted, gold)
    assert 0 < found.value - found.low < 0.2
    assert 0 < found.high - found.value < 0.2
    assert found.unit == ("correlation" if name == "matthews" else "share")


@pytest.mark.parametrize("name", OF_TEXTS)
def test_no_interval_where_resampling_changes_nothing(name):
    for predicted, gold in (([1], [1]), ([1, 1, 1], [0, 0, 0])):
        found = score(name, predicted, gold)
        assert (found.low, found.high) == (None, None)
        assert np.isfinite(found.value)


def test_an_interval_needs_pairs():
    for one, other in (([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="as many values on both sides"):
            paired_interval(pearson, np.array(one), np.array(other))


@pytest.mark.parametrize("name", ["f1", "matthews", "pearson", "spearman"])
def test_an_interval_scores_many_resamples_at_once(name, monkeypatch):
    """1,000 resamples, and twice 3,000 times all examples but one, which is four times where all of a kind are alike.

    Ranks are of whole numbers, which need no sorting.
    """
    chance = np.random.default_rng(6)
    gold = chance.random(3000) if MEASURES[name].of == "numbers" else chance.integers(0, 2, 3000)
    measure, scored = MEASURES[name], []

    def counted(predicted, gold):
        scored.append((predicted.size // predicted.shape[-1], predicted.dtype.kind))
        return measure.compute(predicted, gold)

    monkeypatch.setitem(MEASURES, name, measure._replace(compute=counted))
    score(name, chance.permutation(gold), gold)
    left_out = 3000 if MEASURES[name].of == "numbers" else 4
    assert 4000 + left_out < sum(resamples for resamples, _ in scored) < 4010 + left_out and len(scored) < 90
    assert {kind for _, kind in scored} == {"f" if name == "pearson" else "i"}


def test_a_measure_that_does_not_fit_is_refused():
    assert computed("f1", 2) is f1
    assert computed("accuracy", 3) is accuracy
    with pytest.raises(InputError, match=r"'f1' does not score 3 classes; these do: accuracy$"):
        computed("f1", 3)
    with pytest.raises(InputError, match=r"'las' does not score 2 classes; these do: accuracy, f1, matthews, acc"):
        computed("las", 2)
    with pytest.raises(InputError, match="'accuracy' does not score numbers; these do: pearson"):
        computed("accuracy", 0)


@pytest.mark.parametrize("name", ["matthews", "f1", "pearson", "spearman"])
def test_what_each_text_adds_is_its_pseudo_value_and_the_mean_the_measure(name):
    generator = np.random.default_rng(4)
    gold = generator.integers(0, 2, 40) if OF_TEXTS[name].of == "two classes" else generator.integers(0, 6, 40) / 2
    predicted = np.where(generator.random(40) < 0.7, gold, generator.permutation(gold))
    compute = OF_TEXTS[name].compute
    whole = compute(predicted, gold)
    slow = [40 * whole - 39 * compute(np.delete(predicted, k), np.delete(gold, k)) for k in range(40)]
    kept = score(name, predicted, gold)
    assert kept.denominators == (1.0,) * 40
    assert kept.numerators == pytest.approx(np.array(slow) - np.mean(slow) + whole)
    assert np.mean(kept.numerators) == pytest.approx(kept.value)


def test_what_texts_add_spreads_as_the_measure_does_when_texts_are_drawn_anew():
    generator = np.random.default_rng(5)
    gold = generator.integers(0, 2, 400)
    predicted = np.where(generator.random(400) < 0.8, gold, 1 - gold)
    drawn = generator.integers(0, 400, (4000, 400))
    spread = np.std(matthews(predicted[drawn], gold[drawn]))
    added = np.array(score("matthews", predicted, gold).numerators)
    assert added.std(ddof=1) / np.sqrt(400) == pytest.approx(spread, rel=0.05)
