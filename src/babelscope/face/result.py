"""Rows as Python has them, and what a study found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, overload

from babelscope.core.errors import InputError
from babelscope.core.outside import given_path
from babelscope.core.row import COLUMNS, Row
from babelscope.core.row_table import row_table, write_table
from babelscope.engine.mark import check_outside
from babelscope.face import html
from babelscope.face.wide import of_split, wide_table

if TYPE_CHECKING:
    import pandas as pd

    from babelscope.face.job import Job

SHOWN = 20
"""Rows that a notebook shows."""


class Rows(Sequence[Row]):
    """Numbers, each with everything that says what it is."""

    def __init__(self, rows: Sequence[Row]):
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Rows: ...

    def __getitem__(self, index: int | slice) -> Row | Rows:
        return Rows(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def of_split(self, split: str) -> Rows:
        """Those of a split: train, dev, test or probe.

        Raises:
            InputError: there are none.
        """
        return Rows(of_split(self._rows, split))

    def frame(self, wide: str | None = None) -> pd.DataFrame:
        """A DataFrame with a line a row; its columns are those of every file of rows.

        Args:
            wide: `language` or `measure`: then the scores alone, a line a model, with a column for each of these.

        Raises:
            InputError: another `wide`, or one for rows without scores.
        """
        return row_table(self._rows) if wide is None else wide_table(self._rows, wide)

    def write(self, path: str | Path, wide: str | None = None) -> Path:
        """Write what `frame` gives as .csv or .parquet; gives the file.

        Raises:
            InputError: as of `frame`; another suffix, or the file cannot be written.
        """
        file = given_path(path)
        check_outside(file)
        write_table(self.frame(wide), file)
        return file

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"

    def _repr_html_(self) -> str:
        used = [name for name in COLUMNS if name != "key" and any(getattr(row, name) is not None for row in self)]
        lines = [[_spoken(getattr(row, name)) for name in used] for row in self._rows[:SHOWN]]
        left = f", the first {SHOWN} of them" if len(self) > SHOWN else ""
        return html.table(used, lines, caption=f"{len(self)} rows{left}")


class Result(Rows):
    """What a study found: the rows of its finished steps, and its report."""

    def __init__(self, job: Job):
        super().__init__(job.rows())
        self.job = job

    def write(self, path: str | Path, wide: str | None = None) -> Path:
        """Write what `frame` gives as .csv or .parquet; gives the file.

        Raises:
            InputError: as of `Rows.write`, or the study reads the file.
        """
        self.job.check_not_read(given_path(path))
        return super().write(path, wide)

    def report(self, path: str | Path) -> list[Path]:
        """Write the report: .html, figures (.svg, .png), projections (.gif), tables (.md), or a folder for a paper.

        Gives the files.

        Raises:
            InputError: another suffix (a folder has none), nothing to show, the file cannot be written, or the study
                reads it.
        """
        from babelscope.report import write_report

        place = given_path(path)
        check_outside(place)
        self.job.check_not_read(place)
        return write_report(self.job.report(), place)

    def __repr__(self) -> str:
        return f"<Result of {self.job.title}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        return html.paragraph(str(self.job)) + "".join(self._charts()) + super()._repr_html_()

    def _charts(self) -> list[str]:
        """The report's charts as SVG; none where there is nothing to draw."""
        with TemporaryDirectory() as folder:
            try:
                files = self.report(Path(folder) / "chart.svg")
            except InputError:
                return []
            return [file.read_text(encoding="utf-8") for file in files[:1]]


def _spoken(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
