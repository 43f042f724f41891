"""Tables of scores along lines between models."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from babelscope.core.inference import Effect, benjamini_hochberg
from babelscope.core.intervals import Interval
from babelscope.core.scores import Measure, measure_of
from babelscope.report.judged import judged
from babelscope.report.kinds import main_measure
from babelscope.report.model import Report
from babelscope.report.score import scale, title_of
from babelscope.report.sections.between.lines import Between, Curve, Line, by_curve, labels_of
from babelscope.report.sections.between.means import OVER, Values, mean_cells, over_pairs, subtracted
from babelscope.report.sections.between.variances import variances
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell


def rise_table(between: Between) -> Table:
    """From models of one language to those of two: the normalised scores, over all tasks and task by task."""
    tasks = list(dict.fromkeys(line.task for line in between.bilingual))
    several = tasks if len(tasks) > 1 else []
    overall = "all" if several else "".join(map(title_of, tasks))
    lines = [[*_rise(key, overall, curve), Cell("")] for key, curve in by_curve(between.normalised()).items()]
    by_task = [(key, task, curve) for task in several for key, curve in by_curve(between.normalised(task)).items()]
    verdicts = judged([rise(curve) for *_, curve in by_task], benjamini_hochberg)
    for (key, task, curve), verdict in zip(by_task, verdicts, strict=True):
        lines.append([*_rise(key, title_of(task), curve), Cell(verdict)])
    note = (
        "Percent of the bilingual model’s score, which is at α = 1; means over tasks, pairs of languages and seeds. Of "
        "a language’s several data sets the mean score counts. Least, most and the largest fall (from one point to the "
        "next, towards the bilingual model) are of that mean, between 0 and 1; being picked, they have no interval. "
        "Rises: whether a single task’s score is higher at 1 than at 0; verdicts at 5%, corrected for their number "
        f"(Benjamini and Hochberg). {OVER}"
    )
    if any(line.whole for line in between.bilingual):
        note += (
            " Of the encoder or the head alone, the other stays the first model’s, and α = 1 is not the bilingual one."
        )
    headers = ["Encoder", "Task", "From", "Scored on", "α = 0", "95%", "α = 0.5", "α = 1", "Least", "Most",
               "Largest fall", "Rises"]  # fmt: skip
    return Table("From one language to two, in numbers", headers, lines, note)


def rise(curve: Mapping[float, Values]) -> Effect | None:
    """How much higher the score is at 1 than at 0; None where one of them is not known."""
    return over_pairs(subtracted(curve.get(1.0, {}), curve.get(0.0, {})))


def _rise(key: tuple[str, str, str], task: str, curve: Mapping[float, Values]) -> list[Cell]:
    encoder, origin, language = key
    means = {alpha: mean for alpha, values in curve.items() if (mean := over_pairs(values))}
    within = [100 * mean.mean for alpha, mean in means.items() if 0 <= alpha <= 1]
    fall = max((max(0.0, before - after) for before, after in pairwise(within)), default=None)
    return [
        Cell(encoder), Cell(task), Cell(f"the {origin}’s model"), Cell(language),
        *mean_cells(means.get(0.0), 100, ".1f"), *(mean_cells(means.get(alpha), 100, ".1f")[0] for alpha in (0.5, 1.0)),
        number_cell(min(within, default=None), ".1f"),
        number_cell(max(within, default=None), ".1f"), number_cell(fall, ".1f"),
    ]  # fmt: skip


def chance_table(between: Between) -> Table:
    """The spread over seeds at the two models of a line, and halfway between them."""
    lines = [
        [
            Cell(encoder), Cell(f"the {origin}’s model"), Cell(language),
            *(cell for alpha in (0.0, 0.5, 1.0) for cell in _spread(curve.get(alpha))),
            number_cell(next(iter(curve.values())).n, "d"),
        ]
        for (encoder, origin, language), curve in by_curve(variances(between)).items()
    ]  # fmt: skip
    note = (
        "Standard deviation over seeds (the root of the mean variance over tasks and pairs) in percent of the "
        "bilingual model’s mean score over seeds. Intervals by chi-square; pairs that share the line’s first model "
        "count as one."
    )
    headers = ["Encoder", "From", "Scored on", "α = 0", "95%", "α = 0.5", "95%", "α = 1", "95%", "Tasks and pairs"]
    return Table("How much chance decides, in numbers", headers, lines, note)


def _spread(spread: Interval | None) -> list[Cell]:
    """The root of a variance, in percent, and of the ends of its interval."""
    if spread is None:
        return [Cell(""), Cell("")]
    known = spread.low is not None and spread.high is not None
    ends = (math.sqrt(spread.low or 0.0), math.sqrt(spread.high or 0.0)) if known else None
    return [number_cell(100 * math.sqrt(spread.mean), ".2f"), bounds_cell(ends, 100)]


def line_table(report: Report, between: Between) -> Table:
    """The scores themselves, of every line: means over the seeds that it is there of."""
    between_models = (row for row in report.rows if row.kind == "interpolation")
    scored = {row.task or "": row for row in between_models if row.measure == main_measure(row, report.main)}
    groups: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in between.lines:
        groups[line.encoder, line.task, line.origin, line.end, line.split].append(line)
    lines = []
    for (encoder, task, origin, end, split), runs in groups.items():
        for where, label in labels_of(report, (where for run in runs for where in run.scores_on)).items():
            curves = [run.scores_on[where] for run in runs if where in run.scores_on]
            measure, (factor, unit) = measure_of(scored[task].measure), scale(scored[task].unit)
            curve = _mean(curves, measure)
            labels = [encoder, title_of(task), f"{origin} > {end}", label, split, unit]
            lines.append([*map(Cell, labels), *_places(curve, factor), number_cell(len(curves), "d")])
    note = (
        "Mean over runs: one a seed, or one a seed and the next. Least and most are over the whole line. For "
        "reference, without intervals: those of the means over pairs are above."
    )
    if any(measure_of(row.measure).geometric for row in scored.values()):
        note += " Means of perplexities are geometric."
    headers = ["Encoder", "Task", "Models", "Scored on", "Split", "Unit", "α = 0", "α = 0.5", "α = 1", "Least", "at α",
               "Most", "at α", "Runs"]  # fmt: skip
    return Table("Scores on lines", headers, lines, note)


def _mean(curves: Sequence[Curve], measure: Measure) -> Curve:
    """Over those that have the place."""
    alphas = sorted({alpha for curve in curves for alpha in curve})
    return {alpha: measure.mean(curve[alpha] for curve in curves if alpha in curve) for alpha in alphas}


def _places(curve: Curve, factor: float) -> list[Cell]:
    least, most = min(curve, key=curve.__getitem__), max(curve, key=curve.__getitem__)
    cells = [number_cell(factor * curve[alpha] if alpha in curve else None, ".1f") for alpha in (0.0, 0.5, 1.0)]
    for alpha in (least, most):
        cells += [number_cell(factor * curve[alpha], ".1f"), number_cell(alpha, "g")]
    return cells
