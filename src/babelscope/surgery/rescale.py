"""Forget all but the scale: weights drawn anew at each tensor's magnitude or variance."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.surgery.parts import change
from babelscope.surgery.reinit import fresh_weights


def rescale(
    encoder: Encoder, seed: int, part: str = "all", layers: Sequence[int] | None = None, match: str = "magnitude"
) -> Encoder:
    """The encoder with a part of its weights drawn anew and scaled to what each tensor had (Zhang, 2021, section 5.1).

    `match` is `magnitude` (the mean absolute value) or `variance`. A tensor that the initialiser makes constant
    (biases 0, norms 1 and 0) gets that constant: no factor can give it a scale.
    """
    fresh = fresh_weights(encoder, seed)
    return change(encoder, part, layers, lambda name, old: _scaled(fresh[name], old, match))


def _scaled(fresh: Tensor, old: Tensor, match: str) -> Tensor:
    if bool((fresh == fresh.flatten()[0]).all()):
        return fresh
    if match == "magnitude":
        return fresh * (old.abs().mean() / fresh.abs().mean())
    return fresh * (old.std(correction=0) / fresh.std(correction=0))
