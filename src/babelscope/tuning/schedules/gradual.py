"""Unfreeze layers gradually."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveInt

from babelscope.tuning.strategy import Duration, Strategy, check_at_most


class Gradual(Strategy):
    """Train the top group of layers, then the next group below too, and so on (Howard and Ruder, 2018)."""

    strategy: Literal["gradual"] = "gradual"
    groups: PositiveInt
    """Number of groups of layers, as even as can be. The embeddings are frozen."""
    every: Duration = "epoch"
    """When the next group joins: at the end of each epoch, or every so many steps."""

    @property
    def stages(self) -> int:
        return self.groups

    @property
    def stage_length(self) -> Duration:
        return self.every

    def entry_stages(self, layers: int) -> tuple[int | None, ...]:
        """For 12 layers in 3 groups: the top 4, 8 and 12 are trained in stages 0, 1 and 2."""
        return (None, *((layers - 1 - layer) * self.groups // layers for layer in range(layers)))

    def check(self, layers: int) -> None:
        check_at_most(layers, self.groups, f"has {self.groups} groups of layers", "groups")
