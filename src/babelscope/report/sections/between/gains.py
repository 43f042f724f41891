"""What the models between tuned ones are good for: few examples of a target, and several seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from babelscope.core.intervals import Interval, student_t_interval
from babelscope.core.row import Row
from babelscope.measures.formulas.landscape import barrier
from babelscope.report.kinds import is_score, main_measure
from babelscope.report.model import Report
from babelscope.report.sections.between.lines import Between, Line, Where, moving, name_of


class FewShot(NamedTuple):
    """What an encoder gains from few examples of a target in a task; intervals are over pairs, means over seeds."""

    encoder: str
    task: str
    shots: int
    zero_shot: Interval
    """The score of the source's model on the target's test set."""
    chosen: Interval
    """Minus that: the model on the line whose loss on half of the examples is lowest, trained on the other half."""
    tuned: Interval
    """Minus that: the model that was trained on all of the examples, beside the source's."""
    chosen_against_tuned: Interval
    alpha: float
    """Mean of the places chosen."""


class SeedMean(NamedTuple):
    """The mean of all seeds' models against these, for an encoder and task."""

    encoder: str
    task: str
    split: str
    models: int
    source: float
    """Gain on the training languages, in the unit of the score."""
    targets: Interval
    """Gain on the other languages; the interval is over them."""
    barrier: Interval
    """Of the loss on the training language, between one seed's model and the next's."""


def few_shots(report: Report, between: Between) -> list[FewShot]:
    """For every encoder, task and number of examples."""
    lines = {_few_shot_key(line): line for line in between.few_shot}
    tuned = _scores_with_few(report)
    by_case: dict[tuple[str, str, int], dict[tuple[str, str], list[tuple[float, ...]]]] = {}
    for (encoder, task, origin, end, split, seed), line in lines.items():
        judged = lines.get((encoder, task, origin, end, "test", seed))
        shots = 2 * (line.shots or 0)
        with_all = tuned.get((encoder, task, str(line.ends._replace(shots=shots)), line.target, seed), {})
        if split == "dev" and judged and with_all.keys() == _data_sets(judged):
            losses, scores = (of.get(line.target, {}) for of in (line.losses, judged.scores))
            places = losses.keys() & scores.keys()
            if 0.0 not in places:  # chosen on the line or not at all, and held against zero-shot
                continue
            alpha = min(places, key=lambda place: (losses[place], place))
            values = (scores[0.0], scores[alpha], fmean(with_all.values()), alpha)
            pairs = by_case.setdefault((encoder, task, shots), defaultdict(list))
            pairs[origin, line.target].append(values)
    return [_few_shot(key, pairs) for key, pairs in sorted(by_case.items())]


def _few_shot(key: tuple[str, str, int], pairs: Mapping[tuple[str, str], Sequence[tuple[float, ...]]]) -> FewShot:
    means = [[fmean(column) for column in zip(*runs, strict=True)] for runs in pairs.values()]
    zero, chosen, tuned, alphas = zip(*means, strict=True)

    def minus(first: Sequence[float], second: Sequence[float]) -> Interval:
        return student_t_interval([value - other for value, other in zip(first, second, strict=True)])

    return FewShot(
        *key, student_t_interval(zero), minus(chosen, zero), minus(tuned, zero), minus(chosen, tuned), fmean(alphas)
    )


def _few_shot_key(line: Line) -> tuple[str, str, str, str, str, int]:
    return (line.encoder, line.task, line.origin, line.end, line.split, line.seed)


def _data_sets(judged: Line) -> set[str]:
    """Those of the target that the line is judged on."""
    return {where.dataset for where in judged.scores_on if where.language == judged.target}


def _scores_with_few(report: Report) -> dict[tuple[str, str, str, str, int], dict[str, float]]:
    """Encoder, task, training languages, language scored on and seed -> the score on each data set."""
    found: dict[tuple[str, str, str, str, int], dict[str, float]] = defaultdict(dict)
    for row in report.rows:
        if is_score(row, report.main) and row.seed is not None and row.shots is not None:
            where = Where.of(row)
            found[name_of(row), row.task or "", row.trained_on, where.language, row.seed][where.dataset] = row.value
    return found


def seed_means(report: Report, between: Between) -> list[SeedMean]:
    """For every encoder, task and split whose seeds' models were averaged."""
    averaged: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in report.rows:
        if row.kind == "interpolation" and row.seed is None and row.measure == main_measure(row, report.main):
            averaged[moving(row), row.task or "", row.split or ""].append(row)
    means = [
        _seed_mean(key, rows, [line for line in between.seeds if (line.encoder, line.task, line.split) == key])
        for key, rows in averaged.items()
    ]
    return [mean for mean in means if mean]


def _seed_mean(key: tuple[str, str, str], rows: Sequence[Row], lines: Sequence[Line]) -> SeedMean | None:
    """None without gains of both kinds, or without a whole line of losses."""
    by_language: dict[tuple[str, str], list[float]] = defaultdict(list)  # of every data set
    for row in rows:
        where = Where.of(row)
        scores = _single_scores(where, [line for line in lines if line.origin == row.trained_on])
        if len(scores) == round(1 / (row.alpha1 or 1)):  # all that the mean is of
            by_language[row.trained_on, where.language].append(row.value - fmean(scores))
    gained = [(language in source.split("+"), fmean(gains)) for (source, language), gains in by_language.items()]
    on_sources, on_others = ([gain for of_source, gain in gained if of_source == kind] for kind in (True, False))
    curves = [line.losses.get(language, {}) for line in lines for language in line.origin.split("+")]
    barriers = [barrier(list(curve), list(curve.values())) for curve in curves if {0.0, 1.0} <= curve.keys()]
    if not (on_sources and on_others and barriers):
        return None
    models = len({line.seed for line in lines}) + 1
    return SeedMean(*key, models, fmean(on_sources), student_t_interval(on_others), student_t_interval(barriers))


def _single_scores(where: Where, lines: Sequence[Line]) -> list[float]:
    """Of each seed's model: every line begins with one, and the last one ends with the last seed's."""
    curves = [line.scores_on.get(where, {}) for line in lines]
    whole = [curve for curve in curves if {0.0, 1.0} <= curve.keys()]
    return [curve[0.0] for curve in whole] + [curve[1.0] for curve in whole[-1:]]
