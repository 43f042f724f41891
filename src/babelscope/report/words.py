"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.core.intervals import ROUNDING, Interval
from babelscope.report.score import scale


def in_words(interval: Interval, unit: str) -> str:
    """`87.3% [86.1, 88.5]`; without the brackets where the interval is unknown."""
    factor, symbol = scale(unit)
    return bounded(interval, factor, symbol if symbol == "%" else f" {symbol}".rstrip())


def in_points(interval: Interval) -> str:
    """A difference of shares: `5.8 points [5.1, 6.4]`."""
    return bounded(interval, 100, " points")


def bounded(interval: Interval, factor: float = 1.0, symbol: str = "", digits: int = 1) -> str:
    """A mean, times a factor, with what stands after it, and its interval where that is known."""
    value = 0.0 if abs(interval.mean) <= ROUNDING else interval.mean * factor
    mean = f"{value:.{digits}f}{symbol}"
    if interval.low is None or interval.high is None:
        return minus(mean)
    return minus(f"{mean} [{interval.low * factor:.{digits}f}, {interval.high * factor:.{digits}f}]")


def counted(number: int, noun: str = "") -> str:
    """`three languages`, `one seed`, `26 languages`; numbers up to twelve in letters."""
    letters = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    said = letters[number] if number < len(letters) else f"{number:,}"
    return f"{said} {noun}{'' if number == 1 else 's'}" if noun else said


def direction(differences: Sequence[float], more: str, less: str, noun: str = "language") -> str:
    """Where differences are above and below 0: `higher in all five languages`, `higher in two of five languages`."""
    above, below = (sum(sign * each > ROUNDING for each in differences) for sign in (1, -1))
    whole = counted(len(differences), noun)
    every = f"all {whole}" if len(differences) > 2 else f"both {noun}s" if len(differences) == 2 else f"the one {noun}"
    parts = [(way, count) for way, count in ((more, above), (less, below)) if count]
    if len(parts) == 1 and parts[0][1] == len(differences):
        return f"{parts[0][0]} in {every}"
    told = " and ".join(f"{way} in {counted(count)}" for way, count in parts) or f"neither {more} nor {less}"
    return f"{told} of {whole}"


def chance_of(p: float) -> str:
    """`p = 0.012`, or `p < 0.001`."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def minus(text: str) -> str:
    """With minus signs in place of hyphens."""
    return text.replace("-", "−")


def capitalised(text: str) -> str:
    """The first letter large, the rest as it is."""
    return text[:1].upper() + text[1:]
