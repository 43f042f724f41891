"""The best of several numbers of frozen layers: whether it is better by more than having been chosen."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from babelscope.core.inference import Known, best_of, effect
from babelscope.report.model import Report
from babelscope.report.sections.freezing import sweep_findings
from babelscope.report.sections.freezing.changes import changes_table
from babelscope.report.sections.freezing.sweeps import frozen_layers, sweeps
from babelscope.report.sections.freezing.whole import over_least
from babelscope.tuning.schedule import Schedule
from frozen_layers import declared, score
from slowly import judged


def swept(
    gains: dict[int, float], seeds: int, languages: Sequence[str] = ("qab", "qac"), spread: float = 0.01
) -> Report:
    """Of a sweep whose scores rise by that much with so many layers frozen."""
    draw = np.random.default_rng(5)
    rows = [
        score(language, frozen, 0.6 + gain + draw.normal(0, spread), seed)
        for language in ("qaa", *languages) for frozen, gain in ({-1: 0.0} | gains).items() for seed in range(seeds)
    ]  # fmt: skip
    return declared(rows)


@pytest.mark.parametrize(
    ("schedule", "layers"),
    [
        ({"freeze": 2}, 2), ({"freeze": -1, "frozen_dropout": True}, -1), ({"strategy": "freeze:2"}, 2),
        ({"strategy": {"strategy": "freeze", "freeze": 0}}, 0),
        ({"upper": "half"}, None), ({"strategy": "upper:half"}, None),
        ({"freeze": 2, "decay": 0.9}, None), ({"freeze": 2, "lora": 4}, None),
    ],
)  # fmt: skip
def test_what_freezes_layers_is_known_by_whatever_key(schedule, layers):
    assert frozen_layers(Schedule(name="a", **schedule)) == layers


def tables_of(made: Report, own: bool = False) -> dict[int, list[list[float]]]:
    """By number of frozen layers, seeds and places: the gain over nothing frozen."""
    values = {(row.language, row.schedule, row.seed): row.value for row in made.rows}
    languages = sorted(language for language in {language for language, _, _ in values} if (language == "qaa") == own)
    numbers = sorted({int(schedule.partition(":")[2]) for _, schedule, _ in values})
    seeds = sorted({seed for _, _, seed in values})
    return {
        n: [
            [values[code, f"freeze:{n}", seed] - values[code, "freeze:-1", seed] for code in languages]
            for seed in seeds
        ]
        for n in numbers[1:]
    }


@pytest.mark.parametrize("languages", [("qab", "qac"), ("qab", "qac", "qad", "qae")])
def test_the_best_of_several_is_corrected_for_having_been_chosen(languages: Sequence[str]) -> None:
    """Its p is larger than it would be alone, and no larger than of as many that have nothing in common."""
    made = swept({0: 0.005, 1: 0.02, 2: 0.01, 3: 0.0}, 5, languages)
    (sweep,) = sweeps(made)
    (said,) = sweep_findings(made)
    assert "best on average with one layer frozen" in said and "being the best of 4 (p = " in said
    found = best_of(over_least(sweep.foreign, sweep.numbers))[1]
    table = np.array(tables_of(made)[1])
    alone = judged(table if len(languages) > 2 else table.mean(axis=1)).p
    assert f"(p = {found:.3f})" in said
    assert alone * 1.2 < found <= 4 * alone + 0.005, "of 20,000 draws the third digit is known"


@pytest.mark.parametrize(("close", "factor"), [((0.0, -0.016), 1), ((-0.02, -0.01), 8)])
def test_every_number_of_frozen_layers_is_held_against_nothing_frozen(close: tuple[float, float], factor: int) -> None:
    """In the language of training and in the others, each table as the slow computation has it.

    Some verdicts would be others without a correction (`factor` 1), or by Bonferroni's.
    """
    made = swept({0: 0.2, 1: close[0], 2: -0.2, 3: close[1]}, 5, ("qab", "qac", "qad"))
    table = changes_table(sweeps(made))
    lines = {(line[1].text, line[2].number): line for line in table.lines}
    assert len(lines) == len(table.lines) == 10
    found = {}
    for (languages, frozen), line in lines.items():
        own = languages == "trained on (1)"
        rows = [row for row in made.rows if row.schedule == f"freeze:{frozen}" and (row.language == "qaa") == own]
        assert line[3].number == pytest.approx(100 * np.mean([row.value for row in rows]))
        assert own or languages == "other (3)"
        if frozen == -1:
            assert [cell.text for cell in line[4:]] == [""] * 5, "the fewest are held against nothing"
            continue
        slow = found[languages, frozen] = judged(tables_of(made, own)[frozen])
        assert line[4].number == pytest.approx(100 * slow.mean)
        assert line[6].text == f"[{100 * slow.low:.2f}, {100 * slow.high:.2f}]".replace("-", "−")
        assert (line[5].text, line[7].number) == ("points", 5)
    adjusted = stats.false_discovery_control([each.p for each in found.values()])
    expected = [_slow_verdict(each.mean, p) for each, p in zip(found.values(), adjusted, strict=True)]
    assert [lines[place][8].text for place in found] == expected and len(set(expected)) == 3
    assert expected != [_slow_verdict(each.mean, factor * each.p) for each in found.values()], "some are close"
    assert "seeds and languages" in table.note


def _slow_verdict(mean: float, p: float) -> str:
    return "does not show" if p >= 0.05 else "shows" if mean > 0 else "the reverse shows"


def test_an_unfinished_sweep_has_no_changes_yet() -> None:
    """Without a seed of all numbers a score is there, and no change; without a place of all numbers nothing is."""
    rows = swept({0: 0.0, 1: 0.1}, 4).rows
    apart = [row for row in rows if (row.seed < 2) == (row.schedule == "freeze:-1")]
    lines = changes_table(sweeps(declared(apart))).lines
    assert all(line[3].number for line in lines)
    assert {(line[4].text, line[8].text) for line in lines if line[2].number > -1} == {("", "cannot be said yet")}
    holes = {"qaa": "freeze:-1", "qab": "freeze:0", "qac": "freeze:1"}
    assert changes_table(sweeps(declared([row for row in rows if row.schedule != holes[row.language]]))) is None
    one = [row for row in rows if (row.language, row.schedule) != ("qab", "freeze:0")]
    assert {line[1].text for line in changes_table(sweeps(declared(one))).lines} == {"trained on (1)", "other (1)"}


def test_of_no_difference_the_best_seldom_shows() -> None:
    """The best of five that are all alike, as scores vary by seed: without correction one in six."""
    draw, found, alone = np.random.default_rng(6), 0, 0
    for _ in range(150):
        scores = draw.normal(0.6, 0.01, (6, 6))
        tables = [scores[:, n, None] - scores[:, 0, None] for n in range(1, 6)]
        best = max(range(5), key=lambda n: abs(tables[n].mean()))
        found += best_of([Known(table) for table in tables], draws=2000)[best] < 0.05
        alone += effect(tables[best]).p < 0.05
    assert found <= 150 * 0.09 < alone


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (swept({0: 0.0, 1: 0.1}, 4), ": shows, being the best of 2 (p < 0.001)"),
        (swept({0: -0.1, 1: 0.02}, 4, spread=0.05), ": does not show, being the best of 2 (p = "),
        (swept({0: 0.0, 1: 0.1}, 2), ": not enough seeds to say."),
        (swept({0: 0.0, 1: 0.1}, 4, spread=0.0), ": cannot be said: nothing varies."),
    ],
)
def test_whether_the_best_is_more_than_chance_is_said(made: Report, said: str) -> None:
    (sentence,) = sweep_findings(made)
    assert f"That this is better than with nothing frozen{said}" in sentence


def test_seeds_of_two_numbers_that_never_meet_say_nothing_yet() -> None:
    rows = [row for row in swept({0: 0.0, 1: 0.1}, 4).rows if (row.seed < 2) == (row.schedule == "freeze:-1")]
    (sentence,) = sweep_findings(declared(rows))
    assert "That this is better than with nothing frozen: cannot be said yet." in sentence


def test_a_language_counts_once_however_many_data_sets_it_has() -> None:
    """As it does wherever languages stand for others."""
    made = swept({0: 0.005, 1: 0.02}, 4, ("qab", "qac", "qad"))
    named = [row.labelled(dataset="one") for row in made.rows]
    twice = [row.labelled(dataset="two", value=row.value + 0.001 * row.seed) for row in named if row.language == "qab"]
    whole = [row.labelled(value=row.value + 0.0005 * row.seed) if row.language == "qab" else row for row in named]
    (several,), (once,) = sweeps(declared([*named, *twice])), sweeps(declared(whole))
    for found, expected in zip(
        over_least(several.foreign, [-1, 0, 1]), over_least(once.foreign, [-1, 0, 1]), strict=True
    ):
        assert found.table == pytest.approx(expected.table)


def test_an_unfinished_sweep_is_compared_at_the_seeds_that_all_numbers_have() -> None:
    """One number lacks a seed, and another kept no sentences: nothing is mixed, and the page does not fail."""
    rows = [row for row in swept({0: 0.005, 1: 0.02, 2: 0.01}, 5).rows if (row.schedule, row.seed) != ("freeze:2", 4)]
    (sentence,) = sweep_findings(declared(rows))
    (sweep,) = sweeps(declared(rows))
    assert [len(each.table) for each in over_least(sweep.foreign, sweep.numbers)] == [4, 4, 4]
    assert "being the best of 3" in sentence
