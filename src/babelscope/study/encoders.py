"""Encoders that a study makes: parts of its declaration."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    Tag,
    model_validator,
)

from babelscope.core.declaration import Count, Declaration
from babelscope.core.tasks import MASKING_RATE
from babelscope.corpora.codes import checked_code, known_as
from babelscope.corpora.parallel import WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.shape import Shape
from babelscope.steps.bring_in import RowsBy
from babelscope.tuning.settings import CountedTuning, Tuning


def _kind_of_text(given: Any) -> str:
    return "<name>" if isinstance(given, str) else "<world>"


def _kind_of_pair(given: Any) -> str:
    return "<name>" if isinstance(given, str) else "<names>" if isinstance(given, list | tuple) else "<world>"


DeclaredText = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[WorldText, Tag("<world>")], Discriminator(_kind_of_text)
]
"""A data set of task `mlm` by its name (its training split is read), or text of the world spelled out."""

DeclaredPair = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[tuple[str, str], Tag("<names>")] | Annotated[WorldPairs, Tag("<world>")],
    Discriminator(_kind_of_pair),
]
"""The name of a text with its translation, such as `ntrex:de`, those of two plain texts that say the same line by line,
or such sentences of the world spelled out."""


Code = Annotated[str, AfterValidator(checked_code)]


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
    vocabulary_size: Count = 1500
    """Pieces, special ones included."""
    shape: Shape = Shape()
    masking: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """Share of the pieces that are hidden."""
    tuning: CountedTuning
    seed: NonNegativeInt = 0
    """Of the initial weights, of masks and order; a study's `seeds` do not change it."""


class Adaptation(Declaration):
    """An encoder that goes on with masked language modelling on other text; one without a head for it is given one."""

    name: Annotated[str, Field(min_length=1)]
    """What rows and reports call it."""
    encoder: str
    """The name of an encoder that the study declares before this one, or of another as `encoders` would name it."""
    texts: tuple[DeclaredText, ...] = ()
    """What it reads, all mixed, as in a pre-training. Give this, `parallel`, or both."""
    parallel: tuple[DeclaredPair, ...] = ()
    """Texts with their translations, such as `ntrex:mt` or `tatoeba:de`, and pairs of texts that say the same line by
    line, such as `[ntrex:en, ntrex:mt]`, read in full: what is `dev` and `test` elsewhere too. Two such lines are one
    sequence, masked on both sides (Conneau and Lample, 2019)."""
    sentences: PositiveInt | None = None
    """How many of each named text, or of each two, are read at most; None: all."""
    new_pieces: Count | None = None
    """How many pieces at most are added to the vocabulary for what it covers badly in these texts; None: none."""
    masking: Annotated[float, Field(gt=0, lt=1)] = MASKING_RATE
    """Share of the pieces that are hidden."""
    tuning: CountedTuning
    seed: NonNegativeInt = 0
    """Of a new head's weights, of masks and order; a study's `seeds` do not change it."""

    @model_validator(mode="after")
    def _reads_something(self) -> Adaptation:
        if not (self.texts or self.parallel):
            raise ValueError("nothing to read: give texts, parallel, or both")
        return self


def _in_whole_batches(tuning: Tuning) -> Tuning:
    if tuning.micro_tokens is not None:
        raise ValueError(f"micro_tokens={tuning.micro_tokens}: Distillation is trained on whole batches; leave it out")
    return tuning


class Distillation(Declaration):
    """Training of an encoder that languages were brought into: what it was before teaches it to read translations.

    Linked pieces get the states of those that they are linked with, and sentences the mean state of their sources.
    """

    compared_layers: tuple[NonNegativeInt, ...] | None = None
    """Where the states of pieces are compared, 0 for the embeddings; None: in the middle and at the end."""
    source_share: Annotated[float, Field(ge=0, le=1)] = 1 / 6
    """How likely it is that the source of a pair is read in place of its translation, so that it is not forgotten."""
    tuning: Annotated[Tuning, AfterValidator(_in_whole_batches)]
    seed: NonNegativeInt = 0
    """Of order, and of what is read on which side; a study's `seeds` do not change it."""


class BringingIn(Declaration):
    """An encoder that languages are brought into by translated sentences, without training unless it is asked for.

    Each is read with a vocabulary of its own, whose embeddings are means of those of the pieces that they are aligned
    with (see docs/bring-in.md).
    """

    name: Annotated[str, Field(min_length=1)]
    """What rows and reports call it."""
    encoder: str
    """The name of an encoder that the study declares before this one, or of another as `encoders` would name it."""
    languages: Annotated[dict[Code, Annotated[tuple[DeclaredPair, ...], Field(min_length=1)]], Field(min_length=1)]
    """By code, as data sets have it, sentences of what the encoder reads with their translations in the language, such
    as `de: [ntrex:de, tatoeba:de]`. All are read in full: name a part, such as `ntrex:de:lines-1-1597`, to keep others
    for a test."""
    pairs: PositiveInt | None = None
    """At most, in each language; None: all."""
    pieces: Count | None = None
    """At most how many a language's own vocabulary learns; None: one for every 20 words, but 1,000 to 5,000."""
    keep_accents: bool = True
    """Whether accents stay that an uncased BERT would strip."""
    rows: RowsBy = "links"
    """What embeddings are made of: `links` to pieces in translated sentences, the `spelling` (mean of the encoder's
    pieces that a piece is spelled with), or `chance`."""
    known: bool = False
    """Of the world: whether links are not learnt but those that it knows."""
    shrinkage: NonNegativeFloat = 1.0
    """How many links the mean of all embeddings counts as, for every piece."""
    after_tuning: bool = False
    """Whether the languages are brought into models that are already tuned, so that all that is brought in shares one
    tuning; else into the encoder before."""
    distil: Distillation | None = None
    """A training with the same sentences; None: none."""
    seed: NonNegativeInt = 0
    """Of embeddings by chance; a study's `seeds` do not change it."""

    @model_validator(mode="after")
    def _known_to_the_world(self) -> BringingIn:
        if self.known and not all(isinstance(pair, WorldPairs) for texts in self.languages.values() for pair in texts):
            raise ValueError("known: true is for text of the world, {languages: [qaa, qab], sentences: 2000}, alone")
        return self

    @model_validator(mode="after")
    def _each_once(self) -> BringingIn:
        codes = list(self.languages)
        for k, code in enumerate(codes):
            if same := known_as(code, codes[:k]):
                raise ValueError(f"languages: {same} and {code} are one language; give all texts under one code")
        return self

    @model_validator(mode="after")
    def _trained_before_it_is_tuned(self) -> BringingIn:
        if self.distil and self.after_tuning:
            raise ValueError("distil trains the encoder, so it cannot come after_tuning; leave one of them out")
        return self


def _kind_of_encoder(given: Any) -> str:
    if isinstance(given, BringingIn) or (isinstance(given, dict) and "languages" in given):
        return "<bringing in>"
    if isinstance(given, Adaptation) or (isinstance(given, dict) and "encoder" in given):
        return "<adaptation>"
    return "<pretraining>" if isinstance(given, dict | Pretraining) else "<name>"


DeclaredEncoder = Annotated[
    Annotated[str, Tag("<name>")]
    | Annotated[Pretraining, Tag("<pretraining>")]
    | Annotated[Adaptation, Tag("<adaptation>")]
    | Annotated[BringingIn, Tag("<bringing in>")],
    Discriminator(_kind_of_encoder),
]
"""A shipped name, a folder, a hub name, or an encoder that the study makes."""
