"""How much of an accelerator's memory a training takes, as far as its declaration shows it."""

from __future__ import annotations

from typing import cast

from babelscope.encoders.footprint import Footprint, footprint
from babelscope.steps.encoder import EncoderStep, Load
from babelscope.tuning.settings import DEFAULT_TOKENS, Tuning

LONGEST = 512
"""Tokens of a sequence where nothing says how long it may be."""
ROOM = 16 << 30
"""Bytes of an accelerator that `micro_tokens: auto` counts on. Not those of the one at hand: keys have the number that
comes of it, and one study should have the same keys on every machine."""
READING = Tuning(steps=1)
"""What reads with an encoder is taken to need what a training on batches of the usual size does: it keeps nothing."""


def memory_of(encoder: EncoderStep, tuning: Tuning, predicted: float = 0.0) -> int:
    """Bytes, about, to train an encoder; 0 where its shape cannot be seen.

    A share of its tokens is `predicted` by a masked language model head.
    """
    shape = shape_of(encoder)
    return 0 if shape is None else _bytes(shape, tuning, tuning.at_once or _batch(tuning), predicted)


def in_portions(tuning: Tuning, encoder: EncoderStep, predicted: float = 0.0) -> Tuning:
    """The settings with `micro_tokens: auto` resolved for an encoder; where its shape cannot be seen, to None.

    It is halved from a batch until `ROOM` holds it, but no less than a sequence. `predicted` is as of `memory_of`.
    """
    if tuning.micro_tokens != "auto":
        return tuning
    shape, whole = _loaded_shape(encoder), _batch(tuning)
    at_once = whole
    if shape is not None and tuning.device != "cpu":
        while at_once > _length(tuning) and _bytes(shape, tuning, at_once, predicted) > ROOM:
            at_once = max(at_once // 2, _length(tuning))
    return tuning.model_copy(update={"micro_tokens": None if at_once == whole else at_once})


def shape_of(encoder: EncoderStep) -> Footprint | None:
    """The sizes of an encoder; None where they cannot be seen.

    Of one that was made of another they are those of the other, with as many layers as operations have left and with
    the rows that its vocabulary may gain.
    """
    if isinstance(encoder, Load):
        return footprint(encoder.place)
    if declared := getattr(encoder, "footprint", None):
        return cast("Footprint", declared)
    made_of: EncoderStep | None = getattr(encoder, "encoder", None)
    shape = shape_of(made_of) if made_of else None
    if shape is None:
        return None
    vocabulary = shape.vocabulary + encoder.most_added_pieces
    return shape._replace(layers=encoder.layers or shape.layers, vocabulary=vocabulary)


def _loaded_shape(encoder: EncoderStep) -> Footprint | None:
    """Of the encoder that one was made of, so that operations leave the portions, which are in keys, as they are."""
    loaded: EncoderStep | None = encoder
    while loaded is not None and not isinstance(loaded, Load):
        loaded = getattr(loaded, "encoder", None)
    return shape_of(loaded) if loaded else None


def _bytes(shape: Footprint, tuning: Tuning, at_once: int, predicted: float) -> int:
    length = _length(tuning)
    return shape.training(max(at_once, length), length, tuning.precision, tuning.recompute, predicted)


def _batch(tuning: Tuning) -> int:
    return (tuning.examples_per_batch or 0) * _length(tuning) or tuning.tokens_per_batch or DEFAULT_TOKENS


def _length(tuning: Tuning) -> int:
    return tuning.max_length or LONGEST
