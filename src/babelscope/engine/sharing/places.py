"""A store by its address: a folder, or what machines share without one."""

from __future__ import annotations

from pathlib import Path

from babelscope.engine.sharing.addresses import is_remote
from babelscope.engine.store import Store


def store_at(address: Path | str) -> Store:
    """The store in a folder, or at `s3://BUCKET/FOLDER` or `file://FOLDER`.

    Raises:
        StoreError: there is something else, a store of another format, or it cannot be reached.
    """
    if isinstance(address, str) and is_remote(address):
        from babelscope.engine.sharing.remote import RemoteStore

        return RemoteStore(address)
    return Store(address)
