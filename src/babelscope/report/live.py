"""The page of a study that runs: how far it is, the losses of running steps, logs of failed ones, and what is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from babelscope.core.row import Row
from babelscope.report.figures import Figure, line_chart
from babelscope.report.model import Report
from babelscope.report.page import asset, hash_of, templates
from babelscope.report.section import Section
from babelscope.report.tables import Table
from babelscope.report.words import capitalised, counted


class Course(NamedTuple):
    """A running step, and how it went so far."""

    key: str
    title: str
    points: Sequence[tuple[int, int, dict[str, float]]]
    """Units done, all units, and numbers such as the loss; in order."""

    @property
    def done(self) -> int:
        """Units that are done."""
        return self.points[-1][0] if self.points else 0

    @property
    def total(self) -> int:
        """All units; 0: not known."""
        return self.points[-1][1] if self.points else 0

    @property
    def said(self) -> str:
        """`120 of 300, loss 1.24`."""
        numbers = self.points[-1][2] if self.points else {}
        told = [f"{name} {value:.4g}" for name, value in numbers.items()]
        return ", ".join([f"{self.done:,} of {self.total:,}", *told])


class FailedStep(NamedTuple):
    """A step that failed, and the end of what it printed."""

    key: str
    title: str
    log: str


@dataclass(frozen=True)
class Live:
    """What the page shows."""

    title: str
    question: str
    done: int
    steps: int
    states: Table
    running: Sequence[Course] = ()
    failed: Sequence[FailedStep] = ()
    sections: Sequence[Section] = ()
    warnings: Sequence[str] = ()
    """Of the report as a whole."""

    @property
    def summary(self) -> str:
        """A sentence."""
        parts = [f"{self.done:,} of {self.steps:,} steps are done"]
        parts += [f"{len(self.running)} running"] if self.running else []
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        return ", ".join(parts) + ("." if self.running or self.done == self.steps else "; nothing is running.")

    @property
    def figures(self) -> list[Figure]:
        """A chart for each number that running steps tell, a line a step."""
        rows = [
            Row(name, value, encoder=course.title, key=course.key, step=done)
            for course in self.running
            for done, _, numbers in course.points
            for name, value in numbers.items()
        ]
        report = Report("", "", rows)
        by_name: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_name[row.measure].append(row)
        caption = "Of single batches, as training tells them now and then."
        return [
            Figure(f"{capitalised(name)} of running steps", caption, line_chart(report, told, "step"))
            for name, told in by_name.items()
        ]


def render_live(live: Live, fragment: bool = False) -> str:
    """The page, or the part of it that changes. All text from outside is escaped."""
    environment = templates()
    environment.filters["counted"] = counted
    return environment.get_template("live.html.j2").render(
        live=live, fragment=fragment, style=asset("page.css"), script=asset("live.js")
    )


def live_policy() -> str:
    """What the page may load and run: its own style and script, and the changing part from where it came."""
    script = hash_of(asset("live.js"))
    return f"default-src 'none'; script-src {script}; style-src 'unsafe-inline'; connect-src 'self'"
