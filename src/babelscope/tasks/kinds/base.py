"""What a kind of task says of itself, and the table of kinds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from babelscope.core.errors import InputError
from babelscope.core.examples import word_count
from babelscope.core.registry import Registered, import_plugins
from babelscope.core.scores import MEASURES
from babelscope.core.tasks import MASKING_RATE, Task
from babelscope.tasks.baselines import BaselineRule

if TYPE_CHECKING:
    from babelscope.corpora.unlabelled import Document
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.backbone import BiLstmBackbone
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Score

BILSTM = "bilstm"
"""The baseline that is tuned like an encoder."""


class TaskKind(Registered):
    """A kind of task. Studies declare tasks of it by its name: `case: {task: tagging, label: "feats:Case"}`."""

    by: ClassVar[str] = "task"
    reads: ClassVar[str]
    """The form of its examples (`core.tasks`), which says which data sets it has."""
    measures: ClassVar[tuple[str, ...]]
    """What a declared task is scored by, names in `core.scores.MEASURES`; the first selects the best step."""
    further_measures: ClassVar[tuple[str, ...]] = ()
    """Others that a study can make the main one."""
    options: ClassVar[tuple[str, ...]] = ()
    """What a study says of a task of this kind: label (it must then), text, scale."""
    example: ClassVar[str] = ""
    """A label, for messages."""
    heads: ClassVar[tuple[str, ...]] = ()
    """The heads that there are to choose from; the first is the default."""
    quirks: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What its models can do as published code did, where that is otherwise: by name, and in words."""
    recurrent: ClassVar[bool] = False
    """Whether a BiLSTM can be trained for it."""
    closed: ClassVar[bool] = False
    """Whether data with a class that the training data lack are refused; else such a label is one never predicted."""
    fresh_examples: ClassVar[bool] = False
    """Whether training examples are drawn anew each time, as masks are: what frozen layers give of them does not stay.
    """
    predicted: ClassVar[str] = "labelled"
    """What was done to what `predict` reads: `10 sentences labelled`."""
    needs_mlm_head: ClassVar[bool] = False
    """Whether encoders need a masked language model head."""

    @property
    def masking(self) -> float:
        """The share of tokens that are hidden, for a masked language model head to predict."""
        return MASKING_RATE if self.needs_mlm_head else 0.0

    def declared(
        self, name: str, label: str = "", text: tuple[str, ...] = (), scale: tuple[float, float] | None = None
    ) -> Task:
        """The task of that name which a study declares; its classes are not known yet.

        Raises:
            InputError: the label is none that data of this kind have, or a measure of the kind is not in the table.
        """
        if unknown := [measure for measure in self.measures if measure not in MEASURES]:
            raise InputError(
                f"the kind {self.kind!r} is scored by {unknown[0]!r}, which is no measure's name; the file of "
                f"{type(self).__name__} has to enter it in MEASURES (its measures: {self.measures!r})"
            )
        given: dict[str, Any] = {"label": label, "revision": self.revision}
        given |= ({"texts": text} if text else {}) | ({"scale": scale} if scale else {})
        return Task(name=name, kind=self.kind, reads=self.reads, measures=self.measures, **given)

    def main_measures(self, task: Task) -> tuple[str, ...]:
        """The measures that can select the best step of a task and head its page; the usual one first."""
        known = dict.fromkeys((*task.measures, *self.further_measures))
        return tuple(name for name in known if MEASURES[name].main)

    def classes(self, task: Task, examples: Sequence[Any]) -> tuple[str, ...]:
        """The classes of a declared task, from its training examples; empty where there are none to tell apart.

        Raises:
            InputError: the examples do not have two classes.
        """
        return ()

    def check_labelled(self, task: Task, examples: Sequence[Any]) -> None:
        """Refuse data that have nothing of what a declared task is scored by.

        Raises:
            InputError: they have not.
        """

    def check_examples(self, examples: Sequence[Any]) -> None:
        """Refuse examples that a model can neither be trained nor scored on.

        Raises:
            InputError: names the first of them.
        """

    def gold(self, task: Task, examples: Sequence[Any]) -> Sequence[Any]:
        """Examples as models and baselines learn from them and are scored on them."""
        return examples

    def inputs(self, gold: Sequence[Any]) -> list[Any]:
        """What is predicted from: of each sentence its words, of each example its text."""
        raise NotImplementedError

    def model(self, encoder: Encoder, design: Design) -> TaskModel:
        """A model of an encoder, whose own weights are trained; its head is drawn from torch's global generator."""
        raise NotImplementedError

    def recurrent_model(self, backbone: BiLstmBackbone, design: Design) -> TaskModel:
        """A model without an encoder, of a BiLSTM."""
        raise NotImplementedError

    def score(self, task: Task, predictions: Sequence[Any], gold: Sequence[Any]) -> list[Score]:
        """How good a baseline's predictions are."""
        raise NotImplementedError

    def scored_by_sentence(self, task: Task) -> bool:
        """Whether the main score is a ratio of sums over sentences, which comparisons of models need."""
        return False

    def words(self, example: Any) -> int:
        """How many words an example has, from which the length of a tuning is estimated."""
        return word_count(example)

    def document(self, task: Task, file: Path) -> Document:
        """A file to predict on; `InputError` if nothing is predicted, or if it is malformed."""
        raise InputError(f"a model of task {task} labels nothing, so there is nothing to predict with it")

    def unit(self, task: Task) -> str:
        """What one prediction is for, in words: of a sentence, which may label each of its words."""
        return "sentence"

    def written(self, task: Task) -> str:
        """Where predictions stand in that file, in words: `the column UPOS`."""
        raise NotImplementedError

    def quirks_among(self, names: Collection[str]) -> tuple[str, ...]:
        """Those that it has, in its order: whatever the order, a training is the same."""
        return tuple(quirk for quirk in self.quirks if quirk in names)

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of what a task of this kind can be held against."""
        import_plugins()
        names = {name for name, kind in TaskKind.kinds.items() if isinstance(self, kind)}
        rules = [name for name, rule in BaselineRule.kinds.items() if names & set(rule.suits)]
        return (*rules, *((BILSTM,) if self.recurrent else ()))


def kind_of(task: Task) -> TaskKind:
    """The kind of a task.

    Raises:
        InputError: there is none of that name; says which there are.
    """
    return TaskKind.named(task.kind)()
