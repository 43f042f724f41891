"""The base of every frozen declaration: studies, steps and the values inside them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(gt=0, le=1_000_000)]
"""How many of what is held in memory: examples, sentences that are measured, pieces. A million is as good as all."""


class Declaration(BaseModel):
    """An immutable, hashable value; unknown keys are refused."""

    # Texts that have a greatest length are also checked to be ones that UTF-8 can hold.
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, str_max_length=1_000_000
    )

    @property
    def known_as(self) -> str | None:
        """The name that stands for it in keys and files, where it is one of the package's own; None: its fields do."""
        return None
