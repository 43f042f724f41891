"""Commands that look around: what there is to choose from, and what this machine has."""

from __future__ import annotations

from typing import Annotated

import typer

from babelscope.face.catalogue import KINDS
from babelscope.face.cli.options import DEFAULT_STORE, StoreFolder, out


def list_(kind: Annotated[str, typer.Argument(metavar="[KIND]", help=", ".join(KINDS))] = "studies") -> None:
    """Show what there is to choose from, by default the studies."""
    from babelscope.face.catalogue import catalogue
    from babelscope.face.printed import table_of

    out.print(table_of(*catalogue(kind)))


def doctor(store: StoreFolder = DEFAULT_STORE) -> None:
    """Show what this machine has and lacks, and which precision and threads are fastest; keep its speeds for plan."""
    from babelscope.engine.calibration import own_calibration
    from babelscope.face.doctor import examine
    from babelscope.face.printed import table_of
    from babelscope.face.session import open_store

    for title, header, lines in examine(open_store(store), keep=own_calibration()):
        table = table_of(header, lines)
        table.title = title
        out.print(table)
