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
from babelscope.core.names import Name
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

    The tokenizer is trained on natural text. Encoders that differ only in code-switching therefore share it.
    """

    name: Annotated[Name, Field(min_length=1)]
    """Its name in rows and reports."""
    texts: Annotated[tuple[DeclaredText, ...], Field(min_length=1)]
    """What it reads, all mixed: text of the world, or names such as `ntrex:nl`, whose training split is read."""
    sentences: PositiveInt | None = None
    """At most how many sentences of each named text are read; None: all."""
    vocabulary_size: Count = 1500
    """Tokens of the vocabulary, special ones included."""
    shape: Shape = Shape()
    masking: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """Share of the tokens that are masked."""
    tuning: CountedTuning
    seed: NonNegativeInt = 0
    """It decides the initial weights, the masks and the order. A study's `seeds` do not change it."""


class Adaptation(Declaration):
    """An encoder that goes on with masked language modelling on other text.

    An encoder without a masked language model head gets one.
    """

    name: Annotated[Name, Field(min_length=1)]
    """Its name in rows and reports."""
    encoder: str
    """The name of an encoder that the study declares before this one, or of another as `encoders` would name it."""
    texts: tuple[DeclaredText, ...] = ()
    """What it reads, all mixed, as in a pre-training. Give this, `parallel`, or both."""
    parallel: tuple[DeclaredPair, ...] = ()
    """Translations for translation language modelling (Conneau and Lample, 2019).

    An entry is a text with its translation, such as `ntrex:mt` or `tatoeba:de`. Or it is two texts that say the same
    line by line, such as `[ntrex:en, ntrex:mt]`. They are read in full: also what is `dev` and `test` elsewhere. A line
    and its translation are one sequence, masked on both sides.
    """
    sentences: PositiveInt | None = None
    """At most how many sentences are read of each named text, or pairs of each entry of `parallel`; None: all."""
    new_pieces: Count | None = None
    """At most how many tokens are added to the vocabulary for what it covers badly in these texts; None: none."""
    masking: Annotated[float, Field(gt=0, lt=1)] = MASKING_RATE
    """Share of the tokens that are masked."""
    tuning: CountedTuning
    seed: NonNegativeInt = 0
    """It decides a new head's weights, the masks and the order. A study's `seeds` do not change it."""

    @model_validator(mode="after")
    def _reads_something(self) -> Adaptation:
        if not (self.texts or self.parallel):
            raise ValueError("nothing to read: give texts, parallel, or both")
        return self


def _in_whole_batches(tuning: Tuning) -> Tuning:
    if tuning.micro_tokens is not None:
        raise ValueError(f"micro_tokens={tuning.micro_tokens}: Distillation is trained on whole batches; leave it out")
    if tuning.compile:
        raise ValueError("compile=true: Distillation is not compiled; leave it out")
    return tuning


class Distillation(Declaration):
    """Training after languages were brought in: the encoder learns to read translations as it read their sources.

    The teacher is the encoder before languages were brought in. A token of a translation learns the hidden states of
    the source tokens that it is linked with. A translation learns the mean hidden state of its source.
    """

    compared_layers: tuple[NonNegativeInt, ...] | None = None
    """The layers whose hidden states of tokens are compared, 0 for the embeddings; None: the middle and the last."""
    source_share: Annotated[float, Field(ge=0, le=1)] = 1 / 6
    """How likely the source of a pair is read in place of its translation, so that the source is not forgotten."""
    tuning: Annotated[Tuning, AfterValidator(_in_whole_batches)]
    seed: NonNegativeInt = 0
    """It decides the order, and which side of a pair is read. A study's `seeds` do not change it."""


class BringingIn(Declaration):
    """An encoder that languages are brought into by translated sentences, without training unless `distil` is given.

    To bring a language in is to give the encoder a tokenizer and embeddings for it. The language has a vocabulary of
    its own. The embedding of a new token is the mean of those of the encoder's tokens that it is aligned with (see
    docs/bring-in.md).
    """

    name: Annotated[Name, Field(min_length=1)]
    """Its name in rows and reports."""
    encoder: str
    """The name of an encoder that the study declares before this one, or of another as `encoders` would name it."""
    languages: Annotated[dict[Code, Annotated[tuple[DeclaredPair, ...], Field(min_length=1)]], Field(min_length=1)]
    """By the language's code, as in names of data sets: translated sentences, such as `de: [ntrex:de, tatoeba:de]`.

    One side is what the encoder reads, the other is its translation into the language. All sentences are read. To keep
    some for a test, name a part, such as `ntrex:de:lines-1-1597`.
    """
    pairs: PositiveInt | None = None
    """At most how many pairs of sentences are read in each language; None: all."""
    pieces: Count | None = None
    """At most how many tokens a language's own vocabulary learns; None: one for every 20 words, but 1,000 to 5,000."""
    keep_accents: bool = True
    """Whether accents stay that an uncased BERT would strip."""
    rows: RowsBy = "links"
    """What the new embeddings are made of.

    - `links`: the mean of the tokens that a new token is linked with in translated sentences.
    - `spelling`: the mean of the encoder's tokens that the new token is spelled with.
    - `chance`: drawn at random.
    """
    known: bool = False
    """Of the world: whether its true links are taken in place of learnt ones."""
    shrinkage: NonNegativeFloat = 1.0
    """How many links the mean of all embeddings counts as, for every token."""
    after_tuning: bool = False
    """Whether the languages are brought into models that are already tuned, or into the encoder before.

    With `true` all that is brought in shares one tuning.
    """
    distil: Distillation | None = None
    """Training with the same sentences after the languages are brought in; None: none."""
    seed: NonNegativeInt = 0
    """It decides embeddings that are drawn at random. A study's `seeds` do not change it."""

    @model_validator(mode="after")
    def _known_to_the_world(self) -> BringingIn:
        if self.known and not all(isinstance(pair, WorldPairs) for texts in self.languages.values() for pair in texts):
            raise ValueError("known: true is for text of the world, {languages: [qaa, qab], sentences: 2000}, alone")
        return self

    @model_validator(mode="after")
    def _linked(self) -> BringingIn:
        if self.rows != "links" and self.shrinkage != type(self).model_fields["shrinkage"].default:
            raise ValueError(f"shrinkage is about links, and rows: {self.rows} reads none; leave shrinkage out")
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
