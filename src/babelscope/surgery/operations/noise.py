"""Add noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.encoders.load import Encoder


class Noise(OnPart):
    """Add Gaussian noise whose standard deviation is `share` of each tensor's own. A constant tensor stays."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["noise"] = "noise"
    share: Annotated[float, Field(gt=0, le=1e6)] = 0.1
    """Standard deviation of the noise, as a share of the tensor's own."""

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        import torch

        from babelscope.surgery.parts import change, stream

        def noisy(name: str, old: Tensor) -> Tensor:
            if bool((old == old.flatten()[:1]).all()):  # whose standard deviation rounding may leave above 0
                return old
            drawn = torch.randn(old.shape, generator=stream(seed, "noise", name))
            return old + self.share * old.std(correction=0) * drawn

        return change(encoder, self.part, self.layers, noisy)
