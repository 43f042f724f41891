"""The command that advises on a language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from babelscope.face.cli.options import DEFAULT_STORE, PARALLEL, LocalStoreFolder, OutputFile, err, out, output_path


def advise(
    language: Annotated[str, typer.Option(help="its code, such as mt")],
    text: Annotated[str, typer.Option(help="raw text in UTF-8, a sentence a line: a file, or such as ntrex:mt")],
    encoder: Annotated[list[str], typer.Option(help="a shipped encoder, a folder or a hub name; repeatable")],
    labelled: Annotated[
        str | None,
        typer.Option(
            "--labelled",
            "--treebank",
            help="labelled sentences: CoNLL-U, or BIO for ner; a file, a folder, or such as UD_Maltese-MUDT",
        ),
    ] = None,
    parallel: Annotated[list[str] | None, PARALLEL] = None,
    source_labelled: Annotated[
        str | None,
        typer.Option(
            "--source-labelled",
            "--source-treebank",
            help="with --parallel: labelled sentences in what is translated, such as UD_English-EWT",
        ),
    ] = None,
    task: Annotated[
        str, typer.Option(help="pos, parsing, ner, or a column of CoNLL-U, such as xpos or feats:Case")
    ] = "pos",
    run: Annotated[bool, typer.Option("--run", help="run the plan; interrupted, the same command goes on")] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            parser=output_path,
            metavar="FOLDER",
            help="with --run: the folder for the best model of an encoder in the language's own script",
        ),
    ] = None,
    output: OutputFile = Path("advice.html"),
    store: LocalStoreFolder = DEFAULT_STORE,
    seeds: Annotated[int, typer.Option(min=1, help="rounds, each with a seed of its own")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="of language modelling on the text")] = 300,
    no_search: Annotated[
        bool, typer.Option("--no-search", help="train all recipes as is usual: the first round decides nothing")
    ] = False,
    no_curve: Annotated[
        bool, typer.Option("--no-curve", help="do not try what more sentences would bring, after the race")
    ] = False,
    margin: Annotated[float, typer.Option(help="recipes are as good if they differ by less: 0.02 is 2 points")] = 0.02,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps, or auto: what there is")] = "cpu",
    precision: Annotated[str, typer.Option(help="float32 or bfloat16")] = "float32",
) -> None:
    """Say which encoder and recipe suit a language: first by looking, then by a plan, and with --run by trying."""
    from babelscope.advise.command import advise as ask
    from babelscope.advise.outputs import Outputs
    from babelscope.advise.request import asked
    from babelscope.core.errors import InputError
    from babelscope.engine.sharing.addresses import is_remote
    from babelscope.engine.store import Store
    from babelscope.face.display import RunDisplay
    from babelscope.face.printed import show_section
    from babelscope.face.session import missing

    given = {
        "language": language, "text": text, "labelled": labelled, "encoders": encoder, "task": task,
        "parallel": parallel or (), "source_labelled": source_labelled, "seeds": seeds,
        "adaptation_steps": steps, "search": not no_search, "curve": not no_curve, "margin": margin,
        "device": device, "precision": precision,
    }  # fmt: skip
    if is_remote(store):
        raise InputError(f"--store {store}: advice needs a folder; give one, then babelscope store push")
    request, kept = asked(given), Store(store)
    ask(
        request, Outputs(output, Path(store), export), run, lambda text: err.print(text, markup=False, highlight=False),
        lambda section: show_section(section, out), lambda plan: RunDisplay(plan, len(missing(plan, kept)), err),
    )  # fmt: skip
    if export:
        out.print(f"model: {export.resolve()}", highlight=False)
    out.print(f"page: {output.resolve()}", highlight=False)
