"""Seeds: independent random streams from one seed, without state, so that any step can be drawn again."""

from __future__ import annotations

import hashlib


def derive_seed(seed: int, *purpose: str | int) -> int:
    """A number in [0, 2**63) that depends on `seed` and on every part of `purpose`, such as ("order", epoch)."""
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
