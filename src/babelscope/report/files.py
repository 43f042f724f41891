"""Rows and figures as files; results as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babelscope.errors import InputError
from babelscope.report.findings import in_words
from babelscope.report.model import Report
from babelscope.rows import COLUMNS, Row

if TYPE_CHECKING:
    import pandas as pd

ROW_SUFFIXES = (".csv", ".parquet")
FIGURE_SUFFIXES = (".svg", ".png")


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


def write_figure(report: Report, path: Path, *, width: int = 520) -> None:
    """Write the first score's chart as .svg or .png, `width` pixels between the axes.

    Raises InputError for another suffix, for rows without a score, or when the file cannot be written.
    """
    from babelscope.report.figures import CONFIG, score_chart

    _check_suffix(path, FIGURE_SUFFIXES)
    section = report.sections[0] if report.sections else None
    if section is None:
        raise InputError(f"{report.title}: no test scores yet, so there is no figure; run the study first")
    chart = score_chart(report, section, width)
    chart.config = CONFIG | {"background": "white"}
    try:
        chart.save(str(path), scale_factor=2 if path.suffix == ".png" else 1)
    except OSError as error:
        raise unwritable(path, error) from None


def markdown_table(report: Report) -> str:
    """The first score as a Markdown table: a line a place, a column a condition, mean [95% interval over seeds]."""
    scores = report.sections[0] if report.sections else []
    conditions = [name for name in report.conditions if any(score.condition == name for score in scores)]
    cells = {(s.place, s.condition): in_words(s.interval, s.unit) for s in scores}
    lines = [["", *conditions], ["---", *["---:"] * len(conditions)]]
    for place in dict.fromkeys(score.place for score in scores):
        lines.append([place, *(cells.get((place, name), "") for name in conditions)])
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def write_markdown(report: Report, path: Path) -> None:
    """Write `markdown_table` to a file."""
    try:
        path.write_text(markdown_table(report), encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> InputError:
    """The error for a file that the system does not let us write."""
    return InputError(f"{path}: cannot be written ({error.strerror or error}); choose another place with -o")


def _check_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    if path.suffix not in allowed:
        given = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise InputError(f"{path}: {given}; allowed are {' and '.join(allowed)}")
