"""The command line: parse, call, print. What a command needs is imported when it is called, so that help is quick."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from babelscope.core.errors import BabelscopeError
from babelscope.core.version import __version__
from babelscope.face.cli import advice, look, models, sharing, studies
from babelscope.face.cli.listed import PLAIN, Commands
from babelscope.face.cli.options import err, out

INTERRUPTED = 130
"""The exit status after Ctrl-C."""

app = typer.Typer(
    **PLAIN, cls=Commands, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory for cross-lingual transfer of pretrained Transformer encoders.",
)  # fmt: skip
app.command("list")(look.list_)
for command in (
    studies.plan, studies.run, studies.status, studies.serve, studies.rows, studies.report,
    models.export, models.predict, models.score, models.operate, models.bring_in, models.pack, models.unpack,
    models.push, models.transliterate,
    advice.advise, sharing.bundle, sharing.reproduce, look.doctor,
):  # fmt: skip
    app.command()(command)
app.add_typer(sharing.app, name="store")


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    if version:
        out.print(__version__, highlight=False)
        raise typer.Exit


def main() -> None:
    """Entry point: errors are printed without a traceback, and decide the exit status."""
    gc.set_threshold(100_000)  # what a large plan is made of stays, and need not be looked through often
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError):  # of what is no file, or of a file that was put elsewhere
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a name may have any letters
    try:
        app()
    except BabelscopeError as error:
        err.print(f"[bold red]error[/] {escape(str(error))}", highlight=False)
        sys.exit(error.exit_status)
    except MemoryError:
        _fail("memory did not suffice for what this command reads; give it smaller files, or use a larger machine")
    except OSError as error:
        if error.filename is not None:  # a file's faults have words of their own, where it is read or written
            raise
        _fail(_refused_by_the_system(error))
    except SystemExit as end:
        if end.code == INTERRUPTED:  # what typer makes of Ctrl-C
            err.print("interrupted; run the same command again to go on")
        raise


def _fail(problem: str) -> NoReturn:
    err.print(f"[bold red]error[/] {escape(problem)}", highlight=False)
    sys.exit(1)


def _refused_by_the_system(error: OSError) -> str:
    """What it refused, where that is of no file that is known."""
    try:
        Path.cwd()
    except OSError:
        return "the folder that this command is run in is gone; run it in another one"
    if isinstance(error, FileNotFoundError):  # as `tempfile` says it
        return f"no temporary file can be written ({error.strerror or error}); set TMPDIR to a folder where one can be"
    sys.stdout = None  # which Python would write to once more at its end
    return f"what this command says cannot be written: {error.strerror or error}"
