"""Numbers in sentences."""

from __future__ import annotations

from babelscope.core.intervals import Interval
from babelscope.report.model import scale


def in_words(interval: Interval, unit: str) -> str:
    """`87.3% [86.1, 88.5]`; without the brackets where the interval is unknown."""
    factor, symbol = scale(unit)
    return bounded(interval, factor, symbol if symbol == "%" else f" {symbol}".rstrip())


def in_points(interval: Interval) -> str:
    """A difference of shares: `5.8 points [5.1, 6.4]`."""
    return bounded(interval, 100, " points")


def bounded(interval: Interval, factor: float = 1.0, symbol: str = "", digits: int = 1) -> str:
    """A mean, times a factor, with what stands after it, and its interval where that is known."""
    mean = f"{interval.mean * factor:.{digits}f}{symbol}"
    if interval.low is None or interval.high is None:
        return minus(mean)
    return minus(f"{mean} [{interval.low * factor:.{digits}f}, {interval.high * factor:.{digits}f}]")


def chance_of(p: float) -> str:
    """`p = 0.012`, or `p < 0.001`."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def minus(text: str) -> str:
    """With minus signs in place of hyphens."""
    return text.replace("-", "−")


def capitalised(text: str) -> str:
    """The first letter large, the rest as it is."""
    return text[:1].upper() + text[1:]
