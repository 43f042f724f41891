"""Lines between models of one language and of two, against slow computations from the same rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean, variance

import pytest
from scipy.stats import t

from babelscope.report.sections.between.findings import between_findings
from babelscope.report.sections.between.gains import seed_means
from babelscope.report.sections.between.line_tables import chance_table, line_table, rise_table
from babelscope.report.sections.between.lines import DROP, Between, Place, compare_flatness
from babelscope.report.sections.between.variances import variances
from between_rows import ALPHAS, SEEDS, TARGETS, lines, report, row, score, seeded
from slowly import judged


def normalised(origin_is: str, role: str, alpha: float) -> list[list[float]]:
    """[pairs][seeds], the slow way."""
    found = []
    for target in TARGETS:
        origin, language = ({"source": "qaa", "target": target}[one] for one in (origin_is, role))
        found.append([
            score(origin, language, alpha, seed, target) / score(origin, language, 1.0, seed, target) for seed in SEEDS
        ])  # fmt: skip
    return found


@pytest.mark.parametrize("origin", ["source", "target"])
@pytest.mark.parametrize("role", ["source", "target"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_means_are_those_of_scores_divided_by_the_bilingual_models(origin, role, alpha):
    between = Between.of(report(*lines()))
    found = between.means()[Place("one", origin, role, alpha)]
    by_seed = [fmean(of_pairs) for of_pairs in zip(*normalised(origin, role, alpha), strict=True)]
    assert found.n == 3 and found.mean == pytest.approx(fmean(by_seed), rel=1e-12)
    if alpha == 1:
        assert (found.mean, found.low, found.high) == (1, None, None)
    else:
        half = t.ppf(0.975, 2) * (variance(by_seed) / 3) ** 0.5
        assert found.high - found.low == pytest.approx(2 * half, rel=1e-9, abs=1e-12)


def test_only_lines_to_models_of_both_languages_count():
    strange = [
        row("accuracy", 0.1, path="qaa > qab", language="qaa", alpha1=0.5, seed=0),
        row("accuracy", 0.1, path="qaa > qaa+qab:10", language="qab", alpha1=0.5, seed=0),
        row("accuracy", 0.1, path="qaa > qaa", language="qaa", alpha1=0.5, seed=0),
        row("accuracy", 0.1, path="qaa+qab > qaa > qab", language="qaa", alpha1=0.5, alpha2=0.5, seed=0),
        row("accuracy", 0.1, path="qaa > qaa+qab", language="qab", alpha1=0.5, seed=0, split="test"),
        *(
            row("accuracy", 0.1, path="qaa > qaa+qab+qac", language=code, alpha1=1.0, seed=0)
            for code in ("qaa", "qab+qac")
        ),
        row("perplexity", 9.0, task="mlm", path="qaa > qaa+qab", language="qab", alpha1=1.0, seed=0),
    ]
    assert Between.of(report(*lines(), *strange)).means() == Between.of(report(*lines())).means()


def test_a_bilingual_model_without_a_score_above_zero_is_left_out():
    nothing = row("accuracy", 0.0, path="qaa > qaa+qad", language="qad", alpha1=1.0, seed=0)
    assert Between.of(report(*lines(), nothing)).means() == Between.of(report(*lines())).means()


def test_width_is_how_far_the_score_holds_on_both_sides_of_the_bilingual_model():
    found = {(one.run.models[1], one.run.seed, one.language): one for one in Between.of(report(*lines())).flatness()}
    assert set(found) == set(product([f"qaa+{code}" for code in TARGETS], SEEDS, ("source", "target")))
    for seed, on_source in zip(SEEDS, (2, 2, 1.625), strict=True):
        target, source = (found["qaa+qab", seed, role] for role in ("target", "source"))
        # 0.2 a unit of alpha and what the seed takes: the score at 1 is 0.9, so 0.045 are lost after about 0.225.
        down, up = 0.2 + 0.01 * seed, 0.2 - 0.01 * seed
        assert target.width == pytest.approx(0.9 * DROP / down + 0.9 * DROP / up, rel=1e-9) and target.bounded
        assert source.width == pytest.approx(on_source) and not source.bounded


def test_encoders_are_compared_pair_by_pair():
    flat = Between.of(report(*lines(), *lines("two", 0.5))).flatness()
    found = compare_flatness(flat, "two", "one", "target")
    widths = {(one.encoder, one.run.language, one.run.seed): one.width for one in flat if one.language == "target"}
    wider = [fmean(widths["two", code, seed] - widths["one", code, seed] for code in TARGETS) for seed in SEEDS]
    expected = judged(wider)
    assert found.mean == pytest.approx(expected.mean) and expected.mean > 0 and found.seeds == 3
    assert (found.low, found.high, found.p) == pytest.approx((expected.low, expected.high, expected.p))
    assert compare_flatness(flat, "two", "three", "target") is None


def test_a_part_alone_is_not_taken_for_the_whole_model():
    parts = [
        replace(one, part="head", value=one.value / 2)
        for one in (*lines(), *seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7))
    ]
    alone, both = (Between.of(report(*rows)) for rows in (parts, [*parts, *lines()]))
    whole = Between.of(report(*lines()))
    assert {place: mean for place, mean in both.means().items() if place.encoder == "one"} == whole.means()
    assert both.flatness() == whole.flatness()  # it is around the bilingual model, where no part alone gets
    (mean,) = seed_means(report(*parts), alone)
    assert mean.encoder == "one, head alone" and mean.targets == pytest.approx(0.05)


def test_a_part_alone_is_divided_by_the_whole_bilingual_model():
    heads = [replace(one, part="head", value=one.value / 2) for one in lines()]
    means = Between.of(report(*lines(), *heads)).means()
    for place, mean in means.items():
        if place.encoder == "one":
            assert means[place._replace(encoder="one, head alone")].mean == pytest.approx(mean.mean / 2)
    whole = report(*lines(), *heads)
    text = "\n".join(between_findings(whole, Between.of(whole)))
    assert "one, head alone: from the source’s model to the bilingual one" in text
    assert "of the bilingual model’s to 50.0%" in text and "of the bilingual model’s to 100%" in text


def test_a_part_is_divided_by_nothing_where_the_whole_line_is_not_there():
    """It was divided by its own end, which was called the bilingual model's."""
    heads = report(*(replace(one, part="head", value=one.value / 2) for one in lines()))
    alone = Between.of(heads)
    assert alone.lines and not alone.means() and not alone.flatness()
    assert "bilingual model’s to" not in "\n".join(between_findings(heads, alone))


def test_nothing_is_said_of_tasks_of_a_studys_own_that_are_better_when_lower():
    own = [replace(one, task="mine") for one in lines()]
    assert Between.of(report(*own)).means()
    measured = replace(report(*(replace(one, measure="perplexity") for one in own)), main={"mine": "perplexity"})
    between = Between.of(measured)
    assert between.lines[0].scores and not between.means() and not between.bilingual


def test_the_table_of_the_rise_holds_the_means_and_the_largest_fall():
    table = rise_table(Between.of(report(*lines())))
    (line,) = [line for line in table.lines if [cell.text for cell in line[2:4]] == ["the source’s model", "target"]]
    means = [100 * fmean(value for pair in normalised("source", "target", alpha) for value in pair) for alpha in ALPHAS]
    numbers = [line[place].number for place in (4, 6, 7, 8, 9)]
    assert numbers == pytest.approx([means[1], means[2], 100, means[1], 100])
    assert line[10].number == 0


def test_the_table_of_chance_holds_the_roots_of_the_variances():
    between = Between.of(report(*lines()))
    table = chance_table(between)
    (line,) = [line for line in table.lines if [cell.text for cell in line[1:3]] == ["the source’s model", "target"]]
    for alpha, cell in ((0.0, 3), (0.5, 5), (1.0, 7)):
        spread = variances(between)[Place("one", "source", "target", alpha)]
        assert line[cell].number == pytest.approx(100 * spread.mean**0.5, abs=1e-12)
        assert (line[cell + 1].number is None) == (spread.low is None)
        if spread.low is not None:
            assert line[cell + 1].number == pytest.approx(100 * spread.low**0.5)
    assert line[9].number == 2


def test_a_fall_on_the_way_is_told():
    rows = [
        row("accuracy", value, path="qaa > qaa+qab", language="qab", alpha1=alpha, seed=0)
        for alpha, value in {0.0: 0.4, 0.25: 0.44, 0.5: 0.42, 1.0: 0.8}.items()
    ]
    whole = report(*rows)
    between = Between.of(whole)
    assert rise_table(between).lines[0][10].number == pytest.approx(2.5)
    text = "\n".join(between_findings(whole, between))
    assert "its largest fall, of 3 from one point to the next, is 2.5 points (not enough seeds to say)" in text


def test_a_fall_is_one_of_lines_that_have_both_places():
    curves = {"qab": {0.0: 0.8, 0.25: 0.8, 0.5: 0.8, 1.0: 0.8}, "qac": {0.0: 0.2, 0.5: 0.6, 1.0: 0.8}}
    rows = [
        row("accuracy", value, path=f"qaa > qaa+{target}", language=target, alpha1=alpha, seed=0)
        for target, curve in curves.items()
        for alpha, value in curve.items()
    ]
    table = rise_table(Between.of(report(*rows)))
    assert table.lines[0][10].number == 0


def test_runs_are_counted_by_language():
    rows = [
        row("accuracy", 0.5, path="qaa > qaa+qab", language=language, alpha1=0.0, seed=seed)
        for language, seed in (("qaa", 0), ("qaa", 1), ("qab", 1))
    ]
    assert [line[-1].text for line in line_table(report(*rows), Between.of(report(*rows))).lines] == ["2", "1"]


def test_scores_on_lines_are_no_companions_of_those_of_models():
    """UAS on a line from seed to seed, where the model has its own."""
    shared = {"task": "parsing", "language": "qab", "split": "test", "seed": 0}
    own = [row("las", 0.8, train_languages="qaa", **shared), row("uas", 0.9, train_languages="qaa", **shared)]
    between = [
        row(measure, 0.1, path="qaa > qaa", alpha1=alpha, **shared) for measure in ("las", "uas") for alpha in (0, 1)
    ]
    (score,) = report(*own, *between).scores
    assert score.companions == {"uas": 0.9}


def test_two_data_sets_of_a_language_are_told_apart_and_the_language_counts_once():
    """The mean of the scores on both, divided by that of the bilingual model; each is listed for itself."""
    first = [one.labelled(dataset=f"{one.language} one") for one in lines()]
    second = [one.labelled(dataset=f"{one.language} two", value=one.value**2) for one in first]
    whole = report(*first, *second)
    between = Between.of(whole)
    assert len(between.lines) == len(Between.of(report(*first)).lines)
    found = between.means()[Place("one", "source", "target", 0.5)]
    values = []
    for target, seed in product(TARGETS, SEEDS):
        there, end = (score("qaa", target, alpha, seed, target) for alpha in (0.5, 1.0))
        values.append((there + there**2) / (end + end**2))
    assert (found.n, found.mean) == (3, pytest.approx(fmean(values)))
    table = line_table(whole, between)
    listed = {(line[2].text, line[3].text): line[7].number for line in table.lines}
    assert len(listed) == len(table.lines) == 2 * len(line_table(report(*first), Between.of(report(*first))).lines)
    for name, power in (("one", 1), ("two", 2)):
        expected = fmean(score("qaa", "qab", 0.5, seed, "qab") ** power for seed in SEEDS)
        assert listed["qaa > qaa+qab", f"qab · qab {name}"] == pytest.approx(100 * expected)


def test_every_line_is_listed_with_its_scores_and_their_places():
    strange = [
        row("accuracy", value, path=models, language="qab", alpha1=alpha, seed=seed, split=split)
        for models, split in (("qaa > qaa+qab", "test"), ("qaa > random", "dev"), ("qaa > qab", "dev"))
        for seed in (0, 1)
        for alpha, value in {0.0: 0.4 + 0.1 * seed, 0.3: 0.7, 0.9: 0.1}.items()
    ]
    whole = report(*strange)
    for line in (found := line_table(whole, Between.of(whole)).lines):
        assert [cell.text for cell in line[5:]] == ["%", "45.0", "", "", "10.0", "0.9", "70.0", "0.3", "2"]
    assert [[cell.text for cell in line[2:5]] for line in found] == [
        ["qaa > qaa+qab", "qab", "test"], ["qaa > random", "qab", "dev"], ["qaa > qab", "qab", "dev"],
    ]  # fmt: skip
