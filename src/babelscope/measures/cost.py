"""How fast an encoder is against another."""

from __future__ import annotations

import time
from statistics import median

import torch

from babelscope.encoders.load import Encoder


@torch.no_grad()
def relative_speed(
    encoder: Encoder, reference: Encoder, sequences: int = 16, pieces: int = 64, rounds: int = 9
) -> float:
    """How many times as fast as the reference's the encoder's forward pass is, on the current device and threads.

    The two take turns, so that whatever else the machine does slows both; the medians are compared.
    """
    pieces = min(pieces, encoder.max_length, reference.max_length)
    ids = torch.randint(min(len(encoder.tokenizer), len(reference.tokenizer)), (sequences, pieces))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for one, spent in zip((encoder, reference), times, strict=True):
            began = time.perf_counter()
            one.backbone(input_ids=ids)
            spent.append(time.perf_counter() - began)
    own, other = (median(spent[1:]) for spent in times)  # the first pass warms up
    return other / own
