"""What computes the steps of a run: processes of this machine, or a cluster's. The run gives steps and hears events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from babelscope.core.step import Step
from babelscope.engine.events import Event


class Crew(AbstractContextManager["Crew"], Protocol):
    """Workers that read and write one store. Leaving the context stops them, or lets go of them.

    Of every step that it was given, a crew tells one event that ends the attempt: any but `Started` and `Progressed`.
    A result is in the store by then, and never passes through the crew.
    """

    def has_room(self, step: Step) -> bool:
        """Whether it takes this step too."""

    def give(self, step: Step, place: int) -> None:
        """Let a worker execute the step; those of a lower place go first."""

    def listen(self, seconds: float) -> Iterator[Event]:
        """What workers say within `seconds`, or sooner."""
