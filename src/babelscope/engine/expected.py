"""How long steps are expected to take: as long as their like took, in this study or in others of the same encoder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from statistics import fmean

from babelscope.core.errors import BabelscopeError
from babelscope.core.step import Step
from babelscope.engine.recall import recall
from babelscope.engine.store import Store
from babelscope.steps import Load, Training
from babelscope.steps.duration import duration_of
from babelscope.steps.plan import Plan, declared

SAMPLED = 100
"""Results of a kind whose times are looked at for what the others are expected to take."""
LOOKED_AT = 1000
"""Results of a store that are looked at for those of other studies."""


def seconds(plan: Plan, store: Store) -> dict[str, float]:
    """Mean seconds of a step, by kind; kinds of which nothing is known are left out.

    Those of the plan's own results, of many over a sample; of a kind that has none, of results of other studies with
    an encoder of the plan, trainings by their number of optimizer steps.
    """
    done, published = defaultdict[str, list[str]](list), store.published(plan.steps)
    for key, step in plan.steps.items():
        if key in published:
            done[type(step).__name__].append(key)
    samples = {kind: sample(keys, SAMPLED) for kind, keys in done.items()}
    known = {kind: fmean(store.manifest(key)["seconds"] for key in keys) for kind, keys in samples.items()}
    pending = [step for step in plan.steps.values() if type(step).__name__ not in known]
    return known | _elsewhere(pending, store) if pending else known


def sample(keys: list[str], most: int) -> list[str]:
    """Evenly from the first to the last, so many at most."""
    count = min(len(keys), most)
    return [keys[place * len(keys) // count] for place in range(count)]


def _elsewhere(pending: list[Step], store: Store) -> dict[str, float]:
    """By kind, the mean seconds of pending steps, from what other studies took with one of their encoders."""
    by_kind = defaultdict[str, list[Step]](list)
    for step in pending:
        by_kind[type(step).__name__].append(step)
    encoders = {kind: _encoders(steps) for kind, steps in by_kind.items()}
    rates = defaultdict[str, list[float]](list)
    for kind, made_of, rate in _results(store, by_kind):
        if len(rates[kind]) < SAMPLED and made_of & encoders[kind]:
            rates[kind].append(rate)
    return {kind: fmean(rates[kind]) * fmean(map(_length, by_kind[kind])) for kind in by_kind if rates[kind]}


def _results(store: Store, kinds: Container[str]) -> Iterator[tuple[str, set[str], float]]:
    """Kind, encoders, and seconds over length of results of these kinds.

    Those that cannot be made again, or whose data are gone, are left out.
    """
    for key in sample(store.keys(), LOOKED_AT):
        try:
            manifest = store.manifest(key)
            if manifest["step"] in kinds:
                step = recall(store, key)
                yield manifest["step"], _encoders([step]), manifest["seconds"] / _length(step)
        except BabelscopeError:
            continue


def _encoders(steps: Iterable[Step]) -> set[str]:
    """The digests of the encoders that steps come from, through all that they need."""
    seen: dict[str, Step] = {}
    new = list(steps)
    while new:
        seen |= {step.key: step for step in new}
        new = [needed for step in new for needed in step.inputs if needed.key not in seen]
    return {value.content for value in declared(seen.values()) if isinstance(value, Load)}


def _length(step: Step) -> int:
    """What the time of a step grows with: of a training its optimizer steps; of any other it is taken to be one."""
    return duration_of(step).steps if isinstance(step, Training) else 1
