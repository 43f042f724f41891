"""What arguments of operations are: parts of an encoder, layers, patterns of pieces. Loads no torch."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt

Part = Literal["all", "word-embeddings", "layers", "attention", "feed-forward", "norms", "positions", "head"]
IN_LAYERS: tuple[Part, ...] = ("all", "layers", "attention", "feed-forward", "norms")
"""The parts that `layers` can narrow down."""
ENGLISH_LIKE = "(##)?[A-Za-z]+"
"""Zhang (2021), section 4.1: a piece of ASCII letters. Pieces are spelled as in WordPiece, `##` before what goes on."""


def _joined(given: Any) -> Any:
    """Layers given as text. Other ways to write a list (0-3, 0,1) are refused: they could be read as other layers."""
    if not isinstance(given, str):
        return given
    if not re.fullmatch(r"[0-9]+(\+[0-9]+)*", given.strip()):
        raise ValueError("layers are numbers joined by +, such as 0+1+2")
    return given.strip().split("+")


def _each_once(layers: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(layers)) < len(layers):
        raise ValueError("a layer is given twice")
    return layers


def _split(given: Any) -> Any:
    return [part for part in given.split(" ") if part] if isinstance(given, str) else given


Layers = Annotated[
    tuple[NonNegativeInt, ...], BeforeValidator(_joined), Field(min_length=1), AfterValidator(_each_once)
]
Patterns = Annotated[tuple[str, ...], BeforeValidator(_split)]
