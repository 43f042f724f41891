"""The variance over seeds of scores on lines, against slow computations and in simulations of equal variance."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, variance

import numpy as np
import pytest
from scipy.stats import chi2

from babelscope.report.sections.between.lines import Between, Line, Place, Where
from babelscope.report.sections.between.variances import Spread, mean_variance, variances
from between_rows import ALPHAS, SEEDS, TARGETS, lines, report, row, score

SD = 0.02
WAY = [round(0.1 * step, 1) for step in range(11)]


@pytest.mark.parametrize("origin", ["source", "target"])
@pytest.mark.parametrize("role", ["source", "target"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_it_is_the_mean_over_pairs_of_the_variance_in_units_of_the_mean_bilingual_score(origin, role, alpha):
    raw, divided = [], []
    for target in TARGETS:
        start, language = ({"source": "qaa", "target": target}[one] for one in (origin, role))
        values = [score(start, language, alpha, seed, target) for seed in SEEDS]
        bilingual = [score(start, language, 1.0, seed, target) for seed in SEEDS]
        raw.append(variance(value / fmean(bilingual) for value in values))
        divided.append(variance(value / own for value, own in zip(values, bilingual, strict=True)))
    between, place = Between.of(report(*lines())), Place("one", origin, role, alpha)
    assert variances(between)[place].mean == pytest.approx(fmean(raw), rel=1e-9, abs=1e-18)
    assert variances(between, seed_by_seed=True)[place].mean == pytest.approx(fmean(divided), rel=1e-9, abs=1e-18)


def test_one_variance_has_the_chi_square_interval_of_the_textbooks():
    found = mean_variance([Spread(("pos", "qaa"), 0.3, 4)])
    expected = [3 * 0.3 / chi2(3).ppf(share) for share in (0.975, 0.025)]
    assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_pairs_that_share_a_model_count_as_one():
    alone = [Spread(("pos", code), value, 3) for code, value in (("qaa", 0.3), ("qae", 0.5))]
    freedom = 0.8**2 / (0.3**2 / 2 + 0.5**2 / 2)
    expected = [0.4 * freedom / chi2(freedom).ppf(share) for share in (0.975, 0.025)]
    for count in (1, 5):
        found = mean_variance(alone * count)
        assert (found.low, found.high) == pytest.approx(tuple(expected)) and found.n == 2 * count


def test_what_does_not_vary_says_nothing_of_how_it_varies():
    found = mean_variance([Spread(("pos", "qaa"), 0.0, 3), Spread(("pos", "qae"), 0.0, 3)])
    assert (found.mean, found.low, found.high) == (0, None, None)


def simulated(generator: np.random.Generator, seeds: int, *, shared: bool) -> Between:
    """Lines whose scores rise, and vary over seeds alike everywhere; pairs may share all of the source's noise."""
    made = []
    for task in ("pos", "ner", "xnli"):
        for source in ("en", "ar"):
            common = generator.normal(0, SD, (seeds, len(WAY)))
            for target in ("de", "fr", "hi", "zh"):
                noise = common if shared else generator.normal(0, SD, (seeds, len(WAY)))
                made += [
                    Line(
                        task,
                        "e",
                        source,
                        f"{source}+{target}",
                        "dev",
                        seed,
                        {Where(target, ""): scores, Where(source, ""): scores},
                    )
                    for seed in range(seeds)
                    for scores in [dict(zip(WAY, 0.5 + 0.3 * np.array(WAY) + noise[seed], strict=True))]
                ]
    return Between(made)


@pytest.mark.parametrize(("seeds", "shared"), [(2, False), (3, False), (3, True), (5, True)])
def test_where_the_variance_is_the_same_everywhere_the_chart_is_flat_within_its_interval(seeds, shared):
    """95% intervals hold the true variance; divided seed by seed, it falls to 0 at the bilingual model."""
    generator, replicates = np.random.default_rng(0), 150
    truth = (SD / 0.8) ** 2  # in units of the bilingual model's score
    inside, means, divided = [], [], []
    for _ in range(replicates):
        between = simulated(generator, seeds, shared=shared)
        raw = {place.alpha: one for place, one in variances(between).items() if place.language == "target"}
        other = variances(between, seed_by_seed=True)
        inside.append([raw[alpha].low <= truth <= raw[alpha].high for alpha in WAY])
        means.append([raw[alpha].mean for alpha in WAY])
        divided.append([other[Place("e", "source", "target", alpha)].mean for alpha in WAY])
    assert np.mean(inside) >= 0.93
    assert np.mean(means, axis=0) == pytest.approx([truth] * len(WAY), rel=0.15)
    assert not np.any(np.array(divided)[:, -1])
    assert np.mean(divided, axis=0)[-2] > 1.5 * truth  # that of the bilingual model comes on top


def test_a_place_that_a_seed_has_not_reached_is_left_out():
    whole = Between.of(report(*lines()))
    cut = [
        replace(line, scores_on={where: {1.0: 0.9} for where in line.scores_on})
        for line in whole.lines
        if line.seed == 2
    ]
    found = variances(Between([line for line in whole.lines if line.seed != 2] + cut))
    assert {place.alpha for place in found} == {1.0}


def test_one_seed_has_no_variance():
    assert variances(Between.of(report(*(one for one in lines() if one.seed == 0)))) == {}


def test_a_part_alone_is_held_against_the_whole_bilingual_model():
    whole = lines()
    heads = [replace(one, part="head", value=0.6 + 0.01 * (one.seed or 0)) for one in whole]
    found = variances(Between.of(report(*whole, *heads)))[Place("one, head alone", "source", "target", 1.0)]
    expected = [
        variance(
            (0.6 + 0.01 * seed) / fmean(score("qaa", target, 1.0, each, target) for each in SEEDS) for seed in SEEDS
        )
        for target in TARGETS
    ]
    assert found.mean == pytest.approx(fmean(expected))


def test_without_a_bilingual_score_there_is_none():
    strange = [row("accuracy", 0.5, path="qaa > qaa+qab", language="qab", alpha1=0.5, seed=seed) for seed in SEEDS]
    assert variances(Between.of(report(*strange))) == {}
