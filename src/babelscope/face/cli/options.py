"""Arguments and options that several commands share, and where they print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from babelscope.core.errors import InputError
from babelscope.core.outside import given_path, writable_path
from babelscope.engine.mark import check_outside
from babelscope.face.cli.completion import study_names
from babelscope.face.session import BUNDLE, DEFAULT_STORE, STORE_VARIABLE, address_of

__all__ = [
    "BUNDLE", "DEFAULT_STORE", "PARALLEL", "BundleFile", "LocalStoreFolder", "OtherStore", "OutputArchive",
    "OutputFile", "OutputFolder", "OutputReport", "StoreFolder", "StoreOrBundle", "StudyName", "StudyOrBundle", "With",
    "check_changed", "check_not_the_study", "err", "out", "output_path", "study_name",
]  # fmt: skip


def output_path(given: str | Path) -> Path:
    """A path that is to be written, outside of what stores have for themselves; nothing is written.

    Raises:
        InputError: as of `writable_path`, or it is of a store.
    """
    path = writable_path(given)
    check_outside(path)
    return path


def output_file(given: str | Path) -> Path:
    """A file that is to be written, as of `output_path`; under a name of compressed ones nobody could read it.

    Raises:
        InputError: as of `output_path`, or its name ends in .gz.
    """
    path = output_path(given)
    if path.suffix.lower() == ".gz":
        raise InputError(f"{path}: files are written uncompressed; leave {path.suffix} out of the name")
    return path


out = Console(soft_wrap=True, emoji=False, markup=False)  # what it prints are names and paths, with any brackets
err = Console(stderr=True, soft_wrap=True, emoji=False)


def study_name(given: str) -> str:
    """The name or the file of a study (`InputError` of a bundle)."""
    if given.endswith(BUNDLE):
        raise InputError(
            f"{given}: a bundle, which report and rows read; store pull copies its results, and reproduce checks them"
        )
    return given


StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="a built-in study, NAME or NAME@PROFILE, or a YAML file", parser=study_name,
        autocompletion=study_names,
    ),
]  # fmt: skip
StudyOrBundle = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help=f"a built-in study, NAME or NAME@PROFILE, a YAML file, or a bundle (FILE{BUNDLE})",
        autocompletion=study_names,
    ),
]


def _store(where: str) -> Any:
    return typer.Option(
        "--store", envvar=STORE_VARIABLE, parser=address_of, metavar="FOLDER", help=f"what keeps results: {where}",
        show_default=True,
    )  # fmt: skip


StoreFolder = Annotated[str, _store("a folder, or s3://BUCKET/FOLDER")]
LocalStoreFolder = Annotated[str, _store("a folder")]
OtherStore = Annotated[
    str, typer.Argument(metavar="STORE", parser=address_of, help="the other store: a folder, or s3://BUCKET/FOLDER")
]
StoreOrBundle = Annotated[
    str,
    typer.Argument(
        metavar="STORE", parser=address_of, help=f"a folder, s3://BUCKET/FOLDER, or a bundle (FILE{BUNDLE})"
    ),
]
BundleFile = Annotated[
    Path, typer.Argument(parser=given_path, metavar="BUNDLE", help="a file that babelscope bundle wrote")
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="KEY=VALUE",
        help="a built-in study's parameter (seeds=5) or a YAML study's key (tasks.pos.sizes.train=99); repeatable",
    ),
]
PARALLEL = typer.Option(
    metavar="TEXT",
    help="sentences and translations: ntrex:it, FILE.tsv, FILE.tmx, or two files en.txt,it.txt; repeatable",
)
OutputFile = Annotated[
    Path, typer.Option("-o", "--output", parser=output_file, metavar="FILE", help="the file to write")
]
OutputArchive = Annotated[
    Path, typer.Option("-o", "--output", parser=output_path, metavar="FILE", help=f"the file to write, {BUNDLE}")
]
OutputReport = Annotated[
    Path,
    typer.Option(
        "-o", "--output", parser=output_file, metavar="FILE|FOLDER",
        help="the file to write, or without a suffix the folder: LaTeX tables, figures, methods, BibTeX and rows",
    ),
]  # fmt: skip
OutputFolder = Annotated[
    Path, typer.Option("-o", "--output", parser=output_path, metavar="FOLDER", help="the folder to write")
]


def check_changed(study: object, with_: list[str] | None) -> None:
    """Refuse changes where no study is named that they would be of (`InputError`)."""
    if with_ and not study:
        raise InputError(f"--with {with_[0]}: changes a study, and none is named here; name it, or leave --with out")


def check_not_the_study(study: str, output: Path) -> None:
    """Refuse to write over the file that declares the study (`InputError`)."""
    if output.exists() and (file := given_path(study)).exists() and output.samefile(file):
        raise InputError(f"{output}: the study itself, which would be lost; choose another place")
