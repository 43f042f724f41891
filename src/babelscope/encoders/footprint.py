"""How much of an accelerator's memory the training of an encoder takes, by its shape. Loads no torch."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import DataError
from babelscope.core.outside import read_json
from babelscope.encoders.sizes import FEED_FORWARD, HEADS, LAYERS, WIDTH

NAMES = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "feed_forward": FEED_FORWARD, "vocabulary": ("vocab_size",)}
"""What families call the sizes."""
STATES = 16
"""Bytes a weight: itself, its gradient and AdamW's two means, all in float32."""
KEPT = {"float32": 4, "bfloat16": 3}
"""Bytes of a number that is kept for the gradient; with autocast, of some in both precisions."""
CONTEXT = 1 << 30
"""Bytes that a process takes on a GPU before it does anything, and what libraries take to work in."""
MARGIN = 1.25
"""Since memory is taken in blocks."""


class Footprint(NamedTuple):
    """The sizes that memory depends on."""

    layers: int
    width: int
    heads: int
    feed_forward: int
    vocabulary: int

    @property
    def weights(self) -> int:
        """Of the matrices."""
        layer = 4 * self.width**2 + 2 * self.width * self.feed_forward
        return self.layers * layer + self.vocabulary * self.width

    def kept(self, tokens: int, length: int) -> int:
        """Numbers that a layer keeps for the gradient of so many tokens in sequences of a length at most.

        Queries, keys, values, what attention gives, three inputs and two sums of blocks, with what dropout leaves of
        them; the feed-forward block before and after its function; and the weights of attention, where they are kept.
        """
        return tokens * (12 * self.width + 3 * self.feed_forward + 2 * self.heads * length)

    def training(self, tokens: int, length: int, precision: str, recompute: bool) -> int:
        """Bytes, about, to train on so many tokens at once; of layers that are computed again, one is kept at once."""
        layers = self.kept(tokens, length) * (1 if recompute else self.layers)
        inputs = self.layers * tokens * self.width if recompute else 0
        return round(MARGIN * (STATES * self.weights + KEPT[precision] * (layers + inputs)) + CONTEXT)


@lru_cache(maxsize=256)
def footprint(place: str) -> Footprint | None:
    """Of the encoder in a folder, or of one on the hub that is in the local cache; None where that cannot be seen."""
    try:
        config = read_json(_config(place))
        return Footprint(**{name: next(config[key] for key in keys if key in config) for name, keys in NAMES.items()})
    except (DataError, StopIteration, TypeError, ValueError):  # ValueError: what cannot be a name on the hub
        return None


def _config(place: str) -> Path:
    folder = Path(place)
    if folder.is_dir():
        return folder / "config.json"
    from huggingface_hub import try_to_load_from_cache

    return Path(str(try_to_load_from_cache(place, "config.json")))
