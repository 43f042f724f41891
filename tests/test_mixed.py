"""The mixed model of differences by seed and language."""

import numpy as np
import pytest
from scipy import stats

from babelscope.core.inference import by_language, crossed_variance
from babelscope.core.mixed import fit


def drawn(generator, languages=7, seeds=5, mean=0.0):
    """[languages, seeds] with effects of both."""
    of_language, of_seed = 0.02 * generator.standard_normal(languages), 0.01 * generator.standard_normal(seeds)
    return mean + of_language[:, None] + of_seed + 0.01 * generator.standard_normal((languages, seeds))


def named(table):
    return {(f"q{row}", seed): value for row, line in enumerate(table) for seed, value in enumerate(line)}


def test_of_a_whole_table_it_is_the_crossed_analysis_of_variance():
    table = drawn(np.random.default_rng(0), mean=0.03)
    fitted = fit(named(table))
    error = crossed_variance(by_language([line[:, None] for line in table])).of_mean ** 0.5
    assert fitted.interval.mean == pytest.approx(table.mean())
    assert fitted.interval.high - fitted.interval.mean == pytest.approx(stats.t.ppf(0.975, 4) * error, rel=1e-4)
    assert fitted.p == pytest.approx(2 * stats.t.sf(table.mean() / error, 4), rel=1e-3)
    residual = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    square = (residual**2).sum() / (6 * 4)
    assert fitted.language_sd == pytest.approx((table.mean(axis=1).var(ddof=1) - square / 5) ** 0.5, rel=1e-3)
    assert fitted.seed_sd == pytest.approx((table.mean(axis=0).var(ddof=1) - square / 7) ** 0.5, rel=1e-3)


def test_scores_may_be_missing_and_no_claim_is_made_more_often_than_it_may():
    generator = np.random.default_rng(1)
    false = 0
    for _ in range(150):
        values = named(drawn(generator))
        for gap in (("q0", 1), ("q3", 4)):
            del values[gap]
        fitted = fit(values)
        false += fitted is not None and fitted.p < 0.05
    assert false <= 0.09 * 150


@pytest.mark.parametrize(("languages", "seeds"), [(4, 5), (5, 4), (0, 0)])
def test_four_are_too_few(languages, seeds):
    assert fit(named(drawn(np.random.default_rng(2), languages, seeds))) is None


def test_where_nothing_varies_nothing_is_known():
    assert fit(named(np.full((6, 6), 0.1))) is None
