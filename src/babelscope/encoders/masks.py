"""How transformers makes attention masks of what is padded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS


def reads_our_masks(model: PreTrainedModel) -> PreTrainedModel:
    """The model, of which a convolution, as DeBERTa-v2 can have one, reads masks as numbers: it subtracts them."""
    convolution = getattr(getattr(model.base_model, "encoder", None), "conv", None)
    if convolution is not None:
        convolution.register_forward_pre_hook(_with_numbers)
    return model


def _with_numbers(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    *states, mask = given
    return *states, mask.long()


@contextmanager
def masks_unread() -> Iterator[None]:
    """While the block lasts, a mask that is given is taken to hide something, as ours do (`Batch.attention_mask`).

    transformers looks whether it does, in every forward pass, and to look at an accelerator's memory is to wait for it.
    """
    made = ALL_MASK_ATTENTION_FUNCTIONS["sdpa"]

    def mask(*args: Any, **given: Any) -> Any:
        if given.get("attention_mask") is None:
            return made(*args, **(given | {"allow_is_bidirectional_skip": True}))
        return made(*args, **(given | {"allow_is_bidirectional_skip": False, "allow_is_causal_skip": False}))

    ALL_MASK_ATTENTION_FUNCTIONS["sdpa"] = mask
    try:
        yield
    finally:
        ALL_MASK_ATTENTION_FUNCTIONS["sdpa"] = made
