"""Write docs/results from a store: what every study found, as its report says it. Computes nothing.

    python tools/results.py --store STORE [--docs docs/results] [--with KEY=VALUE] [STUDY ...]

A page has the command that its numbers come from, how much of the study is in the store, the findings, and the tables
that are short enough to read. A study of which the store holds nothing keeps the page that it has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from babelscope.core.errors import BabelscopeError
from babelscope.engine.store import Store
from babelscope.face.job import Job, job_of
from babelscope.report.files import section_markdown
from babelscope.report.model import Report
from babelscope.report.section import sections_of
from babelscope.studies import STUDIES

LONGEST = 45
"""Lines of a table on a page; the report has them all."""


def page(job: Job) -> str:
    """The page of a study whose rows are in the store."""
    report = job.report()
    return "\n".join([*_head(job, report), *_sections(report)])


def _head(job: Job, report: Report) -> Iterator[str]:
    told = report.provenance
    steps = f"{len(job.plan.steps):,} steps"
    done = f"all {steps}" if job.done == len(job.plan.steps) else f"{job.done:,} of {steps}: the study is not finished"
    yield f"# Results of {job.study.name}\n"
    yield "Written by `make results` from the rows of a store; not edited by hand.\n"
    yield f"    babelscope run {' '.join([job.study.name, *(f'--with {change}' for change in job.changes)])}\n"
    yield (
        f"{len([row for row in report.rows if row.key]):,} rows of {done}. Seeds: {told['seeds']}. "
        f"{told['seconds of computing, all steps together'] / 60:,.0f} minutes of computing, all steps together; the "
        f"last one finished {told['last step finished'][:10]}. Versions: {told['versions']}. "
        f"Machines: {told['machines']}.\n"
    )


def _sections(report: Report) -> Iterator[str]:
    for section in sections_of(report):
        short = [table for table in section.tables if len(table.lines) <= LONGEST]
        long = [table.title for table in section.tables if len(table.lines) > LONGEST]
        shown = replace(section, tables=short, figures=[], commands={})
        if shown:
            yield section_markdown(shown)
        if long:
            yield f"In the report also: {'; '.join(long)}.\n"


def write_pages(names: Sequence[str], changes: Sequence[str], store: Store, folder: Path) -> list[Path]:
    """Write the pages of the studies that the store has rows of; gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        try:
            job = job_of(name, changes, store)
            text = page(job)
        except BabelscopeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        file = folder / f"{job.study.name.removesuffix('@world').replace('@', '-')}.md"
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", default=list(STUDIES), help="default: all built-in studies")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--docs", type=Path, default=Path("docs/results"))
    parser.add_argument("--with", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    for file in write_pages(given.studies, given.changes, Store(given.store), given.docs):
        print(file)
