"""Regular expressions that users write: those that can take time without bound on a text are refused."""

from __future__ import annotations

import re
from math import prod
from re import _constants, _parser  # type: ignore[attr-defined]  # alike in all versions from 3.11 on
from typing import Any

MOST_WAYS = 100_000
"""In which an expression may match at one place: `(a+)+` has twice as many with each letter, and tries all of them."""


def check_pattern(pattern: str, longest: int, most: int = MOST_WAYS) -> None:
    """Refuse what is no regular expression, or one that may try for hours.

    Args:
        pattern: the expression.
        longest: how often `*` and `+` are taken to repeat, at most: about as many letters as there are.
        most: the ways in which it may match at one place.

    Raises:
        ValueError: says what is wrong, and what to write instead.
    """
    try:
        re.compile(pattern)
        ways = _ways(_parser.parse(pattern), longest)
    except (re.error, OverflowError) as error:
        raise ValueError(f"{pattern!r:.100} is not a regular expression: {error}") from None
    except RecursionError:
        raise ValueError(f"{pattern!r:.100} is not a regular expression: nested too deep") from None
    if ways > most:
        raise ValueError(
            f"{pattern!r:.100} can match in more than {most:,} ways, and would try all of them: leave out "
            "repetitions inside of repetitions, or say how often at most, such as a{0,9} for a*"
        )


def _ways(parts: Any, longest: int) -> int:
    """In how many ways an expression can match at one place, at most, counted up to one more than is allowed."""
    ways = 1
    for kind, about in parts:
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            least, most, inside = about
            ways *= _repeated(_ways(inside, longest), min(least, longest), min(most, longest))
        elif kind is _constants.BRANCH:
            ways *= sum(_ways(branch, longest) for branch in about[1])
        else:
            inner = about if isinstance(about, tuple | list) else [about]
            ways *= prod(_ways(part, longest) for part in inner if isinstance(part, _parser.SubPattern))
        ways = min(ways, MOST_WAYS + 1)
    return ways


def _repeated(once: int, least: int, most: int) -> int:
    """In how many ways what matches in `once` ways does so from `least` to `most` times, counted up as far."""
    if once == 1:
        return most - least + 1
    ways = 0
    for times in range(least, most + 1):
        ways += once ** min(times, MOST_WAYS.bit_length())  # which of 2 is more than that many
        if ways > MOST_WAYS:
            break
    return ways
