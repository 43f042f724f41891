"""Whether it pays on this machine's GPU to compile an encoder's layers (`compile: true`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from babelscope.encoders.shape import Shape

if TYPE_CHECKING:
    from transformers import PreTrainedModel

HEADER = ("encoder", "a pass", "compiled", "compiling takes", "pays from")
BATCH = (32, 128)
"""Sequences, and pieces in each."""
PASSES, WARM_UP = 10, 3
"""Passes that are timed, after the first ones: one kernel by kernel, one that is captured as a graph, one replayed."""


class Passed(NamedTuple):
    """Seconds of passes forward and backward, each until the device is done."""

    first: float
    """In which layers are compiled, if they are."""
    later: float
    """Median."""


def compiling_line(name: str, shape: Shape, device: str = "cuda") -> tuple[str, ...]:
    """An encoder's line under `HEADER`."""
    plain, compiled = (timed_passes(shape, device, asked) for asked in (False, True))
    saved, takes = plain.later - compiled.later, max(0.0, compiled.first - plain.first)
    return (
        name,
        f"{1000 * plain.later:.1f} ms",
        f"{1000 * compiled.later:.1f} ms",
        f"{takes:.0f} s",
        f"{ceil(takes / saved):,} steps" if saved > 0 else "never",
    )


def timed_passes(shape: Shape, device: str, compiled: bool, clock: Callable[[], float] = time.perf_counter) -> Passed:
    """Passes of training over random pieces in bfloat16, as the training loop computes them on a GPU."""
    import torch

    from babelscope.tuning.compiled import Compiled
    from babelscope.tuning.freezing import layers_of
    from babelscope.tuning.graphs import Passes

    backbone = _backbone(shape).train()
    torch.nn.Module.to(backbone, device)
    for weights in backbone.parameters():
        weights.grad = torch.zeros_like(weights)
    passes = Passes(backbone, Compiled(layers_of(backbone)) if compiled else None)
    pieces = torch.randint(backbone.config.vocab_size, BATCH, device=device)
    real = torch.ones_like(pieces, dtype=torch.bool)
    real[:, -1] = False
    seconds = []
    for _ in range(WARM_UP + PASSES):
        began = clock()
        with torch.autocast(device, torch.bfloat16):
            states = passes(input_ids=pieces, attention_mask=real).last_hidden_state
        states.float().square().mean().backward()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(clock() - began)
    return Passed(seconds[0], median(seconds[WARM_UP:]))


def _backbone(shape: Shape) -> PreTrainedModel:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=1000, hidden_size=shape.hidden, num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward, max_position_embeddings=BATCH[1],
    )  # fmt: skip
    return BertModel(config, add_pooling_layer=False)
