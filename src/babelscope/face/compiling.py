"""Whether it pays on this machine's GPU to compile an encoder's layers (`compile: true`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from babelscope.core.errors import InputError
from babelscope.encoders.shape import Shape

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertConfig

    from babelscope.tuning.graphs import Passes

HEADER = ("encoder", "a pass", "compiled", "compiling takes", "pays from")
TITLE = "compile: true, on cuda in bfloat16, with batches of 32 x 128 tokens"
SHAPES = {
    "small (6 layers of 384)": Shape(hidden=384, layers=6, heads=6, feed_forward=1536),
    "base (12 layers of 768)": Shape(hidden=768, layers=12, heads=12, feed_forward=3072),
}
"""Compiling takes about as long for any number of layers, and each layer gains."""
VOCABULARY = 1000
"""Pieces that the measured encoders know."""
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


def compiling_lines() -> list[tuple[str, ...]]:
    """Lines under `HEADER`."""
    return [compiling_line(name, shape) for name, shape in SHAPES.items()]


def compiling_line(name: str, shape: Shape, device: str = "cuda") -> tuple[str, ...]:
    """An encoder's line under `HEADER`."""
    try:
        plain, compiled = (timed_passes(shape, device, asked) for asked in (False, True))
    except (InputError, RuntimeError) as error:  # a GPU that others use may have no memory left
        return name, "", "", "", str(error).partition("\n")[0]
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

    from babelscope.tuning.loop import numerics
    from babelscope.tuning.settings import Tuning

    tuning = Tuning(device=device, precision="bfloat16")
    seconds = []
    with numerics(tuning):
        passes, pieces, real = _made(shape, device, compiled)
        for _ in range(WARM_UP + PASSES):
            began = clock()
            with torch.autocast(device, torch.bfloat16):
                states = passes(input_ids=pieces, attention_mask=real).last_hidden_state
            states.float().square().mean().backward()
            if device == "cuda":
                torch.cuda.synchronize()
            seconds.append(clock() - began)
    return Passed(seconds[0], median(seconds[WARM_UP:]))


def _made(shape: Shape, device: str, compiled: bool) -> tuple[Passes, Tensor, Tensor]:
    """The passes of an encoder with random weights, pieces, and which of them are no padding."""
    import torch
    from transformers import BertModel

    from babelscope.tuning.compiled_layers import CompiledLayers
    from babelscope.tuning.freezing import layers_of
    from babelscope.tuning.graphs import Passes

    backbone = BertModel(bert_config(shape, VOCABULARY, BATCH[1]), add_pooling_layer=False).train()
    torch.nn.Module.to(backbone, device)
    for weights in backbone.parameters():
        weights.grad = torch.zeros_like(weights)
    pieces = torch.randint(VOCABULARY, BATCH, device=device)
    real = torch.ones_like(pieces, dtype=torch.bool)
    real[:, -1] = False
    return Passes(backbone, CompiledLayers(layers_of(backbone)) if compiled else None), pieces, real


def bert_config(shape: Shape, vocabulary: int, length: int) -> BertConfig:
    """Of a BERT of that shape, for sequences of so many pieces."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=vocabulary, hidden_size=shape.hidden, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, intermediate_size=shape.feed_forward, max_position_embeddings=length,
    )  # fmt: skip
