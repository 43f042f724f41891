"""What is made of data again and again, kept as Arrow tables in the user's cache folder.

A table is found by the digest of all that it is made of, and ends in a digest of itself: what is damaged, or another's,
counts as absent, and is made anew. Nothing depends on a table being there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from babelscope.core.collection import uncollected
from babelscope.core.errors import InputError
from babelscope.core.files import replacing
from babelscope.core.hashing import digest
from babelscope.core.outside import given_path
from babelscope.corpora.cache import PLACE, user_cache

if TYPE_CHECKING:
    import pyarrow

LEAST = 500_000
"""Bytes of a table that is worth a file: about those of 500 parsed sentences."""
LIMIT = 2_000_000_000
"""Bytes of all tables; those that were not used for longest go first."""
FORMAT = 1
"""Raise it where the same key is to have another table."""
_SIZE = hashlib.sha256().digest_size

T = TypeVar("T")


def prepared(
    made_of: Any, make: Callable[[], T], as_table: Callable[[T], pyarrow.Table], of_table: Callable[[pyarrow.Table], T]
) -> T:
    """What `make` gives, or the same from a table that an earlier call has written.

    Args:
        made_of: a JSON value of which it all follows: what is made, digests of data, settings, versions of libraries.
        make: whatever it raises, nothing is kept of it.
        as_table: of what was made.
        of_table: the inverse, to the last bit.
    """
    key = digest([FORMAT, made_of])
    path = folder() / f"{key}.arrow"
    with uncollected():
        table = _read(path, key)
        if table is not None:
            return of_table(table)
        made = make()
        table = as_table(made)
    if table.nbytes >= LEAST:
        with suppress(OSError, InputError):  # a full disk, or a folder that cannot be written
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, key, table)
            _make_room(path.parent)
    return made


def folder() -> Path:
    """Where the tables are; it can be removed at any time."""
    return given_path(os.environ.get(PLACE) or user_cache()) / "prepared"


def _read(path: Path, key: str) -> pyarrow.Table | None:
    from pyarrow import ipc

    try:
        content = memoryview(path.read_bytes())
        os.utime(path)
    except OSError:
        return None
    body, given = content[:-_SIZE], content[-_SIZE:]
    return ipc.open_stream(body).read_all() if _seal(body, key) == given else None


def _write(path: Path, key: str, table: pyarrow.Table) -> None:
    import pyarrow
    from pyarrow import ipc

    sink = pyarrow.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    body = memoryview(sink.getvalue())
    with replacing(path) as draft, draft.open("wb") as file:
        file.write(body)
        file.write(_seal(body, key))


def _seal(body: memoryview, key: str) -> bytes:
    """What the bytes of a table end in; that of another key is another."""
    return hashlib.sha256(key.encode() + hashlib.sha256(body).digest()).digest()


def _make_room(tables: Path) -> None:
    """Remove those that were not used for longest, down to the limit."""
    sizes, uses = dict[Path, int](), list[tuple[float, Path]]()
    for path in tables.glob("*.arrow"):
        with suppress(FileNotFoundError):  # another process makes room, too
            about = path.stat()
            sizes[path] = about.st_size
            uses.append((about.st_mtime, path))
    excess = sum(sizes.values()) - LIMIT
    for _, path in sorted(uses):
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= sizes[path]
