"""Claims over tasks that are not all of the same languages, trainings or seeds."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.inference import crossed_variance, effect
from babelscope.core.row import Row
from babelscope.core.samples import Samples, drawn_of, joined, mean_of, mean_over
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.sections.effect_line import Line
from babelscope.report.sections.effect_tables import language_table
from babelscope.report.sections.effects import claims, effects
from babelscope.report.sections.effects_told import effect_answer

BETTER = Contrasted("e is better", Side("e"), Side("f"))
GAINS = {"l1": 0.16, "l2": 0.02, "l3": 0.13, "l4": -0.06, "l5": 0.03}


def drawn(number: int, groups: int, languages: int, sentences: int) -> list[dict[str, Samples]]:
    """Of every group some languages, each with sentences of its own or none."""
    draw = np.random.default_rng(number)
    made = []
    for _ in range(groups):
        there = [f"l{k}" for k in range(languages) if draw.random() < 0.7] or ["l0"]
        shapes = {code: (3, int(draw.integers(1, sentences + 1))) for code in there}
        made.append({code: Samples((0, 1, 2), draw.normal(size=shape)) for code, shape in shapes.items()})
    return made


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 5), st.integers(1, 4))
def test_a_mean_over_tasks_is_that_of_their_means_over_languages(number, groups, languages, sentences):
    tasks = drawn(number, groups, languages, sentences)
    found = mean_over(tasks)
    assert set(found) == {code for task in tasks for code in task}
    for seed in range(3):
        slow = fmean(fmean(samples.by_seed[seed] for samples in task.values()) for task in tasks)
        assert fmean(samples.by_seed[seed] for samples in found.values()) == pytest.approx(slow)


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 4), st.integers(1, 4))
def test_of_the_same_languages_it_is_the_mean_in_each(number, groups, languages, sentences):
    draw = np.random.default_rng(number)
    tasks = [
        {f"l{k}": Samples((0, 1), draw.normal(size=(2, sentences))) for k in range(languages)} for _ in range(groups)
    ]
    for code, samples in mean_over(tasks).items():
        assert samples.table == pytest.approx(mean_of([task[code] for task in tasks]).table)


def test_what_is_the_same_everywhere_has_no_spread():
    same = Samples((0, 1, 2), np.array([[0.1], [0.2], [0.3]]))
    found = mean_over([{"a": same, "b": same, "c": same}, {"a": same}])
    assert all(samples.table == pytest.approx(same.table) for samples in found.values())


@pytest.mark.parametrize("number", range(6))
def test_few_languages_of_one_task_leave_the_spread_over_languages(number):
    """As wide as if the language were in both with the task's mean, or wider."""
    tasks = [
        {code: Samples((0, 1, 2), samples.table * 0.001 + gain) for code, samples, gain in zip(
            GAINS, (Samples((0, 1, 2), np.random.default_rng(number + k).normal(size=(3, 1))) for k in range(5)),
            GAINS.values(), strict=True)} for _ in range(2)
    ]  # fmt: skip
    fewer = [tasks[0], {code: samples for code, samples in tasks[1].items() if code != "l5"}]
    whole, some = (effect(joined(list(mean_over(each).values()))) for each in (tasks, fewer))
    assert whole.languages == some.languages == 5
    assert some.high - some.low > 0.9 * (whole.high - whole.low)


@given(st.integers(0, 2**32), st.integers(3, 8), st.integers(0, 6), st.integers(2, 4))
def test_the_variance_over_languages_is_that_of_the_groups_own(number, few, more, seeds):
    """A task's languages that others have too, among more of these: as if they were looked at alone."""
    draw = np.random.default_rng(number)
    group = {f"l{k}": Samples(tuple(range(seeds)), draw.normal(size=(seeds, 1))) for k in range(few)}
    flat = Samples(tuple(range(seeds)), np.zeros((seeds, 1)))
    other = {f"l{k}": flat for k in range(few + more)}
    alone = crossed_variance(joined(list(group.values())))
    among = crossed_variance(joined([each.times(2) for each in mean_over([group, other]).values()]))
    if not more:
        assert among.of_mean == pytest.approx(alone.of_mean)
    means = np.array([each.mean for each in group.values()])
    (spread,) = {round(float(np.var(table.mean(axis=(0, 1)), ddof=1) / table.shape[2]), 12) for table in [
        joined([each.times(2) for each in mean_over([group, other]).values()])]}  # fmt: skip
    assert spread == pytest.approx(np.var(means, ddof=1) / few, abs=1e-10)


@pytest.mark.parametrize("few", [1, 2])
def test_one_or_two_languages_among_more_are_these_alone(few):
    draw = np.random.default_rng(few)
    group = {f"l{k}": Samples((0, 1, 2), draw.normal(size=(3, 1))) for k in range(few)}
    other = {f"l{k}": Samples((0, 1, 2), np.zeros((3, 1))) for k in range(5)}
    found = [each.table for each in mean_over([group, other]).values()]
    assert all(table == pytest.approx(found[0]) for table in found)
    assert drawn_of([group, other]) == 5 and drawn_of([group, {"l9": other["l0"]}]) == 1


def rows(gains: Mapping[tuple[str, str, str], float], seeds: Mapping[str, range] | None = None) -> list[Row]:
    """Encoder e above f by this much on each task, language and data set."""
    about = {"kind": "score", "split": "test", "train_languages": "en"}
    noise = np.random.default_rng(1).normal(0, 0.002, 4)
    return [
        Row("accuracy" if task == "pos" else "f1", 0.5 + gain * (encoder == "e") + noise[seed] * (encoder == "e"),
            "share", encoder=encoder, task=task, language=language, dataset=dataset, seed=seed, **about)
        for (task, language, dataset), gain in gains.items()
        for encoder in "ef"
        for seed in (seeds or {}).get(f"{encoder} {language}", range(3))
    ]  # fmt: skip


def line(made: list[Row]) -> Line:
    first, *_ = effects(Report("t", "q", made, contrasts=[BETTER]))
    return first


def test_a_verdict_over_tasks_is_over_languages_where_one_lacks_one():
    """It was over seeds alone then, so that what differs between languages showed."""
    whole = {(task, code, code): gain for task in ("pos", "ner") for code, gain in GAINS.items()}
    some = {key: gain for key, gain in whole.items() if key[:2] != ("ner", "l5")}
    for each in (whole, some):
        found = line(rows(each))
        assert found.effect.languages == (5 if each is whole else 4) and found.verdict == "does not show"
        assert found.effect.low < -0.05 and "better in four and worse in one of five" in effect_answer([found])[0]
    table = language_table([line(rows(some))], {})
    told = {cells[2].text: cells[3].number for cells in table.lines}
    assert told["l5"] == pytest.approx(100 * GAINS["l5"], abs=0.3), "that of the task which has it"
    one_task = {key: gain for key, gain in whole.items() if key[0] == "pos"}
    notes = table.note, language_table([line(rows(one_task))], {}).note
    assert ["In each language, a mean over tasks is over the tasks scored in it." in note for note in notes] == [
        True,
        False,
    ]


def test_a_language_with_several_data_sets_counts_once_in_a_mean_over_tasks():
    gains = {
        ("pos", "de", "A"): 0.10, ("pos", "de", "B"): 0.10, ("pos", "nl", "C"): 0.01,
        ("ner", "nl", "D"): 0.01, ("ner", "fr", "E"): 0.01,
    }  # fmt: skip
    noise = float(np.random.default_rng(1).normal(0, 0.002, 4)[:3].mean())
    assert line(rows(gains)).effect.mean == pytest.approx((0.055 + 0.01) / 2 + noise)


def test_what_only_one_of_two_encoders_was_scored_on_is_named():
    made = [row for row in rows({("pos", "de", "A"): 0.1, ("pos", "nl", "B"): 0.1}) if (row.encoder, row.language)
            != ("f", "nl")]  # fmt: skip
    found = line(made)
    assert found.scope == "Part-of-speech tagging, without nl, which only one of the two has"
    assert found.scope in claims([found])[0] and found.scope in effect_answer([found])[0]


def test_signs_are_at_the_seeds_of_the_verdict():
    """In fr the second lacks one at which the first is far worse in the other languages."""
    codes = ("de", "fr", "nl")
    seeds = {f"{encoder} {code}": range((encoder + code) == "ffr", 4) for encoder in "ef" for code in codes}
    made = rows({("pos", code, code): 0.02 for code in codes}, seeds)
    made = [row.labelled(value=row.value - 0.9 * (row.encoder == "e" and row.seed == 0)) for row in made]
    found = line(made)
    assert found.effect.seeds == 3 and found.effect.mean > 0
    assert "better in all three languages" in effect_answer([found])[0]


def test_what_one_side_lacks_of_one_task_is_said_of_that_task():
    """Over all tasks it was said to be left out, where the other task has it."""
    gains = {(task, code, code): gain for task in ("pos", "ner") for code, gain in GAINS.items()}
    some = [row for row in rows(gains) if (row.encoder, row.task, row.language) != ("f", "ner", "l5")]
    assert line(some).lacking == ", without l5 (Named-entity recognition), which only one of the two has"
