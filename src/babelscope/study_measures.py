"""What a study can measure besides the scores of its tasks: parts of its declaration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, PositiveInt, model_validator

from babelscope.core.declaration import Declaration
from babelscope.core.examples import Pooling
from babelscope.corpora.sources import Split
from babelscope.measure_steps import SIMILARITIES, SimilarityMeasure
from babelscope.surface_steps import Part

Library = Literal["openTSNE", "scikit-learn"]
Named = Annotated[tuple[str, ...], Field(min_length=1)]
"""Names of data sets."""


class Retrieval(Declaration):
    """Measure how well the encoders, untuned, find translations of the world's source sentences."""

    source: str
    """A language of the world, such as `qaa`."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Languages of the world; each is searched by itself."""
    sentences: PositiveInt = 300
    """Of each language, all of them candidates."""


class Similarity(Declaration):
    """How alike encoders make parallel sentences of two languages, layer by layer, before and after tuning.

    Muller et al. (2021, section 4): CKA of mean-pooled sentence states, of a source with each of other languages.
    """

    source: str
    """Its sentences: `world:CODE`, or a treebank that has parallel ones, such as `UD_English-PUD`."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Those of other languages, named likewise. Treebanks are aligned by `sent_id`; their test splits are read."""
    sentences: Annotated[int, Field(ge=4)] = 300
    """Of each language, at most; as many as there are where a treebank has fewer."""
    pooling: Pooling = "mean"
    """What stands for a sentence: the mean of its pieces, the same with special pieces, a mean in which the n-th piece
    counts n times (for decoders), or the first piece ([CLS])."""
    measures: tuple[SimilarityMeasure, ...] = Field(default=SIMILARITIES, min_length=1)
    """CKA with linear or Gaussian (median bandwidth) kernels, biased or debiased; the share of sentences whose
    nearest is their translation, or that are each other's nearest (mutual)."""
    tuned: tuple[str, ...] = ()
    """Names of tasks whose tuned models are measured as well, each trained on the source's language."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Of encoders as they are; tuned ones are measured where they were trained."""


class Projection(Declaration):
    """Words of parallel sentences in the plane (t-SNE), layer by layer, of the encoders as they are."""

    source: str
    """A language of the world, by its code."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Languages of the world, each shown with the source."""
    sentences: PositiveInt = 100
    """Over whose words the share is counted whose nearest word in the other language is a translation."""
    pairs: PositiveInt = 100
    """Aligned words that are shown, at most."""
    library: Library | None = None
    """What computes t-SNE; None: openTSNE where it is installed, else scikit-learn."""


class Probing(Declaration):
    """What is measured again and again while a task is trained, on sentences that stay the same.

    Before the first step, after the last, and in between every so many steps.
    """

    every: PositiveInt | None = None
    """Steps; None: after 1, 2, 3, 4, 6, 8, 11, 16 ... steps."""
    perplexity: dict[str, Named] = Field(default={})
    """By a name of one's own: data sets whose sentences are taken together. Encoders need a language model head."""
    distance: dict[str, Named] = Field(default={})
    """Likewise: over whose words each layer's states are compared with those at the start and those of references."""
    scores: tuple[str, ...] = ()
    """Data sets that the task is scored on."""
    split: Split = "dev"
    """Of all these data sets."""
    sentences: PositiveInt = 200
    """Of each, at most."""

    @model_validator(mode="after")
    def _measures_something(self) -> Probing:
        if not (self.perplexity or self.distance or self.scores):
            raise ValueError("nothing to measure: give perplexity, distance or scores, or leave probes out")
        return self


class Interpolation(Declaration):
    """Scores of the models on a line through two tasks' models, or on a plane through three (Wu et al., 2022).

    All of these are tuned from one encoder with one seed, on different languages for instance. Of one task alone, the
    lines lead from each seed's model to the next's; and the mean of all seeds' models is scored as well. With `random`
    they lead from each model nowhere in particular.
    """

    tasks: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    """Names of the study's tasks, all the same `task`: the model at the origin, then those that directions lead to."""
    random: Annotated[int, Field(ge=1, le=2)] | None = None
    """Of one task: this many random directions, scaled to the model's weights filter by filter (Li et al., 2018)."""
    evaluate: tuple[str, ...] = Field(min_length=1)
    """Data sets that every model is scored on."""
    split: Split = "dev"
    """Of these data sets."""
    sentences: PositiveInt = 300
    """Of each, at most."""
    part: Part = "all"
    """Which weights are combined; the others are those of the model at the origin."""
    alphas: tuple[FiniteFloat, ...] | None = None
    """Places along each direction, 0 the origin and 1 its end; None: 33 of a line, 21 a direction of a plane, -0.5 to
    1.5; between seeds 11, 0 to 1; along random directions 21, -1 to 1."""

    @model_validator(mode="after")
    def _possible(self) -> Interpolation:
        if self.random and len(self.tasks) > 1:
            raise ValueError("random directions lead from one task's models; name one task")
        if self.alphas is not None and len(set(self.alphas)) < 2:
            raise ValueError("alphas are two places or more; leave them out for the usual ones")
        return self


class Scored(Declaration):
    """A model that is scored in the study: one a seed."""

    task: str
    """The name of one of its tasks."""
    encoder: str
    """By the name that rows have; or `bilstm`, where that is a baseline of the task."""
    evaluate: str
    """One of the data sets that the task is scored on."""


class Comparison(Declaration):
    """Two models compared on the same sentences, with an interval over sentences and seeds; under every schedule."""

    claim: str = Field(min_length=1)
    """In words: that the first is better. Comparisons of one claim stand together."""
    first: Scored
    """What should be better."""
    second: Scored
    """What it is held against; on the same sentences, which may be in other letters."""


class VocabularyComparison(Declaration):
    """Compare the pieces of every encoder with a reference's, and how they cover the test split of treebanks."""

    reference: str
    """The name of an encoder of the study."""
    treebanks: tuple[str, ...] = Field(min_length=1)
    """Named as those of `pos`."""
    sentences: PositiveInt = 500
    """Of each treebank, at most."""
