"""Contrasts: the effects that a study looks for, from rows."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from scipy import stats

from babelscope.core.inference import benjamini_hochberg, holm
from babelscope.core.row import Row
from babelscope.report.cautions import cautions
from babelscope.report.files import markdown
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.score import noun_of
from babelscope.report.section import sections_of
from babelscope.report.sections.effect_tables import effect_table, language_table
from babelscope.report.sections.effects import claims, contrasts, effects
from babelscope.report.sections.effects_told import effect_answer
from babelscope.report.sections.scores.findings import differences
from babelscope.study.declare import Study
from command_line import declaration
from contrast_rows import ALIKE, CLEAN, PRETRAINED, WHOLE, rows, scored


def test_differences_are_paired_by_seed_on_each_task_and_over_all():
    overall, *each = effects(Report("t", "q", rows(), contrasts=[PRETRAINED]))
    by_task = {
        task: [a - b for a, b in zip(WHOLE[task], CLEAN[task], strict=True)] for task in ("pos", "acceptability")
    }
    assert [one.setting.task for one in each] == ["pos", "acceptability"]
    means = [sum(pair) / 2 for pair in zip(*by_task.values(), strict=True)]
    assert overall.setting.task == "" and overall.is_claim and not any(one.is_claim for one in each)
    for one, gains in zip([overall, *each], [means, *by_task.values()], strict=True):
        test = stats.ttest_1samp(gains, 0)
        expected = test.confidence_interval()
        assert (one.effect.low, one.effect.high) == pytest.approx((expected.low, expected.high))
        assert (one.effect.mean, one.effect.p) == pytest.approx((sum(gains) / 3, test.pvalue))
    assert overall.verdict == "shows"


def test_what_to_mind_stands_with_the_answer_and_with_the_scores():
    """And not a third time with the contrasts."""
    report = Report("t", "q", [row for row in rows() if row.seed == 0], contrasts=[PRETRAINED])
    minded = cautions(report, report.by_task[0])
    text = markdown(report)
    assert minded and all(text.count(f"> **To mind:** {warning}") == 2 for warning in minded), text
    assert "## What the study looks for" in text


def test_a_contrast_can_be_limited_to_tasks_and_languages():
    named = PRETRAINED._replace(tasks=("acceptability",))
    (only,) = effects(Report("t", "q", rows(), contrasts=[named]))
    gains = [a - b for a, b in zip(WHOLE["acceptability"], CLEAN["acceptability"], strict=True)]
    assert (only.setting.task, only.effect.mean) == ("acceptability", pytest.approx(sum(gains) / 3))
    foreign = [row.labelled(language="qab", value=row.value / 2) for row in rows()]
    elsewhere = PRETRAINED._replace(tasks=("pos",), languages=("qab",))
    (half,) = effects(Report("t", "q", [*rows(), *foreign], contrasts=[elsewhere]))
    gains = [(a - b) / 2 for a, b in zip(WHOLE["pos"], CLEAN["pos"], strict=True)]
    assert half.effect.mean == pytest.approx(sum(gains) / 3)


def test_where_a_claim_lies_is_told_language_by_language():
    """By the t-test of each language's own differences; of one language alone there is nothing to tell."""
    values = {"qaa": {0: 0.9, 1: 0.8, 2: 0.85}, "qab": {0: 0.52, 1: 0.5, 2: 0.51}}
    made = [row for code, scores in values.items() for row in scored("e", scores, language=code)]
    made += [row for code in values for row in scored("e", {0: 0.5, 1: 0.51, 2: 0.5}, language=code, surgery="reinit")]
    contrast = Contrasted("Helps", Side("e"), Side("e", "reinit"))
    labels = {"qaa": "A", "qab": "B"}
    (found,) = contrasts(Report("t", "q", made, labels=labels, contrasts=[contrast]), made)
    table = found.tables[1]
    cells = [[cell.text for cell in line] for line in table.lines]
    assert [line[:3] for line in cells] == [
        ["e − e untrained", "Part-of-speech tagging", name] for name in labels.values()
    ]
    for line, scores in zip(cells, values.values(), strict=True):
        test = stats.ttest_1samp(
            [score - base for score, base in zip(scores.values(), (0.5, 0.51, 0.5), strict=True)], 0
        )
        low, high = test.confidence_interval()
        assert line[4] == f"[{100 * low:.2f}, {100 * high:.2f}]".replace("-", "−")
    alone = language_table(effects(Report("t", "q", rows(), contrasts=[PRETRAINED])), {})
    assert not alone.lines


def test_a_language_in_other_letters_is_no_other_language():
    """It counts once, with the mean of both; a claim about it names it."""
    values = {"qab": 0.9, "qaf": 0.6, "qac": 0.8, "qac>cyrillic": 0.5}
    made = [
        row
        for code, value in values.items()
        for row in scored("e", {k: value + k / 50 for k in range(3)}, language=code)
    ]
    made += [
        row
        for code in values
        for row in scored("e", {k: 0.4 + k / 90 for k in range(3)}, language=code, surgery="clean")
    ]
    contrast = Contrasted("Helps", Side("e"), Side("e", "clean"))
    (line,) = effects(Report("t", "q", made, contrasts=[contrast]))
    assert line.effect.languages == 3 and set(line.compared.by_language) == {"qab", "qaf", "qac"}
    of_each = [0.5, 0.2, (0.4 + 0.1) / 2]
    assert line.effect.mean == pytest.approx(sum(of_each) / 3 + (1 / 50 - 1 / 90))
    report = Report("t", "q", made, contrasts=[contrast])
    assert noun_of([score for score in report.scores if score.surgery is None]) == "data set"
    limited = contrast._replace(languages=("qaf",))
    (alone,) = effects(Report("t", "q", made, contrasts=[limited], labels={"qaf": "F"}))
    assert alone.scope == "Part-of-speech tagging, in F" and alone.effect.mean == pytest.approx(0.2 + (1 / 50 - 1 / 90))
    assert "in F" in claims([alone])[0] and "in F" in effect_answer([alone])[0]


def test_a_mean_over_tasks_says_of_which_it_is():
    """Where one of the study's is no score in points, or the contrast is about some of them alone."""
    perplexities = [
        row.labelled(task="mlm", measure="perplexity", unit="", value=10 + row.value)
        for row in rows() if row.task == "pos"
    ]  # fmt: skip
    whole = effects(Report("t", "q", rows(), contrasts=[PRETRAINED]))
    some = effects(Report("t", "q", [*rows(), *perplexities], contrasts=[PRETRAINED]))
    assert whole[0].where == "all tasks" and whole[0].setting.task == some[0].setting.task == ""
    assert some[0].where.startswith("the mean of Part-of-speech tagging and ") and "odell" not in some[0].where
    assert some[0].effect == whole[0].effect and some[0].where in claims(some)[0]


def test_a_figure_of_two_seeds_speaks_of_no_intervals():
    for seeds, told in ((2, False), (3, True)):
        some = [row for row in rows() if row.seed is not None and row.seed < seeds]
        report = Report("t", "q", some, contrasts=[PRETRAINED])
        captions = [figure.caption for part in sections_of(report) for figure in part.figures]
        assert captions and {"with its 95% interval" in caption for caption in captions} == {told}, captions


def test_the_other_way_round_the_reverse_shows_and_what_is_missing_is_left_out():
    turned = Contrasted("Clean is better", PRETRAINED.second, PRETRAINED.first)
    absent = Contrasted("Nobody is better", Side("nobody"), Side("e"))
    found = effects(Report("t", "q", rows(), contrasts=[turned, absent]))
    assert {one.contrast.claim for one in found} == {"Clean is better"}
    assert found[0].verdict == "the reverse shows"
    (sentence,) = claims(found)
    assert sentence.startswith("Clean is better: the reverse shows for e clean (−")
    table = effect_table(found)
    assert len(table.lines) == 3 and table.lines[0][1].text == "all tasks"


def test_a_claim_names_both_conditions_where_the_second_differs():
    made = [row for name in "efg" for row in scored(name, {0: 0.9, 1: 0.8, 2: 0.7})]
    same, other = (Contrasted("Helps", Side("e"), Side(name)) for name in "fg")
    for pairs, told in (([same], ["for e,"]), ([same, other], ["for e against f,", "for e against g,"])):
        (sentence,) = claims(effects(Report("t", "q", made, contrasts=pairs)))
        assert all(words in sentence for words in told), sentence


@pytest.mark.parametrize(
    "gains, verdict",
    [
        ((0.02, 0.021, 0.019), "shows"),
        ((-0.02, -0.021, -0.019), "the reverse shows"),
        ((0.02, -0.02, 0.001), "does not show"),
        ((0.02, 0.02, 0.02), "cannot be said: nothing varies"),
    ],
)
def test_a_comparison_has_one_verdict_by_the_seeds_that_both_ran(gains, verdict):
    fresh = {0: 0.9, 1: 0.7, 2: 0.5}
    whole = {seed: fresh[seed] + gain for seed, gain in enumerate(gains)}
    whole[3] = 0.1  # alone, so that it is left out
    made = scored("e", whole) + scored("e", fresh, surgery="reinit")
    report = Report("t", "q", made, contrasts=[Contrasted("c", Side("e"), Side("e", "reinit"))])
    (line,), (difference,) = effects(report), differences(report.scores)
    assert line.verdict == difference.verdict == verdict
    assert difference.shows == (verdict == "shows")
    assert line.effect == difference.effect and line.effect.seeds == 3
    if line.effect.known:
        test = stats.ttest_1samp(gains, 0)
        expected = (*test.confidence_interval(), test.pvalue)
        assert (line.effect.low, line.effect.high, line.effect.p) == pytest.approx(expected)


def test_claims_are_one_family_and_lines_of_the_table_another():
    """Over all tasks nine claims, by Holm; on single tasks 18 lines, by Benjamini and Hochberg."""
    turned = Contrasted("Clean is better", PRETRAINED.second, PRETRAINED.first)
    named = [PRETRAINED._replace(claim=f"claim {k}") for k in range(8)]
    found = effects(Report("t", "q", rows(), contrasts=[*named, turned]))
    family = [one for one in found if one.is_claim]
    table = [one for one in found if not one.is_claim]
    assert [one.setting.task for one in family] == [""] * 9 and len(table) == 18
    for lines, adjust in ((family, holm), (table, benjamini_hochberg)):
        adjusted = adjust({str(k): one.effect.p for k, one in enumerate(lines)})
        for k, one in enumerate(lines):
            shown = "shows" if one.effect.mean > 0 else "the reverse shows"
            assert one.verdict == (shown if adjusted[str(k)] < 0.05 else "does not show")
    (alone, *_) = effects(Report("t", "q", rows(), contrasts=[PRETRAINED]))
    assert alone.verdict == "shows" and alone.effect.p * 9 >= 0.05 and family[0].verdict == "does not show"
    assert claims(found)[0].startswith("claim 0: does not show among 9 claims for e (")


def test_as_good_as_is_a_claim_with_a_margin():
    near = {0: 0.800, 1: 0.812, 2: 0.806, 3: 0.791}
    also = {0: 0.801, 1: 0.811, 2: 0.808, 3: 0.790}
    made = scored("e", near) + scored("e", also, surgery="clean")
    margins = {"as good": 0.02, "almost the same": 0.0001}
    contrasts = [ALIKE._replace(claim=claim, margin=margin) for claim, margin in margins.items()]
    found = effects(Report("t", "q", made, contrasts=contrasts))
    assert [one.verdict for one in found] == ["shows", "does not show"]
    first, second = claims(found)
    assert first.startswith("as good: shows for e within 2 points, Part-of-speech tagging (")
    assert second.startswith("almost the same: does not show for e within 0.01 points")


def test_other_training_is_another_line_and_a_task_counts_once_over_all():
    gains = {("pos", "qaa", None): 0.1, ("pos", "qab", None): 0.3, ("parsing", "qaa", None): 0.6,
             ("pos", "qaa", "freeze:2"): 0.01, ("parsing", "qaa", "freeze:2"): 0.03}  # fmt: skip
    made = []
    for (task, training, schedule), gain in gains.items():
        labels = {"task": task, "train_languages": training, "schedule": schedule}
        whole, clean = {0: 3 * gain, 1: 3 * gain + 0.01}, {0: 2 * gain, 1: 2 * gain}
        parts = scored("e", whole, **labels) + scored("e", clean, surgery="clean", **labels)
        made += [row.labelled(measure="las" if task == "parsing" else "accuracy") for row in parts]
    lines = effects(Report("t", "q", made, contrasts=[ALIKE]))
    assert {one.verdict for one in lines} == {"not enough seeds to say"}
    assert {one.where for one in lines if one.is_claim} == {
        "all tasks, everything trained",
        "all tasks, schedule freeze:2",
    }
    found = {one.where: one.effect.mean - 0.005 for one in lines}
    pos, parsing = "Part-of-speech tagging", "Dependency parsing"
    assert found == pytest.approx({
        "all tasks, everything trained": (0.2 + 0.6) / 2, "all tasks, schedule freeze:2": 0.02,
        f"{pos}, trained on qaa, everything trained": 0.1, f"{pos}, trained on qab, everything trained": 0.3,
        f"{pos}, trained on qaa, schedule freeze:2": 0.01,
        f"{parsing}, everything trained": 0.6, f"{parsing}, schedule freeze:2": 0.03,
    })  # fmt: skip


@pytest.mark.parametrize("schedule", [None, "freeze:4"])
def test_a_baseline_is_a_constant_against_the_seeds_of_the_other_side(schedule):
    values = {3: 0.9, 4: 0.8, 7: 0.84}
    made = scored("e", values, schedule=schedule) + scored("majority", {None: 0.6})
    sides = Side("e"), Side("majority")
    contrasts = [Contrasted("better", *sides), Contrasted("worse", *reversed(sides))]
    better, worse = effects(Report("t", "q", made, contrasts=contrasts))
    expected = stats.ttest_1samp([value - 0.6 for value in values.values()], 0).confidence_interval()
    assert (better.effect.low, better.effect.high) == pytest.approx((expected.low, expected.high))
    assert (worse.effect.low, worse.effect.high) == pytest.approx((-expected.high, -expected.low))
    assert (better.verdict, worse.verdict) == ("shows", "the reverse shows")


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_seed_or_two_say_nothing(seeds):
    found = effects(Report("t", "q", [row for row in rows() if row.seed < seeds], contrasts=[PRETRAINED]))
    assert {(one.verdict, one.effect.known) for one in found} == {("not enough seeds to say", False)}
    (sentence,) = claims(found)
    assert sentence.startswith("Pre-trained is better: not enough seeds to say for e (")
    assert [cell.text for cell in effect_table(found).lines[0][3:6]] == ["", "", str(seeds)]


def test_as_good_as_names_its_margin_and_no_direction():
    contrast = PRETRAINED._replace(claim="As good", tasks=("pos",), margin=0.9)
    made = [row.labelled(language=code) for row in rows() for code in ("qaa", "qab")]
    (line,) = effects(Report("t", "q", made, contrasts=[contrast]))
    (told,) = effect_answer([line])
    assert "within 90 points" in told and "better in" not in told
    assert "better in both languages" in effect_answer([line._replace(contrast=PRETRAINED, compared=line.compared)])[0]


@pytest.mark.parametrize("margin", [0, -0.1, 1, 2, 100])
def test_a_margin_that_everything_is_within_is_refused(margin, encoder_folder):
    """Points of 100 were meant, which are hundredths."""
    sides = {"first": {"encoder": str(encoder_folder)}, "second": {"encoder": str(encoder_folder), "surgery": "reinit"}}
    given = declaration(encoder_folder, contrasts=[{"claim": "c", "margin": margin, **sides}])
    with pytest.raises(ValidationError, match=r"margin\n.*(greater|less) than"):
        Study.model_validate(given)


def test_the_figure_says_what_it_leaves_out_and_can_be_filtered_by_task():
    perplexities = [
        Row("perplexity", 10.0 + seed + 5 * (surgery is not None), kind="score", encoder="e", surgery=surgery,
            task="mlm", train_languages="qaa", language="qaa", split="test", seed=seed)
        for surgery in (None, "clean") for seed in range(3)
    ]  # fmt: skip
    given = [*(row for row in rows() if row.task == "pos"), *perplexities]
    contrast = PRETRAINED._replace(languages=())
    section, *_ = contrasts(Report("t", "q", given, contrasts=[contrast]), given)
    (figure,) = section.figures
    points = [record for data in figure.chart.to_dict()["datasets"].values() for record in data if "claim" in record]
    assert {record["task"] for record in points} == {"Part-of-speech tagging"}
    assert all("Part-of-speech tagging" in record["claim"] for record in points)
    assert "Perplexities are not here" in figure.caption


def test_each_side_can_have_a_schedule_of_its_own():
    """Where neither has, both are compared under every schedule."""
    values = {
        None: {0: 0.9, 1: 0.8, 2: 0.7},
        "freeze:2": {0: 0.7, 1: 0.6, 2: 0.6},
        "freeze:4": {0: 0.4, 1: 0.5, 2: 0.3},
    }
    made = [row for schedule, scores in values.items() for row in scored("e", scores, schedule=schedule)]
    made += scored("majority", {None: 0.2})

    def compared(first: Side, second: Side) -> list[tuple[str, str, float]]:
        lines = effects(Report("t", "q", made, contrasts=[Contrasted("better", first, second)]))
        return [(line.between, line.where, round(line.effect.mean, 9)) for line in lines]

    task = "Part-of-speech tagging"
    frozen = "e, schedule freeze:2"
    assert compared(Side("e"), Side("e", schedule="freeze:2")) == [(f"e − {frozen}", task, round(0.5 / 3, 9))]
    assert compared(Side("e", schedule="freeze:2"), Side("e", schedule="freeze:4")) == [
        (f"{frozen} − e, schedule freeze:4", task, round(0.7 / 3, 9))
    ]
    assert compared(Side("e", schedule="freeze:2"), Side("majority")) == [
        (f"{frozen} − majority", task, round(1.9 / 3 - 0.2, 9))
    ]
    assert len(compared(Side("e"), Side("majority"))) == 3
    frozen_sides = Side("e", schedule="freeze:2"), Side("e", schedule="freeze:4")
    for sides, told in (
        (frozen_sides, f"for {frozen} against schedule freeze:4"),
        ((Side("e"), frozen_sides[0]), "for e against schedule freeze:2"),
        (frozen_sides[::-1], "for e, schedule freeze:4 against schedule freeze:2"),
        ((frozen_sides[0], Side("e")), f"for {frozen} against e"),
    ):
        (answer,) = effect_answer(effects(Report("t", "q", made, contrasts=[Contrasted("better", *sides)])))
        assert told in answer, answer
