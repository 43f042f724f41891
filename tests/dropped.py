"""Plans of steps whose weights are dropped, run in this process: they are used up in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from babelscope.core.step import Step
from babelscope.engine.events import Event
from babelscope.engine.run import Outcome, run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from toy_runs import execute
from toy_steps import Heavy, Toy


class Here:
    """A crew of this process: `slots` steps at once, which end in the order that `choose` says."""

    def __init__(self, store: Store, slots: int = 1, choose: Callable[[int], int] = lambda count: 0):
        self.store, self.slots, self.choose, self.given = store, slots, choose, list[Step]()
        self.unread = list[Step]()
        """What was given though an input was not whole."""
        self.execute: Callable[[Step, Store], object] = execute
        self.first: Callable[[], object] = lambda: None
        """What is done before anything is given."""

    def __enter__(self) -> Here:
        self.first()
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def has_room(self, step: Step) -> bool:
        return len(self.given) < self.slots

    def give(self, step: Step, place: int) -> None:
        self.given.append(step)

    def listen(self, seconds: float) -> Iterator[Event]:
        if not self.given:
            return
        step = self.given.pop(self.choose(len(self.given)))
        self.unread += [needed for needed in step.inputs if not self.store.is_whole(needed.key)]
        event = self.execute(step, self.store)
        assert isinstance(event, Event)
        yield event


def run(plan: Plan, store: Store, drop: bool = True, **more: object) -> Outcome:
    return run_plan(plan, store, crew=more.pop("crew", None) or Here(store), drop=drop, **more)


def tuned(outside: Path, *languages: str) -> tuple[Plan, Heavy]:
    """A step whose value can be dropped, and what reads it."""
    heavy = Heavy(name="heavy", outside=str(outside))
    return Plan.of(Toy(name=language, outside=str(outside), left=heavy) for language in languages), heavy


def there(store: Store, step: Step) -> bool:
    return (store.place_of(step.key) / "value").exists()
