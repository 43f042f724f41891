"""The tasks: a table, torch-free, that declarations, plans and reports read."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["language model", "tags", "entities", "trees", "classes", "degrees"]
"""What a task's gold labels are: none, one tag a word, BIO tags, dependency trees, a class or a number a text."""


class TaskInfo(NamedTuple):
    """A task as studies name it."""

    title: str
    kind: Kind
    measures: tuple[str, ...]
    """What it is scored by; the first is the main one, which selects the best step on dev sets."""
    labels: tuple[str, ...] = ()
    """The classes of a task of kind "classes", in the order of the head's logits."""
    pair: bool = False
    """Whether the texts are pairs of sentences."""
    scale: tuple[float, float] = (0.0, 1.0)
    """The lowest and the highest number of a task of kind "degrees"."""


TaskName = Literal[
    "mlm", "pos", "ner", "parsing", "inference", "acceptability", "sentiment", "paraphrase", "similarity",
    "xnli", "cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "wnli",
]  # fmt: skip

BaselineName = Literal["most-frequent-tag", "word-majority", "majority", "bag-of-words", "bilstm"]
"""What needs no encoder; a BiLSTM is trained from scratch, with a CRF over entities."""

BASELINES: dict[Kind, tuple[BaselineName, ...]] = {
    "language model": (),
    "tags": ("most-frequent-tag", "word-majority", "bilstm"),
    "entities": ("word-majority", "bilstm"),
    "trees": ("bilstm",),
    "classes": ("majority", "bag-of-words"),
    "degrees": ("majority", "bag-of-words"),
}
"""Kind of task -> the baselines it can be held against."""

HEADS: dict[Kind, tuple[str, ...]] = {
    "trees": ("small", "underspecified", "align-then-predict"),
    "classes": ("first", "pooler", "family"),
    "degrees": ("first", "pooler", "family"),
}
"""Kind of task -> the heads there are to choose from; the first is the default (for parsing, of small encoders)."""

NLI = ("entailment", "neutral", "contradiction")
ENTAILED = ("entailment", "not_entailment")
BINARY = ("0", "1")


def _classes(title: str, labels: tuple[str, ...], *measures: str, pair: bool = True) -> TaskInfo:
    return TaskInfo(title, "classes", measures or ("accuracy",), labels, pair)


TASKS: dict[TaskName, TaskInfo] = {
    "mlm": TaskInfo("Masked language modelling", "language model", ("perplexity",)),
    "pos": TaskInfo("Part-of-speech tagging", "tags", ("accuracy",)),
    "ner": TaskInfo("Named-entity recognition", "entities", ("f1",)),
    "parsing": TaskInfo("Dependency parsing", "trees", ("las", "uas")),
    "inference": _classes("Inference in the world", NLI),
    "acceptability": _classes("Acceptability in the world", BINARY, "matthews", "accuracy", pair=False),
    "sentiment": _classes("Sentiment in the world", BINARY, pair=False),
    "paraphrase": _classes("Paraphrase in the world", BINARY, "f1", "accuracy"),
    "similarity": TaskInfo("Similarity in the world", "degrees", ("pearson", "spearman"), pair=True, scale=(0, 5)),
    "xnli": _classes("XNLI", NLI),
    "cola": _classes("CoLA", BINARY, "matthews", "accuracy", pair=False),
    "sst2": _classes("SST-2", BINARY, pair=False),
    "mrpc": _classes("MRPC", BINARY, "f1", "accuracy", "accuracy_f1"),
    "qqp": _classes("QQP", BINARY, "f1", "accuracy", "accuracy_f1"),
    "stsb": TaskInfo("STS-B", "degrees", ("pearson", "spearman", "pearson_spearman"), pair=True, scale=(0, 5)),
    "mnli": _classes("MNLI", NLI),
    "qnli": _classes("QNLI", ENTAILED),
    "rte": _classes("RTE", ENTAILED),
    "wnli": _classes("WNLI", BINARY),
}
"""Task -> what it is. Which data each can be trained on is said in `corpora`."""
