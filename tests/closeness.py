"""How near two computations of one number must be, from the format of numbers and the size of the sum.

Machines add the terms of a sum in different orders: by 4, 8 or 16 at once, on one thread or several, fused with the
multiplication or not. Each addition rounds, by at most half the format's epsilon; of many, errors grow like the square
root of their number. So a tolerance is measured by that, never by what some machine happened to give.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

SLACK = 16
"""A network is a chain of such sums, each of which passes on the errors of those before it; this allows for them."""


def tolerance(terms: int, magnitude: float, precision: torch.dtype = torch.float32) -> float:
    """How far apart two sums of so many terms may be, where the result, or a term, is as large as `magnitude`."""
    return SLACK * torch.finfo(precision).eps * math.sqrt(terms) * magnitude


def assert_close(
    actual: Any, expected: Any, terms: int, magnitude: float | None = None, precision: torch.dtype = torch.float32
) -> None:
    """Numbers that come from sums of about `terms` terms are the same but for the order of the additions.

    `magnitude` is how large sums or terms are; None: as large as the largest of the expected numbers.
    """
    actual, expected = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    size = float(np.abs(expected).max(initial=0.0)) if magnitude is None else magnitude
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance(terms, size, precision))
