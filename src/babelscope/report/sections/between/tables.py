"""Tables of the models between tuned ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from babelscope.core.row import Row
from babelscope.core.training import TrainedOn
from babelscope.measures.formulas.landscape import area_above
from babelscope.report.model import Report
from babelscope.report.published import is_published
from babelscope.report.score import title_of
from babelscope.report.sections.between.gains import FewShot, SeedMean, few_shots, seed_means
from babelscope.report.sections.between.line_tables import chance_table, line_table, rise_table
from babelscope.report.sections.between.lines import DROP, Between, Flatness, labels_of, name_of
from babelscope.report.sections.between.means import BY_CHANCE, OVER, Run, Values, mean_cells, over_pairs, run_of
from babelscope.report.sections.between.planes import planes
from babelscope.report.tables import Cell, Table, number_cell


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
        groups[flatness.encoder, title_of(flatness.run.task), flatness.language].append(flatness)
    lines = [
        [
            *map(Cell, key), *mean_cells(over_pairs({flatness.run: flatness.width for flatness in group}), 1, ".2f"),
            Cell(f"{sum(flatness.bounded for flatness in group)} of {len(group)}"),
        ]
        for key, group in groups.items()
    ]  # fmt: skip
    note = (
        f"How long the part of the line around the bilingual model is, in units of α (at most 2), where a score keeps "
        f"{1 - DROP:.0%} of the bilingual model’s; mean over pairs and seeds. Where it holds up to an end of the line, "
        "the width is a lower bound: the last column says on how many lines both sides end within it. "
        f"{OVER}"
    )
    return Table("How flat it is", ["Encoder", "Task", "Scored on", "Width", "95%", "Bounded"], lines, note)


NORMS = ("norm to first", "norm to second")


def _angle_table(report: Report) -> Table:
    """By encoder: all weights, then components, then layers; published numbers last."""
    values: dict[tuple[bool, str, int, str], dict[str, dict[Run, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in report.rows:
        if row.kind == "angle":
            part = row.part or "all"
            order = 1 + row.layer if row.layer is not None else int(part != "all")
            name = name_of(row) if is_published(row) else f"{name_of(row)}{_elsewhere(row)}"
            values[is_published(row), name, order, part][row.measure][run_of(row)] = row.value
    in_order = sorted(values, key=lambda key: key[:3])  # components in the order in which they come
    lines = [_angle_line(key, values[key]) for key in in_order]
    note = (
        "At the first of three models (the bilingual one, unless another is named): the angle between the directions "
        "to the second (the source’s then) and the third (the target’s), how many times as far away the second is as "
        "the third, and both distances, which are for orientation and without intervals. Over all weights, those of "
        "each layer, and those of each component; means over tasks, pairs and seeds. "
        f"{BY_CHANCE}: the third models’."
    )
    if any(published for published, *_ in values):
        note += " Published in words, without intervals: “around 55°” and “near identical norms”."
    headers = ["Encoder", "Weights", "Angle (degrees)", "95%", "Norm ratio", "95%", "To the second", "To the third",
               "Triples of models"]  # fmt: skip
    return Table("Angle and ratio of norms, by part", headers, lines, note)


def _elsewhere(row: Row) -> str:
    """At which model and towards which, where the first is not that of the languages of the other two."""
    origin, *ends = row.models
    if not ends or TrainedOn.read(origin) == TrainedOn.read("+".join(ends)):
        return ""
    return f", at the model of {origin} towards {' and '.join(ends)}"


def _angle_line(key: tuple[bool, str, int, str], measured: Mapping[str, Values]) -> list[Cell]:
    published, encoder, _, part = key
    norms = (over_pairs(measured.get(name, {})) for name in NORMS)
    return [
        Cell(encoder), Cell(part), *mean_cells(over_pairs(measured["angle"]), 1, ".1f"),
        *mean_cells(over_pairs(measured["norm ratio"]), 1, ".2f"),
        *(mean_cells(norm, 1, ".3g")[0] for norm in norms),
        Cell("") if published else number_cell(len(measured["angle"]), "d"),
    ]  # fmt: skip


def _few_shot_table(gained: Sequence[FewShot]) -> Table:
    lines = [
        [
            Cell(few_shot.encoder), Cell(title_of(few_shot.task)), number_cell(few_shot.shots, "d"),
            number_cell(100 * few_shot.zero_shot, ".1f"), *mean_cells(few_shot.chosen, 100, "+.1f"),
            *mean_cells(few_shot.tuned, 100, "+.1f"), number_cell(few_shot.alpha, ".2f"),
        ]
        for few_shot in gained
    ]  # fmt: skip
    note = (
        "A model tuned on the source, and k examples of the target. Point chosen: half of the examples are trained on "
        "beside the source, and the other half choose the model on the line to it: the one of the lowest loss, the "
        "line’s last where α chosen is its end. Trained on: all of them are. Gains over zero-shot are in points of the "
        f"score on the target’s test set. {OVER}"
    )
    headers = ["Encoder", "Task", "k", "Zero-shot", "Point chosen", "95%", "Trained on", "95%", "α chosen"]
    return Table("From few examples of the target", headers, lines, note)


def _seed_table(averaged: Sequence[SeedMean]) -> Table:
    lines = [
        [
            Cell(seed_mean.encoder), Cell(title_of(seed_mean.task)), Cell(seed_mean.split),
            number_cell(seed_mean.models, "d"), number_cell(100 * seed_mean.source, "+.1f"),
            number_cell(100 * seed_mean.targets, "+.1f"), *mean_cells(seed_mean.halfway, 100, "+.1f"),
            number_cell(seed_mean.barrier, ".3f"), *mean_cells(seed_mean.loss, 1, "+.3f"),
        ]
        for seed_mean in averaged
    ]  # fmt: skip
    note = (
        "The mean of the weights of all seeds’ models, against the mean of their scores, in points: one model, without "
        "an interval. The mean of two seeds’ models likewise, on the other languages, and how far its loss on the "
        "source is above the mean of theirs. The barrier is the largest excess of that loss on the line from one "
        "seed’s model to the next’s. For means of two, each line that shares no model with another (every second) "
        f"stands for a seed, so that six seeds are the fewest with an interval. {OVER}"
    )
    headers = ["Encoder", "Task", "Split", "Models", "On the source", "On the others", "Two: on the others", "95%",
               "Barrier", "Two: loss", "95%"]  # fmt: skip
    return Table("The mean of several seeds’ models", headers, lines, note)


def _area_table(report: Report) -> Table:
    lines = []
    for plane in planes(report):
        heights = plane.heights()
        labels = labels_of(report, heights)
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
