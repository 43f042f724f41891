"""Rows -> findings, figures, tables and a page. Reads rows and nothing else; needs no torch.

`sections/` has a file for each thing that a report can say; page, Markdown, picture files and the folder for a paper go
through all of them.
"""

from __future__ import annotations

from pathlib import Path

from babelscope.core.errors import InputError
from babelscope.report.declared import report_of
from babelscope.report.files import markdown, write_figures, write_markdown
from babelscope.report.model import Contrasted, Report
from babelscope.report.page import write_page
from babelscope.report.paper import write_paper
from babelscope.report.sections.projection.projected import write_animations

__all__ = [
    "Contrasted", "Report", "markdown", "report_of", "write_figures", "write_paper", "write_report",
]  # fmt: skip

WRITERS = {
    ".html": write_page, ".svg": write_figures, ".png": write_figures, ".md": write_markdown, ".gif": write_animations,
    "": write_paper,
}  # fmt: skip


def write_report(report: Report, path: Path) -> list[Path]:
    """Write the page (.html), figures (.svg, .png; a file each), tables (.md) or projections (.gif); gives the files.

    Without a suffix it is the folder of a paper. Raises InputError for another suffix, if there is nothing to show, or
    when a file cannot be written.
    """
    if path.suffix not in WRITERS:
        kinds = ", ".join(filter(None, WRITERS))
        raise InputError(
            f"{path}: a report is one of {kinds}, or a folder for a paper; name a file of one of these kinds, or a "
            "folder without a dot"
        )
    return WRITERS[path.suffix](report, path)
