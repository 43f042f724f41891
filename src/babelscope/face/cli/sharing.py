"""Commands about what stores hold: between stores, on the disk, and as a bundle that another lab can check."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from babelscope.core.errors import InputError
from babelscope.face.cli.listed import PLAIN, Commands
from babelscope.face.cli.options import (
    BUNDLE,
    DEFAULT_STORE,
    BundleFile,
    OtherStore,
    OutputArchive,
    StoreFolder,
    StoreOrBundle,
    StudyName,
    With,
    check_changed,
    check_not_the_study,
    err,
    out,
)

if TYPE_CHECKING:
    from babelscope.engine.store import Store

app = typer.Typer(**PLAIN, cls=Commands, help="Results of stores: push, pull, verify, sizes, gc.")
OfStudy = Annotated[str | None, typer.Argument(metavar="[STUDY]", help="whose results; default: all that there are")]


@app.command()
def push(to: OtherStore, name: OfStudy = None, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Copy results to another store. What it has stays as it is."""
    from babelscope.face.session import open_store

    _copy(open_store(store), open_store(to), name, with_)


@app.command()
def pull(from_: StoreOrBundle, name: OfStudy = None, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Copy results from another store, or from a bundle, which has no weights. What is here stays as it is."""
    from babelscope.engine.sharing.archive import unpacked, without_models
    from babelscope.face.session import open_store

    if not from_.endswith(BUNDLE):
        _copy(open_store(from_), open_store(store), name, with_)
        return
    with unpacked(Path(from_)) as kept:
        _copy(without_models(kept), open_store(store), name, with_)


@app.command()
def verify(name: OfStudy = None, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Read every file of results, and say which are not as they were published. Changes nothing."""
    from babelscope.engine.sharing.exchange import damaged_in, strays_in
    from babelscope.face.display import counting
    from babelscope.face.session import open_store

    place = _there(open_store(store))
    keys = _keys(place, name, with_)
    with counting("verified", err) as told:
        damaged = damaged_in(place, keys, told)
    _say_damaged(damaged.values())
    strays = () if name else strays_in(place)
    for stray in strays:
        err.print(
            f"[bold red]stray[/] {escape(stray)}: no result by its name or its place; move it away", highlight=False
        )
    without = sum(not place.is_whole(key) for key in keys)
    dropped = f", {without} of them without weights, which were dropped" if without else ""
    out.print(f"{len(keys) - len(damaged)} of {len(keys)} results are as they were published{dropped}", highlight=False)
    if damaged or strays:
        raise typer.Exit(1)


@app.command()
def sizes(name: OfStudy = None, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Show what results take, by kind of step and encoder, the largest first, and what `keep: rows` would drop."""
    from babelscope.engine.sizes import added
    from babelscope.engine.sizes import sizes as sizes_of
    from babelscope.face.printed import table_of
    from babelscope.face.session import open_store

    place = _there(open_store(store))
    taken = sizes_of(place, _keys(place, name, with_))
    lines = [*taken.items(), (("all", ""), added(taken.values()))]
    header = ("step", "encoder", "results", "weights", "rest", "can be dropped", "was dropped")
    table = [(*about, str(line.results), *map(decimal, line[1:])) for about, line in lines]
    out.print(table_of(header, table, whole=range(2, len(header))))


@app.command()
def gc(
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STUDY", help="also remove results that no such study needs, nor an unfinished run; repeatable"
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="remove it")] = False,
    store: StoreFolder = DEFAULT_STORE,
    with_: With = None,
) -> None:
    """Show what a store can do without. Never what an unfinished run needs, nor what is being computed."""
    from babelscope.engine.sharing.garbage import garbage, remove
    from babelscope.face.printed import table_of
    from babelscope.face.session import open_store

    check_changed(keep, with_)
    place = _there(open_store(store))
    kept = {key for name in keep for key in _keys(place, name, with_)} if keep else None
    pieces = garbage(place, kept)
    if pieces:
        out.print(table_of(("why", "size", "what"), [(piece.why, decimal(piece.size), piece.name) for piece in pieces]))
    for plan in place.plans.unfinished() if keep else ():
        missing = len(plan.keys) - len(place.published(plan.keys))
        out.print(
            f"kept: what a run of {len(plan.keys)} steps needs, begun {plan.began}, {missing} missing; to give it up, "
            f"remove {plan.place}",
            highlight=False,
        )
    if yes:
        out.print(f"removed: {decimal(remove(pieces, place))}", highlight=False)
    else:
        total = decimal(sum(piece.size for piece in pieces))
        out.print(f"{len(pieces)} can go, {total}" + ("; --yes removes them" if pieces else ""), highlight=False)


def bundle(name: StudyName, output: OutputArchive, store: StoreFolder = DEFAULT_STORE, with_: With = None) -> None:
    """Write what another lab needs to check a study: declaration, rows, manifests, digests, environment; no models."""
    from babelscope.face.bundle import write_bundle
    from babelscope.face.cli.studies import note_missing
    from babelscope.face.job import job_of

    check_not_the_study(name, output)
    job = job_of(name, with_, store)
    job.check_not_read(output)
    write_bundle(job, output)
    note_missing(job)
    out.print(f"bundle: {output.resolve()}, {decimal(output.stat().st_size)}", highlight=False)


def reproduce(
    file: BundleFile,
    steps: Annotated[int, typer.Option(min=1, help="how many to draw; what they need is computed, too")] = 3,
    seed: Annotated[int, typer.Option(help="of the draw")] = 0,
    encoder: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FOLDER", help="where an encoder of the study is; repeatable")
    ] = None,
    store: StoreFolder = DEFAULT_STORE,
) -> None:
    """Compute a sample of a bundle's steps, and say how far the numbers are apart."""
    from babelscope.face.bundle import encoders_of, table
    from babelscope.face.bundle import reproduce as check
    from babelscope.face.printed import table_of
    from babelscope.face.session import open_store

    checked = check(file, open_store(store), steps, seed, encoders_of(encoder or ()), err)
    out.print(table_of(*table(checked)))
    for difference in checked.differences:
        out.print(f"other here: {difference}", highlight=False, markup=False)
    for step, message in checked.failed.items():
        err.print(f"[bold red]failed[/] {escape(f'{step}: {message}')}", highlight=False)
    equal = sum(result.is_equal for result in checked.apart.values())
    out.print(f"{equal} of {len(checked.apart)} steps are equal to the last bit", highlight=False)
    if checked.failed:
        raise typer.Exit(1)


def _there(store: Store) -> Store:
    """Refuse a folder that is not there, whose name may be wrong (`InputError`)."""
    from babelscope.engine.sharing.objects import BUCKET, FOLDER

    place = Path(store.address.removeprefix(FOLDER))
    if not store.address.startswith(BUCKET) and not place.exists():
        raise InputError(f"{store.address}: there is no such store")
    return store


def _copy(source: Store, target: Store, name: str | None, with_: list[str] | None) -> None:
    from babelscope.engine.sharing.addresses import is_remote
    from babelscope.engine.sharing.exchange import copy, misfits_in
    from babelscope.face.display import counting

    if source.address == target.address:
        raise InputError(f"{source.address}: the same store twice; give another one")
    _there(source)
    with counting("copied", err) as told:
        copied = copy(_keys(source, name, with_), source, target, told)
    together = (*copied.copied, *copied.there)  # which may have been computed from one another's with other bits
    spoilt = misfits_in(target, together) if is_remote(target.address) else target.damaged(together, again=True)
    damaged = [*copied.damaged.values(), *map(str, spoilt.values())]
    _say_damaged(damaged)
    new, there = (len({*keys} - spoilt.keys()) for keys in (copied.copied, copied.there))
    out.print(f"{new} results copied, {there} were there, {len(damaged)} damaged", highlight=False)
    if copied.dropped:
        out.print(
            f"{len(copied.dropped)} left out, whose weights were dropped: {target.address} keeps all weights; "
            "babelscope export KEY computes them again",
            highlight=False,
        )
    if damaged:
        raise typer.Exit(1)


def _keys(store: Store, name: str | None, with_: list[str] | None) -> Collection[str]:
    """Of the results of a study that a store has, or of all."""
    check_changed(name, with_)
    if name is None:
        return store.keys()
    from babelscope.face.job import job_of

    job = job_of(name, with_, store)
    there = store.published(job.plan.steps)
    return [key for key in job.plan.steps if key in there]


def _say_damaged(damaged: Iterable[str]) -> None:
    for message in damaged:
        err.print(f"[bold red]damaged[/] {escape(message)}", highlight=False)
