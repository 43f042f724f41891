"""Steps that measure encoders as they are. What they compute is in `measuring`, imported only when it runs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

from pydantic import NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.examples import Pooling
from babelscope.core.step import Step, Workspace
from babelscope.corpora.datasets import Dataset
from babelscope.corpora.parallel_sentences import Parallel
from babelscope.steps import EncoderStep, Operate, Tune
from babelscope.tuning.probes import Probes

SimilarityMeasure = Literal[
    "linear CKA (biased)",
    "linear CKA (debiased)",
    "RBF CKA (biased)",
    "RBF CKA (debiased)",
    "retrieval",
    "mutual retrieval",
]
SIMILARITIES: tuple[SimilarityMeasure, ...] = get_args(SimilarityMeasure)


class Vocabulary(Step):
    """Compare an encoder's pieces with another's, and see how they cover texts; before any tuning."""

    row_kind: ClassVar[str] = "vocabulary"

    encoder: SerializeAsAny[EncoderStep]
    reference: SerializeAsAny[EncoderStep]
    texts: tuple[Dataset, ...]

    @property
    def title(self) -> str:
        return f"vocabulary of {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.measuring import compare_vocabulary

        compare_vocabulary(self, workspace)


class Cost(Step):
    """Count the parameters of an operated encoder, and time it against the encoder that it was made of.

    Its rows are measurements of time: another run gives others.
    """

    row_kind: ClassVar[str] = "cost"

    encoder: Operate

    @property
    def title(self) -> str:
        return f"cost of {self.encoder.labels['encoder']} ({self.encoder.surgery})"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.measuring import measure_cost

        measure_cost(self, workspace)


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
        from babelscope.measuring import probe

        probe(self, workspace)


class Project(Step):
    """Put aligned words of two languages into the plane, layer by layer, before any tuning."""

    row_kind: ClassVar[str] = "projection"

    encoder: SerializeAsAny[EncoderStep]
    source: str
    target: str
    sentences: PositiveInt
    """Parallel ones: of all of their words the share is counted whose nearest word is a translation."""
    pairs: PositiveInt
    """Aligned words that are shown."""
    library: str
    seed: NonNegativeInt
    world_seed: NonNegativeInt
    world_version: int

    @property
    def title(self) -> str:
        return f"project {self.source} and {self.target}: {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.measuring import project

        project(self, workspace)


class Retrieve(Step):
    """Find translations by the cosine of mean-pooled states, layer by layer, before any tuning."""

    row_kind: ClassVar[str] = "retrieval"

    encoder: SerializeAsAny[EncoderStep]
    source: str
    target: str
    sentences: PositiveInt = 300
    world_seed: NonNegativeInt = 0
    world_version: int

    @property
    def title(self) -> str:
        return f"retrieve {self.source} in {self.target}: {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.measuring import retrieve

        retrieve(self, workspace)


class SentenceSimilarity(Step):
    """Measure how alike the states of parallel sentences are in a language and in others, layer by layer.

    One step has all of the other languages, so that each is read by the encoder once.
    """

    version: ClassVar[int] = 2
    row_kind: ClassVar[str] = "similarity"

    model: SerializeAsAny[EncoderStep | Tune]
    """An encoder as it is, or a tuning, whose best model's encoder is measured."""
    texts: Parallel
    pooling: Pooling
    measures: tuple[SimilarityMeasure, ...]
    device: Literal["cpu", "cuda"]
    threads: PositiveInt

    @property
    def runs_on(self) -> str:
        return self.device

    @property
    def labels(self) -> dict[str, Any]:
        """The columns that the model determines in all rows."""
        return self.model.labels

    @property
    def title(self) -> str:
        what = self.model.title.removeprefix("tune ") if isinstance(self.model, Tune) else self.labels["encoder"]
        return f"compare sentences in {len(self.texts.pairs) + 1} languages: {what}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.measuring import measure_similarity

        measure_similarity(self, workspace)
