"""What an encoder takes to compute, memory and operations, by its shape. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import DataError
from babelscope.core.outside import read_json
from babelscope.encoders.sizes import FEED_FORWARD, HEADS, LAYERS, WIDTH

NAMES = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "feed_forward": FEED_FORWARD, "vocabulary": ("vocab_size",)}
"""What families call the sizes."""
STATES = 16
"""Bytes a weight: itself, its gradient and AdamW's two means, all in float32."""
KEPT = {"float32": 4, "bfloat16": 3}
"""Bytes of a number that is kept for the gradient; with autocast, of some in both precisions."""
LOGITS = 12
"""Bytes of a logit of a masked language model head: the logit, its log-probability and its gradient, in float32."""
CONTEXT = 1 << 30
"""Bytes that a process takes on a GPU before it does anything, and what libraries take to work in."""
MARGIN = 1.25
"""Since memory is taken in blocks."""
GATED = ("modernbert", "llama", "qwen2", "qwen3")
"""Families whose feed-forward blocks have a third matrix, a gate."""


MOST_PIECES = 5000
"""How many pieces a language's own vocabulary has at most where no number is given. Plans count it."""


class Footprint(NamedTuple):
    """The sizes that memory depends on."""

    layers: int
    width: int
    heads: int
    feed_forward: int
    vocabulary: int
    gated: bool = False

    @property
    def weights(self) -> int:
        """Of the matrices."""
        return self.layers * self._layer + self.vocabulary * self.width

    @property
    def _layer(self) -> int:
        """Weights of a layer's matrices."""
        return 4 * self.width**2 + (3 if self.gated else 2) * self.width * self.feed_forward

    def forward(self, length: float, predicted: float = 0.0) -> float:
        """Floating-point operations for a token on the way forward, in a sequence of so many.

        Each weight multiplies and adds once, and attention compares with every token and sums over them. A share of
        the tokens is predicted by a masked language model head: a matrix, and a row for every piece.
        """
        attention = 4 * length * self.width
        head = 2 * self.width * (self.width + self.vocabulary)
        return self.layers * (2 * self._layer + attention) + predicted * head

    def kept(self, tokens: int, length: int) -> int:
        """Numbers that a layer keeps for the gradient of so many tokens in sequences of a length at most.

        Queries, keys, values, what attention gives, three inputs and two sums of blocks, with what dropout leaves of
        them; the feed-forward block before and after its function; and the weights of attention, where they are kept.
        """
        return tokens * (12 * self.width + 3 * self.feed_forward + 2 * self.heads * length)

    def training(self, tokens: int, length: int, precision: str, recompute: bool, predicted: float = 0.0) -> int:
        """Bytes, about, to train on so many tokens at once, a share of which a masked language model head predicts.

        Of layers that are computed again, one is kept at once.
        """
        layers = self.kept(tokens, length) * (1 if recompute else self.layers)
        inputs = self.layers * tokens * self.width if recompute else 0
        logits = LOGITS * predicted * tokens * self.vocabulary
        return round(MARGIN * (STATES * self.weights + KEPT[precision] * (layers + inputs) + logits) + CONTEXT)


SHAPE = "shape:"
"""What the names of encoders begin with of which there is a shape alone."""
SHAPES = {
    "mbert": Footprint(12, 768, 12, 3072, 119_547),
    "distilmbert": Footprint(6, 768, 12, 3072, 119_547),
    "xlm-r": Footprint(12, 768, 12, 3072, 250_002),
    "xlm-r-large": Footprint(24, 1024, 16, 4096, 250_002),
    "mmbert-small": Footprint(22, 384, 6, 1152, 256_000, gated=True),
    "mmbert": Footprint(22, 768, 12, 1152, 256_000, gated=True),
    "minilm": Footprint(6, 384, 12, 1536, 30_522),
    "bert": Footprint(12, 768, 12, 3072, 30_522),
    "bert-large": Footprint(24, 1024, 16, 4096, 30_522),
}
"""Of encoders that many use, by their short names: bert and bert-large are the uncased English ones, minilm is
all-MiniLM-L6-v2."""


@lru_cache(maxsize=256)
def footprint(place: str) -> Footprint | None:
    """Of the encoder in a folder, of one on the hub that is in the local cache, or of `shape:NAME`.

    None where that cannot be seen.
    """
    if place.startswith(SHAPE):
        return SHAPES.get(place.removeprefix(SHAPE))
    try:
        config = read_json(_config(place))
        return Footprint(**_sizes(config), gated=config.get("model_type") in GATED)
    except (DataError, TypeError, ValueError):  # ValueError: what cannot be a name on the hub
        return None


def _sizes(config: Mapping[str, Any]) -> dict[str, int]:
    """By name. GPT-2 and its kin leave the width of feed-forward blocks null, which means four times their own."""
    sizes = {name: next((config[key] for key in keys if key in config), 0) for name, keys in NAMES.items()}
    if sizes["feed_forward"] is None:
        sizes["feed_forward"] = 4 * sizes["width"]
    if not all(sizes.values()):
        raise ValueError(f"no {', '.join(name for name, size in sizes.items() if not size)}")
    return sizes


def known_config(place: str) -> dict[str, int] | None:
    """What the config.json of a known `shape:NAME` says of its sizes; None of any other place."""
    shape = footprint(place) if place.startswith(SHAPE) else None
    return {keys[0]: getattr(shape, name) for name, keys in NAMES.items()} if shape else None


def _config(place: str) -> Path:
    folder = Path(place)
    if folder.is_dir():
        return folder / "config.json"
    from huggingface_hub import try_to_load_from_cache

    return Path(str(try_to_load_from_cache(place, "config.json")))
