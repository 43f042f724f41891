"""Sides of a benchmark that take turns, and the table of what they took."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.machine import Machine, gigaflops

OURS = "babelscope"


class Run(NamedTuple):
    """What one run took, and the held-out loss that it led to, where it trained something."""

    seconds: float
    loss: float | None = None
    ceiling: float | None = None
    """Floating-point operations a second of large matrix products, the mean of just before and just after."""


Side = Callable[[int], Run]
"""Runs once, with a seed."""


@dataclass(frozen=True)
class Benchmark:
    """The same work, done by different sides."""

    name: str
    unit: str
    """Of the speed, such as tokens/s."""
    amount: float
    """How much of it a run does."""
    sides: Mapping[str, Side]
    """By name, `OURS` among them."""
    flops: float = 0.0
    """Floating-point operations of a run's matrix products; 0: not compared with the machine's ceiling."""
    precision: str = "float32"
    """Of the matrix products, whose ceiling is taken."""


@dataclass(frozen=True)
class Line:
    """One side of a benchmark."""

    benchmark: str
    side: str
    unit: str
    speed: float
    """The median over rounds."""
    times: float | None
    """How many times as fast as this side ours is: the median of the rounds' ratios; None of ours itself."""
    share_of_ceiling: float | None
    loss: float | None
    rounds: int


def lines_of(benchmark: Benchmark, rounds: int) -> list[Line]:
    """Run all sides in turns, after a round that warms up; each round begins with another side.

    Each run is said on the standard error, since a benchmark may take half an hour.
    """
    names = list(benchmark.sides)
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for place in range(len(names)):
            name = names[(number + place) % len(names)]
            run = _run(benchmark, name, number)
            print(f"{benchmark.name}, round {number} of {rounds}, {name}: {run.seconds:.2f} s", file=sys.stderr)
            if number:
                runs[name].append(run)
    return [_line(benchmark, name, runs) for name in names]


def _run(benchmark: Benchmark, name: str, number: int) -> Run:
    """With the ceiling around it, since a machine that others share is twice as fast at times."""
    if not benchmark.flops:
        return benchmark.sides[name](number)
    before = gigaflops(benchmark.precision)
    run = benchmark.sides[name](number)
    return run._replace(ceiling=1e9 * (before + gigaflops(benchmark.precision)) / 2)


def _line(benchmark: Benchmark, name: str, runs: Mapping[str, list[Run]]) -> Line:
    seconds = median(run.seconds for run in runs[name])
    losses = [run.loss for run in runs[name] if run.loss is not None]
    shares = [benchmark.flops / run.seconds / run.ceiling for run in runs[name] if run.ceiling]
    pairs = zip(runs[OURS], runs[name], strict=True)
    return Line(
        benchmark=benchmark.name,
        side=name,
        unit=benchmark.unit,
        speed=benchmark.amount / seconds,
        times=None if name == OURS else median(other.seconds / ours.seconds for ours, other in pairs),
        share_of_ceiling=median(shares) if shares else None,
        loss=median(losses) if losses else None,
        rounds=len(runs[name]),
    )


def write(lines: Iterable[Line], machine: Machine, folder: Path) -> None:
    """Write results.json, and results.md for people."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(lines)
    told = {"machine": asdict(machine), "lines": [asdict(line) for line in lines]}
    (folder / "results.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(markdown(lines, machine), encoding="utf-8")


def markdown(lines: Iterable[Line], machine: Machine) -> str:
    """A table, under what it was measured on."""
    header = ["Work", "Side", "Speed", "Times as fast", "Share of the ceiling", "Held-out loss", "Rounds"]
    rows = [header, ["---", "---", "---:", "---:", "---:", "---:", "---:"], *map(_cells, lines)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"# Speed\n\nWritten by `make bench`; not edited by hand. {machine.in_words}\n\n"
        "Sides take turns, after a round that warms up. Speeds are medians; how many times as fast Babelscope is, the "
        "median of the rounds' ratios. The ceiling is that of large matrix products in the same precision, on all "
        "cores, just before and after each run. All sides run in a process that keeps its memory, as Babelscope's "
        "workers do.\n\n"
        f"{table}\n"
    )


def _cells(line: Line) -> list[str]:
    times, share, loss = (
        "" if value is None else f"{value:{form}}"
        for value, form in ((line.times, ".2f"), (line.share_of_ceiling, ".2f"), (line.loss, ".4f"))
    )
    speed = f"{line.speed:,.{0 if line.speed >= 100 else 2}f} {line.unit}"
    return [line.benchmark, line.side, speed, times, share, loss, str(line.rounds)]
