"""Rows -> findings, figures, tables and a page. Reads rows and nothing else; needs no torch."""

from __future__ import annotations

from pathlib import Path

from babelscope.errors import InputError
from babelscope.report.files import markdown_table, write_figure, write_markdown, write_rows
from babelscope.report.model import Contrasted, Report
from babelscope.report.page import write_page

__all__ = ["Contrasted", "Report", "markdown_table", "write_figure", "write_report", "write_rows"]

WRITERS = {".html": write_page, ".svg": write_figure, ".png": write_figure, ".md": write_markdown}


def write_report(report: Report, path: Path) -> None:
    """Write the page (.html), its first figure alone (.svg, .png) or its first table (.md).

    Raises InputError for another suffix, or when the file cannot be written.
    """
    if path.suffix not in WRITERS:
        raise InputError(f"{path}: a report is one of {', '.join(WRITERS)}; give -o a file of one of these kinds")
    WRITERS[path.suffix](report, path)
