"""Run benchmarks and write the table: `python -m benchmarks --sizes world small --precisions float32 --rounds 5`.

Without options: all sizes, in float32, and in bfloat16 too where the processor has units for it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from babelscope.corpora.prepared import PLACE
from babelscope.engine.child import ENVIRONMENT
from benchmarks import language, others, steps, training
from benchmarks.machine import Machine, units
from benchmarks.table import Benchmark, Line, lines_of, markdown, write


def main() -> None:
    """Print each line when it is known, and write all that are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", nargs="*", choices=training.SIZES, default=list(training.SIZES))
    parser.add_argument("--precisions", nargs="*", choices=("float32", "bfloat16"), default=_precisions())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--training-alone", action="store_true")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="a folder")
    given = parser.parse_args()
    machine, lines = Machine(), list[Line]()
    print(machine.in_words, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rest = [] if given.training_alone else _others(Path(folder))
        taggers = (training.benchmarks(given.sizes, precision) for precision in given.precisions)
        for benchmark in chain(*taggers, rest):
            lines += lines_of(benchmark, given.rounds)
            print(*markdown(lines, machine).splitlines()[-len(benchmark.sides) :], sep="\n", flush=True)
            write(lines, machine, given.output)


def _precisions() -> list[str]:
    return ["float32", *(["bfloat16"] if units() else [])]


def _keep_memory() -> None:
    """Begin again as Babelscope's workers do, which keep their memory; this makes the other sides faster, too."""
    kept = {name: value for name, value in ENVIRONMENT.items() if name.startswith("MALLOC_")}
    if not kept.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **kept})  # noqa: S606


def _others(folder: Path) -> Iterator[Benchmark]:
    """All that is no tagger's training; what is kept of data is kept in the folder."""
    os.environ[PLACE] = str(folder)
    yield language.benchmark("world")
    yield from others.benchmarks()
    yield from steps.benchmarks(folder)


if __name__ == "__main__":
    _keep_memory()
    main()
