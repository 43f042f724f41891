"""What the report says of the models between tuned ones, against slow computations from the same rows."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, variance

import pytest
from scipy.stats import t

from babelscope.report.between import DROP, Between, Place, compare_flatness
from babelscope.report.between_findings import between_findings
from babelscope.report.between_page import between_figures
from babelscope.report.between_tables import between_tables
from babelscope.report.files import write_figures
from babelscope.report.gains import few_shots, seed_means
from babelscope.report.line_tables import line_table, rise_table
from babelscope.report.model import Report
from babelscope.report.page import render
from babelscope.report.planes import planes
from babelscope.rows import Row

ALPHAS = (-0.5, 0.0, 0.5, 1.0, 1.5)
SEEDS = (0, 1, 2)
TARGETS = ("qab", "qac")


def row(measure: str, value: float, **labels: object) -> Row:
    return Row(measure, value, "share").labelled(
        **({"study": "s", "encoder": "one", "task": "pos", "split": "dev"} | labels)
    )


def score(origin: str, language: str, alpha: float, seed: int, target: str) -> float:
    """Some number that depends on everything."""
    away = abs(1 - alpha) * (0.02 if language == origin else 0.2)
    return 0.9 - away - 0.01 * seed * (1 - alpha) - 0.001 * len(target) * TARGETS.index(target)


def lines(encoder: str = "one", scale: float = 1.0) -> list[Row]:
    """How far scores are from 0.9 is scaled, a little more for the second target."""
    scales = {target: scale ** (1 + 0.1 * place) for place, target in enumerate(TARGETS)}
    return [
        row(
            "accuracy", 0.9 + scales[target] * (score(origin, language, alpha, seed, target) - 0.9),
            encoder=encoder, train_languages=f"{origin} > qaa+{target}", language=language, alpha1=alpha, seed=seed,
        )
        for target in TARGETS
        for origin in ("qaa", target)
        for language in ("qaa", target)
        for alpha in ALPHAS
        for seed in SEEDS
    ]  # fmt: skip


def report(*rows: Row) -> Report:
    return Report("a study", "", rows)


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
def test_means_and_variances_are_those_of_scores_divided_by_the_bilingual_models(origin, role, alpha):
    between = Between.of(report(*lines()))
    found = between.means()[Place("one", origin, role, alpha)]
    pairs = normalised(origin, role, alpha)
    values = [value for pair in pairs for value in pair]
    assert found.n == 6 and found.mean == pytest.approx(fmean(values), rel=1e-12)
    if alpha == 1:
        assert (found.mean, found.low, found.high) == (1, None, None)
    else:
        half = t.ppf(0.975, 5) * (variance(values) / 6) ** 0.5
        assert found.high - found.low == pytest.approx(2 * half, rel=1e-9, abs=1e-12)
    spread = between.variances()[Place("one", origin, role, alpha)]
    assert spread.n == 2 and spread.mean == pytest.approx(fmean(map(variance, pairs)), rel=1e-9, abs=1e-18)


def test_only_lines_to_models_of_both_languages_count():
    strange = [
        row("accuracy", 0.1, train_languages="qaa > qab", language="qaa", alpha1=0.5, seed=0),
        row("accuracy", 0.1, train_languages="qaa > qaa+qab:10", language="qab", alpha1=0.5, seed=0),
        row("accuracy", 0.1, train_languages="qaa > qaa", language="qaa", alpha1=0.5, seed=0),
        row("accuracy", 0.1, train_languages="qaa+qab > qaa > qab", language="qaa", alpha1=0.5, alpha2=0.5, seed=0),
        row("accuracy", 0.1, train_languages="qaa > qaa+qab", language="qab", alpha1=0.5, seed=0, split="test"),
        *(
            row("accuracy", 0.1, train_languages="qaa > qaa+qab+qac", language=code, alpha1=1.0, seed=0)
            for code in ("qaa", "qab+qac")
        ),
        row("perplexity", 9.0, task="mlm", train_languages="qaa > qaa+qab", language="qab", alpha1=1.0, seed=0),
    ]
    assert Between.of(report(*lines(), *strange)).means() == Between.of(report(*lines())).means()


def test_a_bilingual_model_without_a_score_above_zero_is_left_out():
    nothing = row("accuracy", 0.0, train_languages="qaa > qaa+qad", language="qad", alpha1=1.0, seed=0)
    assert Between.of(report(*lines(), nothing)).means() == Between.of(report(*lines())).means()


def test_width_is_how_far_the_score_holds_on_both_sides_of_the_bilingual_model():
    found = {(one.pair, one.language): one for one in Between.of(report(*lines())).flatness()}
    assert set(found) == {(("qaa", code), role) for code in TARGETS for role in ("source", "target")}
    one = found[("qaa", "qab"), "target"]
    # 0.2 a unit of alpha and what the seed takes: the score at 1 is 0.9, so 0.045 are lost after about 0.225.
    slopes = [(0.2 + 0.01 * seed, 0.2 - 0.01 * seed) for seed in SEEDS]
    assert one.width == pytest.approx(fmean(0.9 * DROP / down + 0.9 * DROP / up for down, up in slopes), rel=1e-9)
    assert one.bounded
    assert not found[("qaa", "qab"), "source"].bounded and found[("qaa", "qab"), "source"].width == pytest.approx(
        (2 + 2 + 1.625) / 3
    )


def test_encoders_are_compared_pair_by_pair():
    flat = Between.of(report(*lines(), *lines("two", 0.5))).flatness()
    found = compare_flatness(flat, "two", "one", "target")
    widths = {(one.encoder, one.pair): one.width for one in flat if one.language == "target"}
    expected = fmean(widths["two", ("qaa", code)] - widths["one", ("qaa", code)] for code in TARGETS)
    assert found.n == 2 and found.mean == pytest.approx(expected) and expected > 0
    assert compare_flatness(flat, "two", "three", "target") is None


def few(k: int, target: str, seed: int, best: float) -> list[Row]:
    """A line to the model of k examples, lowest loss at `best` on the k others; and the model of 2k."""
    shared = {"train_languages": f"qaa > qaa+{target}:{k}", "language": target, "seed": seed}
    rows = [row("loss", (alpha - best) ** 2, alpha1=alpha, **shared) for alpha in ALPHAS]
    rows += [row("accuracy", 0.3, alpha1=alpha, **shared) for alpha in ALPHAS]
    rows += [row("accuracy", 0.5 + 0.1 * alpha, alpha1=alpha, split="test", **shared) for alpha in ALPHAS]
    trained = {"train_languages": f"qaa+{target}:{2 * k}", "language": target, "seed": seed}
    return [*rows, row("accuracy", 0.58 + 0.01 * seed, split="test", **trained)]


def test_few_examples_choose_by_their_loss_and_are_judged_on_the_test_set():
    rows = [one for target in TARGETS for seed in SEEDS for one in few(10, target, seed, 0.5)]
    (found,) = few_shots(report(*rows), Between.of(report(*rows)))
    assert (found.shots, found.alpha, found.zero_shot.n) == (20, 0.5, 2)
    assert found.zero_shot.mean == pytest.approx(0.5)
    assert found.chosen.mean == pytest.approx(0.05)
    assert found.tuned.mean == pytest.approx(0.09)
    assert found.chosen_against_tuned.mean == pytest.approx(-0.04)


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
    rows = [
        replace(one, train_languages=(one.train_languages).replace("qaa >", "qaa+qac >"))
        for one in few(10, "qab", 0, 0.5)
    ]
    assert few_shots(report(*rows), Between.of(report(*rows))) == []


def test_the_point_is_chosen_among_those_that_are_judged():
    rows = [one for one in few(10, "qab", 0, 0.5) if not (one.split == "test" and one.alpha1 == 0.5)]
    (found,) = few_shots(report(*rows), Between.of(report(*rows)))
    assert found.alpha == 0.0  # as low a loss as 1 has; the lower comes first


def seeded(language: str, ends: tuple[float, float, float], mean: float) -> list[Row]:
    """Lines from seed to seed whose scores at the ends are these, a hump of the loss between, and the mean's score."""
    rows = []
    for seed in (0, 1):
        shared = {"train_languages": "qaa > qaa", "language": language, "seed": seed, "split": "test"}
        values = {0.0: ends[seed], 0.5: 0.1, 1.0: ends[seed + 1]}
        rows += [row("accuracy", value, alpha1=alpha, **shared) for alpha, value in values.items()]
        losses = {0.0: 1.0, 0.5: 3.0 + seed, 1.0: 2.0}
        rows += [row("loss", value, alpha1=alpha, **shared) for alpha, value in losses.items()]
    shared = {"train_languages": "qaa > qaa > qaa", "language": language, "split": "test"}
    return [*rows, row("accuracy", mean, alpha1=1 / 3, alpha2=1 / 3, **shared)]


def test_the_mean_model_is_held_against_the_mean_of_all_seeds_and_the_barrier_is_on_the_source():
    rows = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7)]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.models == 3
    assert found.source == pytest.approx(0.05) and found.targets.mean == pytest.approx(0.1)
    assert found.barrier.mean == pytest.approx(fmean([1.5, 2.5]))


def test_models_of_seeds_whose_source_is_not_scored_have_no_mean():
    rows = seeded("qab", (0.5, 0.6, 0.7), 0.7)
    whole = report(*rows)
    assert seed_means(whole, Between.of(whole)) == [] and "Scores on lines" in render(whole)


def test_seeds_are_chained_in_the_order_of_the_study():
    order = {0: 42, 1: 13}  # the third is 7, which no line begins with
    rows = [*seeded("qaa", (0.9, 0.6, 0.3), 0.6), *seeded("qab", (0.9, 0.6, 0.3), 0.8)]
    rows = [one if one.seed is None else replace(one, seed=order[one.seed]) for one in rows]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.source == pytest.approx(0) and found.targets.mean == pytest.approx(0.2)


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
    assert (on_test.split, on_test.models, on_test.barrier.n) == ("test", 3, 2)
    assert on_test.targets.mean == pytest.approx(0.1) and on_dev.targets.mean == pytest.approx(0.05)
    first, second = planes(both)
    assert first.title.endswith(", test") and first.heights() != second.heights()


def test_both_languages_of_bilingual_models_are_sources():
    rows = [
        replace(one, train_languages=one.train_languages.replace("qaa", "qaa+qac"))
        for language, mean in (("qaa", 0.9), ("qac", 0.7), ("qab", 0.6))
        for one in seeded(language, (0.5, 0.6, 0.7), mean)
    ]
    (found,) = seed_means(report(*rows), Between.of(report(*rows)))
    assert found.source == pytest.approx(0.2) and (found.targets.mean, found.targets.n) == (pytest.approx(0), 1)


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_lines_of_seeds_without_the_models_themselves_have_no_mean(end):
    rows = [*seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7)]
    whole = report(*(one for one in rows if one.alpha1 != end))
    assert seed_means(whole, Between.of(whole)) == []


def test_a_part_alone_is_not_taken_for_the_whole_model():
    parts = [
        replace(one, train_languages=f"{one.train_languages}, head alone", value=one.value / 2)
        for one in (*lines(), *seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7))
    ]
    alone, both = (Between.of(report(*rows)) for rows in (parts, [*parts, *lines()]))
    whole = Between.of(report(*lines()))
    assert both.means() == whole.means() | alone.means()
    assert {one.encoder for one in both.flatness()} == {"one", "one, head alone"}
    (mean,) = seed_means(report(*parts), alone)
    assert mean.encoder == "one, head alone" and mean.targets.mean == pytest.approx(0.05)


def test_the_table_of_the_rise_holds_the_means_and_the_largest_fall():
    table = rise_table(Between.of(report(*lines())))
    (line,) = [line for line in table.lines if [cell.text for cell in line[2:4]] == ["the source’s model", "target"]]
    means = [100 * fmean(value for pair in normalised("source", "target", alpha) for value in pair) for alpha in ALPHAS]
    numbers = [line[place].number for place in (4, 6, 7, 8)]
    assert numbers == pytest.approx([means[1], means[2], means[1], 100])
    assert line[9].number == 0


def test_a_fall_on_the_way_is_told():
    rows = [
        row("accuracy", value, train_languages="qaa > qaa+qab", language="qab", alpha1=alpha, seed=0)
        for alpha, value in {0.0: 0.4, 0.25: 0.44, 0.5: 0.42, 1.0: 0.8}.items()
    ]
    whole = report(*rows)
    between = Between.of(whole)
    assert rise_table(between).lines[0][9].number == pytest.approx(2.5)
    assert "falls by 2.5 points at most" in "\n".join(between_findings(whole, between))


def test_a_fall_is_one_of_lines_that_have_both_places():
    curves = {"qab": {0.0: 0.8, 0.25: 0.8, 0.5: 0.8, 1.0: 0.8}, "qac": {0.0: 0.2, 0.5: 0.6, 1.0: 0.8}}
    rows = [
        row("accuracy", value, train_languages=f"qaa > qaa+{target}", language=target, alpha1=alpha, seed=0)
        for target, curve in curves.items()
        for alpha, value in curve.items()
    ]
    table = rise_table(Between.of(report(*rows)))
    assert table.lines[0][9].number == 0


def test_runs_are_counted_by_language():
    rows = [
        row("accuracy", 0.5, train_languages="qaa > qaa+qab", language=language, alpha1=0.0, seed=seed)
        for language, seed in (("qaa", 0), ("qaa", 1), ("qab", 1))
    ]
    assert [line[-1].text for line in line_table(report(*rows), Between.of(report(*rows))).lines] == ["2", "1"]


def test_scores_on_lines_are_no_companions_of_those_of_models():
    """UAS on a line from seed to seed, where the model has its own."""
    shared = {"task": "parsing", "language": "qab", "split": "test", "seed": 0}
    own = [row("las", 0.8, train_languages="qaa", **shared), row("uas", 0.9, train_languages="qaa", **shared)]
    between = [
        row(measure, 0.1, train_languages="qaa > qaa", alpha1=alpha, **shared)
        for measure in ("las", "uas")
        for alpha in (0, 1)
    ]
    (score,) = report(*own, *between).scores
    assert score.companions == {"uas": 0.9}


def test_every_line_is_listed_with_its_scores_and_their_places():
    strange = [
        row("accuracy", value, train_languages=models, language="qab", alpha1=alpha, seed=seed, split=split)
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


def plane(seed: int) -> list[Row]:
    return [
        row(
            "accuracy", 0.8 - 0.1 * abs(one) - 0.2 * abs(other) - 0.1 * seed, train_languages="qaa+qab > qaa > qab",
            language="qab", alpha1=one, alpha2=other, seed=seed,
        )
        for one in ALPHAS
        for other in ALPHAS
    ]  # fmt: skip


def test_the_bands_close_where_the_score_is_what_all_are_divided_by():
    made = report(*lines())
    first = next(iter(between_figures(made, Between.of(made)))).chart.to_dict()
    (records,) = first["datasets"].values()
    ends = {one["alpha"]: (one["low"], one["high"]) for one in records}
    assert ends.pop(1.0) == (1, 1) and all(low < high for low, high in ends.values())


def test_planes_are_means_over_seeds_of_scores_divided_by_those_of_the_origin():
    found = planes(report(*plane(0), *plane(1), *lines()))
    (plane_there,) = found
    assert plane_there.title == "Plane from qaa+qab to qaa and qab: Part-of-speech tagging, one"
    places = plane_there.heights()["qab"]
    expected = fmean((0.8 - 0.1 * seed - 0.05 - 0.3) / (0.8 - 0.1 * seed) for seed in (0, 1))
    assert places[0.5, 1.5] == pytest.approx(expected) and places[0.0, 0.0] == 1.0
    assert len(places) == len(ALPHAS) ** 2


@pytest.mark.parametrize(
    ("models", "title", "ways"),
    [
        (
            "qaa > qaa+qab > qab",
            "Plane from qaa to qaa+qab and qab",
            ["to the model of qaa+qab", "to the model of qab"],
        ),
        ("qaa > random > random", "Plane from qaa in random directions", ["in a random direction"] * 2),
    ],
)
def test_a_plane_is_named_by_its_models(models, title, ways):
    whole = report(*(replace(one, train_languages=models) for one in plane(0)))
    (figure,) = between_figures(whole, Between.of(whole))
    assert figure.title.startswith(title) and "the model of qaa," in figure.caption
    axes = figure.chart.to_dict()["spec"]["layer"][0]["encoding"]
    assert [axes[axis]["title"].partition(" ")[2] for axis in "xy"] == ways


def angle_rows() -> list[Row]:
    shared = {"train_languages": "qaa+qab > qaa > qab", "split": None}
    return [
        one
        for seed in SEEDS
        for one in (
            row("angle", 50.0 + seed, dataset="all", seed=seed, **shared),
            row("norm ratio", 1.0, dataset="all", seed=seed, **shared),
            row("norm to first", 2.0, dataset="all", seed=seed, **shared),
            row("norm to second", 2.0, dataset="all", seed=seed, **shared),
        )
    ]


def test_the_page_shows_all_of_it_and_says_it_in_words():
    rows = [
        *lines(), *lines("two", 0.5), *plane(0), *angle_rows(),
        *(one for target in TARGETS for seed in SEEDS for one in few(10, target, seed, 0.5)),
        *seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7),
    ]  # fmt: skip
    whole = report(*rows)
    between = Between.of(whole)
    assert len(list(between_figures(whole, between))) == 5 and len(between_tables(whole, between)) == 7
    text = "\n".join(between_findings(whole, between))
    assert "differ by 51.0 [48.5, 53.5] degrees" in text
    assert "On the target, two is flatter" in text
    assert "20 examples of the target: choosing a point on the line gains 5.0 points" in text
    assert "the mean of 3 seeds’ models gains 10.0" in text
    page = render(whole)
    assert "Between models" in page and "How much of a plane is high" in page


@pytest.mark.parametrize("upside_down", [False, True])
def test_an_unfinished_study_has_tables_and_sentences(upside_down):
    """Cut anywhere in a line, a plane and a chain of seeds, their points in either order."""
    parts = [
        [one for one in lines() if one.train_languages == "qaa > qaa+qab" and one.seed == 0],
        [one for one in plane(0) if one.alpha1 in (0, 0.5) and one.alpha2 in (0, 0.5)],
        sorted((one for one in seeded("qaa", (0.9, 0.8, 0.7), 0.8) if one.seed is not None), key=lambda one: one.seed),
        few(10, "qab", 0, 0.5),
    ]
    rest = [*seeded("qab", (0.5, 0.6, 0.7), 0.7), *(one for one in seeded("qaa", (0, 0, 0), 0.8) if one.seed is None)]
    for part in parts:
        rows = part[::-1] if upside_down else part
        for count in range(len(rows)):
            whole = report(*rows[:count], *rest)
            assert between_tables(whole, Between.of(whole))
            assert "nan" not in "".join(between_findings(whole, Between.of(whole)))


def test_an_unfinished_study_has_a_page():
    for count in (0, 20, 60):
        assert "<h1>a study</h1>" in render(report(*(lines() + plane(0))[:count]))


def test_its_charts_are_files_beside_those_of_scores(tmp_path):
    files = write_figures(report(*lines(), *plane(0), *angle_rows()), tmp_path / "lines.svg")
    assert [one.name for one in files] == [
        "lines-from-one-language-to-two.svg", "lines-from-one-language-to-two-part-of-speech-tagging.svg",
        "lines-how-much-chance-decides.svg", "lines-angle-and-ratio-of-norms.svg",
        "lines-plane-from-qaa-qab-to-qaa-and-qab-part-of-speech-tagging-one.svg",
    ]  # fmt: skip
    assert all(one.read_text().startswith("<svg") for one in files)


def test_numbers_between_models_are_not_pooled_with_others():
    assert "Other measures" not in render(report(*lines(), *few(10, "qab", 0, 0.5), *angle_rows()))


@pytest.mark.parametrize("models", ["qaa > qaa+qab", "qaa > random"])
def test_there_is_no_chart_where_nothing_can_be_divided_by(models):
    """The line does not reach the bilingual model; the model's own language is not scored."""
    whole = report(*(row("accuracy", 0.5, train_languages=models, language="qab", alpha1=a, seed=0) for a in (0, 0.5)))
    assert list(between_figures(whole, Between.of(whole))) == [] and "Scores on lines" in render(whole)


def test_other_studies_have_no_such_section():
    assert "Between models" not in render(report(row("accuracy", 0.5, split="test", language="qaa", seed=0)))
