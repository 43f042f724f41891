"""One line of what a study looks for."""

from __future__ import annotations

from typing import NamedTuple

from babelscope.core.inference import Effect
from babelscope.core.intervals import Interval
from babelscope.core.words import listed
from babelscope.report.judged import Verdict
from babelscope.report.model import Contrasted
from babelscope.report.sections.effect_settings import Compared, Setting
from babelscope.report.shown import Shown


class Line(NamedTuple):
    """A contrast in a setting, with its verdict."""

    contrast: Contrasted
    setting: Setting
    where: str
    """The task's title, with the training where the task has several."""
    within: str
    """The languages that the claim is about alone, after a comma; empty: all of them."""
    compared: Compared
    effect: Effect | None
    is_claim: bool
    """Whether it is a claim of the study; else it is a line of the table alone."""
    sides: tuple[str, str]
    """The two conditions in words."""
    verdict: Verdict = Verdict.NOT_YET
    family: int = 0
    """Of how many claims it is one."""

    @property
    def scope(self) -> str:
        """What the line is about: tasks, and languages where it is not all of these."""
        return self.where + self.within + self.lacking

    @property
    def lacking(self) -> str:
        """What only one of the two sides has, after a comma; empty: nothing."""
        left_out = self.compared.left_out
        return f", without {listed(list(left_out))}, which only one of the two has" if left_out else ""

    @property
    def shown(self) -> Shown:
        """How its size is told."""
        return self.compared.shown

    @property
    def between(self) -> str:
        """What is compared."""
        return (" / " if self.shown.as_ratio else " − ").join(self.sides)

    @property
    def against(self) -> str:
        """The two in a sentence; of one encoder under two schedules the second is the schedule alone."""
        first, second = self.contrast.first, self.contrast.second
        alike = second.schedule and (first.encoder, first.surgery) == (second.encoder, second.surgery)
        return f"{self.sides[0]} against {f'schedule {second.schedule}' if alike else self.sides[1]}"

    @property
    def margin(self) -> float | None:
        """How small a difference should be, where the claim is that it is."""
        return self.shown.margin(self.contrast.margin)

    @property
    def size(self) -> Interval | None:
        """How much better the first is, as it is shown."""
        return self.shown.of_better(self.effect.interval) if self.effect else None
