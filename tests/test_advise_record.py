"""What a run of advise has decided by, as it is written beside the page, tells the same verdict again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from babelscope.advise import race as race_
from babelscope.advise.amounts import TRANSLATED
from babelscope.advise.curves import Points, curve_of
from babelscope.advise.floor import Constant
from babelscope.advise.more import more_section
from babelscope.advise.outcome import outcome_of
from babelscope.advise.race import Race
from babelscope.advise.recipes import Recipe
from babelscope.advise.record import read_record, record_of
from babelscope.advise.request import Request
from babelscope.advise.verdict import verdict_section
from babelscope.core.errors import InputError
from babelscope.core.samples import Samples
from babelscope.engine.store import Store
from babelscope.report.section import Section
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.tuning.settings import Tuning

RECIPES = [Recipe("world-natural", AS_IT_IS), Recipe("world-natural", ADAPTED), Recipe(BILSTM, AS_IT_IS)]
MEANS = [0.9, 0.6, 0.85]


class Drawn:
    """Scores of evaluations that are drawn by their keys, in place of those of a store."""

    def __init__(self, store: Store, measure: str):
        self.measure = measure

    def of(self, evaluations: Sequence[Any]) -> Samples:
        """[rounds, 40 sentences]."""
        tables = [each.level + np.random.default_rng(int(each.key)).normal(0, 0.05, 40) for each in evaluations]
        return Samples(tuple(range(len(evaluations))), np.array(tables))

    def mean(self, evaluations: Sequence[Any]) -> float:
        return self.of(evaluations).mean


MODELS = [SimpleNamespace(tuning=Tuning(epochs=12), number=number) for number in range(50)]


@pytest.fixture
def race(store: Store, monkeypatch: pytest.MonkeyPatch) -> Race:
    """Three rounds, of which the second recipe ran one and was not tested."""
    monkeypatch.setattr(race_, "Scores", Drawn)
    request = Request(language="nl", text="ntrex:nl", encoders=("world-natural",), margin=0.03)
    race = Race(request, RECIPES, store, lambda plan: nullcontext(lambda event: None))
    for number, (runner, mean) in enumerate(zip(race.runners, MEANS, strict=True)):
        rounds = 1 if number == 1 else 3
        runner.dev = [made(mean, 100 * number + seed) for seed in range(rounds)]
        runner.test = [made(mean, 100 * number + 50 + seed) for seed in range(rounds)]
        runner.lost = "after 1 of 3 rounds, 30.0 points behind on dev" if number == 1 else ""
        runner.tested = number != 1
    return race


def made(level: float, number: int) -> Any:
    """An evaluation; the one on dev sentences and the one on test sentences, 50 further, are of the same model."""
    return SimpleNamespace(key=str(number), level=level, model=MODELS[number % 50])


@pytest.fixture
def points() -> list[Points]:
    scored = {200 * 2**k: [made(0.5 + k / 20, 1000 + 10 * k + seed) for seed in range(3)] for k in range(4)}
    return [Points(TRANSLATED, RECIPES[0], scored)]


CONSTANT = Constant("X for every word", *(Samples((), np.linspace(0, 1 / 3, 40)[None] * part) for part in (1, 0.9)))


def told(race: Race, points: Sequence[Points]) -> list[Section]:
    """As a run tells it."""
    verdict = verdict_section(outcome_of(race, CONSTANT), race.request, None)
    curves = [curve_of(each, race.scores) for each in points]
    return [verdict, more_section(curves, race.request.measure)] if curves else [verdict]


@pytest.mark.parametrize("with_curves", [True, False])
def test_the_verdict_is_told_again(race: Race, points: list[Points], with_curves: bool, tmp_path: Path) -> None:
    points = points if with_curves else []
    record_of(race, CONSTANT, points).write(tmp_path / "advice.json")
    record = read_record(tmp_path / "advice.json")
    evaluations = [each for runner in race.runners for each in (*runner.dev, *(runner.test if runner.tested else ()))]
    evaluations += [each for part in points for rounds in part.scored.values() for each in rounds]
    assert sorted(record.scores) == sorted(each.key for each in evaluations)
    expected = told(race, points)
    again = record.sections({each.key: each for each in evaluations}, race.store)
    assert [(section.title, section.findings, section.tables, section.commands) for section in again] == [
        (section.title, section.findings, section.tables, section.commands) for section in expected
    ]
    assert (
        "world-natural adapted was dropped after round 1, behind on the dev sentences; the table has its score."
        in again[0].findings
    )
    assert with_curves == any("twice as many as there are" in said for said in again[-1].findings)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"request": {"language": 1}}'])
def test_what_is_no_record_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "advice.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"advice\.json: "):
        read_record(tmp_path / "advice.json")
