"""The steps that studies consist of. What a step computes is in `execution`, imported only when it runs.

An encoder is described by `Load`, `Pretrain`, `Adapt` or `Operate`; `Tune` trains it on a task; `Evaluate` and
`Baseline` score. What is measured of encoders that are not tuned is in `measure_steps`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.corpora.datasets import Dataset, FileData, data_labels
from babelscope.corpora.parallel import FilePairs, WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import has_mlm_head, layer_count
from babelscope.encoders.shape import Shape
from babelscope.step import Results, Step, Workspace
from babelscope.surgery.declare import AnyOperation, Drop, Repeat
from babelscope.task_table import BaselineName, TaskName
from babelscope.tuning.probes import Probes
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import Tuning

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class EncoderStep(Step):
    """A step that stands for an encoder."""

    def build(self, results: Results) -> Encoder:
        """The encoder in evaluation mode, a fresh one at each call."""
        raise NotImplementedError

    @property
    def labels(self) -> dict[str, Any]:
        """The columns that this step determines in the rows of whatever is measured on it."""
        raise NotImplementedError

    @property
    def layers(self) -> int | None:
        """How many it has, where that can be seen before it is built."""
        return None

    @property
    def has_mlm_head(self) -> bool | None:
        """Whether it can predict hidden pieces, where that can be seen before it is built."""
        return True


class Load(EncoderStep):
    """An encoder that exists: shipped with the package, in a local folder, or on the Hugging Face hub.

    `content` is the digest of a folder's files, or the hub's commit; the place itself is not in the key.
    """

    stored: ClassVar[bool] = False
    unkeyed: ClassVar[frozenset[str]] = frozenset({"place"})

    name: str
    content: str
    place: str

    def build(self, results: Results) -> Encoder:
        from babelscope.execution import load

        return load(self)

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}

    @property
    def layers(self) -> int | None:
        return layer_count(self.place)

    @property
    def has_mlm_head(self) -> bool | None:
        return has_mlm_head(self.place)


class Pretrain(EncoderStep):
    """A small BERT and its WordPiece tokenizer, trained from scratch; declared as a `Pretraining`."""

    name: str
    texts: tuple[WorldText | FileData, ...]
    vocabulary_size: PositiveInt
    shape: Shape
    masking: float
    tuning: Tuning
    seed: NonNegativeInt

    def build(self, results: Results) -> Encoder:
        from babelscope.execution import load_written

        return load_written(self, results)

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}

    @property
    def layers(self) -> int | None:
        return self.shape.layers

    @property
    def title(self) -> str:
        return f"pre-train {self.name}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import pretrain

        pretrain(self, workspace)


class Adapt(EncoderStep):
    """An encoder that goes on with masked language modelling on other text; declared as an `Adaptation`."""

    name: str
    encoder: SerializeAsAny[EncoderStep]
    texts: tuple[WorldText | FileData, ...]
    # Without these two an adaptation keeps the key it had before there were any.
    parallel: Annotated[tuple[WorldPairs | FilePairs, ...], Field(exclude_if=lambda pairs: not pairs)] = ()
    new_pieces: Annotated[PositiveInt | None, Field(exclude_if=lambda count: count is None)] = None
    masking: float
    tuning: Tuning
    seed: NonNegativeInt

    def build(self, results: Results) -> Encoder:
        from babelscope.execution import load_written

        return load_written(self, results)

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}

    @property
    def layers(self) -> int | None:
        return self.encoder.layers

    @property
    def title(self) -> str:
        return f"adapt {self.encoder.labels['encoder']}: {self.name}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import adapt

        adapt(self, workspace)


class Operate(EncoderStep):
    """Operations on an encoder's weights, one after the other."""

    stored: ClassVar[bool] = False

    encoder: SerializeAsAny[EncoderStep]
    surgery: str
    """The name that the operations go by together."""
    operations: tuple[AnyOperation, ...]
    donors: tuple[SerializeAsAny[EncoderStep], ...] = ()
    """The encoders that operations take something from, in the order in which these name them."""
    seed: NonNegativeInt
    """0 if chance has no part in any of them."""

    def build(self, results: Results) -> Encoder:
        from babelscope.execution import operate

        return operate(self, results)

    @property
    def labels(self) -> dict[str, Any]:
        return self.encoder.labels | {"surgery": self.surgery} | ({"seed": self.seed} if self.seeded else {})

    @property
    def layers(self) -> int | None:
        return None if any(isinstance(one, Drop | Repeat) for one in self.operations) else self.encoder.layers

    @property
    def has_mlm_head(self) -> bool | None:
        return self.encoder.has_mlm_head

    @property
    def seeded(self) -> bool:
        """Whether chance has a part in the operations."""
        return any(operation.seeded for operation in self.operations)


class Recurrent(EncoderStep):
    """No encoder: a BiLSTM over embeddings of words and characters, all learned from the task's own training data."""

    stored: ClassVar[bool] = False

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": "bilstm"}


class Tune(Step):
    """Train an encoder on a task in one or several languages; the dev sets select the best step."""

    encoder: SerializeAsAny[EncoderStep]
    task: TaskName
    head: str | None = None
    """One of `HEADS`; None: the default of the task's model."""
    entity_types: tuple[str, ...] = ()
    """Of named entities: what the model can call one."""
    train: tuple[Dataset, ...]
    dev: tuple[Dataset, ...]
    tuning: Tuning
    schedule: Schedule | None = None
    """Which part of the encoder is trained, and when; None: all of it."""
    probes: Probes | None = None
    """What is measured while it is trained."""
    references: tuple[SerializeAsAny[EncoderStep], ...] = ()
    """Encoders that the probes measure distances to."""
    seed: NonNegativeInt

    @property
    def labels(self) -> dict[str, Any]:
        """The encoder's columns, the schedule, the task, the languages of the training data and the seed.

        A language whose examples are so few that none are left to select on stands with their number: `qaa+qab:100`,
        `qab:100`.
        """
        selected = {data.code for data in self.dev}
        few = {data.code: f":{data.examples}" for data in self.train if data.examples and data.code not in selected}
        languages = "+".join(dict.fromkeys(data.code + few.get(data.code, "") for data in self.train))
        labels = self.encoder.labels | {"task": self.task, "train_languages": languages, "seed": self.seed}
        return labels | ({"schedule": self.schedule.name} if self.schedule else {})

    @property
    def title(self) -> str:
        labels = self.labels
        details = ", ".join(labels[name] for name in ("surgery", "schedule") if labels.get(name))
        encoder = f"{labels['encoder']} ({details})" if details else labels["encoder"]
        return f"tune {encoder} on {labels['train_languages']}, {self.task}, seed {self.seed}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import tune

        tune(self, workspace)


Training = Tune | Pretrain | Adapt
"""The steps that train something, with a `tuning`."""


SENTENCES = "sentences.json"
"""Where an evaluation keeps the numerators and denominators of its ratios, sentence by sentence."""


class Evaluate(Step):
    """Score a tuned model on one data set, zero-shot where its language is not a training language."""

    version: ClassVar[int] = 2

    model: Tune
    data: Dataset

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the model and of the data."""
        return self.model.labels | data_labels(self.data)

    @property
    def title(self) -> str:
        return f"evaluate on {self.data.code}: {self.model.title.removeprefix('tune ')}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import evaluate

        evaluate(self, workspace)


class Baseline(Step):
    """Score a rule or a linear model that needs no encoder."""

    baseline: BaselineName
    task: TaskName
    train: tuple[Dataset, ...]
    data: Dataset

    @property
    def title(self) -> str:
        return f"baseline {self.baseline} on {self.data.code}, {self.task}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import evaluate_baseline

        evaluate_baseline(self, workspace)
