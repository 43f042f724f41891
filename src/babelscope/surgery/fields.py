"""What arguments of operations are: parts of an encoder, layers, patterns of tokens. Loads no torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from babelscope.core.errors import InputError

Part = Literal["all", "word-embeddings", "layers", "attention", "feed-forward", "norms", "positions", "head"]
MOST_LAYERS = 1000
"""Of an encoder, before and after an operation."""
IN_LAYERS: tuple[Part, ...] = ("all", "layers", "attention", "feed-forward", "norms")
"""The parts that `layers` can narrow down."""
ENGLISH_LIKE = "(##)?[A-Za-z]+"
"""Zhang (2021), section 4.1: a token of ASCII letters. Tokens are spelled as in WordPiece: `##` inside a word."""


def check_layers(layers: Iterable[int], count: int, name: str) -> None:
    """Refuse layers that an encoder of `count` layers, which messages call `name`, does not have."""
    if wrong := sorted(layer for layer in layers if not 0 <= layer < count):
        raise InputError(f"layer {wrong[0]}: {name} has {count} layers, 0 to {count - 1}")


def _joined(given: Any) -> Any:
    """Layers given as text. Other ways to write a list (0-3, 0,1) are refused: they could be read as other layers."""
    if not isinstance(given, str):
        return given
    if not re.fullmatch(r"[0-9]+(\+[0-9]+)*", given.strip()):
        raise ValueError("should be numbers joined by +, such as 0+1+2")
    return given.strip().split("+")


def _each_once(layers: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(layers)) < len(layers):
        raise ValueError("a layer is given twice")
    return layers


def _split(given: Any) -> Any:
    return [part for part in given.split(" ") if part] if isinstance(given, str) else given


Layers = Annotated[
    tuple[Annotated[int, Field(ge=0, lt=MOST_LAYERS)], ...],
    BeforeValidator(_joined),
    Field(min_length=1),
    AfterValidator(_each_once),
]
Patterns = Annotated[tuple[str, ...], BeforeValidator(_split)]
