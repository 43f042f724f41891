"""Tasks as values: what is predicted, from what data, and what scores it. Torch-free.

What a task's models, baselines and scores are is said by its kind, in `babelscope.tasks.kinds`. Built-in tasks have
names, and stand in keys and files by them; those that a study declares stand there with all their fields.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError, did_you_mean
from babelscope.core.examples import UPOS
from babelscope.core.scores import MEASURES

WORDS, TREES, ENTITIES, TEXTS, LINES = "words", "trees", "entities", "texts", "lines"
"""Forms of examples: words with their annotation (`Sentence`, or `Tagged`), sentences with their trees (`Sentence`),
words with BIO tags (`Tagged`), labelled texts (`SentencePair`), and plain text. A data source says which it has."""

MASKING_RATE = 0.15
"""Share of the pieces that masked language modelling hides, where no other is declared (Devlin et al., 2019)."""


class Task(Declaration):
    """A task, by its name where it is a built-in one."""

    name: str
    """What rows call it."""
    kind: str
    """The name of its kind: what its models are, and what they are scored by."""
    reads: str
    """The form of its examples."""
    measures: tuple[str, ...] = Field(min_length=1)
    """What it is scored by; the first is the main one, which selects the best step on dev sets."""
    title: str = ""
    """In words; empty: the name says it."""
    label: str = ""
    """Where the gold label stands: of words a column of CoNLL-U (`upos`, `feats:Number`), of texts one of a table."""
    labels: tuple[str, ...] = ()
    """The classes, in the order of the head's logits. Those of a declared task come from its training data."""
    texts: tuple[str, ...] = ("first",)
    """The columns of a table that the text is in; two: pairs of sentences."""
    scale: tuple[float, float] | None = None
    """Of texts with a number to regress on: the lowest and the highest; None: they have classes."""
    revision: PositiveInt = 1
    """Of the kind's class."""

    @field_validator("measures")
    @classmethod
    def _in_the_table(cls, measures: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [measure for measure in measures if measure not in MEASURES]:
            near = did_you_mean(unknown[0], MEASURES)
            raise ValueError(f"no measure is named {unknown[0]!r}{near}; there are {', '.join(MEASURES)}")
        return measures

    @property
    def known_as(self) -> str | None:
        """Its name, where it is a built-in one."""
        return self.name if TASKS.get(self.name) == self else None

    @property
    def pair(self) -> bool:
        """Whether its texts are pairs of sentences."""
        return len(self.texts) > 1

    def scored_by(self, measure: str) -> Task:
        """The same task with another main measure; those that it had stand after it.

        It has no title then, which would count in keys; its name stays.
        """
        if measure == self.measures[0]:
            return self
        others = (other for other in self.measures if other != measure)
        return self.model_copy(update={"measures": (measure, *others), "title": ""})

    def __str__(self) -> str:
        return self.name

    @model_validator(mode="wrap")
    @classmethod
    def _by_name(cls, given: Any, handler: ModelWrapValidatorHandler[Task]) -> Task:
        if not isinstance(given, str):
            return handler(given)
        if given not in TASKS:
            raise ValueError(f"no task is named {given!r}{did_you_mean(given, TASKS)}; there are {', '.join(TASKS)}")
        return TASKS[given]

    @model_serializer(mode="wrap")
    def _serialised(self, handler: SerializerFunctionWrapHandler) -> Any:
        if self.known_as:
            return self.known_as
        written = handler(self)
        return {name: value for name, value in written.items() if (name, value) != ("revision", 1)}


def task_of(given: str | Task) -> Task:
    """A task, or the built-in one of that name.

    Raises:
        InputError: there is none; says which there are.
    """
    if isinstance(given, Task):
        return given
    if given not in TASKS:
        raise InputError(f"no task is named {given!r}{did_you_mean(given, TASKS)}; there are {', '.join(TASKS)}")
    return TASKS[given]


def _built_in(name: str) -> str:
    if name not in TASKS:
        raise ValueError(f"no task is named {name!r}{did_you_mean(name, TASKS)}; there are {', '.join(TASKS)}")
    return name


TaskName = Annotated[str, AfterValidator(_built_in)]
"""The name of a built-in task."""

NLI = ("entailment", "neutral", "contradiction")
ENTAILED = ("entailment", "not_entailment")
BINARY = ("0", "1")
_ONE, _PAIR = ("first",), ("first", "second")


def _classes(name: str, title: str, labels: tuple[str, ...], *measures: str, texts: tuple[str, ...] = _PAIR) -> Task:
    return Task(
        name=name, title=title, kind="classification", reads=TEXTS, measures=measures or ("accuracy",), label="label",
        labels=labels, texts=texts,
    )  # fmt: skip


def _degrees(name: str, title: str, *measures: str) -> Task:
    return Task(
        name=name, title=title, kind="regression", reads=TEXTS, measures=measures, label="label", texts=_PAIR,
        scale=(0, 5),
    )  # fmt: skip


TASKS: dict[str, Task] = {}
"""The built-in tasks by name. Which data each can be trained on is said in `corpora`."""


def add_task(task: Task) -> Task:
    """Make a task a built-in one, known by its name.

    Raises:
        ValueError: the name is another task's.
    """
    if TASKS.setdefault(task.name, task) != task:
        raise ValueError(f"there is a task {task.name} already, and it is another one")
    return task


for _task in (
    Task(name="mlm", title="Masked language modelling", kind="language model", reads=LINES, measures=("perplexity",)),
    Task(
        name="pos",
        title="Part-of-speech tagging",
        kind="tagging",
        reads=WORDS,
        measures=("accuracy",),
        label="upos",
        labels=UPOS,
    ),
    Task(name="ner", title="Named-entity recognition", kind="entities", reads=ENTITIES, measures=("f1",)),
    Task(name="parsing", title="Dependency parsing", kind="trees", reads=TREES, measures=("las", "uas")),
    _classes("inference", "Inference in the world", NLI),
    _classes("acceptability", "Acceptability in the world", BINARY, "matthews", "accuracy", texts=_ONE),
    _classes("sentiment", "Sentiment in the world", BINARY, texts=_ONE),
    _classes("paraphrase", "Paraphrase in the world", BINARY, "f1", "accuracy"),
    _degrees("similarity", "Similarity in the world", "pearson", "spearman"),
    _classes("xnli", "XNLI", NLI),
    _classes("cola", "CoLA", BINARY, "matthews", "accuracy", texts=_ONE),
    _classes("sst2", "SST-2", BINARY, texts=_ONE),
    _classes("mrpc", "MRPC", BINARY, "f1", "accuracy", "accuracy_f1"),
    _classes("qqp", "QQP", BINARY, "f1", "accuracy", "accuracy_f1"),
    _degrees("stsb", "STS-B", "pearson", "spearman", "pearson_spearman"),
    _classes("mnli", "MNLI", NLI),
    _classes("qnli", "QNLI", ENTAILED),
    _classes("rte", "RTE", ENTAILED),
    _classes("wnli", "WNLI", BINARY),
):
    add_task(_task)
