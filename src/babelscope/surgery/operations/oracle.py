"""Keep nothing but the distribution of each tensor's elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.encoders.load import Encoder


class Oracle(OnPart):
    """Permute the elements within each tensor, so that only their distribution stays (Zhang, 2021, section 5.2)."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["oracle"] = "oracle"

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        import torch

        from babelscope.surgery.parts import change, stream

        def permuted(name: str, old: Tensor) -> Tensor:
            order = torch.randperm(old.numel(), generator=stream(seed, "oracle", name))
            return old.flatten()[order].view_as(old)

        return change(encoder, self.part, self.layers, permuted)
