"""Probes: what is measured again and again while a task is trained, and of references once.

They are declared inside of a task.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, PositiveInt, SerializeAsAny, Tag, model_validator

from babelscope.core.declaration import Declaration
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.core.tasks import Task
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.corpora.sources import Split
from babelscope.steps import EncoderStep, keep_sentences, sums_of
from babelscope.tuning.probes import Probes, Quirk

Named = Annotated[tuple[str, ...], Field(min_length=1)]
"""Names of data sets."""
USUAL_SENTENCES = 200


class Probing(Declaration):
    """Measurements that are repeated while a task is trained, on sentences that stay the same.

    They are made before the first step, after the last, and in between.
    """

    every: PositiveInt | None = None
    """Steps between two measurements; None: after 1, 2, 3, 4, 6, 8, 11, 16 ... steps."""
    perplexity: dict[str, Named] = Field(default={})
    """Perplexity: a name that you choose, with data sets whose sentences are taken together.

    The encoders need a language model head.
    """
    distance: dict[str, Named] = Field(default={})
    """Distance of hidden states: a name that you choose, with data sets whose words are read.

    At these words the hidden states of each layer are compared with those at the start and with those of the
    references.
    """
    scores: tuple[str, ...] = ()
    """Data sets that the task is scored on."""
    split: Split = "dev"
    """The split of all these data sets."""
    sentences: Annotated[
        Annotated[PositiveInt, Tag("<one>")] | Annotated[dict[str, PositiveInt], Tag("<each>")],
        Discriminator(lambda given: "<each>" if isinstance(given, dict) else "<one>"),
    ] = USUAL_SENTENCES
    """At most how many sentences of each data set are read.

    A mapping gives each name in `perplexity` and `distance` a number of its own. Names without one, and `scores`, have
    200.
    """
    distance_sentences: PositiveInt | None = None
    """The same for the data sets in `distance` alone; None: as `sentences` says."""
    quirks: tuple[Quirk, ...] = ()
    """Deviations of a published protocol of language modelling, to repeat its numbers. Empty: none."""

    def at_most(self, of: Literal["perplexity", "distance", "scores"], corpus: str = "") -> int:
        """How many sentences of each data set of a corpus are measured on."""
        if of == "distance" and self.distance_sentences is not None:
            return self.distance_sentences
        return self.sentences.get(corpus, USUAL_SENTENCES) if isinstance(self.sentences, dict) else self.sentences

    @model_validator(mode="after")
    def _measures_something(self) -> Probing:
        if not (self.perplexity or self.distance or self.scores):
            raise ValueError("nothing to measure: give perplexity, distance or scores, or leave probes out")
        if self.distance_sentences is not None and not self.distance:
            raise ValueError("distance_sentences are of distance, which is not measured; leave them out")
        return self

    @model_validator(mode="after")
    def _sentences_of_corpora(self) -> Probing:
        names = list(dict.fromkeys((*self.perplexity, *self.distance)))
        given = self.sentences if isinstance(self.sentences, dict) else {}
        if strange := [name for name in given if name not in names]:
            raise ValueError(f"sentences.{strange[0]}: no corpus is named so; there are {', '.join(names) or 'none'}")
        return self


class Probe(Step):
    """Take the probes of a tuning of an encoder that is not tuned."""

    row_kind: ClassVar[str] = "probe"

    encoder: SerializeAsAny[EncoderStep]
    probes: Probes
    max_length: PositiveInt | None = None
    """As the tuning's."""

    @property
    def title(self) -> str:
        return f"probe {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        """Write the probes of an encoder as it is: perplexities alone."""
        import torch

        from babelscope.tasks.design import Design
        from babelscope.tasks.models import task_model
        from babelscope.tuning.observer import Observer

        torch.set_num_threads(1)
        encoder = self.encoder.build(workspace)
        model = task_model(encoder, Design("mlm", max_length=self.max_length))
        observer = Observer(self.probes, model, encoder, {}, workspace, self.encoder.labels)
        observer.observe(0, encoder.model)


class ScoreReference(Step):
    """Score the language model of an encoder that is not tuned on a test set."""

    row_kind: ClassVar[str] = "score"

    encoder: SerializeAsAny[EncoderStep]
    task: Task
    """Language modelling, which needs no head but the encoder's own."""
    data: Dataset
    max_length: PositiveInt | None = None
    """As of the tunings that it stands beside."""
    quirks: tuple[str, ...] = ()
    """Likewise."""

    @property
    def title(self) -> str:
        return f"score {self.encoder.labels['encoder']} on {self.data.code}, {self.task}"

    def execute(self, workspace: Workspace) -> None:
        """Write the scores of an encoder as it is, and what their ratios are made of."""
        import torch

        from babelscope.tasks.design import Design
        from babelscope.tasks.models import task_model

        torch.set_num_threads(1)
        design = Design(self.task, max_length=self.max_length, quirks=self.quirks)
        model = task_model(self.encoder.build(workspace), design)
        labels = self.encoder.labels | {"task": self.task.name} | data_labels(self.data)
        scores = model.reading(self.data.code).scores(self.data.read())
        workspace.write_rows(Row(score.measure, score.value, score.unit).labelled(**labels) for score in scores)
        keep_sentences(sums_of(scores), workspace)
