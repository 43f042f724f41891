"""How long steps are expected to take: as long as their like took, or else as a machine's calibration has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from babelscope.core.errors import BabelscopeError
from babelscope.core.step import Step
from babelscope.engine.calibration import Calibration
from babelscope.engine.environment import machine_in, this_machine
from babelscope.engine.progress import computed_again
from babelscope.engine.recall import recall
from babelscope.engine.store import Store
from babelscope.engine.work import shape_in, tuning_in, work_of
from babelscope.steps import Load
from babelscope.steps.plan import Plan, declared

SAMPLED = 100
"""Results of a kind whose times are looked at for what the others are expected to take."""
LOOKED_AT = 1000
"""Results of a store that are looked at for those of other studies."""
NEWEST = 50
"""Results of a kind that count, of those that were looked at."""
MIDDLE = (0.1, 0.9)
"""Between these shares of the results' rates is what is expected."""

Like = tuple[object, ...]
"""What steps have in common that take as long, token by token: class, device, and encoder's sizes."""


class Estimate(NamedTuple):
    """How long a step is expected to take."""

    seconds: float
    low: float
    high: float
    """Most steps take between these; they are `seconds` where nothing is known of it."""
    source: str
    """Where it is from, in words."""


class Taken(NamedTuple):
    """What a result took to compute."""

    seconds: float
    amount: float
    """As of `_amount`."""
    machine: str
    """Its processor or GPUs; empty where that was not kept."""
    finished: str
    """When, so that later ones are larger."""


def estimates(plan: Plan, store: Store, calibration: Calibration | None = None) -> dict[str, Estimate]:
    """Of a plan's steps that a run computes, by key; those of which nothing is known are left out.

    From results of the plan's own study, or of others, with an encoder of the same sizes on the same kind of device,
    by the tokens that are read, where they are known. Only where there are none, from a calibration.
    """
    published, again = store.published(plan.steps), computed_again(plan, store)
    done, pending = defaultdict[Like, list[str]](list), defaultdict[Like, list[Step]](list)
    for key, step in plan.steps.items():
        if key in published:
            done[like(step)].append(key)
        if key not in published or key in again:
            pending[like(step)].append(step)
    taken = {
        alike: [_taken(plan.steps[key], store.manifest(key), store) for key in sample(done[alike], SAMPLED)]
        for alike in pending
        if alike in done
    }
    taken |= _elsewhere(store, pending.keys() - taken.keys())
    told = calibration.source if calibration else ""
    expected = {}
    for alike, steps in pending.items():
        for step in steps:
            if alike in taken:
                expected[step.key] = _as_before(step, taken[alike])
            elif calibration and (estimate := _calibrated(step, calibration, told)):
                expected[step.key] = estimate
    return expected


def sample(keys: list[str], most: int) -> list[str]:
    """Evenly from the first to the last, so many at most."""
    count = min(len(keys), most)
    return [keys[place * len(keys) // count] for place in range(count)]


def like(step: Step) -> Like:
    """What is compared with what: encoders whose sizes cannot be seen are alike if they are the same."""
    return type(step).__name__, step.needs.device, shape_in(step) or _encoders([step])


def _as_before(step: Step, taken: list[Taken]) -> Estimate:
    """From results of like steps: those of this machine if there are any, the newest ones."""
    here = this_machine(step.needs.device)
    of_this = [result for result in taken if result.machine == here]
    counting = sorted(of_this or taken, key=lambda result: result.finished)[-NEWEST:]
    seconds, amounts = np.array([(result.seconds, result.amount) for result in counting]).T
    rates = np.quantile(seconds / amounts, MIDDLE)
    about = float(_amount(step) * seconds.sum() / amounts.sum())
    low, high = (float(_amount(step) * rate) for rate in rates)
    where = "this machine" if of_this else "another machine" if any(result.machine for result in counting) else None
    source = f"finished steps of {where}" if where else "finished steps, of which is not known on what machine"
    return Estimate(about, min(low, about), max(high, about), source)


def _calibrated(step: Step, calibration: Calibration, source: str) -> Estimate | None:
    work, shape, tuning = work_of(step), shape_in(step), tuning_in(step)
    if work is None or shape is None:
        return None
    speed = calibration.operations(step.needs.device, tuning.precision, tuning.threads, shape.width)
    seconds = work.operations(shape) / speed if speed else None
    return None if seconds is None else Estimate(seconds, seconds, seconds, source)


def _elsewhere(store: Store, wanted: Collection[Like]) -> dict[Like, list[Taken]]:
    """What results of other studies took, of these kinds.

    Those that cannot be made again, or whose data are gone, are left out.
    """
    taken = defaultdict[Like, list[Taken]](list)
    kinds = {alike[0] for alike in wanted}
    for step, manifest in _results(store, kinds) if kinds else ():
        if (alike := like(step)) in wanted and len(taken[alike]) < SAMPLED:
            taken[alike].append(_taken(step, manifest, store))
    return taken


def _results(store: Store, kinds: Collection[object]) -> Iterator[tuple[Step, Mapping[str, Any]]]:
    for key in sample(store.keys(), LOOKED_AT):
        try:
            manifest = store.manifest(key)
            if manifest["step"] in kinds:
                step = recall(store, key)
                _amount(step)  # reads its data
                yield step, manifest
        except BabelscopeError:
            continue


def _taken(step: Step, manifest: Mapping[str, Any], store: Store) -> Taken:
    machine = machine_in(store.environment(manifest), step.needs.device)
    return Taken(manifest["seconds"], _amount(step), machine, manifest.get("finished", ""))


def _amount(step: Step) -> float:
    """What the time of a step grows with: the tokens that its encoder reads; of any other it is taken to be one."""
    work = work_of(step)
    return work.tokens if work else 1.0


def _encoders(steps: Iterable[Step]) -> frozenset[str]:
    """The digests of the encoders that steps come from, through all that they need."""
    seen: dict[str, Step] = {}
    new = list(steps)
    while new:
        seen |= {step.key: step for step in new}
        new = [needed for step in new for needed in step.inputs if needed.key not in seen]
    return frozenset(value.content for value in declared(seen.values()) if isinstance(value, Load))
