"""Freeze the lowest layers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from babelscope.tuning.strategy import Strategy, check_at_most

FrozenLayers = Annotated[int, Field(ge=-1)]


class Freeze(Strategy):
    """Freeze the embeddings and the first layers: `freeze:8`; `freeze:0` the embeddings alone, `freeze:-1` nothing."""

    strategy: Literal["freeze"] = "freeze"
    freeze: FrozenLayers
    """-1: nothing is frozen; 0: the embeddings; N: the embeddings and the first N layers."""

    def entry_stages(self, layers: int) -> tuple[int | None, ...]:
        return tuple(None if depth <= self.freeze else 0 for depth in range(layers + 1))

    def check(self, layers: int) -> None:
        check_at_most(layers, self.freeze, f"freezes the first {self.freeze} layers", "freeze")
