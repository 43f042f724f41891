"""Tables of the models between tuned ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from babelscope.core.intervals import student_t_interval
from babelscope.measures.formulas.landscape import area_above
from babelscope.report.model import Report, title_of
from babelscope.report.published import is_published
from babelscope.report.sections.between.gains import FewShot, SeedMean, few_shots, seed_means
from babelscope.report.sections.between.line_tables import chance_table, line_table, rise_table
from babelscope.report.sections.between.lines import DROP, Between, Flatness, name_of, shown
from babelscope.report.sections.between.planes import planes
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell


def between_tables(report: Report, between: Between) -> list[Table]:
    """Scores along lines, flatness, angles by part, few examples, means of seeds, planes."""
    tables = [
        rise_table(between), chance_table(between), _flatness_table(between.flatness()), _angle_table(report),
        _few_shot_table(few_shots(report, between)),
        _seed_table(seed_means(report, between)), _area_table(report),
        line_table(report, between),
    ]  # fmt: skip
    return [table for table in tables if table.lines]


def _flatness_table(measured: Sequence[Flatness]) -> Table:
    groups: dict[tuple[str, str, str], list[Flatness]] = defaultdict(list)
    for flatness in measured:
        groups[flatness.encoder, title_of(flatness.task), flatness.language].append(flatness)
    lines = []
    for (encoder, task, language), group in groups.items():
        widths = student_t_interval([flatness.width for flatness in group])
        bounded = sum(flatness.bounded for flatness in group)
        lines.append([
            Cell(encoder), Cell(task), Cell(language), number_cell(widths.mean, ".2f"), bounds_cell(widths, 1),
            Cell(f"{bounded} of {len(group)}"),
        ])  # fmt: skip
    note = (
        f"How long the part of the line around the bilingual model is, in units of α (at most 2), where a score keeps "
        f"{1 - DROP:.0%} of the bilingual model’s; mean over pairs. Where it holds up to an end of the line, the width "
        "is a lower bound: the last column says for how many pairs both sides end within the line."
    )
    headers = ["Encoder", "Task", "Scored on", "Width", "95% over pairs", "Bounded"]
    return Table("How flat it is", headers, lines, note)


NORMS = ("norm to first", "norm to second")


def _angle_table(report: Report) -> Table:
    """By encoder: all weights, then components, then layers; published numbers last."""
    values: dict[tuple[bool, str, int, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in report.rows:
        if row.kind == "angle":
            part = row.part or "all"
            order = 1 + row.layer if row.layer is not None else int(part != "all")
            values[is_published(row), name_of(row), order, part][row.measure].append(row.value)
    in_order = sorted(values, key=lambda key: key[:3])  # components in the order in which they come
    lines = [_angle_line(*key, values[key]) for key in in_order]
    note = (
        "At the first of three models (the bilingual one): the angle between the directions to the second (the "
        "source’s) and the third (the target’s), how many times as far away the second is as the third, and both "
        "distances, which are for orientation and without intervals. Over all weights, those of each layer, and those "
        "of each component; mean over tasks, pairs and seeds, with intervals over these."
    )
    if any(published for published, *_ in values):
        note += " Published in words, without intervals: “around 55°” and “near identical norms”."
    headers = ["Encoder", "Weights", "Angle (degrees)", "95%", "Norm ratio", "95%", "To the second", "To the third",
               "Triples of models"]  # fmt: skip
    return Table("Angle and ratio of norms, by part", headers, lines, note)


def _angle_line(
    published: bool, encoder: str, order: int, part: str, measured: Mapping[str, Sequence[float]]
) -> list[Cell]:
    angle, ratio = (student_t_interval(measured[name]) for name in ("angle", "norm ratio"))
    return [
        Cell(encoder), Cell(part), number_cell(angle.mean, ".1f"), bounds_cell(angle, 1),
        number_cell(ratio.mean, ".2f"), bounds_cell(ratio, 1),
        *(number_cell(fmean(measured[name]) if name in measured else None, ".3g") for name in NORMS),
        Cell("") if published else number_cell(angle.n, "d"),
    ]  # fmt: skip


def _few_shot_table(gained: Sequence[FewShot]) -> Table:
    lines = [
        [
            Cell(few_shot.encoder), Cell(title_of(few_shot.task)), Cell(str(few_shot.shots), few_shot.shots),
            number_cell(100 * few_shot.zero_shot.mean, ".1f"), number_cell(100 * few_shot.chosen.mean, "+.1f"),
            bounds_cell(few_shot.chosen, 100), number_cell(100 * few_shot.tuned.mean, "+.1f"),
            bounds_cell(few_shot.tuned, 100), number_cell(few_shot.alpha, ".2f"),
        ]
        for few_shot in gained
    ]  # fmt: skip
    note = (
        "A model tuned on the source, and k examples of the target. Point chosen: half of the examples are trained on "
        "beside the source, and the other half choose the model on the line to it: the one of the lowest loss, the "
        "line’s last where α chosen is its end. Trained on: all of them are. Gains "
        "over zero-shot are in points of the score on the target’s test set, with 95% intervals over pairs, which "
        "share their source."
    )
    headers = ["Encoder", "Task", "k", "Zero-shot", "Point chosen", "95%", "Trained on", "95%", "α chosen"]
    return Table("From few examples of the target", headers, lines, note)


def _seed_table(averaged: Sequence[SeedMean]) -> Table:
    lines = [
        [
            Cell(seed_mean.encoder), Cell(title_of(seed_mean.task)), Cell(seed_mean.split),
            number_cell(seed_mean.models, "d"), number_cell(100 * seed_mean.source, "+.1f"),
            number_cell(100 * seed_mean.targets.mean, "+.1f"), bounds_cell(seed_mean.targets, 100),
            number_cell(seed_mean.barrier.mean, ".3f"), bounds_cell(seed_mean.barrier, 1),
        ]
        for seed_mean in averaged
    ]  # fmt: skip
    note = (
        "The mean of the weights of all seeds’ models, against the mean of their scores, in points. The barrier is the "
        "largest excess of the source’s loss on the line from one seed’s model to the next’s."
    )
    headers = [
        "Encoder",
        "Task",
        "Split",
        "Models",
        "On the source",
        "On the others",
        "95% over languages",
        "Barrier",
        "95%",
    ]
    return Table("The mean of several seeds’ models", headers, lines, note)


def _area_table(report: Report) -> Table:
    lines = []
    for plane in planes(report):
        heights = plane.heights()
        labels = shown(report, heights)
        for where, places in heights.items():
            first, second = (sorted({place[axis] for place in places}) for axis in (0, 1))
            if len(places) < len(first) * len(second) or min(len(first), len(second)) < 2:
                continue  # not finished yet
            area = area_above(first, second, [[places[x, y] for y in second] for x in first], 1 - DROP)
            lines.append([Cell(plane.title), Cell(labels[where]), number_cell(area.share, ".3f")])
    note = (
        f"Share of the plane where the score keeps {1 - DROP:.0%} of that at 0, 0; between points scores are "
        "interpolated linearly along both directions. The mean over seeds of one pair: planes are pictures, and no "
        "claim rests on them, so that there is no interval."
    )
    return Table("How much of a plane is high", ["Plane", "Scored on", "Share"], lines, note)
