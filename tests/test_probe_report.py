"""What the report makes of probes: where curves cross, compromises, and what is said of them."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.row import Row
from babelscope.report import markdown, write_report
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.report.sections.probes.probed import (
    best_within,
    compromises,
    crossings,
    pareto_front,
    perplexities,
    told_apart,
)
from babelscope.report.sections.probes.tables import probe_findings, probe_tables
from babelscope.studies.published_numbers import published_rows
from probe_rows import FORGOTTEN, NEVER, both, curve, figures, records, report, texts


def test_curves_cross_where_the_lines_between_probes_do() -> None:
    made = report(
        both(0, {0: 20, 10: 10, 20: 5}, {0: 10, 10: 12, 20: 14}),
        both(1, {0: 20, 10: 15, 20: 10}, {0: 10, 10: 10, 20: 12}),
        both(2, {0: 9, 10: 8, 20: 7}, {0: 10, 10: 10, 20: 10}),
    )
    found = crossings(made)
    assert [(one.crossed, one.seeds) for one in found] == [(2, 3)]
    first, second = 10 * 10 / 12, 10 + 10 * 5 / 7
    assert found[0].interval is not None and math.isclose(found[0].interval.mean, (first + second) / 2)
    (sentence,) = probe_findings(made)
    assert "in 2 of 3 seeds; in the others the curves do not end crossed, and they do not count" in sentence


def test_curves_that_cross_back_do_not_cross() -> None:
    """The target was said to fall below the control's at step 5, though it ended above it."""
    back = report(*(both(seed, {0: 20, 10: 10, 20: 20}, {0: 15, 10: 15, 20: 15}) for seed in range(3)))
    assert [one.crossed for one in crossings(back)] == [0]
    again = report(
        *(both(seed, {0: 20, 10: 10, 20: 20, 30: 10}, dict.fromkeys((0, 10, 20, 30), 15)) for seed in range(3))
    )
    (found,) = crossings(again)
    assert found.crossed == 3 and found.interval is not None and math.isclose(found.interval.mean, 5)


def size(corpus: str, tokens: int, characters: int, bytes_: int) -> list[Row]:
    shared = {"kind": "text size", "encoder": "e", "dataset": corpus, "split": "probe"}
    counts = {"tokens": tokens, "unknown tokens": 0, "characters": characters, "bytes": bytes_}
    return [Row(measure, count, **shared) for measure, count in counts.items()]


def test_whether_curves_cross_depends_on_what_a_perplexity_is_of() -> None:
    """The target has shorter tokens, and the control more bytes a character."""
    falls, rises = {0: 20.0, 10: 8.0, 20: 4.0}, {0: 10.0, 10: 12.0, 20: 14.0}
    seeds = [both(seed, falls, rises) for seed in range(3)]
    made = report(*seeds, size("target", 30, 90, 90), size("control", 30, 120, 240))
    token, character, byte = crossings(made)
    assert [(one.per, one.crossed) for one in (token, character, byte)] == [("token", 3), ("character", 3), ("byte", 0)]

    pairs = zip(falls.values(), rises.values(), strict=True)
    gaps = [target ** (30 / 90) - control ** (30 / 120) for target, control in pairs]
    assert gaps[1] > 0 > gaps[2] and 4 ** (30 / 90) > 14 ** (30 / 240), "the oracle: perplexity to the power of tokens"
    assert character.interval is not None
    assert math.isclose(character.interval.mean, 10 + 10 * gaps[1] / (gaps[1] - gaps[2]))
    assert probe_findings(made)[-1] == (
        "e: whether the curves end crossed depends on what perplexity is of: per token in 3 of 3 seeds, per character "
        "in 3 of 3 seeds and per byte in 0 of 3 seeds. Target and control are two texts, with tokens and "
        "letters of other lengths."
    )
    alike = report(*seeds, size("target", 30, 90, 90), size("control", 30, 90, 90))
    assert [one.crossed for one in crossings(alike)] == [3, 3, 3] and len(probe_findings(alike)) == 1


def test_lines_of_a_figure_are_in_the_order_of_the_rows() -> None:
    """After target and control; they were in the order of a set, another in each process."""
    others = ["french", "german", "spanish", "czech", "dutch", "turkish", "arabic"]
    made = report(
        *(curve(name, 0, {0: 9.0, 10: 8.0}) for name in (*others[:3], "control", *others[3:])),
        curve("target", 0, {0: 9.0, 10: 5.0}),
    )
    figure = figures(made)["Perplexity while one language is learned"].chart.to_dict()
    domains = re.findall(r"'domain': (\[[^]]*'target'[^]]*\])", str(figure))
    assert domains and set(domains) == {str(["target", "control", *others])}


def test_what_never_crosses_is_one_sentence() -> None:
    made = report(*(both(0, NEVER, FORGOTTEN, name) for name in "abc"), both(0, {0: 20, 10: 5}, {0: 10, 10: 10}, "d"))
    assert probe_findings(made) == [
        "d: the target's perplexity falls below the control's at step 7 (one seed).",
        "In no seed do the curves of target and control end crossed with: a; b; c.",
    ]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12))
def test_no_compromise_beats_the_front(values: list[tuple[int, int]]) -> None:
    start = {0: 5.0}
    target = start | {step: float(one) for step, (one, _) in enumerate(values, 1)}
    control = start | {step: float(one) for step, (_, one) in enumerate(values, 1)}
    (found,) = compromises(report(both(0, target, control))).values()
    for one in pareto_front(found):
        assert not any(
            (other.target <= one.target and other.loss < one.loss)
            or (other.target < one.target and other.loss <= one.loss)
            for other in found
        )
    for loss in (-0.5, 0.0, 0.5):
        useful = [one.target for one in found if one.loss <= loss and (loss < 0 or one.target < 5)]
        best = best_within(found, loss)
        assert (best.target if best else None) == min(useful, default=None)
        assert best is None or best.step > 0


def test_compromises_are_geometric_means_over_seeds() -> None:
    (found,) = compromises(report(both(0, {0: 4, 9: 2}, {0: 1, 9: 1}), both(1, {0: 9, 9: 8}, {0: 4, 9: 9}))).values()
    assert [(one.step, one.seeds) for one in found] == [(0, 2), (9, 2)]
    assert [one.target for one in found] == pytest.approx([6, 4])
    assert [one.loss for one in found] == pytest.approx([0, 0.5])


def test_a_step_is_compared_with_those_of_its_own_encoder_and_task() -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 11}, "large", task="mlm"),
        both(0, {0: 90, 10: 70}, {0: 10, 10: 11}, "small", task="mlm"),
        both(0, {0: 60, 10: 50}, {0: 10, 10: 11}, "small", task="mlm", surgery="reinit"),
        both(0, {0: 80, 10: 40}, {0: 10, 10: 11}, "small", task="pos"),
    )
    found = {name: {one.target for one in each} for name, each in compromises(made).items()}
    assert {name: {round(value) for value in values} for name, values in found.items()} == {
        "Masked language modelling, large": {20, 10},
        "Masked language modelling, small": {90, 70},
        "Masked language modelling, small, untrained": {60, 50},
        "Part-of-speech tagging, small": {80, 40},
    }
    tables = [table for table in probe_tables(made) if table.title.startswith("The best compromise")]
    assert [texts(table)[-1][3] for table in tables] == ["10.00", "70.00", "50.00", "40.00"]


def test_one_encoder_learning_two_languages_makes_two_compromises() -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 11}, task="mlm", language="de", train_languages="de"),
        both(0, {0: 90, 10: 70}, {0: 10, 10: 11}, task="mlm", language="fr", train_languages="fr"),
    )
    assert list(compromises(made)) == ["de and de", "fr and fr"]


def test_published_curves_stand_beside_ours_but_neither_cross_nor_are_compromises() -> None:
    published = published_rows("evolution@world")
    both_kinds = report(published, both(0, {0: 20, 10: 10}, {0: 10, 10: 12}))
    (end, *_) = probe_tables(both_kinds)
    assert sum(line[0].startswith("published: mBERT") for line in texts(end)) == 5
    assert [found.name for found in crossings(both_kinds)] == ["e"]
    (ours,) = compromises(both_kinds).values()
    assert {one.condition for one in ours} == {"e"}


def test_without_common_seeds_nothing_is_compared() -> None:
    made = report(curve("target", 0, NEVER), curve("control", 1, FORGOTTEN), both(5, NEVER, FORGOTTEN, "other"))
    assert [one.name for one in crossings(made)] == ["other"]
    (found,) = compromises(made).values()
    assert {one.condition for one in found} == {"other"}
    apart = report(both(0, NEVER, FORGOTTEN, schedule="freeze:0"), both(1, NEVER, FORGOTTEN, schedule="freeze:1"))
    (found,) = compromises(apart).values()
    assert {(one.condition, one.seeds) for one in found} == {("e, schedule freeze:0", 1), ("e, schedule freeze:1", 1)}


def test_tasks_keep_their_own_curves() -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 12}, task="mlm"),
        both(0, {0: 30, 10: 25}, {0: 10, 10: 11}, task="pos"),
        curve("target", 0, {0: 7}, "native", key="one", language="de"),
        curve("target", 0, {0: 8}, "native", key="two", language="fr"),
    )
    end, crossing, *_ = probe_tables(made)
    assert [line[:2] for line in texts(end)] == [
        ["e, Masked language modelling", "10.00"],
        ["e, Part-of-speech tagging", "25.00"],
        ["native, de", "7.00"],
        ["native, fr", "8.00"],
    ]
    assert [line[-1] for line in texts(crossing)] == ["1 of 1", "0 of 1"]
    shown = figures(made)
    for name, first in (("Masked language modelling", 20), ("Part-of-speech tagging", 30)):
        drawn = records(shown[f"Perplexity while one language is learned: {name}"].chart)
        assert [one["mean"] for one in drawn if (one["line"], one["step"]) == ("target", 0)] == [first]


def test_curves_of_another_encoder_are_a_chart_of_their_own() -> None:
    """Perplexities over other tokens would only stretch the axis."""
    schedules = [both(0, {0: 20, 10: 10}, {0: 10, 10: 12}, schedule=name) for name in ("freeze:0", "freeze:1")]
    shown = figures(report(*schedules, both(0, {0: 900, 10: 90}, {0: 70, 10: 80}, "other")))
    drawn = {
        name: {
            (one["condition"], one["mean"])
            for one in records(shown[f"Perplexity while one language is learned: {name}"].chart)
        }
        for name in ("e", "other")
    }
    assert {condition for condition, _ in drawn["e"]} == {"e, schedule freeze:0", "e, schedule freeze:1"}
    assert drawn["other"] == {("other", value) for value in (900, 90, 70, 80)}


def test_schedules_without_test_scores_keep_their_own_curves() -> None:
    made = report(
        both(0, NEVER, FORGOTTEN, schedule="freeze:0"), both(0, {0: 20, 10: 5}, {0: 9, 10: 9}, schedule="all")
    )
    assert [one.name for one in perplexities(made)] == ["e, schedule freeze:0", "e, schedule all"]
    rows = [
        Row("loss", 1.0, kind="curve", encoder="e", task="pos", split="train", step=1, seed=0, schedule=name)
        for name in ("a", "b")
    ]
    (section,) = sections_of(Report("title", "", rows))
    assert {one["condition"] for one in records(section.figures[0].chart)} == {"e, schedule a", "e, schedule b"}


def test_the_report_shows_them(tmp_path: Path) -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 12}),
        both(0, {0: 7}, {0: 99}, "native"),
        [Row("distance to start", 1.5, kind="probe", encoder="e", seed=0, step=step, layer=2) for step in (0, 10)],
    )
    assert list(figures(made)) == [
        "Perplexity while one language is learned",
        "Perplexity of the target against what the control loses",
        "Distance to start, by layer",
    ]
    end, crossing, best = probe_tables(made)
    assert [line[:2] for line in texts(end)] == [["e", "10.00"], ["native", "7.00"]]
    assert texts(crossing) == [["e", "token", "8", "", "1 of 1"]]
    assert texts(best)[:3] == [
        ["5", "not trained", "", "20.00", "0.0", ""],
        ["10", "not trained", "", "20.00", "0.0", ""],
        ["20", "e", "10", "10.00", "20.0", "1"],
    ]
    front = [one for one in pareto_front(compromises(made)[""]) if one.step == 0]
    assert len(front) == 1  # the reference that the others are held against
    (path,) = write_report(made, tmp_path / "report.md")
    text = path.read_text()
    assert "- e: the target's perplexity falls below the control's at step 8 (one seed).\n" in text
    assert "### Where the curves cross\n" in text and "| e | token | 8 |  | 1 of 1 |\n" in text
    assert "### The best compromise\n" in text and "| 20 | e | 10 | 10.00 | 20.0 | 1 |\n" in text


def test_probes_and_scores_have_a_section_each_in_markdown() -> None:
    scored = Row("perplexity", 9.0, kind="score", encoder="e", task="mlm", language="de", split="test", seed=0)
    text = markdown(report([scored], both(0, NEVER, FORGOTTEN)))
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## While training", "## Masked language modelling: Perplexity"]
    assert "Charts: Perplexity while one language is learned; " in text


def test_texts_tell_apart_by_what_differs() -> None:
    assert told_apart([("a", "x", ""), ("b", "x", "")]) == ["a", "b"]
    assert told_apart([("a", "x", "1"), ("a", "y", "")]) == ["x", "y"]
    assert told_apart([("a", "x", "")]) == [""] and told_apart([]) == []
