"""Rows and figures as files; findings and scores as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babelscope.core.errors import InputError
from babelscope.core.row import COLUMNS, Row
from babelscope.report.findings import in_words
from babelscope.report.model import Report, Score, section_title
from babelscope.report.sections import special_sections
from babelscope.report.tables import Table, score_table

if TYPE_CHECKING:
    import pandas as pd

    from babelscope.report.figures import Chart

ROW_SUFFIXES = (".csv", ".parquet")
FIGURE_SUFFIXES = (".svg", ".png")
WIDEST = 12
"""Conditions beside each other in a Markdown table."""


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write one number a line, columns in the order of `rows.COLUMNS`, as .csv or .parquet.

    Raises InputError for another suffix, or when the file cannot be written.
    """
    _check_suffix(path, ROW_SUFFIXES)
    table = row_table(rows)
    try:
        if path.suffix == ".csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path, index=False)
    except OSError as error:
        raise unwritable(path, error) from None


def row_table(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as a DataFrame; whole numbers stay whole where a column has gaps."""
    import pandas as pd  # not at the top: half a second

    table = pd.DataFrame([[getattr(row, name) for name in COLUMNS] for row in rows], columns=list(COLUMNS))
    kinds: dict[str, Any] = {name: "Int64" for name in ("seed", "step", "layer")}
    kinds |= {name: "Float64" for name in ("alpha1", "alpha2")} | {"value": "float64"}
    return table.astype(kinds | {name: "string" for name in COLUMNS if name not in kinds})


def write_figures(report: Report, path: Path, *, width: int = 520) -> list[Path]:
    """Write the charts of all scores, and those that only some studies have, as .svg or .png; gives the files.

    One score's is `path` itself; of several, `STEM-TASK.SUFFIX` beside it; others `STEM-TITLE.SUFFIX`. Raises
    InputError for another suffix, for rows that nothing can be drawn of, or when a file cannot be written.
    """
    from babelscope.report.figures import CONFIG

    _check_suffix(path, FIGURE_SUFFIXES)
    charts = _charts(report, path.stem, width)
    if not charts:
        raise _nothing(report)
    files = {path.with_stem(name): chart for name, chart in charts.items()}
    for file, chart in files.items():
        chart.config = CONFIG | {"background": "white"}
        try:
            chart.save(str(file), scale_factor=2 if file.suffix == ".png" else 1)
        except OSError as error:
            raise unwritable(file, error) from None
    return list(files)


def _charts(report: Report, stem: str, width: int) -> dict[str, Chart]:
    """By the stem of its file: `width` pixels between the axes, unless a chart has a width of its own."""
    from babelscope.report.figures import score_chart

    one = len(report.sections) == 1
    found = {
        stem if one else f"{stem}-{scores[0].task}": score_chart(report, scores, width) for scores in report.sections
    }
    for figure in (figure for section in special_sections(report) for figure in section.figures):
        name = re.sub(r"\W+", "-", figure.title.lower()).strip("-")
        fits = getattr(figure.chart, "width", None) == "container"
        found[f"{stem}-{name}"] = figure.chart.properties(width=width) if fits else figure.chart
    return found


def write_markdown(report: Report, path: Path) -> list[Path]:
    """Write `markdown` to a file; gives the file."""
    try:
        path.write_text(markdown(report), encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None
    return [path]


def markdown(report: Report) -> str:
    """What the study found beside scores, in sentences and tables, and all scores; with headings if there are several.

    Raises InputError where there is neither.
    """
    parts = [(section_title(scores), _scores(report, scores)) for scores in report.sections]
    for section in special_sections(report):
        if section.findings:
            parts.append((section.title, "".join(f"- {_escaped(sentence)}\n" for sentence in section.findings)))
        parts += [(table.title, _table(table)) for table in section.tables]
    if not parts:
        raise _nothing(report)
    return "\n".join((f"## {title}\n\n" if len(parts) > 1 else "") + text for title, text in parts)


def _table(table: Table) -> str:
    lines = [[cell.text for cell in line] for line in table.lines]
    ends = [":" if column in table.numeric else "" for column in range(len(table.headers))]
    note = f"{_escaped(table.note)}\n\n" if table.note else ""
    return note + _pipes([table.headers, [f"---{end}" for end in ends], *lines])


def _scores(report: Report, scores: Sequence[Score]) -> str:
    """A line a place, a column a condition; of more conditions than stand beside each other a line each."""
    conditions = [name for name in report.conditions if any(score.condition == name for score in scores)]
    return _table(score_table(scores)) if len(conditions) > WIDEST else _pipes(_score_cells(conditions, scores))


def _score_cells(conditions: Sequence[str], scores: Sequence[Score]) -> list[list[str]]:
    """Mean [95% interval over seeds]."""
    cells = {(s.place, s.condition): in_words(s.interval, s.unit) for s in scores}
    lines = [["", *conditions], ["---", *["---:"] * len(conditions)]]
    for place in dict.fromkeys(score.place for score in scores):
        lines.append([place, *(cells.get((place, name), "") for name in conditions)])
    return lines


def _pipes(lines: Sequence[Sequence[str]]) -> str:
    return "".join("| " + " | ".join(_escaped(cell) for cell in line) + " |\n" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _nothing(report: Report) -> InputError:
    return InputError(f"{report.title}: nothing to show yet; run the study first")


def unwritable(path: Path, error: OSError) -> InputError:
    """The error for a file that the system does not let us write."""
    return InputError(f"{path}: cannot be written ({error.strerror or error}); choose another place with -o")


def _check_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    if path.suffix not in allowed:
        given = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise InputError(f"{path}: {given}; allowed are {' and '.join(allowed)}")
