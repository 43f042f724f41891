"""Draw weights anew at the scale that each tensor had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.encoders.load import Encoder


class Rescale(OnPart):
    """Reinitialise weights, scaled to the magnitude (mean absolute value) or variance that each tensor had.

    Zhang (2021), section 5.1. A tensor that the initialiser makes constant (biases 0, norms 1 and 0) gets that
    constant, since no factor can give it a scale.
    """

    takes_seed: ClassVar[bool] = True
    operation: Literal["rescale"] = "rescale"
    match: Literal["magnitude", "variance"] = "magnitude"
    """What each new tensor has in common with the old one."""

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.surgery.fresh import fresh_weights
        from babelscope.surgery.parts import change

        fresh = fresh_weights(encoder, seed)
        return change(encoder, self.part, self.layers, lambda name, old: self._scaled(fresh[name], old))

    def _scaled(self, fresh: Tensor, old: Tensor) -> Tensor:
        if bool((fresh == fresh.flatten()[0]).all()):
            return fresh
        if self.match == "magnitude":
            return fresh * (old.abs().mean() / fresh.abs().mean())
        return fresh * (old.std(correction=0) / fresh.std(correction=0))
