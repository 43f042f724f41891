"""A crew that executes steps in this very process, for tests of what studies find: a child loads its libraries anew.

Of processes there are tests of their own. A file of tests asks for it with
`pytestmark = pytest.mark.usefixtures("in_process")`.
"""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler

from babelscope.core.step import Step
from babelscope.engine.events import Event
from babelscope.engine.local import LocalCrew
from babelscope.engine.sharing.places import store_at
from babelscope.engine.worker import attempt


class InProcess(LocalCrew):
    """One step at a time, between two looks of the run."""

    step: Step | None = None

    def has_room(self, step: Step) -> bool:
        return self.step is None

    def give(self, step: Step, place: int) -> None:
        self.step = step

    def listen(self, seconds: float) -> Iterator[Event]:
        if step := self.step:
            told = Told()
            ended = attempt(step.key, bytes(ForkingPickler.dumps(step)), store_at(self._store.address), told)
            self.step = None
            yield from [*told, ended]


class Told(list[Event]):
    """In place of a child's end of the pipe."""

    send = list.append
