"""Tuned encoders as Python has them: scored on data sets, and models between two of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from babelscope.core.errors import InputError
from babelscope.core.outside import given_path
from babelscope.core.step import Step
from babelscope.core.validation import validate
from babelscope.corpora import datasets
from babelscope.corpora.sources import Split
from babelscope.engine.progress import study_rows
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps, export
from babelscope.face import html
from babelscope.face.arguments import check_each, reading
from babelscope.face.doubts import doubts
from babelscope.face.result import Rows
from babelscope.face.session import complete, with_weights
from babelscope.measures.between import check_alike
from babelscope.measures.surface import Part, Surface
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, Surgery, Transfer
from babelscope.tuning.schedule import Schedule

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder as LoadedEncoder

NAME = "python"
"""What rows have as their study that no study asked for."""
FARTHEST = 1000
"""From the origin, in lengths of the line: beyond it weights are nothing but what numbers lose."""
LEFT_OUT = ("evaluate", "encoders", "baselines")
"""The keys of a study's task that are for studies alone."""


class Tuned:
    """An encoder that is trained on a task. Made by `Encoder.tune`."""

    def __init__(self, study: Study, store: Store):
        """`study` has one encoder, one task that is scored on nothing, and one seed."""
        self.study, self.store = study, store
        self.step = next(step for step in compile_study(study).steps.values() if isinstance(step, Tune))
        """The step that trained it, as a study has it."""

    @property
    def key(self) -> str:
        """The key of its result in the store, which `babelscope export` and `predict` take."""
        return self.step.key

    def score(self, *evaluate: str, jobs: int | None = None) -> Rows:
        """Score it on the test splits of data sets, such as `world:qab`; what is scored already is not scored again.

        Returns:
            One row a measure and data set: what a study has for them, to the last bit.

        Raises:
            StudyError: a data set is not found or does not suit the task.
            StepError: the evaluation failed.
        """
        check_each("score", evaluate, "a data set", "world:qab")
        (name, transfer), *_ = self.study.tasks.items()
        scored = transfer.model_copy(update={"evaluate": evaluate})
        plan = compile_study(self.study.model_copy(update={"tasks": {name: scored}}))
        evaluations = [step for step in plan.steps.values() if isinstance(step, Evaluate)]
        for doubt in doubts(evaluations):
            warnings.warn(doubt, stacklevel=2)
        return _computed(evaluations, self.store, jobs)

    def rows(self) -> Rows:
        """Its learning curves, and what probes measured while it was trained."""
        return _computed([self.step], self.store)

    def build(self, language: str | None = None) -> LoadedEncoder:
        """Its encoder's model and tokenizer in memory, without the task's head, in evaluation mode.

        With a `language`, that one's own tokenizer; `InputError` if it has none and others have.
        """
        complete([self.step], self.store)
        encoder = with_weights(lambda: self.step.tuned_encoder(FinishedSteps(self.store)), self.store)
        return reading(encoder, language)

    def export(self, folder: str | Path) -> Path:
        """Write the model as a Hugging Face folder, which must not exist yet; gives the folder.

        Raises:
            InputError: the folder exists, or the class of the model, which a package brings, has no format.
        """
        place = given_path(folder)
        with_weights(lambda: export(self.store, self.key, place), self.store)
        return place

    def __repr__(self) -> str:
        return f"<Tuned {self.step.title.removeprefix('tune ')}>"

    def _repr_html_(self) -> str:
        lines = [(name.replace("_", " "), value) for name, value in self.step.labels.items()]
        return html.table((), [*lines, ("key", self.key[:12])], caption=self.step.title)


def tune(
    source: str,
    surgery: Surgery | None,
    store: Store,
    task: str,
    declared: Mapping[str, Any],
    schedule: Schedule | Mapping[str, Any] | str | None,
    seed: int,
    jobs: int | None = None,
) -> Tuned:
    """Train an encoder on a task: a study of one task, scored on nothing.

    Raises:
        StudyError: something that is declared cannot be used.
        StepError: the training failed.
    """
    if wrong := [key for key in LEFT_OUT if key in declared]:
        raise InputError(f"tune has no {wrong[0]}: one encoder is tuned, and `score` says what it is scored on")
    train = declared["train"]
    if isinstance(train, Iterable) and not isinstance(train, set | frozenset | Mapping):  # which are refused below
        train = [train] if isinstance(train, str) else list(train)
    # What it is scored on is said later, so the check that it is scored on something is passed with the training data.
    transfer = validate(Transfer, {**declared, "train": train, "evaluate": train}, f"tune {task}")
    given = {
        "name": NAME, "encoders": [source], "surgeries": [surgery], "schedules": [schedule],
        "tasks": {task: transfer.model_copy(update={"evaluate": ()})}, "seeds": [seed],
    }  # fmt: skip
    tuned = Tuned(validate(Study, given, f"tune {task}"), store)
    for doubt in doubts([tuned.step]):
        warnings.warn(doubt, stacklevel=3)
    complete([tuned.step], tuned.store, jobs)
    return tuned


def interpolate(
    origin: Tuned,
    end: Tuned,
    alphas: Iterable[float],
    *,
    evaluate: str | Sequence[str] | None = None,
    split: Split = "dev",
    sentences: int = 300,
    part: Part = "all",
    jobs: int | None = None,
) -> Rows:
    """Score the models on the line through two tuned ones of the same task (Wu et al., 2022).

    Args:
        origin: the model at 0.
        end: the model at 1.
        alphas: places on the line; below 0 and above 1 it goes on.
        evaluate: data sets that every model is scored on; default: what the two were trained on.
        split: of these data sets.
        sentences: of each, at most.
        part: which weights are combined, `all`, `encoder` or `head`; the others are those of the origin.
        jobs: steps at once; default: as the cores allow.

    Returns:
        A row a measure, data set and place, which is in the column `alpha1`. Between two seeds all rows have the
        origin's in the column `seed`, also what stands at 1, which is the score of the other; where 0.5 alone is
        asked for, the mean of both, there is none.

    Raises:
        InputError: the two are of different tasks, heads, encoders or schedules, or of different seeds without being
            trained on the same data; a data set is not found; or a place is no number.
        StepError: the measurement failed, for instance since the encoders have different shapes.
    """
    for given in (origin, end):
        if not isinstance(given, Tuned):
            raise InputError(f"interpolate: between two tuned encoders, as tune gives them (given: {given!r:.200})")
    first, second = origin.step, end.step
    _check_between(first, second)
    points = _points(alphas)
    _check_choices(split, sentences, part)
    names = _trained_on(origin, end) if evaluate is None else _listed(evaluate)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"interpolate: evaluate is a list of data sets, such as ['world:qab'] (given: {evaluate!r:.200}); leave it "
            "out for what the two were trained on"
        )
    (transfer,) = origin.study.tasks.values()
    evaluated = [
        datasets.find(first.task, name, split, int(sentences), origin.study.world_seed, transfer.entity_types)
        for name in names
    ]
    data = tuple(
        datasets.limited(dataset, first.entity_types) if first.entity_types else dataset for dataset in evaluated
    )
    return _computed([Surface(models=(first, second), part=part, points=points, data=data)], origin.store, jobs)


def _check_between(first: Tune, second: Tune) -> None:
    """Refuse two models that no line leads through, or whose rows would not say what they are of."""
    if (str(first.task), first.head) != (str(second.task), second.head):
        raise InputError(f"{first.task} and {second.task} have models of different shapes; give two of one task")
    seeds = [first.seed, second.seed] if first.train != second.train else []  # between seeds of one training is fine
    for name, values in (
        ("encoder", [first.encoder, second.encoder]),
        ("schedule", [first.schedule, second.schedule]),
        ("seed", seeds),
    ):
        if values[:1] != values[1:]:
            raise InputError(
                f"interpolate: the two models have each its own {name}, and rows have one for both; give two that are "
                "tuned from one encoder by one schedule, and with one seed unless they are trained on the same data"
            )
    check_alike([first, second])


def _listed(evaluate: Any) -> list[Any]:
    """A name by itself, or names in an order."""
    if isinstance(evaluate, str | Set | Mapping):
        return [evaluate]
    try:
        return [*evaluate]
    except TypeError:  # neither
        return [evaluate]


def _check_choices(split: object, sentences: object, part: object) -> None:
    for name, given, allowed in (("split", split, get_args(Split)), ("part", part, get_args(Part))):
        if given not in allowed:
            raise InputError(f"interpolate: {name} is one of {', '.join(allowed)} (given: {given!r})")
    if isinstance(sentences, bool) or not isinstance(sentences, Integral) or sentences < 1:
        raise InputError(f"interpolate: sentences is a number of sentences, 1 or more (given: {sentences!r})")


def _points(alphas: Iterable[float]) -> tuple[tuple[float], ...]:
    given = [*alphas] if isinstance(alphas, Iterable) and getattr(alphas, "ndim", True) else [alphas]
    points = dict.fromkeys(map(_place, given))
    if not points:
        raise InputError("interpolate: give places on the line, such as [0, 0.5, 1]")
    return tuple((point,) for point in points)


def _place(alpha: object) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not isfinite(alpha):
        raise InputError(f"interpolate: alphas are numbers, such as [0, 0.5, 1] (given: {alpha!r})")
    if not -FARTHEST <= (place := float(alpha)) <= FARTHEST:
        raise InputError(f"interpolate: alphas are between -{FARTHEST} and {FARTHEST} (given: {alpha!r})")
    return place


def _trained_on(*models: Tuned) -> list[str]:
    names = [name for model in models for transfer in model.study.tasks.values() for name in transfer.train]
    return list(dict.fromkeys(names))


def _computed(targets: Sequence[Step], store: Store, jobs: int | None = None) -> Rows:
    complete(targets, store, jobs)
    only = Plan({target.key: target for target in targets})
    return Rows(study_rows(NAME, only, store))
