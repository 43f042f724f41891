"""Take a donor's tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from babelscope.core.errors import InputError
from babelscope.surgery.operation import Operation

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Transplant(Operation):
    """Take a donor's tokenizer, and word embeddings for its tokens (Zhang, 2021, section 4.3)."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["transplant"] = "transplant"
    donor: str = Field(min_length=1)
    """The encoder that the tokenizer is taken from."""
    rows: Literal["donor", "overlap"] = "donor"
    """Which embeddings the tokens have.

    - `donor`: the donor's.
    - `overlap`: the encoder's own for tokens that both have. The others are reinitialised.
    """
    bridge: Literal["random", "least-squares"] | None = None
    """How the donor's embeddings are mapped. This is needed where the widths differ.

    - `random`: by a random projection.
    - `least-squares`: by least squares over the tokens that both have.
    """

    @property
    def seeded(self) -> bool:
        """New rows are drawn, and the random bridge."""
        return self.rows == "overlap" or self.bridge == "random"

    @property
    def donors(self) -> tuple[str, ...]:
        """The donor."""
        return (self.donor,)

    @model_validator(mode="after")
    def _bridge_has_a_use(self) -> Transplant:
        if self.rows == "overlap" and self.bridge:
            raise ValueError("with rows=overlap no embedding comes from the donor, so there is nothing to bridge")
        return self

    def check(self, width: int | None, donor_widths: Mapping[str, int | None]) -> None:
        given = donor_widths.get(self.donor)
        if width and given and width != given and self.rows == "donor" and not self.bridge:
            raise InputError(
                f"the donor's embeddings have {given} dimensions, the encoder's {width}; give bridge=random or "
                "bridge=least-squares, or keep shared tokens with rows=overlap"
            )

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.surgery.donor_vocabulary import with_vocabulary, word_width

        donor = donors[self.donor]
        self.check(word_width(encoder), {self.donor: word_width(donor)})
        return with_vocabulary(encoder, donor, seed, self.rows, self.bridge)
