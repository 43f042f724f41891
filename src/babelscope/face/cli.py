"""The command line: parse, call, print."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.markup import escape

import babelscope
from babelscope.core.errors import BabelscopeError, InputError
from babelscope.engine import progress as results
from babelscope.engine.forecast import expected_bytes
from babelscope.engine.store import Store
from babelscope.face import catalogue
from babelscope.face.display import table_of
from babelscope.face.job import Job, job_of
from babelscope.steps.plan import check_device

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory for cross-lingual transfer of pretrained Transformer encoders.",
)  # fmt: skip
out, err = Console(soft_wrap=True, emoji=False), Console(stderr=True, soft_wrap=True, emoji=False)

StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="a built-in study, NAME or NAME@PROFILE, or a YAML file")
]
StoreFolder = Annotated[
    Path, typer.Option("--store", envvar="BABELSCOPE_STORE", help="the folder that keeps results", show_default=True)
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="KEY=VALUE",
        help="a built-in study's parameter (seeds=5) or a YAML study's key (tasks.pos.sizes.train=99); repeatable",
    ),
]
OutputFile = Annotated[Path, typer.Option("-o", "--output", help="the file to write")]
DEFAULT_STORE = Path("babelscope-store")
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


@app.command("list")
def list_(kind: Annotated[str, typer.Argument(metavar="[KIND]", help=", ".join(catalogue.KINDS))] = "studies") -> None:
    """What there is: studies, tasks, surgeries, measures, languages, encoders, treebanks."""
    out.print(table_of(*catalogue.catalogue(kind)))


@app.command()
def plan(name: StudyName, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """What would run: steps, cached or pending, and what they are expected to cost."""
    job = job_of(name, with_, store)
    job.check_data()
    costs = results.expected_seconds(job.plan, job.store)
    storage = expected_bytes(job.plan)
    lines = []
    for kind, states in results.progress_by_kind(job.plan, job.store).items():
        pending = states.total() - states["done"]
        cost = f"{pending * costs[kind]:.0f} s" if kind in costs else "unknown until one has run" if pending else "0 s"
        lines.append((kind, str(states["done"]), str(pending), cost, _storage(storage[kind])))
    out.print(table_of(("step", "cached", "pending", "expected computing", "storage, about"), lines))
    out.print(f"{len(job.plan.steps)} steps, {job.done} cached, in {job.store.folder}", highlight=False)


def _storage(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1e6:,.1f} MB" if size > 1e5 else "little"


@app.command()
def run(
    name: StudyName, store: StoreFolder = DEFAULT_STORE, with_: With = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="steps at once; default: as the cores allow")] = None,
) -> None:  # fmt: skip
    """Run a study. Interrupt it at any moment; running it again goes on."""
    from babelscope.engine import run_plan
    from babelscope.face.display import RunDisplay

    job = job_of(name, with_, store)
    job.check_data()
    check_device(job.pending)
    began = time.monotonic()
    with RunDisplay(job.plan, job.store, err) as display:
        outcome = run_plan(job.plan, job.store, jobs, display)
    out.print(
        f"{job.title}: {len(outcome.computed)} steps computed, {len(outcome.cached)} cached, "
        f"{len(outcome.failed)} failed, {len(outcome.blocked)} blocked, {time.monotonic() - began:.1f} s",
        highlight=False,
    )
    if outcome.failed:
        raise typer.Exit(1)


@app.command()
def status(
    name: Annotated[str | None, typer.Argument(metavar="[STUDY]")] = None,
    store: StoreFolder = DEFAULT_STORE, with_: With = None,
    watch: Annotated[bool, typer.Option("--watch", help="go on showing it while it runs")] = False,
) -> None:  # fmt: skip
    """How far a study is; without a study, every built-in one in its default profile."""
    if name is None:
        out.print(table_of(("study", "done", "steps"), catalogue.study_states(Store(store))))
        return
    job = job_of(name, with_, store)
    if not watch:
        out.print(table_of(*job.status))
        return
    with Live(table_of(*job.status), console=out) as live:
        while job.done < len(job.plan.steps) and results.is_running(job.plan, job.store):
            time.sleep(1)
            live.update(table_of(*job.status))
    if job.done < len(job.plan.steps):
        out.print(f"nothing is running; go on with babelscope run {name}", highlight=False)


@app.command()
def rows(name: StudyName, output: OutputFile, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Write a study's rows, one number each, as .csv or .parquet."""
    from babelscope.report import write_rows

    job = job_of(name, with_, store)
    found = _found_rows(job)
    write_rows(found, output)
    out.print(f"{len(found)} rows in {output}", highlight=False)


@app.command()
def report(name: StudyName, output: OutputFile, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Write a study's report: one .html file that opens anywhere; or its figures (.svg, .png) or tables (.md)."""
    from babelscope.report import report_of, write_report

    job = job_of(name, with_, store)
    found = _found_rows(job)
    provenance = results.provenance(job.plan, job.store)
    content = report_of(job.study, found, title=job.title, provenance=provenance)
    for path in write_report(content, output):
        out.print(f"report: {path.resolve()}", highlight=False)


@app.command()
def export(
    key: Annotated[str, typer.Argument(help="the key of a result, as rows have it, or its first digits")],
    output: Annotated[Path, typer.Option("-o", "--output", help="the folder to write")],
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Write a trained model, or a pre-trained encoder, as a Hugging Face folder."""
    from babelscope.engine import trained

    out.print(trained.export(Store(store), key, output), highlight=False)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="a folder that export wrote, or the key of a result")],
    file: Annotated[
        Path,
        typer.Argument(
            help="CoNLL-U, BIO or TSV; or plain text, one sentence a line, for taggers and parsers tokenised as their "
            "treebank is, with spaces between words and before a full stop"
        ),
    ],
    output: OutputFile,
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Write a file again with a trained model's labels in it."""
    from babelscope.engine import trained

    out.print(trained.predict(Store(store), model, file, output), highlight=False)


@app.command()
def operate(
    encoder: Annotated[str, typer.Argument(help="a shipped encoder, a folder, or a name on the Hugging Face hub")],
    output: Annotated[Path, typer.Option("-o", "--output", help="the folder to write")],
    op: Annotated[
        list[str],
        typer.Option(metavar="OPERATION", help="such as reverse or drop:last=6; repeatable, done in this order"),
    ],
    seed: Annotated[int, typer.Option(min=0, help="of what is drawn")] = 0,
) -> None:
    """Operate on an encoder's weights and write the result as a Hugging Face folder."""
    from babelscope.face.operate import write_operated

    out.print(write_operated(encoder, op, output, seed), highlight=False)


@app.command()
def transliterate(
    file: Annotated[Path, typer.Argument(help="CoNLL-U (named .conllu or .conllu.gz) or plain text")],
    output: OutputFile,
    by: Annotated[
        str, typer.Option("--by", help="uyghur, cyrillic, uroman, table:FILE ...; +permute:SEED after it")
    ] = "",
    restore: Annotated[bool, typer.Option("--restore", help="put back what was there before")] = False,
) -> None:
    """Write a file in other letters; in CoNLL-U forms change, the annotation stays, and MISC keeps what was there."""
    from babelscope.corpora import rewriting
    from babelscope.corpora.transliteration import USAGE, transliteration

    if bool(by) == restore:
        raise InputError("give either --by or --restore", USAGE)
    count = rewriting.restore(file, output) if restore else rewriting.rewrite(file, output, transliteration(by))
    out.print(f"{count:,} changed: {output}", highlight=False)


@app.command()
def advise(
    language: Annotated[str, typer.Option(help="its code, such as mt")],
    text: Annotated[str, typer.Option(help="raw text in UTF-8, a sentence a line: a file, or such as ntrex:mt")],
    encoder: Annotated[list[str], typer.Option(help="a shipped encoder, a folder or a hub name; repeatable")],
    treebank: Annotated[str | None, typer.Option(help="CoNLL-U: a file, a folder, or such as UD_Maltese-MUDT")] = None,
    task: Annotated[str, typer.Option(help="pos or parsing")] = "pos",
    run: Annotated[bool, typer.Option("--run", help="run the plan; interrupted, the same command goes on")] = False,
    export: Annotated[
        Path | None, typer.Option(help="with --run: the folder for the best model that transformers can load")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="the page to write")] = Path("advice.html"),
    store: StoreFolder = DEFAULT_STORE,
    seeds: Annotated[int, typer.Option(min=1, help="rounds, each with a seed of its own")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="of language modelling on the text")] = 300,
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    precision: Annotated[str, typer.Option(help="float32 or bfloat16")] = "float32",
) -> None:
    """Which encoder and recipe for a language: what is seen beforehand, a plan, and with --run the verdict."""
    from babelscope.advise.command import advise as ask
    from babelscope.advise.outputs import Outputs
    from babelscope.advise.request import asked
    from babelscope.face.display import RunDisplay, show_section

    given = {
        "language": language, "text": text, "treebank": treebank, "encoders": encoder, "task": task, "seeds": seeds,
        "adaptation_steps": steps, "device": device, "precision": precision,
    }  # fmt: skip
    request, kept = asked(given), Store(store)
    ask(
        request, Outputs(output, store, export), run, lambda text: err.print(text, markup=False, highlight=False),
        lambda section: show_section(section, out), lambda plan: RunDisplay(plan, kept, err),
    )  # fmt: skip
    if export:
        out.print(f"model: {export.resolve()}", highlight=False)
    out.print(f"page: {output.resolve()}", highlight=False)


@app.command()
def doctor(store: StoreFolder = DEFAULT_STORE) -> None:
    """What this machine has and lacks, and which precision and threads pay on it."""
    from babelscope.face.doctor import examine

    for title, header, lines in examine(Store(store)):
        table = table_of(header, lines)
        table.title = title
        out.print(table)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    if version:
        out.print(babelscope.__version__, highlight=False)
        raise typer.Exit


def _found_rows(job: Job) -> list[results.Row]:
    found = results.study_rows(job.study.name, job.plan, job.store)
    if not found:
        if not job.store.folder.exists():
            raise InputError(
                f"{job.store.folder}: there is no such store yet: run the study first, or give the store of its run "
                "with --store"
            )
        raise InputError(
            f"{job.store.folder} holds no result of {job.study.name} as it is asked for: run it first, or give the "
            "--with that it was run with, such as --with scale=small"
        )
    if job.done < len(job.plan.steps):
        err.print(f"[yellow]note[/] {job.done} of {len(job.plan.steps)} steps are done; the rest is missing")
    return found


def main() -> None:
    """Entry point: errors are printed without a traceback, and decide the exit status."""
    try:
        app()
    except BabelscopeError as error:
        err.print(f"[bold red]error[/] {escape(str(error))}", highlight=False)
        sys.exit(error.exit_status)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # what typer makes of Ctrl-C
            err.print("interrupted; run the same command again to go on")
        raise
