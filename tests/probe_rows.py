"""Perplexities of probes on a target and a control, and what a report shows of them."""

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.sections.probes.figures import probe_figures

NEVER = {0: 20.0, 10: 15.0, 20: 12.0}
"""Perplexities of a target that stay above those of the control."""
FORGOTTEN = {0: 10.0, 10: 10.5, 20: 11.0}


def curve(corpus: str, seed: int, values: dict[int, float], encoder: str = "e", **labels: str) -> list[Row]:
    shared = {"kind": "probe", "encoder": encoder, "dataset": corpus, "split": "probe", "seed": seed} | labels
    return [Row("perplexity", value, step=step, **shared) for step, value in values.items()]


def both(
    seed: int, target: dict[int, float], control: dict[int, float], encoder: str = "e", **labels: str
) -> list[Row]:
    return [*curve("target", seed, target, encoder, **labels), *curve("control", seed, control, encoder, **labels)]


def report(*rows: list[Row]) -> Report:
    return Report("title", "question", [row for part in rows for row in part])


def records(chart) -> list[dict]:
    """All data of a chart."""
    return [record for values in chart.to_dict()["datasets"].values() for record in values]


def figures(made: Report) -> dict:
    return {figure.title: figure for figure in probe_figures(made)}


def texts(table) -> list[list[str]]:
    return [[cell.text for cell in line] for line in table.lines]
