"""A mixed model of differences by seed and language: what is left of them for seeds and languages to come.

`statsmodels` fits it (the extra `mixed`). Languages and seeds may lack each other's scores, which a table of sentences
may not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.intervals import Interval, t_p_value, t_reach

FEWEST = 5
"""Seeds, and languages, that the variance of their effects is estimated from."""


class Fitted(NamedTuple):
    """The fixed effect of a mixed model, and the spread of the random ones."""

    interval: Interval
    """Of the mean difference; `n` is the number of differences."""
    p: float
    language_sd: float
    seed_sd: float


def is_there() -> bool:
    """Whether statsmodels is installed."""
    return find_spec("statsmodels") is not None


def fit(differences: Mapping[tuple[str, int], float]) -> Fitted | None:
    """A mean difference with languages and seeds as crossed random effects (Baayen, Davidson and Bates 2008).

    That of score on condition with random intercepts and random slopes of the condition; paired by language and seed,
    the intercepts cancel. Estimated by restricted maximum likelihood; the interval is Student's with as many degrees
    of freedom as the smaller number of levels allows. None with fewer than five seeds or languages, where the
    estimate does not converge, or where nothing varies.

    Args:
        differences: by language and seed.

    Raises:
        ModuleNotFoundError: statsmodels is not installed.
    """
    languages, seeds = [language for language, _ in differences], [seed for _, seed in differences]
    values = np.array(list(differences.values()), dtype=np.float64)
    fewest = min(len(set(languages)), len(set(seeds)))
    if fewest < FEWEST or np.ptp(values) == 0:
        return None
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec
    from statsmodels.tools.sm_exceptions import ConvergenceWarning

    scale = values.std()  # shares differ by hundredths, which the optimiser takes for nothing
    levels, indicators = zip(_indicators(languages), _indicators(seeds), strict=True)
    random = VCSpec(["language", "seed"], [[each] for each in levels], [[each] for each in indicators])
    ones = np.ones(len(values))
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # a variance of 0 is at the boundary
        fitted = MixedLM(values / scale, ones[:, None], groups=ones, exog_vc=random).fit(reml=True)
    mean, error = float(fitted.fe_params[0]) * scale, float(fitted.bse_fe[0]) * scale
    if not (fitted.converged and math.isfinite(error) and error > 0):
        return None
    reach, p = t_reach(error, fewest - 1), t_p_value(mean, error, fewest - 1)
    language_sd, seed_sd = (math.sqrt(max(0.0, float(part))) * scale for part in fitted.vcomp)
    return Fitted(Interval(mean, mean - reach, mean + reach, None, len(values)), p, language_sd, seed_sd)


def _indicators(levels: Sequence[object]) -> tuple[list[str], NDArray[np.float64]]:
    """The levels there are, and [values, levels]: 1 where a value has the level."""
    names = list(dict.fromkeys(map(str, levels)))
    return names, np.array([[float(str(level) == name) for name in names] for level in levels])
