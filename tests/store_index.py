"""Where results and their index lie in a store, and files that are put in the place of others."""

from pathlib import Path

from babelscope.engine.store import Store


def place(store: Store, key: str, name: str = "") -> Path:
    return store.folder / "results" / key[:2] / key / name


def index_of(store: Store) -> Path:
    return store.folder / "babelscope-index.json"


def replaced(path: Path, content: bytes) -> None:
    """As editors do it; a clock that ticks slowly cannot hide it."""
    new = path.with_name("new")
    new.write_bytes(content)
    new.replace(path)


def exchanged(first: Path, second: Path) -> None:
    aside = first.with_name("aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
