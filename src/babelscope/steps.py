"""The steps that studies consist of. What a step computes is in `execution`, imported only when it runs.

An encoder is described by `Load`, `Pretrain` or `Operate`; `Tune` trains it on a task; `Evaluate`, `Baseline`,
`Retrieve`, `Vocabulary` and `Cost` measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.corpora.datasets import Dataset
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.shape import Shape
from babelscope.step import Results, Step, Workspace
from babelscope.surgery.declare import AnyOperation
from babelscope.task_table import BaselineName, TaskName
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


class Pretrain(EncoderStep):
    """A small BERT and its WordPiece tokenizer, trained from scratch on text of the world.

    The tokenizer is trained on natural text, so encoders that differ only in code-switching share it.
    """

    name: Annotated[str, Field(min_length=1)]
    """What rows and reports call it."""
    texts: Annotated[tuple[WorldText, ...], Field(min_length=1)]
    """What it reads, all mixed."""
    vocabulary_size: PositiveInt = 1500
    """Pieces, special ones included."""
    shape: Shape = Shape()
    masking: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """Share of the pieces that are hidden."""
    tuning: Tuning
    seed: NonNegativeInt = 0
    """Of the initial weights, of masks and order; a study's `seeds` do not change it."""

    def build(self, results: Results) -> Encoder:
        from babelscope.execution import load_pretrained

        return load_pretrained(self, results)

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}

    @property
    def title(self) -> str:
        return f"pre-train {self.name}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import pretrain

        pretrain(self, workspace)


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
    seed: NonNegativeInt

    @property
    def labels(self) -> dict[str, Any]:
        """The encoder's columns, the task, the languages of the training data and the seed."""
        languages = "+".join(dict.fromkeys(data.language for data in self.train))
        return self.encoder.labels | {"task": self.task, "train_languages": languages, "seed": self.seed}

    @property
    def title(self) -> str:
        labels = self.labels
        surgery = f" ({labels['surgery']})" if labels.get("surgery") else ""
        return f"tune {labels['encoder']}{surgery} on {labels['train_languages']}, {self.task}, seed {self.seed}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import tune

        tune(self, workspace)


class Evaluate(Step):
    """Score a tuned model on one data set, zero-shot where its language is not a training language."""

    model: Tune
    data: Dataset

    @property
    def title(self) -> str:
        return f"evaluate on {self.data.language}: {self.model.title.removeprefix('tune ')}"

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
        return f"baseline {self.baseline} on {self.data.language}, {self.task}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import evaluate_baseline

        evaluate_baseline(self, workspace)


class Vocabulary(Step):
    """Compare an encoder's pieces with another's, and see how they cover texts; before any tuning."""

    encoder: SerializeAsAny[EncoderStep]
    reference: SerializeAsAny[EncoderStep]
    texts: tuple[Dataset, ...]

    @property
    def title(self) -> str:
        return f"vocabulary of {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.execution import compare_vocabulary

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
        from babelscope.execution import measure_cost

        measure_cost(self, workspace)


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
        from babelscope.execution import retrieve

        retrieve(self, workspace)
