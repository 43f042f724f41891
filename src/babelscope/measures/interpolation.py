"""What a study asks of the models on a line or a plane through tuned ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product, takewhile
from typing import Annotated, ClassVar, Literal

from pydantic import Field, FiniteFloat, PositiveInt, model_validator

from babelscope.core.faults import Faults
from babelscope.core.step import Step
from babelscope.core.tasks import Task
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset
from babelscope.corpora.sources import Split
from babelscope.measures.between import check_tasks, edition_of, encoders_of
from babelscope.measures.compiled import Compiled, TrainedTask
from babelscope.measures.formulas.grid import PATH, PLANE, RANDOM, SEEDS, grid
from babelscope.measures.measure import Measure
from babelscope.measures.surface import Part, Surface
from babelscope.steps import Tune
from babelscope.steps.duration import examples_of


class Interpolation(Measure):
    """Scores of the models on a line through two tasks' models, or on a plane through three (Wu et al., 2022).

    The tasks' models are tuned from one encoder with one seed, for instance on different languages. With one task alone
    the lines lead from each seed's model to the next seed's, and the mean of all seeds' models is scored as well. With
    `random` the lines lead from each model in random directions.
    """

    reads_weights: ClassVar[bool] = True

    measure: Literal["interpolation"] = "interpolation"
    tasks: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    """Names of tasks of the study with the same `task`: the model at the origin, then the ends of the directions."""
    random: Annotated[int, Field(ge=1, le=2)] | None = None
    """With one task: how many random directions, scaled to the model's weights filter by filter (Li et al., 2018)."""
    evaluate: tuple[str, ...] = Field(min_length=1)
    """Data sets that every model is scored on."""
    split: Split = "dev"
    """The split of these data sets."""
    sentences: PositiveInt = 300
    """At most how many sentences of each data set are read."""
    part: Part = "all"
    """Which weights are combined. The others are those of the model at the origin."""
    alphas: tuple[FiniteFloat, ...] | None = None
    """Places along each direction, 0 the origin and 1 its end; None: the usual ones.

    The usual ones are:

    - on a line 33, from -0.5 to 1.5;
    - on a plane 21 in each direction, from -0.5 to 1.5;
    - between seeds 11, from 0 to 1;
    - along random directions 21, from -1 to 1.
    """

    @model_validator(mode="after")
    def _possible(self) -> Interpolation:
        if self.random and len(self.tasks) > 1:
            raise ValueError("random directions lead from one task's models; name one task")
        if self.alphas is not None and len(set(self.alphas)) < 2:
            raise ValueError("alphas are two places or more; leave them out for the usual ones")
        return self

    def check(self, compiled: Compiled, faults: Faults) -> None:
        faults.resolve("", check_tasks, self.tasks, compiled)
        if len(self.tasks) == 1 and len(compiled.seeds) == 1 and not self.random:
            faults.add("tasks", "one task has models to combine if there is more than one seed; give another")
        data = self._data(compiled, faults)
        self._check_few_shot(data, compiled, faults)
        for other in takewhile(lambda measure: measure is not self, compiled.measures):
            if isinstance(other, Interpolation):
                self._check_told_apart(data, other, compiled, faults)

    def _check_few_shot(self, data: Sequence[Dataset], compiled: Compiled, faults: Faults) -> None:
        """Note other sentences than those of a task that the report holds this line against."""
        for name, twice in self._twice(compiled):
            half, whole = twice.transfer.shots // 2, twice.transfer.sizes.test
            own = [each for each in data if each.code == twice.train[-1].code]
            if own and self.split == "dev" and self.sentences != half:
                faults.add(
                    "sentences",
                    f"{self.sentences} choose the model on this line, which the report holds against {name}, of "
                    f"{2 * half} examples: half of these train the line's end, and the other half choose; give {half}",
                )
            for each, tested in product(own, twice.test if self.split == "test" else ()):
                if each.name == tested.name and examples_of(each) != examples_of(tested):
                    other = f"{name}, which the report holds it against, on {tested.examples}"
                    faults.add("sentences", f"this line is scored on {_sentences(each)}, and {other}; give {whole}")

    def _twice(self, compiled: Compiled) -> Iterator[tuple[str, TrainedTask]]:
        """Tasks of twice as many examples as the end of a line from a source to that and few examples of others.

        Of lines that are there both on dev, where the place is chosen, and on test.
        """
        tasks = [compiled.tasks[name] for name in self.tasks if name in compiled.tasks]
        lines = (other for other in compiled.measures if isinstance(other, Interpolation) and other.tasks == self.tasks)
        both = {"dev", "test"} <= {line.split for line in lines if line.part == "all"}
        if len(tasks) != 2 or self.part != "all" or not both or not (shots := tasks[1].transfer.shots):
            return
        origin, end = (each.transfer.train for each in tasks)
        for name, other in compiled.tasks.items():
            alike = other.task == tasks[1].task and other.transfer.train == end and other.transfer.shots == 2 * shots
            if alike and len(end) > 1 and origin == end[:1] and encoders_of((*self.tasks, name), compiled) != set():
                yield name, other

    def _check_told_apart(
        self, data: Sequence[Dataset], other: Interpolation, compiled: Compiled, faults: Faults
    ) -> None:
        """Note where another scores the same models on other sentences of a language; rows would mix the two."""
        if self._scored(compiled) != other._scored(compiled) or not self._share_encoders(other, compiled):
            return
        for before in other._data(compiled, Faults()):
            for own in data:
                if own.code == before.code and own != before:
                    faults.add(
                        "evaluate",
                        f"these models are scored on {_sentences(own)} and on {_sentences(before)}, both of "
                        f"{own.code}; a line has one score a language: leave one out, or give the same `sentences`",
                    )

    def _scored(self, compiled: Compiled) -> object:
        """What rows say of the models, and the split; lines of two tasks on dev are divided by scores on whole ones."""
        tasks = [compiled.tasks[name] for name in self.tasks if name in compiled.tasks]
        part = "all" if len(tasks) == 2 and self.split == "dev" else self.part
        return [(str(task.task), task.train) for task in tasks], self.random, part, self.split

    def _share_encoders(self, other: Interpolation, compiled: Compiled) -> bool:
        mine, others = encoders_of(self.tasks, compiled), encoders_of(other.tasks, compiled)
        return mine is None or others is None or bool(mine & others)

    def _data(self, compiled: Compiled, faults: Faults) -> tuple[Dataset, ...]:
        """What the models are scored on."""
        if self.tasks[0] not in compiled.tasks:
            return ()
        task = compiled.tasks[self.tasks[0]]
        given = task.task, tuple(task.transfer.entity_types.items()), self.split, self.sentences, compiled.world_seed
        return faults.resolve_all("evaluate", lambda name: compiled.look_up(_find, name, *given), self.evaluate)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        """Every line or plane, for every encoder, surgery, schedule and seed."""
        types = compiled.tasks[self.tasks[0]].entity_types
        evaluated = self._data(compiled, Faults())
        data = tuple(datasets.limited(dataset, types) for dataset in evaluated) if types else evaluated
        if len(self.tasks) == 1 and not self.random:
            yield from self._between_seeds(data, compiled)
            return
        directions = self.random or len(self.tasks) - 1
        usual = RANDOM if self.random else PATH if directions == 1 else PLANE
        points = tuple(grid(self.alphas or usual, directions))
        random = tuple(range(self.random or 0))
        for models in compiled.tunings(self.tasks):
            yield self._surface(models, points, data, random)

    def _between_seeds(self, data: tuple[Dataset, ...], compiled: Compiled) -> Iterator[Step]:
        """Lines from each seed's model to the next's, and the mean of all: one point, the same share of every model."""
        tuned: dict[tuple[object, ...], list[Tune]] = {}
        # What is brought in after tuning shares the tunings of the encoder that it is brought into.
        for model in {model.key: model for (model,) in compiled.tunings(self.tasks)}.values():
            tuned.setdefault(tuple((model.labels | {"seed": None}).items()), []).append(model)
        points = tuple(grid(self.alphas or SEEDS, 1))
        for models in tuned.values():
            for pair in pairwise(models):
                yield self._surface(pair, points, data)
            shares = (1 / len(models),) * (len(models) - 1)
            yield self._surface(tuple(models), (shares,), data)

    def _surface(
        self,
        models: tuple[Tune, ...],
        points: tuple[tuple[float, ...], ...],
        data: tuple[Dataset, ...],
        random: tuple[int, ...] = (),
    ) -> Surface:
        edition = 1 if self.part == "all" else edition_of(models[0])
        return Surface(models=models, random=random, part=self.part, points=points, data=data, edition=edition)


def _find(
    name: str, task: Task, types: tuple[tuple[str, str], ...], split: Split, sentences: int, world_seed: int
) -> Dataset:
    return datasets.find(task, name, split, sentences, world_seed, dict(types))


def _sentences(data: Dataset) -> str:
    return f"{data.examples} sentences of {data.name}"
