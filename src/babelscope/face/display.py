"""What people see while a plan runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from babelscope.engine.events import (
    Blocked,
    Damaged,
    Event,
    Failed,
    Finished,
    Found,
    Lost,
    Progressed,
    Started,
    Waiting,
)
from babelscope.steps.plan import Plan

LINE_INTERVAL = 30.0
"""Seconds between two lines about one running step, where there is no terminal that shows bars."""


class RunDisplay:
    """Bars on a terminal: all steps, and each running one with its numbers; plain lines elsewhere."""

    def __init__(self, plan: Plan, pending: int, console: Console):
        """`pending` is the number of steps that may be computed."""
        self.plan, self.console = plan, console
        done = len(plan.steps) - pending
        self.finished, self.pending = 0, pending
        self.bars: dict[str, TaskID] = {}
        self.spoke_at: dict[str, float] = {}
        self.progress = Progress(
            TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
            BarColumn(bar_width=12),
            MofNCompleteColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            expand=True,
            disable=not (console.is_terminal and self.pending),
        )
        self.total = self.progress.add_task("[bold]steps", total=len(plan.steps), completed=done, numbers="")

    def __enter__(self) -> RunDisplay:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.progress.disable:  # of which some versions of rich print an empty line
            self.progress.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        title = escape(bare := self.plan.steps[event.key].title)
        match event:
            case Started(key):
                self.bars[key] = self.progress.add_task(title, total=None, numbers="")
                self.spoke_at[key] = time.monotonic()
            case Progressed(key, done, total, numbers) if key in self.bars:
                spoken = "  ".join(f"{name} {value:.4g}" for name, value in numbers.items())
                self.progress.update(self.bars[key], completed=done, total=total, numbers=spoken)
                self._line(key, f"{bare}: {done}/{total}  {spoken}")
            case Finished(key):
                self._end(key)
                self.progress.advance(self.total)
                self.finished += 1
                self._line(key, f"{bare}: {event.seconds:.1f} s", at_once=True)
            case Found():
                self.progress.advance(self.total)
            case Lost(key, message):
                self._end(key)
                self.console.print(f"[yellow]lost[/] {title}: {escape(message)}; it is tried again")
            case Failed(key, message):
                self._end(key)
                self.console.print(f"[red]failed[/] {title}: {escape(message)}")
            case Blocked():
                self.console.print(f"[yellow]blocked[/] {title}: it needs a step that failed")
            case Waiting():
                self.console.print(f"waiting for another run to finish {title}")
            case Damaged(_, message, reader):
                self._end(reader or "")
                self.pending += 1
                self.progress.advance(self.total, -1)
                self.console.print(f"[yellow]computing again[/] {title}: {escape(message)}")

    def warn(self, message: str) -> None:
        """Show what is wrong beside the steps."""
        self.console.print(f"[yellow]note[/] {escape(message)}", highlight=False)

    def _end(self, key: str) -> None:
        if key in self.bars:
            self.progress.remove_task(self.bars.pop(key))

    def _line(self, key: str, text: str, at_once: bool = False) -> None:
        """A plain line where there is no terminal that shows bars; about a running step only now and then."""
        now = time.monotonic()
        if not self.console.is_terminal and (at_once or now - self.spoke_at[key] >= LINE_INTERVAL):
            self.spoke_at[key] = now
            self.console.print(f"[{self.finished}/{self.pending}] {text}", markup=False, highlight=False)


@contextmanager
def counting(done: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, and nothing elsewhere; what it gives is told how many of how many are done."""
    if not console.is_terminal:
        yield lambda count, total: None
        return
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(done)
        yield lambda count, total: progress.update(bar, completed=count, total=total)
