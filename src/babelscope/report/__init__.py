"""Rows -> findings, figures, tables and a page. Reads rows and nothing else; needs no torch."""

from babelscope.report.files import markdown_table, write_figure, write_rows
from babelscope.report.model import Report
from babelscope.report.page import write_report

__all__ = ["Report", "markdown_table", "write_figure", "write_report", "write_rows"]
