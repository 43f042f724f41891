"""Write docs/results: what every study found, as its report says it. Computes nothing.

    python tools/results.py [STUDY ...]                  from the rows kept in docs/results/rows
    python tools/results.py --store STORE [STUDY ...]    from a store, whose rows are then kept there

A page has the command that its numbers come from, how much of the study is in the store, the findings, and the tables
that are short enough to read. A STUDY is a built-in one or a YAML file. One of which nothing is known keeps the page
that it has; where it was named, or where no page at all was written, the exit status is 1.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from archive import pack, unpacked

from babelscope.core.errors import BabelscopeError, InputError
from babelscope.engine.store import Store
from babelscope.face.job import Job, job_of
from babelscope.report.files import section_markdown
from babelscope.report.model import Report
from babelscope.report.section import sections_of
from babelscope.studies import STUDIES, YAML, find_study

LONGEST = 60
"""Lines of a table on a page; the report has them all."""


def page(name: str, job: Job) -> str:
    """The page of a study whose rows are in the store; `name` is what it was asked for by."""
    report = job.report()
    return "\n".join([*_head(name, job, report), *_sections(report)])


def _head(name: str, job: Job, report: Report) -> Iterator[str]:
    told = report.provenance
    steps = f"{len(job.plan.steps):,} steps"
    done = f"all {steps}" if job.done == len(job.plan.steps) else f"{job.done:,} of {steps}: the study is not finished"
    yield f"# Results of {job.study.name}\n"
    yield "Written by `make results` from the rows in the folder `rows`; not edited by hand.\n"
    yield f"    babelscope run {shlex.quote(name) if name.endswith(YAML) else job.study.name}\n"
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


def write_page(name: str, store: Store | Path, folder: Path) -> Path:
    """Write the page of a study that the store has rows of; gives the file.

    Raises:
        InputError: there is no such study, or the store has no rows of it.
        DataError, StudyError, StoreError: as of `job_of`.
    """
    job = job_of(name, (), store)
    text = page(name, job)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{title_of(job.study.name)}.md"
    file.write_text(text, encoding="utf-8")
    return file


def write_kept(name: str, folder: Path) -> Path:
    """Write the page of a study from the rows that are kept of it; gives the file.

    Raises:
        InputError: there is no such study, or no rows of it are kept.
        DataError, StudyError: as of `job_of`.
    """
    rows = rows_of(name, folder)
    if not rows.exists():
        raise InputError(f"no rows are kept in {rows}: run the study, and give its store with --store")
    with unpacked(rows) as store:
        return write_page(name, store, folder)


def keep(name: str, store: Store | Path, folder: Path) -> None:
    """Keep the rows of a study, for the next page."""
    job = job_of(name, (), store)
    pack(job.plan, job.store, rows_of(name, folder))


def rows_of(name: str, folder: Path) -> Path:
    """The archive of a study's rows."""
    return folder / "rows" / f"{title_of(find_study(name, {}).name)}.tar.xz"


def title_of(name: str) -> str:
    """The name that a study gives itself, as that of a file."""
    return name.removesuffix("@world").replace("@", "-")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write pages, and say which; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="default: all built-in studies")
    parser.add_argument("--store", type=Path, help="default: the rows that are kept")
    parser.add_argument("--docs", type=Path, default=Path("docs/results"))
    given = parser.parse_args(arguments)
    written, wanted = 0, given.studies or list(STUDIES)
    for name in wanted:
        try:
            file = write_page(name, given.store, given.docs) if given.store else write_kept(name, given.docs)
            if given.store:
                keep(name, given.store, given.docs)
        except BabelscopeError as error:
            print(f"{name}: nothing is written: {error}", file=sys.stderr)
        else:
            written += 1
            print(file)
    return 0 if written and (written == len(wanted) or not given.studies) else 1


if __name__ == "__main__":
    sys.exit(main())
