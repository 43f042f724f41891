"""Write docs/results: what studies found, as their reports say it. Computes nothing.

    python tools/results.py [PAGE ...]                                      from the rows kept in docs/results/rows
    python tools/results.py --store STORE [STUDY ... [--with KEY=VALUE]]    from a store, whose rows are kept first
    python tools/results.py --store STORE advice.json                       the same of a run of `babelscope advise`

A page has the command that its numbers come from, how much of the study is done, the main figure, the findings, and the
tables that are short enough to read. The rows that are kept are all that it needs: no data and no encoders. A STUDY is
a built-in one or a YAML file. One of which nothing is known keeps the page that it has; where it was named, or where no
page at all was written, the exit status is 1.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from babelscope.core.errors import BabelscopeError, InputError
from babelscope.engine.progress import provenance, study_rows
from babelscope.engine.recall import recall
from babelscope.engine.sharing.archive import ABOUT, Kept, pack, unpacked
from babelscope.engine.store import Store
from babelscope.face.bundle import job_of_kept
from babelscope.face.job import Job, job_of
from babelscope.report.figures import Figure
from babelscope.report.files import answer_markdown, section_markdown, write_figure
from babelscope.report.first import first_screen
from babelscope.report.section import Section, sections_of
from babelscope.steps.plan import Plan
from babelscope.studies import STUDIES, YAML

LONGEST = 60
"""Lines of a table on a page; the report has them all."""
COLOURS = 64
"""Of a picture, at most."""
ARCHIVE, ADVICE, PICTURE = ".tar.xz", ".json", ".png"


def keep(name: str, changes: Sequence[str], store: Store, folder: Path) -> Path:
    """Keep the rows that a store has of a study with changes KEY=VALUE, or of advice; gives the archive.

    Raises:
        InputError: there is no such study or file, or the store has no rows of it.
        DataError, StudyError, StoreError: as of `job_of` and `recall`.
    """
    return _keep_advice(Path(name), store, folder) if name.endswith(ADVICE) else _keep(name, changes, store, folder)


def _keep(name: str, changes: Sequence[str], store: Store, folder: Path) -> Path:
    job = job_of(name, changes, store)
    finished = Plan({key: step for key, step in job.plan.steps.items() if store.has(key)})
    job._replace(plan=finished).rows()  # of what is not finished no rows are kept
    about = {"name": name, "with": list(changes), "study": job.study.model_dump(mode="json")}
    return pack(about, job.plan, store, rows_of(title_of(job), folder))


def _keep_advice(file: Path, store: Store, folder: Path) -> Path:
    from babelscope.advise.record import read_record

    record = read_record(file)
    plan = Plan.of(recall(store, key) for key in record.scores)
    return pack({"advice": record.model_dump(mode="json")}, plan, store, rows_of(file.stem, folder))


def write_page(rows: Path) -> Path:
    """Write the page of an archive beside the folder that it is in; gives the file.

    Raises:
        InputError: there is no such archive, it is of another version, or it has no rows.
    """
    if not rows.exists():
        names = ", ".join(map(page_of, archives(rows.parents[1])))
        raise InputError(f"no rows are kept in {rows}; there are those of: {names or 'nothing'}. Give a --store")
    file = rows.parents[1] / f"{page_of(rows)}.md"
    with unpacked(rows) as kept:
        told = told_of(kept)
        if figure := first_screen(told.sections).figure:
            _draw(figure, file.with_suffix(PICTURE))
        file.write_text(page(told, kept, page_of(rows)), encoding="utf-8")
    return file


def _draw(figure: Figure, file: Path) -> None:
    """In few colours, since pictures of all versions stay in the repository."""
    write_figure(figure, file)
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(COLOURS)
    few.save(file, optimize=True)


class Told(NamedTuple):
    """What a page says."""

    title: str
    command: Sequence[str]
    """Its words."""
    rows: int
    seeds: Sequence[int]
    sections: Sequence[Section]
    made: Mapping[str, Any]
    """When and with what, as `provenance` tells it."""


def told_of(kept: Kept) -> Told:
    """What there is to say of what is kept."""
    return _advice(kept) if "advice" in kept.about else _study(kept)


def page(told: Told, kept: Kept, name: str) -> str:
    """The page of that name, with the main figure of the report, which is beside it."""
    answer, figure = answer_markdown(told.sections), first_screen(told.sections).figure
    drawn = f"![{figure.title}]({name}{PICTURE})\n" if figure else ""
    sections = chain.from_iterable(map(shortened, told.sections))
    return "\n".join([*_head(told, kept), *filter(None, [answer, drawn]), *sections])


def _study(kept: Kept) -> Told:
    name, job = kept.about["name"], job_of_kept(kept, Path(ABOUT))
    report = job.report()
    words = ["babelscope", "run", name if name.endswith(YAML) else job.study.name]
    words += [word for change in job.changes for word in ("--with", change)]
    own = len([row for row in report.rows if row.key])
    return Told(f"Results of {job.title}", words, own, job.study.seeds, sections_of(report), report.provenance)


def _advice(kept: Kept) -> Told:
    from babelscope.advise.names import shown_language
    from babelscope.advise.outputs import TITLE, Outputs
    from babelscope.advise.record import Record
    from babelscope.advise.request import command_line

    record = Record.model_validate(kept.about["advice"])
    request = record.request
    sections = record.sections(kept.plan.steps, kept.store)
    words = shlex.split(command_line(request, Outputs(), run=True))
    rows = len(study_rows("advise", kept.plan, kept.store))
    made = provenance(kept.plan, kept.store)
    return Told(f"{TITLE} {shown_language(request.language)}?", words, rows, range(request.seeds), sections, made)


def _head(told: Told, kept: Kept) -> Iterator[str]:
    made, number, done = told.made, len(kept.plan.steps), sum(map(kept.store.has, kept.plan.steps))
    of = f"all {number:,} steps" if done == number else f"{done:,} of {number:,} steps: the study is not finished"
    yield f"# {told.title}\n"
    yield "Written by `make results` from the rows in the folder `rows`; not edited by hand.\n"
    yield f"    {shlex.join(told.command)}\n"
    yield (
        f"{told.rows:,} rows of {of}. Seeds: {', '.join(map(str, told.seeds))}. "
        f"{made['seconds of computing, all steps together'] / 60:,.0f} minutes of computing, all steps together; the "
        f"last one finished {made['last step finished'][:10]}. Versions: {made['versions']}. "
        f"Machines: {made['machines']}.\n"
    )


def shortened(section: Section) -> Iterator[str]:
    """A section without figures, commands and long tables."""
    short = [table for table in section.tables if len(table.lines) <= LONGEST]
    long = [table.title for table in section.tables if len(table.lines) > LONGEST]
    shown = replace(section, tables=short, figures=[], commands={})
    if shown:
        yield section_markdown(shown)
    if long:
        yield f"In the report also: {'; '.join(long)}.\n"


def title_of(job: Job) -> str:
    """The name of a study and of what was changed in it, as that of a file."""
    return re.sub(r"[^\w.-]+", "-", job.title.replace("@world", "")).strip("-")


def rows_of(title: str, folder: Path) -> Path:
    """The archive of a page's rows."""
    return folder / "rows" / f"{title}{ARCHIVE}"


def page_of(rows: Path) -> str:
    """The name of the page that is written from an archive."""
    return rows.name.removesuffix(ARCHIVE)


def archives(folder: Path) -> list[Path]:
    """All that are kept."""
    return sorted((folder / "rows").glob(f"*{ARCHIVE}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write pages, and say which; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="pages; with --store studies. Default: all there are")
    parser.add_argument("--store", type=Path, help="default: the rows that are kept")
    parser.add_argument("--with", dest="changes", action="append", default=[], metavar="KEY=VALUE", help="of a study")
    parser.add_argument("--docs", type=Path, default=Path("docs/results"))
    given = parser.parse_args(arguments)
    if given.changes and not (given.store and given.names):
        parser.error("--with changes a study: name it, and give its --store")
    wanted = given.names or (list(STUDIES) if given.store else list(map(page_of, archives(given.docs))))
    written = [file for name in wanted if (file := _written(name, given))]
    return 0 if written and (len(written) == len(wanted) or not given.names) else 1


def _written(name: str, given: argparse.Namespace) -> Path | None:
    """The page of a name; None where it is not written, which is said."""
    try:
        rows = keep(name, given.changes, Store(given.store), given.docs) if given.store else rows_of(name, given.docs)
        file = write_page(rows)
    except BabelscopeError as error:
        print(f"{name}: nothing is written: {error}", file=sys.stderr)
        return None
    print(file)
    return file


if __name__ == "__main__":
    sys.exit(main())
