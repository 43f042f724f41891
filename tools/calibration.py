"""How often an interval misses and a claim is false, in simulations where the truth is known.

    python tools/calibration.py [--replicates 2000]

Two systems, each tuned with several seeds, answer the same sentences, right or wrong. An answer depends on how hard the
sentence is, on what the system finds hard, on the seed, and on chance; the parts are set so that two seeds of a system
agree on a given share of the sentences. Prints a table of shares with their own 95% Monte-Carlo intervals.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from babelscope.core.inference import FEWEST_SEEDS, Effect, best_of, by_language, effect, holm

ACCURACY = 0.8
OF_SYSTEM = 0.2
"""Share of what sentences decide that is a system's own: what one finds hard, the other need not."""
SEED_SD = 0.05
"""Of a seed's mean, in standard deviations of the normal that decides an answer: 1.4 points of accuracy."""


def answers(
    generator: np.random.Generator,
    systems: int,
    seeds: int,
    sentences: int,
    agreement: float,
    gains: NDArray[np.float64],
) -> NDArray[np.float64]:
    """[systems, seeds, sentences]: 1 for right. `gains` are how much more accurate each system is, in shares."""
    shared = _shared(agreement)
    hard = generator.standard_normal((1, 1, sentences)) * math.sqrt(shared * (1 - OF_SYSTEM))
    own = generator.standard_normal((systems, 1, sentences)) * math.sqrt(shared * OF_SYSTEM)
    seed = generator.standard_normal((systems, seeds, 1)) * SEED_SD
    chance = generator.standard_normal((systems, seeds, sentences)) * math.sqrt(1 - shared)
    threshold = norm.ppf(ACCURACY + gains) * math.sqrt(1 + SEED_SD**2)
    return (hard + own + seed + chance + threshold[:, None, None] > 0).astype(np.float64)


def _shared(agreement: float) -> float:
    """Correlation of two seeds' latent answers at which they agree so often."""
    edge = float(norm.ppf(ACCURACY))

    def agree(correlation: float) -> float:
        both = multivariate_normal.cdf([edge, edge], cov=[[1, correlation], [correlation, 1]])
        return float(1 - 2 * (ACCURACY - both))

    return float(brentq(lambda correlation: agree(correlation) - agreement, 1e-6, 1 - 1e-6))


def differences(seeds: int, sentences: int, agreement: float, gain: float, replicates: int) -> Iterator[Effect]:
    """Of pairs of systems, the first better by `gain`."""
    generator = np.random.default_rng([seeds, sentences, round(100 * agreement), round(1000 * gain)])
    for _ in range(replicates):
        first, second = answers(generator, 2, seeds, sentences, agreement, np.array([gain, 0.0]))
        yield effect(first - second)


def pairs(replicates: int) -> Iterator[str]:
    """False claims, coverage and power of one difference."""
    yield "| seeds | sentences | agreement | too few to say | false | coverage | 1 point | 2 points | 5 points |"
    yield "| ---: " * 9 + "|"
    for seeds, sentences, agreement in product((2, 3, 5, 10), (277, 500, 1500), (0.7, 0.8, 0.9)):
        cells = [_row(list(differences(seeds, sentences, agreement, gain, replicates)), gain) for gain in GAINS]
        said, false, coverage = cells[0]
        power = (share for _, share, _ in cells[1:])
        yield f"| {seeds} | {sentences} | {agreement} | {said} | {false} | {coverage} | {' | '.join(power)} |"


GAINS = (0.0, 0.01, 0.02, 0.05)


def _row(effects: list[Effect], gain: float) -> tuple[str, str, str]:
    """Shares of all replicates: without an interval, that show a difference; and of the intervals, that hold it."""
    known = [each for each in effects if each.known]
    shows = sum(each.p is not None and each.p < 0.05 for each in effects)
    holds = sum((each.low or 0) <= gain <= (each.high or 0) for each in known)
    return share(len(effects) - len(known), len(effects)), share(shows, len(effects)), share(holds, len(known))


def families(replicates: int) -> Iterator[str]:
    """Of twenty contrasts without a difference, and of the best of six."""
    yield "| seeds | at least one of 20 false (Holm) | best of six false (max t) |"
    yield "| ---: | ---: | ---: |"
    for seeds in (FEWEST_SEEDS, 5, 10):
        generator, false, best = np.random.default_rng(seeds), 0, 0
        for _ in range(replicates):
            reference, *others = answers(generator, 21, seeds, 500, 0.8, np.zeros(21))
            tables = [other - reference for other in others]
            adjusted = holm({str(k): _p(effect(table)) for k, table in enumerate(tables)})
            false += min(adjusted.values()) < 0.05
            best += min(1.0 if p is None else p for p in best_of(tables[:6], draws=4000)) < 0.05
        yield f"| {seeds} | {share(false, replicates)} | {share(best, replicates)} |"


def _p(difference: Effect) -> float:
    return 1.0 if difference.p is None else difference.p


LANGUAGE_SD = 0.02
"""Of a difference from language to language."""


def over_languages(replicates: int) -> Iterator[str]:
    """Of a difference that is nought over all languages there are, seen in some of them, each with its sentences."""
    yield "| seeds | languages | false | coverage | 1 point | 2 points | 5 points |"
    yield "| ---: " * 7 + "|"
    for seeds, languages in product((3, 5, 10), (3, 8, 15)):
        cells = [_row(list(_in_languages(seeds, languages, gain, replicates)), gain) for gain in GAINS]
        power = (share for _, share, _ in cells[1:])
        yield f"| {seeds} | {languages} | {cells[0][1]} | {cells[0][2]} | {' | '.join(power)} |"


def _in_languages(seeds: int, languages: int, gain: float, replicates: int) -> Iterator[Effect]:
    generator = np.random.default_rng([seeds, languages, round(1000 * gain)])
    for _ in range(replicates):
        gains = gain + LANGUAGE_SD * generator.standard_normal(languages)
        tables = []
        for own in gains:
            first, second = answers(generator, 2, seeds, 300, 0.8, np.array([own, 0.0]))
            tables.append(first - second)
        yield effect(by_language(tables))


def share(count: int, of: int) -> str:
    """In percent with its 95% Monte-Carlo interval (Wilson 1927)."""
    if not of:
        return ""
    centre, spread = (count + 1.92) / (of + 3.84), 1.96 * math.sqrt(count * (of - count) / of + 0.96) / (of + 3.84)
    return f"{100 * count / of:.1f} [{100 * max(0, centre - spread):.1f}, {100 * min(1, centre + spread):.1f}]"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=2000)
    given = parser.parse_args()
    for table in (pairs(given.replicates), families(given.replicates), over_languages(given.replicates)):
        for line in table:
            print(line, flush=True)
        print(flush=True)
