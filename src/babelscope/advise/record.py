"""What a run has decided by: recipes, rounds and the keys of their scores; the scores themselves are in the store.

With both the verdict is told again. Nothing is computed, and neither the texts nor the encoders need be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import numpy as np
from pydantic import model_validator

from babelscope.advise.curves import Points, curve_of
from babelscope.advise.floor import Constant
from babelscope.advise.more import more_section
from babelscope.advise.outcome import outcome_of
from babelscope.advise.race import Race
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request
from babelscope.advise.search import USUAL, Runner, Training
from babelscope.advise.verdict import verdict_section
from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.outside import read_json, write_text
from babelscope.core.samples import Samples
from babelscope.core.step import Step
from babelscope.core.validation import validate
from babelscope.encoders.places import display_name
from babelscope.engine.events import Event
from babelscope.engine.store import Store
from babelscope.report.section import Section
from babelscope.steps import Evaluate
from babelscope.steps.plan import Plan

_FORMER = {"treebank": "labelled", "source_treebank": "source_labelled"}
"""Former name of a request's field -> its name."""
Keys = tuple[str, ...]
"""Of scores, one a round."""


class Raced(Declaration):
    """A recipe in the race."""

    recipe: Recipe
    dev: Keys
    test: Keys
    """None of what was dropped, unless it is the best that may be exported."""
    lost: str
    """Why it was dropped; empty of the others."""
    training: Training = USUAL
    rising: float | None = None
    """How much better it got at last (`Runner.rising`); in older records, between its last two validations."""
    unlearned: bool = False
    """Whether it was hardly better than a constant answer when training ended, so that nothing is decided of it."""


class Curved(Declaration):
    """A recipe with fewer and fewer sentences of one kind."""

    over: str
    recipe: Recipe
    scored: dict[int, Keys]


class ConstantScores(Declaration):
    """What a constant answer adds to its score, sentence by sentence."""

    name: str
    dev: tuple[float, ...]
    test: tuple[float, ...]


class Record(Declaration):
    """All that a verdict is told from, but for the scores."""

    request: Request
    recipes: tuple[Raced, ...]
    constant: ConstantScores
    curves: tuple[Curved, ...]

    @model_validator(mode="before")
    @classmethod
    def _as_it_is_written_now(cls, given: Any) -> Any:
        """An older one calls labelled sentences a treebank; the oldest do not say whether trainings were chosen."""
        match given:
            case {"request": {**request}}:
                former = {now: request.pop(name) for name, now in _FORMER.items() if name in request}
                return {**given, "request": {"search": False, **former, **request}}
        return given

    def write(self, path: Path) -> None:
        """Write it as JSON; `InputError` where it cannot be written."""
        write_text(path, self.model_dump_json(indent=1) + "\n")

    @property
    def scores(self) -> Iterator[str]:
        """The keys of all of them."""
        for raced in self.recipes:
            yield from (*raced.dev, *raced.test)
        for curved in self.curves:
            for keys in curved.scored.values():
                yield from keys

    def sections(self, steps: Mapping[str, Step], store: Store) -> list[Section]:
        """The verdict and the curves, as the run has told them.

        Args:
            steps: evaluations by their keys.
            store: that has their scores.
        """
        race = Race(self.request, [], store, _unwatched)
        race.runners = [_runner(raced, steps) for raced in self.recipes]
        samples = (Samples((), np.array([scores])) for scores in (self.constant.dev, self.constant.test))
        outcome = outcome_of(race, Constant(self.constant.name, *samples))
        verdict = verdict_section(outcome, self.request, None)
        curves = [curve_of(_points(curved, steps), race.scores) for curved in self.curves]
        return [verdict, more_section(curves, self.request.measure)] if curves else [verdict]


def read_record(path: Path) -> Record:
    """What `Record.write` has written.

    Raises:
        InputError: there is no such file, or it is something else.
    """
    declared = read_json(path)
    try:
        return validate(Record, declared, str(path))
    except ValueError as error:
        raise InputError(f"{path}: not what babelscope advise --run writes beside its page: {error}") from None


def record_of(race: Race, constant: Constant, points: Sequence[Points]) -> Record:
    """Of a race that was run, with encoders by the names that rows have, wherever they are."""
    request = race.request.model_copy(update={"encoders": tuple(map(display_name, race.request.encoders))})
    dev, test = (tuple(samples.table[0].tolist()) for samples in (constant.dev, constant.test))
    return Record(
        request=request,
        recipes=tuple(
            Raced(recipe=_shown(runner.recipe), dev=_keys(runner.dev), test=_keys(runner.test if runner.tested else ()),
                  lost=runner.lost, training=runner.training, rising=runner.rising, unlearned=runner.is_unlearned)
            for runner in race.runners
        ),
        constant=ConstantScores(name=constant.name, dev=dev, test=test),
        curves=tuple(
            Curved(over=each.over, recipe=_shown(each.recipe),
                   scored={number: _keys(scored) for number, scored in each.scored.items()})
            for each in points
        ),
    )  # fmt: skip


def _runner(raced: Raced, steps: Mapping[str, Step]) -> Runner:
    dev, test = (_evaluations(keys, steps) for keys in (raced.dev, raced.test))
    return Runner(
        raced.recipe, dev, test, raced.lost, bool(test), raced.training, rise=raced.rising, unlearned=raced.unlearned
    )


def _points(curved: Curved, steps: Mapping[str, Step]) -> Points:
    scored = {number: _evaluations(keys, steps) for number, keys in curved.scored.items()}
    return Points(curved.over, curved.recipe, scored)


def _evaluations(keys: Keys, steps: Mapping[str, Step]) -> list[Evaluate]:
    return [cast("Evaluate", steps[key]) for key in keys]


def _shown(recipe: Recipe) -> Recipe:
    return recipe._replace(encoder=display_name(recipe.encoder))


def _keys(scored: Sequence[Evaluate]) -> Keys:
    return tuple(each.key for each in scored)


def _unwatched(plan: Plan) -> AbstractContextManager[Callable[[Event], None]]:
    return nullcontext(lambda event: None)
