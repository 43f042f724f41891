"""The user's cache folder, and how folders of fetched files get into it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

PLACE = "BABELSCOPE_CACHE"
"""The environment variable that names another folder for what can be made again: prepared data, copies of results."""
NOT_NOW = "it is not here, and this is no time to fetch it"


def user_cache() -> Path:
    """Where fetched files are kept."""
    import pooch

    return Path(pooch.os_cache("babelscope"))


_MAY_FETCH = ContextVar("may fetch", default=True)


@contextmanager
def nothing_fetched() -> Iterator[None]:
    """While the block lasts the network is left alone: what is not here cannot be had."""
    before = _MAY_FETCH.set(False)
    try:
        yield
    finally:
        _MAY_FETCH.reset(before)


def check_may_fetch() -> None:
    """Raise `FileNotFoundError` while nothing is to be fetched."""
    if not _MAY_FETCH.get():
        raise FileNotFoundError(NOT_NOW)


def fetch(url: str, sha256: str, folder: Path, downloader: Any = None) -> Path:
    """A file of the network, fetched once into `folder` and checked against its SHA-256.

    `downloader` is one of pooch's. Raises `OSError` or `ValueError` if it cannot be fetched or is not the recorded one.
    """
    import pooch

    name = url.rsplit("/", 1)[1]
    if not (folder / name).is_file():
        check_may_fetch()
    pooch.get_logger().setLevel("WARNING")
    return Path(pooch.retrieve(url, f"sha256:{sha256}", name, folder, downloader=downloader))


def from_hub(dataset: str, configuration: str, revision: str | None = None) -> Mapping[str, Any]:
    """The splits of a data set of the Hugging Face hub, of a release or the newest.

    Raises what network libraries raise, which share no base class; `ImportError` without the library `datasets`.
    """
    check_may_fetch()
    if not find_spec("datasets"):
        raise ImportError("the library datasets is not installed: pip install 'babelscope[hub]'")
    import datasets
    import huggingface_hub

    huggingface_hub.dataset_info(dataset, revision=revision, timeout=20)  # fails at once if offline
    splits: Mapping[str, Any] = datasets.load_dataset(dataset, configuration, revision=revision)
    return splits


def publish(folder: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write into a draft, then show it as `folder` in one move; if another process was faster, its stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        draft = Path(temporary) / folder.name
        draft.mkdir()
        fill(draft)
        try:
            draft.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def reason(error: BaseException) -> str:
    """Why something could not be fetched: the first of a chain of exceptions says it most plainly."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return f"{type(error).__name__}: {shorten(str(error), 300)}"
