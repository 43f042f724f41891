"""The steps that score: a tuned model, or a rule that needs no encoder."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import PositiveInt

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.core.step import Needs, Results, Step, Workspace
from babelscope.core.tasks import Task
from babelscope.core.training import TrainedOn
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.steps.bring_in import BringIn
from babelscope.steps.tune import Tune

if TYPE_CHECKING:
    from babelscope.core.samples import Counts
    from babelscope.steps.encoder import EncoderStep
    from babelscope.tasks.design import EncoderModel, TaskModel
    from babelscope.tasks.task import Score

SENTENCES = "sentences.json"
"""Where an evaluation keeps what every sentence adds to its scores: numerators and denominators of ratios.

Of a perplexity those of its logarithm: the summed losses (nats) of a sentence's masked tokens, and their number."""


class Evaluate(Step):
    """Score a tuned model on one data set, zero-shot where its language is not a training language.

    Text in a language that has a tokenizer of its own in the encoder is read with that, transliterated text with the
    encoder's.
    """

    version: ClassVar[int] = 2
    row_kind: ClassVar[str] = "score"

    model: Tune
    data: Dataset
    brought_in: BringIn | None = None
    """Languages that are brought into the tuned model."""

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the model and of the data."""
        brought_in = self.brought_in.labels if self.brought_in else {}
        return self.model.labels | brought_in | data_labels(self.data)

    @property
    def needs(self) -> Needs:
        return self.model.needs_to_read

    @property
    def title(self) -> str:
        later = f", {self.brought_in.name}" if self.brought_in else ""
        return f"evaluate on {self.data.code}: {self.model.title.removeprefix('tune ')}{later}"

    def built(self, results: Results) -> TaskModel:
        """The best model of the tuning, with what is brought into it."""
        model = self.model.model(results)
        for step in self._later():
            model = step.into(cast("EncoderModel", model), results)
        return model

    def _later(self) -> list[BringIn]:
        """What is brought into the tuned model, one after the other."""
        step: EncoderStep | None = self.brought_in
        later: list[BringIn] = []
        while isinstance(step, BringIn) and step != self.model.encoder:
            later.insert(0, step)
            step = step.encoder
        return later

    def execute(self, workspace: Workspace) -> None:
        """Write the scores, and what their ratios are made of."""
        import torch

        from babelscope.encoders.masks import masks_unread

        torch.set_num_threads(self.model.tuning.threads)
        model = _latest_model(self, workspace).reading(self.data.code)
        with masks_unread():
            scores = model.scores(self.data.read())
        check_scores(scores, self.model.task)
        workspace.write_rows(_score_rows(scores, self.labels))
        keep_sentences(sums_of(scores), workspace)


class Baseline(Step):
    """Score a rule or a linear model that needs no encoder."""

    row_kind: ClassVar[str] = "score"

    baseline: str
    """The name of a `BaselineRule`."""
    task: Task
    train: tuple[Dataset, ...]
    data: Dataset
    shots: PositiveInt | None = None
    """How many examples there are of each training set after the first, or of the only one, where these are few."""
    revision: PositiveInt = 1
    """Of the baseline's class."""

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the baseline, of what it is fitted on, and of the data."""
        return self._model_labels | data_labels(self.data)

    @property
    def _model_labels(self) -> dict[str, Any]:
        first, *others = self.train
        whole = [(first.code, self.shots if not others else None)]
        trained_on = TrainedOn.of([*whole, *((data.code, self.shots) for data in others)])
        return {"encoder": self.baseline, "task": self.task.name, **trained_on.columns}

    @property
    def title(self) -> str:
        return f"baseline {self.baseline} on {self.data.code}, {self.task}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self.labels.items()): self.key, tuple(self._model_labels.items()): self.train}

    def execute(self, workspace: Workspace) -> None:
        """Write the scores."""
        from babelscope.tasks.models import score_baseline

        scores = score_baseline(_fitted(self.baseline, self.task, self.train), self.task, self.data.read())
        check_scores(scores, self.task)
        workspace.write_rows(_score_rows(scores, self.labels))
        keep_sentences(sums_of(scores), workspace)


@lru_cache(maxsize=4)
def _fitted(baseline: str, task: Task, train: tuple[Dataset, ...]) -> Callable[..., Any]:
    """A baseline, fitted once in a process for all the data sets that it is scored on."""
    from babelscope.tasks.models import fit_baseline

    return fit_baseline(baseline, task, [example for data in train for example in data.read()])


_latest: dict[tuple[str, ...], TaskModel] = {}
"""The model evaluated last, by the keys of what made it: a worker evaluates it on one language after another."""


def _latest_model(step: Evaluate, workspace: Workspace) -> TaskModel:
    """The best model of a tuning, with what is brought into it, on its device."""
    made_by = (step.model.key, *([step.brought_in.key] if step.brought_in else []))
    if made_by not in _latest:
        model = step.built(workspace)
        model.module.to(step.model.tuning.device)
        _latest.clear()
        _latest[made_by] = model
    return _latest[made_by]


def check_scores(scores: Sequence[Score], task: Task) -> None:
    """Refuse scores that a report could not read, as another package's kind of task may give.

    Raises:
        InputError: the task's main score is not among them; or one has other numbers of numerators and denominators.
    """
    given = [score.measure for score in scores]
    if task.measures[0] not in given:
        raise InputError(
            f"task {task} is scored by {task.measures[0]}, which its kind ({task.kind}) did not give; it gave "
            f"{', '.join(given) or 'nothing'}"
        )
    for score in scores:
        if len(score.numerators) != len(score.denominators):
            raise InputError(
                f"task {task}: {score.measure} has {len(score.numerators)} numerators and {len(score.denominators)} "
                f"denominators; its kind ({task.kind}) has to give one of each for a sentence"
            )


def sums_of(scores: Iterable[Score]) -> Counts:
    """What the ratios of scores are made of, as far as they are ratios."""
    return {score.measure: [score.numerators, score.denominators] for score in scores if score.numerators}


def keep_sentences(counts: Counts, workspace: Workspace) -> None:
    """Put what every sentence adds to the ratios of a result beside its rows."""
    (workspace.folder / SENTENCES).write_text(json.dumps(counts) + "\n", encoding="utf-8")


def _score_rows(scores: Iterable[Score], labels: dict[str, Any]) -> list[Row]:
    """Scores as rows, with their intervals over sentences."""
    return [
        Row(score.measure, score.value, score.unit, low=score.low, high=score.high).labelled(**labels)
        for score in scores
    ]
