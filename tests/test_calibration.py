"""Short forms of `make calibration`: with 400 replicates a share of 5% is known to 2 points."""

from __future__ import annotations

import numpy as np
import pytest
from calibration import TABLES
from crossed_bootstrap import bootstrapped, drawn_anew
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import Setting, answers, differences, mean_share, share
from simulated_race import raced
from simulated_ratios import SCORES

from babelscope.core.inference import benjamini_hochberg, crossed_variance, effect, equivalence


@pytest.mark.parametrize(("seeds", "sentences"), [(3, 277), (5, 277), (10, 500)])
def test_intervals_hold_what_they_promise(seeds, sentences):
    setting = Setting(seeds, sentences)
    effects = [effect(table) for table in differences(setting, 0.0, 400)]
    assert all(each.known for each in effects)
    assert sum(each.p < 0.05 for each in effects) <= 0.085 * 400
    shown = [effect(table).p < 0.05 for table in differences(setting, 0.08, 100)]
    assert sum(shown) >= (40 if seeds == 3 else 90)


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_intervals_of_ratios_hold_what_they_promise(score):
    """Of sentences of unequal lengths, with a true difference or none."""
    for gain in (0.0, 0.05):
        effects = list(map(effect, score.differences(Setting(5, 300), gain, 400)))
        truth, means = score.difference(0.8, gain), [each.mean for each in effects]
        assert np.mean(means) == pytest.approx(truth, abs=3 * np.std(means) / 20)
        assert sum(each.low <= truth <= each.high for each in effects) >= 0.915 * 400


@pytest.mark.parametrize("seeds", [3, 10])
def test_what_differs_by_the_margin_is_seldom_called_equal(seeds):
    def called_equal(gain, replicates):
        return sum(
            equivalence(effect(table), 0.05) < 0.05 for table in differences(Setting(seeds, 500), gain, replicates)
        )

    assert called_equal(0.05, 400) <= 0.085 * 400
    assert called_equal(0.0, 100) >= (15 if seeds == 3 else 90)


def test_of_what_a_table_says_to_show_few_lines_are_false():
    generator, false, uncorrected = np.random.default_rng(0), [], []
    for _ in range(150):
        reference, *others = answers(generator, Setting(5, 300), [0.0] * 17 + [0.08] * 4)
        p_values = {str(k): effect(other - reference).p for k, other in enumerate(others)}
        for shares, said in ((false, benjamini_hochberg(p_values)), (uncorrected, p_values)):
            shows = [p < 0.05 for p in said.values()]
            shares.append(sum(shows[:16]) / max(1, sum(shows)))
    assert np.mean(false) <= 0.08 < np.mean(uncorrected)


def test_a_recipe_that_was_picked_needs_more_than_the_differences_to_it():
    races = list(raced(5, 0.0, 300))
    shares = [np.mean([any(each.said[way]) for each in races]) for way in range(3)]
    assert shares[0] > 0.15 and shares[0] > shares[1] > shares[2] and shares[2] <= 0.08
    assert all(len(each.given_up) + 1 + len(each.said[-1]) == 6 for each in races)
    assert np.mean([each.unlike_equal for each in raced(5, 0.02, 100)]) <= 0.1
    ahead = list(raced(5, 0.05, 50))
    assert np.mean([len(each.given_up) for each in ahead if each.first]) >= 2  # of five, which need no more tuning
    assert np.mean([0 in each.given_up for each in ahead]) <= 0.05


def test_simulated_seeds_agree_as_often_as_asked():
    for setting in (Setting(2, 20_000), Setting(2, 20_000, 0.94, 0.95), Setting(2, 20_000, 0.7, 0.6)):
        both = answers(np.random.default_rng(9), setting, [0.0])[0]
        assert (both[0] == both[1]).mean() == pytest.approx(setting.agreement, abs=0.02)
        assert both.mean() == pytest.approx(setting.accuracy, abs=0.02)


@pytest.mark.parametrize("setting", [Setting(400, 50), Setting(400, 50, seed_sd=0.107), Setting(400, 50, 0.7, 0.6)])
def test_simulated_seeds_spread_as_is_said(setting):
    """Means over so many sentences that these leave nothing to chance."""
    scores = answers(np.random.default_rng(9), setting._replace(sentences=20_000), [0.0])[0].mean(axis=1)
    assert 100 * scores.std(ddof=1) == pytest.approx(setting.seed_points, rel=0.15)


@settings(max_examples=40)
@given(st.sampled_from([(3, 7), (4, 4), (5, 6), (8, 5)]), st.integers(0, 2**32))
def test_tables_drawn_anew_have_the_variance_of_the_table_that_they_are(shape, number):
    generator = np.random.default_rng(number)
    table = generator.standard_normal(shape) + 3
    rows, columns = (generator.integers(0, count, (6, count)) for count in shape)
    counts = (
        np.array([np.bincount(draw, minlength=n) for draw in drawn])
        for drawn, n in ((rows, shape[0]), (columns, shape[1]))
    )
    means, variances = drawn_anew(table, *(each.astype(float) for each in counts))
    for k in range(6):
        anew = table[np.ix_(rows[k], columns[k])]
        assert means[k] == pytest.approx(anew.mean())
        assert variances[k] == pytest.approx(crossed_variance(anew).of_mean, abs=1e-12)


def test_the_bootstrap_of_a_simple_table_is_about_the_t_interval():
    """Twenty seeds and hundreds of sentences, alike but for what each adds: all intervals are about as wide."""
    generator = np.random.default_rng(2)
    table = generator.normal(0, 1, (20, 1)) + generator.normal(0, 4, (1, 400)) + generator.normal(0, 0.01, (20, 400))
    (ends,), found = bootstrapped([table], 2000, generator), effect(table)
    for low, high in ends:
        assert (low, high) == pytest.approx((found.low, found.high), abs=0.25 * (found.high - found.low))


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_cell_under_each_heading(name):
    heading, under, *lines = TABLES[name](4)
    assert lines and {line.count("|") for line in (heading, under, *lines)} == {heading.count("|")}
    assert not any("nan" in line for line in lines)


def test_shares_stay_between_none_and_all():
    assert share(0, 2000) == "0.0 [0.0, 0.2]" and share(0, 0) == ""
    assert mean_share([0.0, 0.0, 0.1]) == "3.3 [0.0, 9.9]" and mean_share([1.0, 1.0]) == "100.0 [100.0, 100.0]"
