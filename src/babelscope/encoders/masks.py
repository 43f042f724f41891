"""How transformers makes attention masks of what is padded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS


@contextmanager
def masks_unread() -> Iterator[None]:
    """While the block lasts, a mask that is given is taken to hide something, as ours do (`Batch.attention_mask`).

    transformers looks whether it does, in every forward pass, and to look at an accelerator's memory is to wait for it.
    """
    made = ALL_MASK_ATTENTION_FUNCTIONS["sdpa"]

    def mask(*args: Any, **given: Any) -> Any:
        return made(*args, **(given | {"allow_is_bidirectional_skip": given.get("attention_mask") is None}))

    ALL_MASK_ATTENTION_FUNCTIONS["sdpa"] = mask
    try:
        yield
    finally:
        ALL_MASK_ATTENTION_FUNCTIONS["sdpa"] = made
