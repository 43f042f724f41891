"""Steps that measure encoders as they are. What they compute is in `measuring`, imported only when it runs."""

from __future__ import annotations

from pydantic import NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.corpora.datasets import Dataset
from babelscope.step import Step, Workspace
from babelscope.steps import EncoderStep, Operate
from babelscope.tuning.probes import Probes


class Vocabulary(Step):
    """Compare an encoder's pieces with another's, and see how they cover texts; before any tuning."""

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

    encoder: Operate

    @property
    def title(self) -> str:
        return f"cost of {self.encoder.labels['encoder']} ({self.encoder.surgery})"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.measuring import measure_cost

        measure_cost(self, workspace)


class Probe(Step):
    """Take the probes of a tuning of an encoder that is not tuned."""

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
