"""Train some layers alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, NonNegativeInt

from babelscope.tuning.strategy import Strategy, check_at_most


def _split(given: Any) -> Any:
    ends = given.split("-") if isinstance(given, str) else given
    if isinstance(ends, list | tuple) and (len(ends) != 2 or "" in ends):
        raise ValueError("should be a first layer and the one after the last, such as 6-12")
    return ends


def _in_order(ends: tuple[int, int]) -> tuple[int, int]:
    if ends[0] >= ends[1]:
        raise ValueError(f"{ends[0]}-{ends[1]}: the end, which is not included, must be greater")
    return ends


Ends = Annotated[tuple[NonNegativeInt, NonNegativeInt], BeforeValidator(_split), AfterValidator(_in_order)]


class Layers(Strategy):
    """Train only layers M to K-1, counted from 0: `layers:6-12`."""

    strategy: Literal["layers"] = "layers"
    layers: Ends
    """The first layer, and the one after the last."""

    def entry_stages(self, layers: int) -> tuple[int | None, ...]:
        return (None, *(0 if layer in range(*self.layers) else None for layer in range(layers)))

    def check(self, layers: int) -> None:
        check_at_most(layers, self.layers[1], "trains layers that are not there", "layers")
