"""Commands about a study: plan and run it, and get its rows and its report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from babelscope.core.errors import InputError
from babelscope.core.outside import given_path
from babelscope.core.words import counted, listed
from babelscope.face.cli.options import (
    BUNDLE,
    DEFAULT_STORE,
    OutputFile,
    OutputReport,
    StoreFolder,
    StudyName,
    StudyOrBundle,
    With,
    check_changed,
    check_not_the_study,
    err,
    out,
    study_name,
)
from babelscope.face.session import LOCAL, Engine

if TYPE_CHECKING:
    from babelscope.face.job import Job

QUIET = 3
"""Looks in a row, about a second apart, at which nothing runs, after which nothing is watched any more."""


def plan(
    name: StudyName, store: StoreFolder = DEFAULT_STORE, with_: With = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="steps at once; default: as this machine allows")] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="of doctor, on another machine; default: of this one"),
    ] = None,
) -> None:  # fmt: skip
    """Show what a study computes, what of it is done, the rest's cost, and how long it trains. Computes nothing."""
    from babelscope.face.job import planned_job
    from babelscope.face.prediction import HEADER
    from babelscope.face.printed import table_of
    from babelscope.steps.plan import check_data

    job = planned_job(name, with_, store)
    check_data(job.pending)
    prediction = job.prediction(calibration, jobs)
    out.print(table_of(HEADER, prediction.lines))
    header, lines = job.trainings()
    if lines:
        out.print("\noptimizer steps (~: estimated from the number of words)", highlight=False)
        out.print(table_of(header, lines, whole=range(1, len(header))))
        out.print()
    for line in prediction.words:
        out.print(line, highlight=False, markup=False)
    out.print(job.summary, highlight=False)
    for line in filter(None, [job.room, *job.notes]):
        out.print(line, highlight=False, markup=False)
    for what, reason in job.study.left_out.items():
        out.print(f"left out: {what}: {reason}", highlight=False, markup=False)


def run(
    name: StudyName, store: StoreFolder = DEFAULT_STORE, with_: With = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="steps at once; default: as the cores allow")] = None,
    engine: Annotated[
        str, typer.Option(help="local, or a Dask scheduler: dask:FILE, tcp://HOST:PORT or tls://HOST:PORT")
    ] = LOCAL,
    gpus: Annotated[str | None, typer.Option(help="those to use, such as 0,2; default: all visible ones")] = None,
    timeout: Annotated[float | None, typer.Option(min=1, help="seconds until a step is begun again")] = None,
    track: Annotated[
        list[str] | None,
        typer.Option(metavar="TRACKER", help="tell numbers to tensorboard:FOLDER or mlflow:ADDRESS; repeatable"),
    ] = None,
) -> None:  # fmt: skip
    """Run a study. Interrupt it at any moment; running it again goes on where it stopped."""
    from babelscope.face.job import job_of

    job = job_of(name, with_, store)
    for line in job.notes:
        err.print(line, highlight=False, markup=False)
    began = time.monotonic()
    outcome = job.run(Engine(engine, jobs, timeout, tuple(gpus.split(",")) if gpus else None), err, track or ())
    out.print(
        f"{job.title}: {counted(len(outcome.computed), 'step')} computed, {len(outcome.cached)} cached, "
        f"{len(outcome.failed)} failed, {len(outcome.blocked)} blocked, {time.monotonic() - began:.1f} s",
        highlight=False,
    )
    if held := job.held:
        out.print(
            f"keep: rows: {held} tunings have their weights still, which steps that failed or another unfinished run "
            f"may read: see babelscope store gc --keep {name}",
            highlight=False,
        )
    there = {*outcome.computed, *outcome.cached, *outcome.failed, *outcome.blocked}
    if missing := [step.title for key, step in job.plan.steps.items() if key not in there]:
        out.print(
            f"note: {len(missing):,} of the study's steps have no result here, and so no rows ({listed(missing, 3)}); "
            "they were not computed, since all that is computed from them is there",
            highlight=False,
        )
    if outcome.failed:
        raise typer.Exit(1)


def status(
    name: Annotated[str | None, typer.Argument(metavar="[STUDY]", parser=study_name)] = None,
    store: StoreFolder = DEFAULT_STORE, with_: With = None,
    watch: Annotated[bool, typer.Option("--watch", help="go on showing it while it runs")] = False,
) -> None:  # fmt: skip
    """Show how far a study is; without a study, every built-in one in its default profile."""
    from babelscope.face.printed import table_of

    check_changed(name, with_)
    if name is None:
        from babelscope.face.catalogue import study_states
        from babelscope.face.session import open_store

        if watch:
            raise InputError("--watch: is of one study, and none is named here; name it, or leave --watch out")
        out.print(table_of(("study", "done", "steps"), study_states(open_store(store))))
        return
    from babelscope.face.job import job_of

    job = job_of(name, with_, store)
    if watch:
        _watch(job, name)
        return
    out.print(table_of(*job.status()))
    if not job.store.is_there:
        err.print(f"note: {job.store.address}: there is no such store yet", markup=False, highlight=False)


def _watch(job: Job, name: str) -> None:
    """Until all is done, or nothing has run for a while: between two steps nothing does."""
    from rich.live import Live

    from babelscope.engine.progress import is_running
    from babelscope.face.printed import table_of

    quiet = 0
    with Live(table_of(*job.status()), console=out) as live:
        while job.pending and quiet < QUIET:
            quiet = 0 if is_running(job.plan, job.store) else quiet + 1
            time.sleep(1)
            live.update(table_of(*job.status()))
    if job.pending:
        out.print(f"nothing is running; go on with babelscope run {name}", highlight=False)


def serve(
    name: StudyName, store: StoreFolder = DEFAULT_STORE, with_: With = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free")] = 8765,
    host: Annotated[str, typer.Option(help="an address of this machine: 127.0.0.1, ::1 or localhost")] = "127.0.0.1",
) -> None:  # fmt: skip
    """Show a study in the browser while it runs: progress, losses, logs of failed steps, and its report so far."""
    from babelscope.face.job import job_of
    from babelscope.face.serve import server_of

    with server_of(job_of(name, with_, store), host, port) as server:
        shown = f"[{host}]" if ":" in host else host
        out.print(f"http://{shown}:{server.server_port}/ (Ctrl-C ends it)", highlight=False)
        server.serve_forever()


def rows(
    name: StudyOrBundle, output: OutputFile, store: StoreFolder = DEFAULT_STORE, with_: With = None,
    split: Annotated[
        str | None, typer.Option(metavar="SPLIT", help="only rows of this split: train, dev, test or probe")
    ] = None,
    wide: Annotated[
        Literal["language", "measure"] | None,
        typer.Option(is_eager=True, help="scores alone, a line a model, a column a language or a measure"),
    ] = None,
) -> None:  # fmt: skip
    """Write a study's rows, one number each, as .csv or .parquet; or its scores, a line a model (--wide)."""
    from babelscope.core.row_table import write_table
    from babelscope.face.result import Rows

    with _study_or_bundle(name, with_, store, output) as job:
        study_rows = Rows(job.rows())
        note_missing(job)
    table = (study_rows if split is None else study_rows.of_split(split)).frame(wide)
    write_table(table, output)
    out.print(f"{len(table)} {'rows' if wide is None else 'lines'} in {output}", highlight=False)


def report(name: StudyOrBundle, output: OutputReport, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Write a report: .html, figures (.svg, .png), projections (.gif), tables (.md), or a folder for a paper."""
    from babelscope.report import write_report

    with _study_or_bundle(name, with_, store, output) as job:
        content = job.report()
        note_missing(job)
        files = write_report(content, output)
    if not output.suffix:
        out.print(f"report: {len(files)} files in {output.resolve()}", highlight=False)
        return
    for path in files:
        out.print(f"report: {path.resolve()}", highlight=False)


@contextmanager
def _study_or_bundle(name: str, with_: list[str] | None, store: str, output: Path) -> Iterator[Job]:
    """A study, or that of a bundle, whose results are written to what it does not read."""
    check_not_the_study(name, output)
    if not name.endswith(BUNDLE):
        from babelscope.face.job import job_of

        job = job_of(name, with_, store)
        job.check_not_read(output)
        yield job
        return
    from babelscope.face.bundle import job_in

    if with_:
        raise InputError(f"--with {with_[0]}: changes a study, and results of a bundle are as they are; leave it out")
    with job_in(given_path(name)) as job:
        yield job


def note_missing(job: Job) -> None:
    """Say that a study is not finished, if it is not."""
    if job.missing:
        err.print(f"[yellow]note[/] {escape(job.missing)}")
