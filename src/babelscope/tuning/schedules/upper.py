"""Train the upper layers."""

from __future__ import annotations

from typing import Literal

from babelscope.tuning.strategy import Strategy

UpperPart = Literal["half", "quarter", "last"]
_LAYERS_FOR_EACH = {"half": 2, "quarter": 4}


class Upper(Strategy):
    """Train the upper part of the layers and freeze the rest: `upper:half`, `upper:quarter` or `upper:last`."""

    strategy: Literal["upper"] = "upper"
    upper: UpperPart
    """The part that is trained. Halves and quarters are rounded up."""

    def entry_stages(self, layers: int) -> tuple[int | None, ...]:
        trained = -(-layers // _LAYERS_FOR_EACH.get(self.upper, layers))
        return tuple(None if depth <= layers - trained else 0 for depth in range(layers + 1))
