"""Whether an encoder's files say that it is larger than they are, or that its weights are quantised.

Reads no weights, and loads no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import Any

from safetensors import SafetensorError, safe_open

from babelscope.core.errors import DataError, EncoderError
from babelscope.core.outside import read_json
from babelscope.encoders.growth import MOST_GROWTH, growth

WIDTH = ("hidden_size", "dim", "n_embd")
"""Of the layers, by the names that families have for it."""
LAYERS = ("num_hidden_layers", "n_layers", "n_layer")
HEADS = ("num_attention_heads", "n_heads", "n_head")
FEED_FORWARD = ("intermediate_size", "hidden_dim", "n_inner")
"""Likewise, of how many there are, and of the width inside of a layer."""
ROWS = (*WIDTH, *FEED_FORWARD, "embedding_size", "vocab_size", "n_positions", "head_dim")
"""Sizes that come with as many rows, of the layers' width, among the weights."""
MATRICES = (*LAYERS, *HEADS, "num_key_value_heads")
"""Sizes that come with a square matrix of that width, or part of one, for each."""
OPTIONAL = ("type_vocab_size", "num_labels", "max_relative_positions", "position_buckets")
"""Sizes of rows that may be 0, or -1 for none."""
QUANTISED = ("I8", "U8", "F8", "F6", "F4")
"""What the types of numbers begin with that weights are quantised to."""
MOST_ADDED = 50_000
"""Tokens added to a tokenizer's pieces: transformers takes a second for every few thousand."""
TOKENIZER_FILES = {
    "tokenizer.json": 1 << 27, "tokenizer_config.json": 1 << 24, "added_tokens.json": 1 << 24,
    "special_tokens_map.json": 1 << 24,
}  # fmt: skip
"""The files that tokens are added in, and bytes of each, at most: a million pieces take 60 MB."""


def check_sizes(config: Mapping[str, Any], folder: Path, tables: tuple[str, ...]) -> None:
    """Refuse sizes that no weights in the folder can have, before memory is taken for them.

    A weight takes a byte or more, so that no table of the model has more weights than the files have bytes.

    Args:
        config: of config.json.
        folder: with the weights.
        tables: further sizes of which the family has a table.

    Raises:
        EncoderError: a size is no whole number, below 1, or too large.
    """
    named = (*ROWS, *MATRICES, *OPTIONAL, *tables)
    for name in named:
        if type(value := config.get(name)) not in (int, NoneType):
            raise EncoderError(f"{name} is {value!r:.100}, and should be a whole number")
    held = sum(file.stat().st_size for pattern in ("*.safetensors", "*.bin") for file in folder.rglob(pattern))
    sizes = {name: value for name, value in config.items() if isinstance(value, int)}
    width = next((sizes[name] for name in WIDTH if name in sizes), 1)
    for name in named:
        if sizes.get(name, 1) < 1 and name not in OPTIONAL:
            raise EncoderError(f"{name} is {sizes[name]}, and should be 1 or more")
        if sizes.get(name, 0) * width ** (2 if name in MATRICES else 1) > held:
            raise EncoderError(f"{name} is {sizes[name]:,}, but the weights, {held:,} bytes, are too few for that")


def check_tokenizer(folder: Path) -> None:
    """Refuse a tokenizer that would take minutes to load, or make text so long that it fills the memory.

    Raises:
        EncoderError: more than `MOST_ADDED` tokens are added to its pieces, a file of it is no JSON or too large, or a
            letter may become more than `MOST_GROWTH`.
    """
    for name, largest in TOKENIZER_FILES.items():
        path = folder / name
        if path.is_file():
            state = path.stat()
            _check_file(path, largest, (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=64)  # steps of one process load the same encoder again and again, and large files take a second
def _check_file(path: Path, largest: int, state: tuple[int, int]) -> None:
    """Look at a file of a tokenizer; `state` tells it from what it is later."""
    try:
        held = read_json(path, largest)
    except DataError as error:
        raise EncoderError(f"cannot load the encoder: {error}. Download or save it again") from None
    if (added := _added(path.name, held)) > MOST_ADDED:
        raise EncoderError(
            f"{path}: {added:,} tokens are added to its pieces, {MOST_ADDED:,} are the most. Make them pieces"
        )
    if isinstance(held, dict) and growth(held.get("normalizer"), held.get("pre_tokenizer")) > MOST_GROWTH:
        raise EncoderError(
            f"{path}: its normalizer makes more than {MOST_GROWTH:,} letters of one. Take replacements away there"
        )


def _added(name: str, held: Any) -> int:
    """Tokens that are added, in any of the forms that there are."""
    if not isinstance(held, dict) or name == "added_tokens.json":
        return len(held) if isinstance(held, dict) else 0
    lists = [held.get("added_tokens")] if name == "tokenizer.json" else held.values()
    return sum(len(tokens) for tokens in lists if isinstance(tokens, dict | list))


def check_not_quantised(file: Path) -> None:
    """Refuse weights in eight bits or fewer, whose scales are nowhere: they would be read as the numbers they are."""
    with suppress(SafetensorError, OSError), safe_open(file, framework="np") as weights:  # loading says what that is
        # Masks, which some families keep among the weights, may be of a byte.
        for name in (name for name in weights.keys() if name.endswith("weight")):  # noqa: SIM118
            if (kind := weights.get_slice(name).get_dtype()).startswith(QUANTISED):
                raise EncoderError(
                    f"{file}: {name} is of {kind}, as weights are that were quantised; give the encoder with weights "
                    "of 16 or 32 bits"
                )
