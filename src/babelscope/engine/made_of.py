"""What results were computed from: the digests of others as they were then, against those that they have now.

A key names a computation and not its bits: another machine's training ends in other weights. So scores of one machine
and weights of the other can come to lie in one store, by a copy or since one of them was damaged or dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from babelscope.core.errors import StoreError
from babelscope.core.hashing import digest
from babelscope.engine.disk import damaged
from babelscope.engine.index import look_at

MADE_OF = "made of"
"""What the manifest of a result has of those that it was computed from: by key the digest of each one's files."""


class Kept(Protocol):
    """A store, as far as it is needed here."""

    address: str

    def place_of(self, key: str) -> Path:
        """Where a published result is."""

    def manifest(self, key: str) -> dict[str, Any]:
        """What made it."""


def bits_of(manifest: Mapping[str, Any]) -> str:
    """The digest of all files of a result, those that were dropped among them."""
    return digest({name: recorded["sha256"] for name, recorded in manifest["files"].items()})


class Bits:
    """The digests of a store's results, read again where a result has changed."""

    def __init__(self, store: Kept):
        self._store = store
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, keys: Iterable[str]) -> dict[str, str]:
        """By key; those that are not there, or damaged themselves, are left out."""
        return {key: bits for key in keys if (bits := self._now(key))}

    def check(self, key: str, manifest: Mapping[str, Any]) -> None:
        """Refuse a result that was computed from others than are there now. Raises DamagedResult."""
        for needed, bits in manifest.get(MADE_OF, {}).items():
            if self._now(needed) not in (None, bits):
                place = f"{self._store.address}/results/{key[:2]}/{key}"  # which is the remote one, not its copy here
                other = f"other bits of result {needed[:12]} than are there now"
                raise damaged(place, f"was computed from {other} (of another machine, say)")

    def _now(self, key: str) -> str | None:
        stamp = look_at(self._store.place_of(key)).stamp
        if self._known.get(key, ("", ""))[0] != stamp:
            try:
                self._known[key] = stamp, bits_of(self._store.manifest(key))
            except StoreError:
                return None
        return self._known[key][1]
