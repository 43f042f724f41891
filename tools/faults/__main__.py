"""Make attempts until the time is over; the exit status is 1 if anything went wrong."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import count
from pathlib import Path

import faults
from faults.attempts import Attempt, problems
from faults.corruptions import corruption_attempts
from faults.full_disk import full_disk_attempts
from faults.inputs import input_attempts
from faults.kills import kill_attempts
from faults.runners import runner_attempts
from faults.stores import Laboratory
from faults.tables import tables

SHARES = {"inputs": 0.35, "kills": 0.2, "corruptions": 0.3, "runners": 0.1, "full disk": 0.05}
"""Parts, with the share of the time that each has where all are wanted."""


def main() -> None:
    """The command."""
    given = _arguments()
    if given.sum:
        sys.stdout.write(tables([Counter(json.loads(path.read_text())) for path in given.sum]))
        return
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1", COLUMNS="200")
    for name in ("BABELSCOPE_DATA", "BABELSCOPE_STORE"):
        os.environ.pop(name, None)
    print(f"--first {given.first}", flush=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what is in the background ignore it
    tally: Counter[str] = Counter()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            _attempt(given, Path(temporary), tally)
    finally:  # of what is interrupted, too
        if given.save:
            given.save.write_text(json.dumps(tally, indent=1, sort_keys=True) + "\n")
    print("\n".join(f"{name:60} {tally[name]}" for name in sorted(tally)))
    sys.exit(any("WRONG" in name for name in tally))


def _attempt(given: argparse.Namespace, folder: Path, tally: Counter[str]) -> None:
    """Part after part; what is wrong is printed."""
    parts = _parts(folder / "right")
    for part in given.parts:
        chosen = {kind: attempt for kind, attempt in parts[part].items() if _is_wanted(kind, given.kind)}
        numbers = _numbers(
            given, len(chosen), 60 * given.minutes * SHARES[part] / sum(SHARES[name] for name in given.parts)
        )
        for kind, number, what in problems(chosen, folder, numbers, tally):
            again = f"--parts {part!r} --kind {kind!r} --first {number} --attempts 1"
            print(f"{'-' * 80}\n{again}\n{what}", flush=True)


def _parts(folder: Path) -> dict[str, dict[str, Attempt]]:
    laboratory = Laboratory(folder / "study")
    return {
        "inputs": input_attempts(folder / "inputs"),
        "kills": kill_attempts(laboratory),
        "corruptions": corruption_attempts(laboratory),
        "runners": runner_attempts(laboratory),
        "full disk": full_disk_attempts(laboratory),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=faults.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--parts", nargs="+", choices=SHARES, default=list(SHARES))
    parser.add_argument("--kind", nargs="+", metavar="KIND", default=["*"], help="these kinds alone; * is any text")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the number of the first attempt")
    parser.add_argument("--attempts", type=int, help="so many of each kind instead of minutes")
    parser.add_argument("--save", type=Path, metavar="FILE", help="where the counts go, to be summed")
    parser.add_argument("--sum", type=Path, nargs="+", metavar="FILE", help="print a table of such counts instead")
    return parser.parse_args()


def _is_wanted(kind: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(kind, pattern) for pattern in patterns)


def _numbers(given: argparse.Namespace, kinds: int, seconds: float) -> Iterator[int]:
    end = time.monotonic() + seconds
    for done, number in enumerate(count(given.first)):
        if done >= given.attempts * kinds if given.attempts else time.monotonic() > end:
            return
        yield number


if __name__ == "__main__":
    main()
