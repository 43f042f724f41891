"""Attempts, how they end, and how often."""

from __future__ import annotations

import contextlib
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import BabelscopeError

Attempt = Callable[[random.Random, Path], object]
"""Does something faulty in a folder of its own; may give how often it did what, in a Counter."""


class WrongError(Exception):
    """What should not have been."""


class HangError(BaseException):
    """An attempt takes too long. No error of any library, so that none takes it for one of its own."""


class Problem(NamedTuple):
    """What should not have been, and what does it again."""

    kind: str
    number: int
    what: str


def problems(
    attempts: Mapping[str, Attempt], folder: Path, numbers: Iterator[int], tally: Counter[str]
) -> Iterator[Problem]:
    """Make attempts, kind after kind; `tally` counts how they ended, and what they did."""
    for number in numbers:
        kind = list(attempts)[number % len(attempts)]
        place = folder / "attempt"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            with contextlib.chdir(place):
                done = attempts[kind](random.Random(f"{kind} {number}"), place)  # noqa: S311
            tally[f"{kind}: fine"] += 1
            tally.update(done if isinstance(done, Counter) else ())
        except BabelscopeError as error:
            tally[f"{kind}: refused"] += 1
            if not str(error).strip():
                yield Problem(kind, number, "an error without words")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # HangError, and what libraries in Rust raise where they panic
            tally[f"{kind}: WRONG"] += 1
            yield Problem(kind, number, traceback.format_exc(limit=-8))
