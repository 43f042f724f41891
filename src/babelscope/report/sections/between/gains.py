"""What the models between tuned ones are good for: few examples of a target, and several seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from babelscope.core.inference import Effect
from babelscope.core.row import Row
from babelscope.core.training import TrainedOn
from babelscope.measures.formulas.landscape import barrier
from babelscope.report.kinds import is_score, main_measure
from babelscope.report.model import Report
from babelscope.report.score import itself
from babelscope.report.sections.between.lines import Between, Curve, Line, Where, moving, name_of
from babelscope.report.sections.between.means import Run, over_pairs, subtracted


class FewShot(NamedTuple):
    """What an encoder gains from few examples of a target in a task: means over pairs and seeds."""

    encoder: str
    task: str
    shots: int
    zero_shot: float
    """The score of the source's model on the target's test set."""
    alpha: float
    """Mean of the places chosen."""
    chosen: Effect
    """Minus that: the model on the line whose loss on half of the examples is lowest, trained on the other half."""
    tuned: Effect
    """Minus that: the model that was trained on all of the examples, beside the source's."""
    chosen_against_tuned: Effect


class SeedMean(NamedTuple):
    """The mean of all seeds' models against these, for an encoder and task; and the means of two that are neighbours.

    All seeds' models have one mean, which says nothing of how it varies. Means of two vary, and those that share no
    model are independent.
    """

    encoder: str
    task: str
    split: str
    models: int
    source: float
    """Gain of the mean of all on the training languages, in the unit of the score."""
    targets: float
    """On the other languages."""
    halfway: Effect | None
    """Gain of the mean of two on the other languages."""
    loss: Effect | None
    """How far its loss on the training language is above the mean of theirs."""
    barrier: float
    """Of that loss, from each seed's model to the next's."""


def few_shots(report: Report, between: Between) -> list[FewShot]:
    """For every encoder, task and number of examples."""
    lines = {_few_shot_key(line): line for line in between.few_shot}
    tuned = _scores_with_few(report)
    by_case: dict[tuple[str, str, int], dict[Run, Sequence[float]]] = defaultdict(dict)
    for (encoder, task, origin, end, split, seed), line in lines.items():
        tested = lines.get((encoder, task, origin, end, "test", seed))
        shots = 2 * (line.shots or 0)
        with_all = tuned.get((encoder, task, str(line.ends._replace(shots=shots)), line.target, seed), {})
        if split == "dev" and tested and with_all.keys() == _data_sets(tested):
            losses, scores = (of.get(line.target, {}) for of in (line.losses, tested.scores))
            places = losses.keys() & scores.keys()
            if 0.0 not in places:  # chosen on the line or not at all, and held against zero-shot
                continue
            alpha = min(places, key=lambda place: (losses[place], place))
            values = (scores[0.0], scores[alpha], fmean(with_all.values()), alpha)
            by_case[encoder, task, shots][line.run(line.target)] = values
    return [known for key, runs in sorted(by_case.items()) if (known := _few_shot(key, runs))]


def _few_shot(key: tuple[str, str, int], runs: Mapping[Run, Sequence[float]]) -> FewShot | None:
    """None without a seed that all pairs have."""
    zero, chosen, tuned, alpha = (dict(zip(runs, column, strict=True)) for column in zip(*runs.values(), strict=True))
    wanted = (zero, alpha, subtracted(chosen, zero), subtracted(tuned, zero), subtracted(chosen, tuned))
    known = [mean for values in wanted if (mean := over_pairs(values))]
    if len(known) < len(wanted):
        return None
    zero_shot, place, *gained = known
    return FewShot(*key, zero_shot.mean, place.mean, *gained)


def _few_shot_key(line: Line) -> tuple[str, str, str, str, str, int]:
    return (line.encoder, line.task, line.origin, line.end, line.split, line.seed)


def _data_sets(tested: Line) -> set[str]:
    """Those of the target that the line is scored on."""
    return {where.dataset for where in tested.scores_on if where.language == tested.target}


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
    gained = [(_is_source(language, origin), fmean(gains)) for (origin, language), gains in by_language.items()]
    on_sources, on_others = ([gain for of_source, gain in gained if of_source == kind] for kind in (True, False))
    curves = [curve for line in lines for code, curve in line.losses.items() if _is_source(code, line.origin)]
    barriers = [barrier(list(curve), list(curve.values())) for curve in curves if {0.0, 1.0} <= curve.keys()]
    if not (on_sources and on_others and barriers):
        return None
    apart = _apart(lines)
    others = {line.run(c): line.scores[c] for line in apart for c in line.scores if not _is_source(c, line.origin)}
    own = {line.run(c): line.losses[c] for line in apart for c in line.losses if _is_source(c, line.origin)}
    models = len({line.seed for line in lines}) + 1
    return SeedMean(*key, models, fmean(on_sources), fmean(on_others), _halfway(others), _halfway(own), fmean(barriers))


def _is_source(language: str, trained_on: str) -> bool:
    """Whether a model saw examples of the language, be they few, in whatever letters."""
    return itself(language) in map(itself, TrainedOn.read(trained_on).languages)


def _apart(lines: Iterable[Line]) -> list[Line]:
    """Those that share no model: of the lines from each seed's model to the next's, every second."""
    chains: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        chains[line.origin].append(line)
    return [line for chain in chains.values() for line in chain[::2]]


def _halfway(curves: Mapping[Run, Curve]) -> Effect | None:
    """How far the middle of each is above the mean of its ends; None without a seed of all."""
    whole = {run: curve for run, curve in curves.items() if {0.0, 0.5, 1.0} <= curve.keys()}
    return over_pairs({run: curve[0.5] - (curve[0.0] + curve[1.0]) / 2 for run, curve in whole.items()})


def _single_scores(where: Where, lines: Sequence[Line]) -> list[float]:
    """Of each seed's model: every line begins with one, and the last one ends with the last seed's."""
    curves = [line.scores_on.get(where, {}) for line in lines]
    whole = [curve for curve in curves if {0.0, 1.0} <= curve.keys()]
    return [curve[0.0] for curve in whole] + [curve[1.0] for curve in whole[-1:]]
