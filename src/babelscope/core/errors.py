"""Every exception that Babelscope raises for something outside its own code.

All of them derive from `BabelscopeError`, so a caller can catch one type; the command line prints the message
alone (never a traceback) and exits with `exit_status`. A message says what was given, where, what is allowed,
and what to do next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from traceback import walk_tb


def did_you_mean(given: str, there: Iterable[str]) -> str:
    """The nearest of the names that there are, in brackets, to be said of one that there is not; empty if none is."""
    names = list(there)
    close = [] if given in names else get_close_matches(given, names, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def told(error: Exception) -> str:
    """What went wrong in code that may be another package's; of a method that its class lacks, the name."""
    if isinstance(error, NotImplementedError) and not error.args:
        *_, (frame, _) = walk_tb(error.__traceback__)
        owner = type(frame.f_locals["self"]).__name__ if "self" in frame.f_locals else "a class"
        return f"{owner} has no method {frame.f_code.co_name}, which it has to define"
    return f"{type(error).__name__}: {error}"


class BabelscopeError(Exception):
    """The root of the tree."""

    exit_status = 2


class InputError(BabelscopeError):
    """Something the user gave cannot be used: an option, a name, a missing file.

    `advice`, printed after the problem, is what to do next where many errors share it.
    """

    def __init__(self, problem: str, advice: str = ""):
        super().__init__(problem)
        self.advice = advice

    @property
    def in_a_line(self) -> str:
        """Problem and advice as sentences."""
        return ". ".join(filter(None, (str(self.args[0]), self.advice)))

    def __str__(self) -> str:
        return f"{self.args[0]}\n{self.advice}" if self.advice else str(self.args[0])


class DataError(InputError):
    """A data file is malformed; the message begins with `file:line:`."""

    def __init__(self, path: Path | str, line: int | None, problem: str):
        self.path, self.line, self.problem = Path(path), line, problem
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {problem}")


MOST_FAULTS = 20
"""That are listed one by one."""
UNFETCHED = "could not be fetched"
"""What is said of each text or data set for which there is no network."""


class StudyError(InputError):
    """A study declaration has faults, each with the path of its key.

    `faults` has all of them. The message lists them, too; if there are many, those that differ in the key alone are
    one, as is all that could not be fetched, and of what is left it has the first.
    """

    def __init__(self, origin: str, faults: list[str], advice: str = ""):
        faults = list(dict.fromkeys(faults))  # what is found in two ways is one
        self.origin, self.faults = origin, tuple(faults)
        count = f"{len(faults)} fault{'s' if len(faults) != 1 else ''}"
        listed = faults if len(faults) <= MOST_FAULTS else first_of(_joined(faults), MOST_FAULTS)
        super().__init__("\n  - ".join([f"{origin}: {count}", *listed]), advice)


def first_of(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many follow."""
    more = len(lines) - most
    return [*lines[:most], f"and {more} more like these"] if more > 0 else list(lines)


def _joined(faults: Iterable[str]) -> list[str]:
    """Those that differ in the key alone as one, and so all that could not be fetched: its cause is the network."""
    alike = defaultdict[str, list[tuple[str, str]]](list)
    for fault in faults:
        key, _, problem = fault.partition(": ")
        alike[UNFETCHED if UNFETCHED in problem else problem].append((key, problem))
    firsts = [(*same[0], f" and {len(same) - 1} more" if len(same) > 1 else "") for same in alike.values()]
    return [f"{key}{more}: {problem}" if problem else key for key, problem, more in firsts]


class OtherRunError(InputError):
    """A folder holds what another run has left there."""


class EncoderError(InputError):
    """An encoder cannot be loaded, or its family is not in the anatomy table."""


class StoreError(BabelscopeError):
    """The store is damaged, not writable, or of another format."""


class DamagedResult(StoreError):
    """A stored result is not as it was published."""


class DroppedError(StoreError):
    """Weights that are read of a stored result were dropped; its step, by `key`, computes them again."""

    def __init__(self, key: str, problem: str):
        super().__init__(f"{problem}; `babelscope export {key[:12]}` computes it again")
        self.key, self.problem = key, problem


class StepError(BabelscopeError):
    """A step failed while it ran."""

    exit_status = 1


class NoMemoryError(StepError):
    """A batch does not fit into the memory of an accelerator."""


class DivergedError(StepError):
    """A training loss, or weights that were computed, became NaN or infinite."""
