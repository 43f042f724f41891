"""Encoders that a study makes: parts of its declaration."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, NonNegativeInt, PositiveInt, Tag

from babelscope.corpora.world_text import WorldText
from babelscope.declaration import Declaration
from babelscope.encoders.shape import Shape
from babelscope.tuning.settings import Tuning


def _kind_of_text(given: Any) -> str:
    return "<name>" if isinstance(given, str) else "<world>"


DeclaredText = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[WorldText, Tag("<world>")], Discriminator(_kind_of_text)
]
"""A data set of task `mlm` by its name (its training split is read), or text of the world spelled out."""


class Pretraining(Declaration):
    """A small BERT and its WordPiece tokenizer, trained from scratch by masked language modelling.

    The tokenizer is trained on natural text, so encoders that differ only in code-switching share it.
    """

    name: Annotated[str, Field(min_length=1)]
    """What rows and reports call it."""
    texts: Annotated[tuple[DeclaredText, ...], Field(min_length=1)]
    """What it reads, all mixed: text of the world, or names such as `ntrex:nl`, whose training split is meant."""
    sentences: PositiveInt | None = None
    """How many of each named text are read at most; None: all."""
    vocabulary_size: PositiveInt = 1500
    """Pieces, special ones included."""
    shape: Shape = Shape()
    masking: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """Share of the pieces that are hidden."""
    tuning: Tuning
    seed: NonNegativeInt = 0
    """Of the initial weights, of masks and order; a study's `seeds` do not change it."""


class Adaptation(Declaration):
    """An encoder that goes on with masked language modelling on other text; one without a head for it is given one."""

    name: Annotated[str, Field(min_length=1)]
    """What rows and reports call it."""
    encoder: str
    """The name of an encoder that the study declares before this one, or of another as `encoders` would name it."""
    texts: Annotated[tuple[DeclaredText, ...], Field(min_length=1)]
    """What it reads, all mixed, as in a pre-training."""
    sentences: PositiveInt | None = None
    """How many of each named text are read at most; None: all."""
    masking: Annotated[float, Field(gt=0, lt=1)] = 0.15
    """Share of the pieces that are hidden."""
    tuning: Tuning
    seed: NonNegativeInt = 0
    """Of a new head's weights, of masks and order; a study's `seeds` do not change it."""


def _kind_of_encoder(given: Any) -> str:
    if isinstance(given, Adaptation) or (isinstance(given, dict) and "encoder" in given):
        return "<adaptation>"
    return "<pretraining>" if isinstance(given, dict | Pretraining) else "<name>"


DeclaredEncoder = Annotated[
    Annotated[str, Tag("<name>")]
    | Annotated[Pretraining, Tag("<pretraining>")]
    | Annotated[Adaptation, Tag("<adaptation>")],
    Discriminator(_kind_of_encoder),
]
"""A shipped name, a folder, a hub name, or an encoder that the study makes."""
