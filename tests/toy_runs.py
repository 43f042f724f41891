"""Plans of toy steps, and what runs them. Workers import the steps alone, which takes them half the time."""

from __future__ import annotations

import sys
from multiprocessing.reduction import ForkingPickler

from babelscope.core.step import Step
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.worker import attempt
from babelscope.face.session import Engine
from babelscope.steps.plan import Plan
from toy_steps import Gated, Slow, Steady, Toy


def gated_plan(outside: str) -> Plan:
    """A chain with a gate in its middle, and a step beside it."""
    first = Toy(name="first", outside=outside)
    gated = Gated(name="gated", outside=outside, left=first)
    return Plan.of([Toy(name="last", outside=outside, left=gated), Toy(name="beside", outside=outside, left=first)])


def run_gated(outside: str, store: str, scheduler: str | None = None) -> None:
    """What a test starts in a process of its own, to kill it."""
    _run(gated_plan(outside), store, scheduler)


def run_steady(outside: str, store: str) -> None:
    """Likewise."""
    _run(Plan.of([Steady(name="steady", outside=outside)]), store)


def steady_plan(outside: str) -> Plan:
    """A long step between short ones."""
    steady = Steady(name="steady", outside=outside, left=Toy(name="first", outside=outside))
    return Plan.of([Toy(name="last", outside=outside, left=steady), Toy(name="beside", outside=outside)])


def run_as_command(run: str, outside: str, store: str, engine: str, scheduler: str) -> None:
    """In place of `babelscope run STUDY --engine dask:FILE`."""
    assert (run, engine) == ("run", "--engine")
    _run(steady_plan(outside), store, scheduler)


def wide_plan(outside: str, width: int = 3) -> Plan:
    """So many steps, and as many that read one of them each."""
    first = [Slow(name=f"first {number}", outside=outside) for number in range(width)]
    return Plan.of(Toy(name=f"{step.name}, read", outside=outside, left=step) for step in first)


def _run(plan: Plan, store: str, scheduler: str | None = None) -> None:
    engine = Engine(scheduler) if scheduler else Engine(jobs=2)
    try:
        run_plan(plan, Store(store), crew=engine.crew(Store(store), plan.steps.values()))
    except KeyboardInterrupt:
        sys.exit(130)


class Deaf:
    """In place of the pipe to a runner."""

    def send(self, event: object) -> None:
        pass


def execute(step: Step, store: Store) -> object:
    """Compute a step in this process."""
    return attempt(step.key, ForkingPickler.dumps(step), store, Deaf())
