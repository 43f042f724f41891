"""Write docs/results: what every study found, as its report says it. Computes nothing.

    python tools/results.py [STUDY ...]                  from the rows kept in docs/results/rows
    python tools/results.py --store STORE [STUDY ...]    from a store, whose rows are then kept there

A page has the command that its numbers come from, how much of the study is in the store, the findings, and the tables
that are short enough to read. A study of which nothing is known keeps the page that it has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from archive import pack, unpacked

from babelscope.core.errors import BabelscopeError
from babelscope.engine.store import Store
from babelscope.face.job import Job, job_of
from babelscope.report.files import section_markdown
from babelscope.report.model import Report
from babelscope.report.section import sections_of
from babelscope.studies import STUDIES

LONGEST = 60
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
    yield "Written by `make results` from the rows in the folder `rows`; not edited by hand.\n"
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


def write_page(name: str, store: Store, folder: Path) -> Path | None:
    """Write the page of a study that the store has rows of; gives the file."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        job = job_of(name, (), store)
        text = page(job)
    except BabelscopeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    file = folder / f"{title_of(job.study.name)}.md"
    file.write_text(text, encoding="utf-8")
    return file


def write_kept(name: str, folder: Path) -> Path | None:
    """Write the page of a study from the rows that are kept of it; without any it stays as it is."""
    rows = rows_of(name, folder)
    if not rows.exists():
        print(f"{name}: no rows are kept; its page stays as it is", file=sys.stderr)
        return None
    with unpacked(rows) as store:
        return write_page(name, store, folder)


def keep(name: str, store: Store, folder: Path) -> None:
    """Keep the rows of a study, for the next page."""
    pack(job_of(name, (), store).plan, store, rows_of(name, folder))


def rows_of(name: str, folder: Path) -> Path:
    """The archive of a study's rows."""
    return folder / "rows" / f"{title_of(Path(name).stem)}.tar.xz"


def title_of(name: str) -> str:
    """A study's name as that of a file."""
    return name.removesuffix("@world").replace("@", "-")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", default=list(STUDIES), help="default: all built-in studies")
    parser.add_argument("--store", type=Path, help="default: the rows that are kept")
    parser.add_argument("--docs", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    for name in given.studies:
        file = write_page(name, Store(given.store), given.docs) if given.store else write_kept(name, given.docs)
        if file and given.store:
            keep(name, Store(given.store), given.docs)
        if file:
            print(file)
