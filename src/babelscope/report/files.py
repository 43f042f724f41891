"""Figures as files, and all sections as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from babelscope.core.errors import InputError
from babelscope.core.files import replacing
from babelscope.core.outside import check_suffix
from babelscope.report.first import first_screen
from babelscope.report.model import Report
from babelscope.report.output import FIGURE_SUFFIXES, file_name
from babelscope.report.sections import Section, sections_of
from babelscope.report.tables import Table

if TYPE_CHECKING:
    from babelscope.report.figures import Figure


def write_figures(report: Report, path: Path, *, width: int = 520) -> list[Path]:
    """Write all charts as .svg or .png, `width` pixels between the axes unless they have a width; gives the files.

    One task's scores are `path` itself; others are beside it, named after what they show: `STEM-TITLE.SUFFIX`. Raises
    InputError for another suffix, for rows that nothing can be drawn of, or when a file cannot be written.
    """
    check_suffix(path, FIGURE_SUFFIXES)
    figures = [figure for section in sections_of(report) for figure in section.figures]
    if not figures:
        raise nothing_to_show(report)
    files = [path.with_stem(stem) for stem in _stems(path.stem, figures)]
    for file, figure in zip(files, figures, strict=True):
        write_figure(figure, file, width=width)
    return files


def write_figure(figure: Figure, file: Path, *, width: int = 520) -> None:
    """Write one chart as .svg or .png, on white, `width` pixels between the axes unless it has a width."""
    from babelscope.report.figures import FIXED

    fits = getattr(figure.chart, "width", None) == "container"
    chart = figure.chart.properties(width=width) if fits else figure.chart
    chart.config = FIXED | {"background": "white"}
    with replacing(file) as draft:
        if file.suffix == ".png":
            chart.save(str(draft), format="png", scale_factor=2)
        else:
            chart.save(str(draft), format="svg")


def _stems(stem: str, figures: Sequence[Figure]) -> list[str]:
    """Names of files without their suffix; where two would be the same, the later ones are numbered."""
    stems: list[str] = []
    for figure in figures:
        name = "-".join(filter(None, [stem, file_name(figure.title) if figure.name is None else figure.name]))
        numbered = (f"{name}-{k}" for k in count(2))
        stems.append(name if name not in stems else next(candidate for candidate in numbered if candidate not in stems))
    return stems


def write_markdown(report: Report, path: Path) -> list[Path]:
    """Write `markdown` to a file; gives the file."""
    with replacing(path) as draft:
        draft.write_text(markdown(report), encoding="utf-8")
    return [path]


def markdown(report: Report) -> str:
    """All sections: sentences, what to mind, tables, and the names of the charts, which are in other files.

    Raises InputError where there is none.
    """
    sections = sections_of(report)
    if not sections:
        raise nothing_to_show(report)
    parts = [_warned(report.warnings), answer_markdown(sections), *map(section_markdown, sections)]
    return "\n".join(parts).lstrip()


def answer_markdown(sections: Sequence[Section]) -> str:
    """What the first section that says something has to say of the question, and what to mind of it.

    Empty where there is neither.
    """
    first = first_screen(sections)
    leading = None if first.number is None else sections[first.number]
    said = [f"{_escaped(' '.join(leading.answer))}\n"] if leading and leading.answer else []
    minded = [_warned(first.warnings)] if first.warnings else []
    if first.more_warnings:
        minded.append(f"More to mind: {first.more_warnings}, with their sections below.\n")
    return "\n".join([*said, *minded])


def section_markdown(section: Section) -> str:
    """One section: its heading, sentences, what to mind, tables, and the names of its charts."""
    parts = [f"## {_escaped(section.title)}\n"]
    if section.findings:
        parts.append("".join(f"- {_escaped(sentence)}\n" for sentence in section.findings))
    parts += [_warned([warning]) for warning in section.warnings]
    parts += [f"### {_escaped(table.title)}\n\n{_table(table)}" for table in section.tables]
    if section.figures:
        parts.append(f"Charts: {'; '.join(_escaped(figure.title) for figure in section.figures)}.\n")
    return "\n".join(parts)


def _warned(warnings: Sequence[str]) -> str:
    return "\n".join(f"> **To mind:** {_escaped(warning)}\n" for warning in warnings)


def _table(table: Table) -> str:
    lines = [[cell.text for cell in line] for line in table.lines]
    ends = [":" if column in table.numeric else "" for column in range(len(table.headers))]
    note = f"{_escaped(table.note)}\n\n" if table.note else ""
    return note + _pipes([table.headers, [f"---{end}" for end in ends], *lines])


def _pipes(lines: Sequence[Sequence[str]]) -> str:
    return "".join("| " + " | ".join(_escaped(cell) for cell in line) + " |\n" for line in lines)


def _escaped(text: str) -> str:
    """Text in a line, with no ends of cells, no links, and no tags of HTML, which Markdown would hand on."""
    line = re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|").replace("](", "]\\(")
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", line)


def nothing_to_show(report: Report) -> InputError:
    """What to raise for a report without any section."""
    return InputError(f"{report.title}: nothing to show yet; run the study first")
