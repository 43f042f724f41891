"""A store by its address: a folder, or what machines share without one."""

from __future__ import annotations

from pathlib import Path

from babelscope.engine.sharing.objects import BUCKET, FOLDER
from babelscope.engine.store import Store


def is_remote(address: str) -> bool:
    """Whether an address is none of a folder as it stands."""
    return address.startswith((FOLDER, BUCKET))


def store_at(address: Path | str) -> Store:
    """The store in a folder, or at `s3://BUCKET/FOLDER` or `file://FOLDER`.

    Raises:
        StoreError: there is something else, a store of another format, or it cannot be reached.
    """
    if isinstance(address, str) and is_remote(address):
        from babelscope.engine.sharing.remote import RemoteStore

        return RemoteStore(address)
    return Store(address)
