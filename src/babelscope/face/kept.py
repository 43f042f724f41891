"""Encoders that were in memory, kept in a store's folder, so that steps can load them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from babelscope.encoders.folder import encoder_digest
from babelscope.encoders.places import NAME_FILE, Place, locate
from babelscope.engine.brought_in import write_records
from babelscope.engine.store import Store

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder as LoadedEncoder

ENCODERS = "encoders"
"""Where a store's folder has them."""


def keep(encoder: LoadedEncoder, store: Store, brought_in: Sequence[Mapping[str, Any]] = ()) -> Place:
    """Write an encoder to a folder of the store that is named by its content, and that says what it is called.

    Args:
        encoder: to write.
        store: that keeps it.
        brought_in: the records of languages that were brought into it, as `write_records` takes them.
    """
    from babelscope.encoders.load import save_encoder

    store.prepare()
    parent = store.folder / ENCODERS
    parent.mkdir(exist_ok=True)
    draft = parent / f".{uuid4().hex}"
    try:
        save_encoder(encoder, draft)
        (draft / NAME_FILE).write_text(encoder.name, encoding="utf-8")
        if brought_in:
            write_records(draft, brought_in)
        folder = parent / f"{_slug(encoder.name)}-{encoder_digest(draft, NAME_FILE)[:16]}"
        try:
            draft.rename(folder)
        except OSError:  # it is there, or another process was faster
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return locate(str(folder))


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "encoder"
