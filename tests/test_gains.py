"""What the models between tuned ones are good for: few examples of a target, and the mean of several seeds."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest

from babelscope.report.page import render
from babelscope.report.sections.between.gains import few_shots, seed_means
from babelscope.report.sections.between.line_tables import line_table
from babelscope.report.sections.between.lines import Between, Where
from babelscope.report.sections.between.planes import planes
from between_rows import ALPHAS, SEEDS, TARGETS, along, few, lines, plane, report, seeded


def test_few_examples_choose_by_their_loss_and_are_judged_on_the_test_set():
    rows = [one for target in TARGETS for seed in SEEDS for one in few(10, target, seed, 0.5)]
    (found,) = few_shots(report(*rows), Between.of(report(*rows)))
    assert (found.shots, found.alpha, found.tuned.seeds) == (20, 0.5, 3)
    assert found.zero_shot == pytest.approx(0.5)
    assert found.chosen.mean == pytest.approx(0.05)
    assert found.tuned.mean == pytest.approx(0.09)
    assert found.chosen_against_tuned.mean == pytest.approx(-0.04)


def test_few_examples_are_judged_on_the_target_though_the_source_is_scored_too():
    rows = [one for target in TARGETS for seed in SEEDS for one in few(10, target, seed, 0.5)]
    on_source = [one.labelled(language="qaa", value=0.99) for one in rows]
    for mixed in ([*rows, *on_source], [*on_source, *rows]):
        assert few_shots(report(*mixed), Between.of(report(*mixed))) == few_shots(
            report(*rows), Between.of(report(*rows))
        )


def test_few_examples_of_a_language_count_once_with_the_mean_of_its_data_sets():
    """On the second data set everything is 0.02 better, and the model of all examples 0.04 better than that."""
    first = [one.labelled(dataset="one") for seed in SEEDS for one in few(10, "qab", seed, 0.5)]
    second = [
        one.labelled(dataset="two", value=one.value + (0.02 if one.path else 0.06))
        for one in first
        if one.measure != "loss"
    ]
    rows = [*first, *second]
    (found,) = few_shots(report(*rows), Between.of(report(*rows)))
    assert (found.tuned.seeds, found.zero_shot) == (3, pytest.approx(0.51))
    assert (found.chosen.mean, found.tuned.mean) == (pytest.approx(0.05), pytest.approx(0.09 + 0.02))
    unfinished = [one for one in rows if one.path or one.dataset == "one"]
    assert few_shots(report(*unfinished), Between.of(report(*unfinished))) == []


def test_a_mean_model_is_held_against_its_models_data_set_by_data_set():
    """The targets gain 0.1 on one data set, 0.2 on the other: the language counts once, with 0.15."""
    first = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7)]
    second = seeded("qab", (0.1, 0.2, 0.3), 0.4)
    rows = [*(one.labelled(dataset="one") for one in first), *(one.labelled(dataset="two") for one in second)]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.targets == pytest.approx(0.15)


@pytest.mark.parametrize(
    "lacks",
    [
        lambda row: row.alpha1 is None,  # the model of all examples
        lambda row: row.alpha1 == 0,  # zero-shot
        lambda row: row.split == "dev",
        lambda row: row.measure == "loss",
        lambda row: row.split == "test" and row.alpha1 is not None,
    ],
)
def test_few_examples_that_nothing_can_be_said_of_are_left_out_of_all_but_the_scores(lacks):
    rows = [one for one in few(10, "qab", 0, 0.5) if not lacks(one)]
    whole = report(*rows)
    assert few_shots(whole, Between.of(whole)) == []
    assert len(line_table(whole, Between.of(whole)).lines) == len({one.split for one in rows if one.alpha1 is not None})


def test_few_examples_beside_other_data_than_the_origins_are_no_gain_over_zero_shot():
    rows = [along(one.path.replace("qaa >", "qaa+qac >"), one) if one.path else one for one in few(10, "qab", 0, 0.5)]
    assert few_shots(report(*rows), Between.of(report(*rows))) == []


def test_the_point_is_chosen_among_those_that_are_judged():
    rows = [one for one in few(10, "qab", 0, 0.5) if not (one.split == "test" and one.alpha1 == 0.5)]
    (found,) = few_shots(report(*rows), Between.of(report(*rows)))
    assert found.alpha == 0.0  # as low a loss as 1 has; the lower comes first


def test_the_mean_model_is_held_against_the_mean_of_all_seeds_and_the_barrier_is_on_the_source():
    rows = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7)]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.models == 3
    assert found.source == pytest.approx(0.05) and found.targets == pytest.approx(0.1)
    assert found.barrier == pytest.approx(fmean([1.5, 2.5]))


def test_models_of_seeds_whose_source_is_not_scored_have_no_mean():
    rows = seeded("qab", (0.5, 0.6, 0.7), 0.7)
    whole = report(*rows)
    assert seed_means(whole, Between.of(whole)) == [] and "Scores on lines" in render(whole)


def test_seeds_are_chained_in_the_order_of_the_study():
    order = {0: 42, 1: 13}  # the third is 7, which no line begins with
    rows = [*seeded("qaa", (0.9, 0.6, 0.3), 0.6), *seeded("qab", (0.9, 0.6, 0.3), 0.8)]
    rows = [one if one.seed is None else replace(one, seed=order[one.seed]) for one in rows]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.source == pytest.approx(0) and found.targets == pytest.approx(0.2)


def test_a_mean_is_not_held_against_some_of_its_models():
    rows = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7)]
    whole = report(*(one for one in rows if (one.seed, one.alpha1) != (1, 1.0)))
    assert seed_means(whole, Between.of(whole)) == []


def test_splits_are_told_apart():
    test = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7), *plane(0)]
    dev = [replace(one, split="dev", value=one.value / 2) for one in test if one.alpha2 is None or one.seed is None]
    test = [replace(one, split="test") for one in test]
    both = report(*test, *dev, *(replace(one, split="dev", value=1.0) for one in plane(0)))
    on_test, on_dev = seed_means(both, Between.of(both))
    assert (on_test.split, on_test.models, on_test.barrier) == ("test", 3, pytest.approx(2.0))
    assert on_test.targets == pytest.approx(0.1) and on_dev.targets == pytest.approx(0.05)
    first, second = planes(both)
    assert first.title.endswith(", test") and first.heights() != second.heights()


def test_both_languages_of_bilingual_models_are_sources():
    rows = [
        along(one.path.replace("qaa", "qaa+qac"), one)
        for language, mean in (("qaa", 0.9), ("qac", 0.7), ("qab", 0.6))
        for one in seeded(language, (0.5, 0.6, 0.7), mean)
    ]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert (found.source, found.targets) == (pytest.approx(0.2), pytest.approx(0))


@pytest.mark.parametrize(("training", "of_source"), [("qaa+qab:10", 0.15), ("qaa+qab", 0.15), ("qab:10", 0.1)])
def test_a_language_of_which_a_model_saw_few_examples_is_a_source(training, of_source):
    """It was averaged with the others."""
    rows = [
        along(one.path.replace("qaa", training), one)
        for language, mean in (("qaa", 0.8), ("qab", 0.7), ("qac", 0.9))
        for one in seeded(language, (0.5, 0.6, 0.7), mean)
    ]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.source == pytest.approx(of_source)
    assert found.targets == pytest.approx(0.3 if training != "qab:10" else 0.25)


def test_a_line_from_two_whole_languages_to_few_examples_of_one_is_of_no_few_examples():
    """At its end the examples of the second are gone, too."""
    rows = [one for seed in SEEDS for one in few(10, "qac", seed, 0.5)]
    lost = [
        along("qaa+qab > qaa+qab:10+qac:10", one) if one.path else one.labelled(train_languages="qaa+qab+qac")
        for one in rows
    ]
    assert few_shots(report(*lost), Between.of(report(*lost))) == []
    kept = [along("qaa > qaa+qab:10+qac:10", one) if one.path else one for one in lost]
    assert len(few_shots(report(*kept), Between.of(report(*kept)))) == 1


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_lines_of_seeds_without_the_models_themselves_have_no_mean(end):
    rows = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7)]
    whole = report(*(one for one in rows if one.alpha1 != end))
    assert seed_means(whole, Between.of(whole)) == []


def test_planes_are_means_over_seeds_of_scores_divided_by_those_of_the_origin():
    found = planes(report(*plane(0), *plane(1), *lines()))
    (plane_there,) = found
    assert plane_there.title == "Plane from qaa+qab to qaa and qab: Part-of-speech tagging, one"
    places = plane_there.heights()[Where("qab", "")]
    expected = fmean((0.8 - 0.1 * seed - 0.05 - 0.3) / (0.8 - 0.1 * seed) for seed in (0, 1))
    assert places[0.5, 1.5] == pytest.approx(expected) and places[0.0, 0.0] == 1.0
    assert len(places) == len(ALPHAS) ** 2


def test_planes_on_two_data_sets_are_two_pictures():
    first = [one.labelled(dataset="one") for one in plane(0)]
    second = [one.labelled(dataset="two", value=one.value**2) for one in first]
    whole = report(*first, *second)
    (found,) = planes(whole)
    (alone,), (other,) = planes(report(*first)), planes(report(*second))
    assert found.heights() == {**alone.heights(), **other.heights()} and len(found.heights()) == 2
    page = render(whole)
    assert "qab · one" in page and "qab · two" in page
