"""How often an interval misses and a claim is false, in simulations where the truth is known.

    python tools/calibration.py [TABLE ...] [--replicates 2000]

Systems, each tuned with several seeds, answer the same sentences (`simulated.py`). Prints tables of shares with their
own 95% Monte-Carlo intervals; all of them, or those that are named.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np
from crossed_bootstrap import bootstrapped
from simulated import Setting, answers, differences, mean_share, share
from simulated_race import raced
from simulated_ratios import SCORES

from babelscope.core.inference import (
    FEWEST_SEEDS,
    Effect,
    Known,
    benjamini_hochberg,
    best_of,
    by_language,
    effect,
    equivalence,
    holm,
)
from babelscope.core.samples import Samples, drawn_of, mean_over
from babelscope.report.judged import over_places

GAINS = (0.0, 0.01, 0.02, 0.05)
SEEDS = (FEWEST_SEEDS, 5, 10)


def pairs(replicates: int) -> Iterator[str]:
    """False claims, coverage and power of one difference."""
    yield from _header("seeds", "sentences", "agreement", "false", "coverage", *_powers(GAINS))
    for seeds, sentences, agreement in product(SEEDS, (277, 500, 1500), (0.7, 0.8, 0.9)):
        setting = Setting(seeds, sentences, agreement)
        yield _line(seeds, sentences, agreement, *_cells(setting, GAINS, replicates))


def settings(replicates: int) -> Iterator[str]:
    """The same where systems are worse or better, and their seeds differ by less or more."""
    yield from _header("accuracy", "agreement", "SD of seeds", "seeds", "false", "coverage", *_powers(GAINS))
    less_or_more = ((0.8, 0.8, seed_sd) for seed_sd in (0.018, 0.107, 0.179))
    for accuracy, agreement, seed_sd in ((0.6, 0.7, 0.05), (0.95, 0.94, 0.05), *less_or_more):
        gains = [gain for gain in GAINS if accuracy + gain < 1]  # 5 points more than 95% is all
        for seeds in SEEDS:
            setting = Setting(seeds, 500, agreement, accuracy, seed_sd)
            cells = [*_cells(setting, gains, replicates), *[""] * (len(GAINS) - len(gains))]
            yield _line(accuracy, agreement, f"{setting.seed_points:.1f}", seeds, *cells)


def ratios(replicates: int) -> Iterator[str]:
    """The same of scores that are ratios of sums over sentences (`simulated_ratios.py`)."""
    yield from _header("score", "seeds", "false", "coverage", "coverage where they differ", "shows there")
    for score, seeds in product(SCORES, SEEDS):
        setting = Setting(seeds, 500)
        alike, apart = (list(map(effect, score.differences(setting, gain, replicates))) for gain in (0.0, 0.05))
        shows, holds = _shown(apart, score.difference(setting.accuracy, 0.05))
        yield _line(score.name, seeds, *_shown(alike, 0.0), holds, shows)


def bootstrap(replicates: int, draws: int = 1000) -> Iterator[str]:
    """How often intervals of the same tables hold no difference, with their median widths in points."""
    yield from _header("SD of seeds", "seeds", "as in reports", "percentile bootstrap", "studentised bootstrap")
    for seed_sd, seeds in product((0.018, 0.05, 0.107), SEEDS):
        setting = Setting(seeds, 500, seed_sd=seed_sd)
        tables = list(differences(setting, 0.0, replicates))
        analytic = [(each.low, each.high) for each in map(effect, tables)]
        ends = list(bootstrapped(tables, draws, np.random.default_rng(seeds)))
        columns = (analytic, [each.percentile for each in ends], [each.studentised for each in ends])
        yield _line(f"{setting.seed_points:.1f}", seeds, *map(_coverage_and_width, columns))


def _coverage_and_width(intervals: Sequence[tuple[float | None, float | None]]) -> str:
    known = np.array([interval for interval in intervals if interval[0] is not None], dtype=np.float64)
    holds = int(((known[:, 0] <= 0) & (known[:, 1] >= 0)).sum())
    return f"{share(holds, len(known))}, {100 * np.median(known[:, 1] - known[:, 0]):.1f}"


def equal(replicates: int) -> Iterator[str]:
    """How often systems are called as good as each other that differ by the margin, and such as are."""
    margins = (0.02, 0.05)
    named = [
        f"{apart}, margin {_points(margin)}" for margin in margins for apart in (f"{_points(margin)} apart", "alike")
    ]
    yield from _header("seeds", "sentences", *named)
    for seeds, sentences in product(SEEDS, (500, 1500)):
        setting = Setting(seeds, sentences)
        cells = [_called_equal(setting, gain, margin, replicates) for margin in margins for gain in (margin, 0.0)]
        yield _line(seeds, sentences, *cells)


def _called_equal(setting: Setting, gain: float, margin: float, replicates: int) -> str:
    p_values = (equivalence(effect(table), margin) for table in differences(setting, gain, replicates))
    return share(sum(p is not None and p < 0.05 for p in p_values), replicates)


def families(replicates: int) -> Iterator[str]:
    """Of twenty contrasts without a difference, and of the best of six."""
    yield from _header("seeds", "at least one of 20 false (Holm)", "best of six false (max t)")
    for seeds in SEEDS:
        generator, false, best = np.random.default_rng(seeds), 0, 0
        for _ in range(replicates):
            reference, *others = answers(generator, Setting(seeds, 500), [0.0] * 21)
            tables = [other - reference for other in others]
            false += min(holm(_p_values(map(effect, tables))).values()) < 0.05
            six = best_of([Known(table) for table in tables[:6]], draws=4000)
            best += min(1.0 if p is None else p for p in six) < 0.05
        yield _line(seeds, share(false, replicates), share(best, replicates))


def lines(replicates: int) -> Iterator[str]:
    """Of a table with twenty lines, half of them five points better than what all are held against."""
    yield from _header("seeds", "false of what shows (Benjamini and Hochberg)", "shows of what there is")
    for seeds in SEEDS:
        generator, false, found = np.random.default_rng([seeds, 20]), [], []
        for _ in range(replicates):
            reference, *others = answers(generator, Setting(seeds, 500), [0.0] * 11 + [0.05] * 10)
            adjusted = benjamini_hochberg(_p_values(effect(other - reference) for other in others))
            shows = [p < 0.05 for p in adjusted.values()]
            false.append(sum(shows[:10]) / max(1, sum(shows)))
            found.append(sum(shows[10:]) / 10)
        yield _line(seeds, mean_share(false), mean_share(found))


def _p_values(effects: Iterable[Effect]) -> dict[str, float]:
    return {str(k): 1.0 if each.p is None else each.p for k, each in enumerate(effects)}


def race(replicates: int) -> Iterator[str]:
    """Six recipes, one picked on dev sentences and held against the others on the test set (`simulated_race.py`)."""
    ways = ("uncorrected", "corrected for differences to the best", "corrected for all pairs")
    lost = ("alike and dropped", *(f"best dropped, {_points(gain)} ahead" for gain in GAINS[2:]))
    yield from _header("seeds", *ways, "5 points show", "called as good, 2 points apart", *lost)
    for seeds in SEEDS:
        alike, two, five = (list(raced(seeds, gain, replicates)) for gain in (0.0, *GAINS[2:]))
        false = [sum(any(each.said[way]) for each in alike) for way in range(len(ways))]
        power = [(len(each.given_up) + sum(each.said[-1])) / 5 for each in five if each.first]
        gone = [sum(bool(each.given_up) for each in alike)]
        gone += [sum(0 in each.given_up for each in races) for races in (two, five)]
        cells = [share(count, replicates) for count in (*false, sum(each.unlike_equal for each in two), *gone)]
        yield _line(seeds, *cells[:3], mean_share(power), *cells[3:])


LANGUAGE_SD = 0.02
"""Of a difference from language to language."""


def languages(replicates: int) -> Iterator[str]:
    """Of a difference that is nought over all languages there are, seen in some of them, each with its sentences."""
    yield from _header("seeds", "languages", "false", "coverage", *_powers(GAINS))
    for seeds, count in product(SEEDS, (3, 8, 15)):
        shown = [_shown(list(_in_languages(seeds, count, gain, replicates)), gain) for gain in GAINS]
        yield _line(seeds, count, *shown[0], *(shows for shows, _ in shown[1:]))


def tasks(replicates: int) -> Iterator[str]:
    """Of the mean over two tasks, which are not of the same languages; half of a language's effect is that of both."""
    yield from _header("languages of one task", "of the other", "false", "coverage", *_powers(GAINS))
    for fewer, more in ((10, 10), (5, 10), (3, 10), (3, 6), (3, 3)):
        shown = [_shown(list(_over_tasks(fewer, more, gain, replicates)), gain) for gain in GAINS]
        yield _line(fewer, more, *shown[0], *(shows for shows, _ in shown[1:]))


def _over_tasks(fewer: int, more: int, gain: float, replicates: int) -> Iterator[Effect]:
    chance, seeds = np.random.default_rng(0), tuple(range(5))
    for _ in range(replicates):
        shared, groups = chance.normal(gain, LANGUAGE_SD * math.sqrt(0.5), more), []
        for count in (fewer, more):
            own, by_seed = chance.normal(0, LANGUAGE_SD * math.sqrt(0.5), count), chance.normal(0, 0.01, len(seeds))
            noise = chance.normal(0, 0.006, (count, len(seeds)))
            means = (shared[:count] + own)[:, None] + by_seed + noise
            groups.append({str(k): Samples(seeds, each[:, None]) for k, each in enumerate(means)})
        means_of_both = {language: [mean] for language, mean in mean_over(groups).items()}
        if found := over_places(means_of_both, drawn_of(groups)):
            yield found


def _in_languages(seeds: int, count: int, gain: float, replicates: int) -> Iterator[Effect]:
    generator = np.random.default_rng([seeds, count, round(1000 * gain)])
    for _ in range(replicates):
        gains = gain + LANGUAGE_SD * generator.standard_normal(count)
        tables = []
        for own in gains:
            first, second = answers(generator, Setting(seeds, 300), [own, 0.0])
            tables.append(first - second)
        yield effect(by_language(tables))


def _cells(setting: Setting, gains: Sequence[float], replicates: int) -> list[str]:
    """False and coverage where there is no difference; then what shows of each gain."""
    shown = [_shown([effect(table) for table in differences(setting, gain, replicates)], gain) for gain in gains]
    return [*shown[0], *(shows for shows, _ in shown[1:])]


def _shown(effects: Sequence[Effect], gain: float) -> tuple[str, str]:
    """The share of all that show a difference; and of the intervals, that hold it."""
    shows = sum(each.p is not None and each.p < 0.05 for each in effects)
    holds = [each.low <= gain <= each.high for each in effects if each.low is not None and each.high is not None]
    return share(shows, len(effects)), share(sum(holds), len(holds))


def _points(gain: float) -> str:
    return f"{100 * gain:g} point{'' if gain == 0.01 else 's'}"


def _powers(gains: Sequence[float]) -> Iterator[str]:
    return map(_points, gains[1:])


def _header(*names: str) -> Iterator[str]:
    yield _line(*names)
    yield "| ---: " * len(names) + "|"


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


TABLES: dict[str, Callable[[int], Iterator[str]]] = {
    table.__name__: table
    for table in (pairs, settings, ratios, bootstrap, equal, families, lines, race, languages, tasks)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all unless given")
    parser.add_argument("--replicates", type=int, default=2000)
    given = parser.parse_args()
    if unknown := set(given.tables) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    for name in given.tables or TABLES:
        for line in TABLES[name](given.replicates):
            print(line, flush=True)
        print(flush=True)
