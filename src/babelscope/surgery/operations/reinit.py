"""Draw weights anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Reinit(OnPart):
    """Reinitialise weights with the model's own initialiser."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["reinit"] = "reinit"

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.surgery.fresh import fresh_weights
        from babelscope.surgery.parts import change

        fresh = fresh_weights(encoder, seed)
        return change(encoder, self.part, self.layers, lambda name, _: fresh[name])
