"""What a report shows of the models between tuned ones: charts, tables, sentences, files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from babelscope.report.files import write_figures
from babelscope.report.page import render
from babelscope.report.sections.between.figures import between_figures
from babelscope.report.sections.between.findings import between_findings
from babelscope.report.sections.between.lines import Between
from babelscope.report.sections.between.tables import between_tables
from babelscope.studies.published_numbers import published_rows
from between_rows import SEEDS, TARGETS, along, angle_rows, few, lines, plane, report, row, seeded


def test_the_bands_close_where_the_score_is_what_all_are_divided_by():
    made = report(*lines())
    first = next(iter(between_figures(made, Between.of(made)))).chart.to_dict()
    (records,) = first["datasets"].values()
    ends = {one["alpha"]: (one["low"], one["high"]) for one in records}
    assert ends.pop(1.0) == (1, 1) and all(low < high for low, high in ends.values())


def test_the_raw_variance_stays_open_at_the_end_and_the_divided_one_falls_to_zero():
    made = report(*lines(), *(replace(one, encoder="two", value=one.value + 0.01 * one.seed) for one in lines()))
    raw, divided = (figure for figure in between_figures(made, Between.of(made)) if "chance" in figure.title)
    records = [next(iter(figure.chart.to_dict()["datasets"].values())) for figure in (raw, divided)]
    ends = [[one for one in each if one["alpha"] == 1 and one["encoder"] == "two"] for each in records]
    assert all(0 < one["low"] < one["mean"] < one["high"] for one in ends[0])
    assert all(one["mean"] == 0 for one in ends[1])
    assert "chi-square" in raw.caption and "biased" in divided.caption


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
    whole = report(*(along(models, one) for one in plane(0)))
    (figure,) = between_figures(whole, Between.of(whole))
    assert figure.title.startswith(title) and "the model of qaa," in figure.caption
    axes = figure.chart.to_dict()["spec"]["layer"][0]["encoding"]
    assert [axes[axis]["title"].partition(" ")[2] for axis in "xy"] == ways


def test_the_page_shows_all_of_it_and_says_it_in_words():
    rows = [
        *lines(), *lines("two", 0.5), *plane(0), *angle_rows(),
        *(one for target in TARGETS for seed in SEEDS for one in few(10, target, seed, 0.5)),
        *seeded("qaa", (0.9, 0.8, 0.7), 0.85), *seeded("qab", (0.5, 0.6, 0.7), 0.7),
    ]  # fmt: skip
    whole = report(*rows)
    between = Between.of(whole)
    figures = list(between_figures(whole, between))
    assert len(figures) == 6 and len(between_tables(whole, between)) == 8
    of_one_task = [
        figure for figure in figures if figure.title.startswith(("From one language to two: ", "Plane from"))
    ]
    assert [figure.about for figure in of_one_task] == [{"task": "Part-of-speech tagging"}] * 2, (
        "the page filters by it"
    )
    text = "\n".join(between_findings(whole, between))
    assert "models is 51.0 [48.5, 53.5] degrees" in text
    assert "That two is flatter than one on the target" in text
    assert "20 examples of the target: over zero-shot, choosing a point on the line gains 5.0 points" in text
    assert "the mean of 3 seeds’ models gains +10.0" in text
    assert "intervals are over seeds, and over languages where" in text
    page = render(whole)
    assert "Interpolated models" in page and "How much of a plane is high" in page


@pytest.mark.parametrize("upside_down", [False, True])
def test_an_unfinished_study_has_tables_and_sentences(upside_down):
    """Cut anywhere in a line, a plane and a chain of seeds, their points in either order."""
    parts = [
        [one for one in lines() if one.path == "qaa > qaa+qab" and one.seed == 0],
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


def test_an_unfinished_study_says_that_there_may_be_more_claims():
    whole = report(*lines())
    for made, said in ((whole, False), (replace(whole, missing="the rest is missing"), True)):
        note = between_findings(made, Between.of(made))[-1]
        assert ("(Holm), to which the finished study may add others; p before" in note) is said
        assert ("(Holm); p before" in note) is not said


def test_an_unfinished_study_has_a_page():
    for count in (0, 20, 60):
        assert "<h1>a study</h1>" in render(report(*(lines() + plane(0))[:count]))


def test_its_charts_are_files_beside_those_of_scores(tmp_path):
    files = write_figures(report(*lines(), *plane(0), *angle_rows()), tmp_path / "lines.svg")
    assert [one.name for one in files] == [
        "lines-from-one-language-to-two.svg", "lines-from-one-language-to-two-part-of-speech-tagging.svg",
        "lines-how-much-chance-decides.svg", "lines-how-much-chance-decides-seed-by-seed.svg",
        "lines-angle-and-ratio-of-norms.svg",
        "lines-plane-from-qaa-qab-to-qaa-and-qab-part-of-speech-tagging-one.svg",
    ]  # fmt: skip
    assert all(one.read_text().startswith("<svg") for one in files)


def test_numbers_between_models_are_not_pooled_with_others():
    assert "Other measures" not in render(report(*lines(), *few(10, "qab", 0, 0.5), *angle_rows()))


@pytest.mark.parametrize("models", ["qaa > qaa+qab", "qaa > random"])
def test_there_is_no_chart_where_nothing_can_be_divided_by(models):
    """The line does not reach the bilingual model; the model's own language is not scored."""
    whole = report(*(row("accuracy", 0.5, path=models, language="qab", alpha1=a, seed=0) for a in (0, 0.5)))
    assert list(between_figures(whole, Between.of(whole))) == [] and "Scores on lines" in render(whole)


def test_other_studies_have_no_such_section():
    assert "Interpolated models" not in render(report(row("accuracy", 0.5, split="test", language="qaa", seed=0)))


def test_published_angles_stand_beside_ours():
    published = published_rows("underspecified@world")
    whole = report(*angle_rows(), *published)
    (table,) = [one for one in between_tables(whole, Between.of(whole)) if one.title.startswith("Angle")]
    ours, theirs = ([cell.text for cell in line] for line in table.lines)
    assert ours[:3] == ["one", "all", "51.0"] and ours[-1] == "3"
    assert theirs == ["published: mBERT and XLM-R", "all", "55.0", "", "1.00", "", "", "", ""]
    (chart,) = (figure.chart.to_dict() for figure in between_figures(whole, Between.of(whole)))
    assert {one["encoder"] for each in chart["datasets"].values() for one in each} == {"one"}
    text = "\n".join(between_findings(whole, Between.of(whole)))
    assert "1.00 times as far away (published: around 55 degrees, and near 1)." in text
    page = render(report(*published))
    assert "Further results" not in page and "Angle and ratio of norms, by part" in page


def test_parts_stand_in_the_order_of_the_layers():
    rows = [
        one.labelled(part=part, layer=layer)
        for part, layer in (("layer 10", 10), ("layer 2", 2), ("ffn", None), ("all", None), ("attention", None))
        for one in angle_rows()
    ]
    (table,) = between_tables(whole := report(*rows), Between.of(whole))
    assert [line[1].text for line in table.lines] == ["all", "ffn", "attention", "layer 2", "layer 10"]
