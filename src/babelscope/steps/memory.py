"""How much of an accelerator's memory a training takes, as far as its declaration shows it."""

from __future__ import annotations

from babelscope.encoders.footprint import footprint
from babelscope.steps.encoder import EncoderStep, Load
from babelscope.tuning.settings import DEFAULT_TOKENS, Tuning

LONGEST = 512
"""Tokens of a sequence where nothing says how long it may be."""


def memory_of(encoder: EncoderStep, tuning: Tuning) -> int:
    """Bytes, about, to train an encoder; 0 where its shape cannot be seen.

    Of one that was operated on it is that of the encoder that it was made of.
    """
    loaded: EncoderStep | None = encoder
    while loaded is not None and not isinstance(loaded, Load):
        loaded = getattr(loaded, "encoder", None)
    shape = footprint(loaded.place) if loaded else None
    if shape is None:
        return 0
    length = tuning.max_length or LONGEST
    declared = (tuning.examples_per_batch or 0) * length or tuning.tokens_per_batch or DEFAULT_TOKENS
    return shape.training(max(tuning.micro_tokens or declared, length), length, tuning.precision, tuning.recompute)
