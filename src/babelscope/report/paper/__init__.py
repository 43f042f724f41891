"""A folder for authors: figures, tables, methods and bibliography of a report as LaTeX takes them, and its rows.

All is made from the sections that page and Markdown show; `paper.tex` puts it together as one document.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.outside import reading, writing
from babelscope.core.row_table import write_rows
from babelscope.report.figures import Figure, svg
from babelscope.report.files import nothing_to_show
from babelscope.report.model import Report
from babelscope.report.paper import citations, methods
from babelscope.report.paper.latex import PREAMBLE, escaped, table_float
from babelscope.report.section import Section, sections_of
from babelscope.report.tables import Table

COLUMN, TEXT_WIDTH = 218.0, 453.0
"""Points of 1/72 inch: a column of the two of a page (7.7 cm), and both (16 cm), as ACL's papers have them."""
DRAWN = 240
"""Pixels between the axes of a chart that takes what width there is, so that its letters are of 7 points or so."""
BOTH_COLUMNS = 480
"""Pixels: charts wider than this take both columns."""
LONGEST_NAME = 60
"""Characters of a file's name, without suffix."""
OURS = "preamble.tex"
"""By which a folder that a report has written is known."""
FLOATS = 10
"""Tables and figures after which `paper.tex` begins a page, since LaTeX can wait with some fifty at most."""
DOCUMENT = r"""%% Everything of this folder in one document: pdflatex paper, bibtex paper, pdflatex paper (twice).
\documentclass{article}
\input{preamble}
\ifdefined\UseLegacyTextSymbols\UseLegacyTextSymbols\fi %% bullets of a font that every TeX has
\title{%s}
\author{}
\begin{document}
\maketitle
%s
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""


class _Part(NamedTuple):
    """Files, by their paths in the folder, and how `paper.tex` takes them in."""

    files: Mapping[str, str | bytes]
    taken_in: str


def write_paper(report: Report, folder: Path) -> list[Path]:
    """Write the folder; gives its files. What it held under other names stays.

    Raises InputError if there is nothing to show, when a file cannot be written, or where an author's own files are.
    """
    sections = sections_of(report)
    if not sections:
        raise nothing_to_show(report)
    numbered = enumerate(sections, 1)
    parts = [*_methods(report), *(part for number, section in numbered for part in _section(section, number))]
    files = {name: content for part in parts for name, content in part.files.items()}
    files |= _frame(report, [part.taken_in for part in parts])
    rows = [folder / name for name in ("rows.csv", "rows.parquet")]
    _refuse_foreign(folder, [*files, *(path.name for path in rows)])
    _write(folder / OURS, files[OURS])  # first, so that a folder that is written in part is known again
    for path in rows:
        write_rows(report.rows, path)
    return [*(_write(folder / name, content) for name, content in files.items()), *rows]


def _refuse_foreign(folder: Path, names: Iterable[str]) -> None:
    """Of a folder without the preamble of such a one, no file is replaced: it is somebody's own."""
    if (folder / OURS).is_file():
        with reading(folder / OURS):
            content = (folder / OURS).read_bytes()
        first = PREAMBLE.encode().partition(b"\n")[0]
        if content.startswith(first) or first.startswith(content):  # which a full disk has cut short
            return
    if there := [name for name in names if (folder / name).exists()]:
        raise InputError(
            f"{folder}: has {', '.join(there[:3])}, which no report has written and which this one would replace; give "
            "a folder of its own"
        )


def _methods(report: Report) -> Iterator[_Part]:
    if used := report.used:
        text = methods.paragraph(report, used)
        yield _Part({"methods.tex": text}, "\\section{Methods}\n\\input{methods}")
        yield from (_table(table, table.title) for table in methods.tables(used))


def _section(section: Section, number: int) -> Iterator[_Part]:
    """Heading and sentences, tables, figures. Files are numbered, since titles can be the same."""
    minded = "".join(f"\n\n\\emph{{To mind:}} {escaped(warning)}" for warning in section.warnings)
    items = "".join(f"\\item {{}}{escaped(sentence)}\n" for sentence in section.findings)
    listed = f"\n\\begin{{itemize}}\n{items}\\end{{itemize}}" if items else ""
    yield _Part({}, f"\\clearpage\n\\section{{{escaped(section.title)}}}{minded}{listed}")
    about = f"{section.title}. "
    tables = (_table(table, f"{number:02} {k:02} {table.title}", about) for k, table in enumerate(section.tables, 1))
    figures = (
        _figure(figure, f"{number:02} {k:02} {figure.title}", about) for k, figure in enumerate(section.figures, 1)
    )
    for k, part in enumerate(chain(tables, figures), 1):
        yield part
        if k % FLOATS == 0:
            yield _Part({}, "\\clearpage")


def _table(table: Table, title: str, about: str = "") -> _Part:
    """The table under a name made of the title; the caption begins with what the table is about."""
    name = _name(title)
    captioned = replace(table, title=f"{about}{table.title}")
    return _Part({f"tables/{name}.tex": table_float(captioned, f"tab:{name}")}, f"\\input{{tables/{name}}}")


def _figure(figure: Figure, title: str, about: str) -> _Part:
    """The chart as SVG and as PDF, as wide as a column or as both, whatever it was drawn with."""
    import vl_convert  # not at the top: a tenth of a second

    name, drawn = _name(title), svg(figure, width=DRAWN)
    pixels = float(re.search(r'<svg[^>]*? width="([\d.]+)', drawn)[1])  # type: ignore[index]
    place, width = ("figure", COLUMN) if pixels <= BOTH_COLUMNS else ("figure*", TEXT_WIDTH)
    scale = width / pixels
    caption = escaped(f"{about}{figure.title}. {figure.caption}".strip())
    return _Part(
        {
            f"figures/{name}.svg": _scaled(drawn, scale, "pt"),
            f"figures/{name}.pdf": vl_convert.svg_to_pdf(_scaled(drawn, scale)),  # a pixel becomes a point
        },
        f"\\begin{{{place}}}[tp]\n\\centering\n\\includegraphics{{figures/{name}}}\n"
        f"\\caption{{{caption}}}\\label{{fig:{name}}}\n\\end{{{place}}}",
    )


def _scaled(drawn: str, scale: float, unit: str = "") -> str:
    """The SVG in another size; what is in it is measured by its viewBox."""
    head, end, rest = drawn.partition(">")

    def sized(side: re.Match[str]) -> str:
        return f' {side[1]}="{float(side[2]) * scale:.2f}{unit}"'

    return re.sub(r' (width|height)="([\d.]+)"', sized, head) + end + rest


def _frame(report: Report, body: Sequence[str]) -> dict[str, str | bytes]:
    """What holds the parts together."""
    works = methods.works(report.used) if report.used else [citations.ITSELF]
    encoders = report.used.encoders if report.used else []
    head = map(escaped, [*report.warnings, report.question])
    text = "\n\n".join([*head, f"\\nocite{{{','.join(works)}}}", *body])
    return {
        "preamble.tex": PREAMBLE,
        "references.bib": citations.bibliography(works, encoders),
        "paper.tex": DOCUMENT % (escaped(report.title), text),
    }


def _name(title: str) -> str:
    """A title as part of a file's name that every TeX can read: ASCII letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME].strip("-")


def _write(path: Path, content: str | bytes) -> Path:
    with writing(path):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
