"""How many examples the tasks of a study are trained and selected on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure


class DataSizes(Measure):
    """Count the examples (sentences, pairs) of all training and dev sets, as far as the study reads them."""

    unit: ClassVar[str] = "examples"
    before_tuning: ClassVar[bool] = True

    measure: Literal["data_sizes"] = "data_sizes"

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        for task in compiled.tasks.values():
            yield from (CountExamples(data=data) for data in (*task.train, *task.dev))


class CountExamples(Step):
    """Count the examples of a data set."""

    row_kind: ClassVar[str] = "data_sizes"

    data: Dataset

    @property
    def title(self) -> str:
        return f"count the {self.data.split} examples of {self.data.name}, {self.data.task}"

    def execute(self, workspace: Workspace) -> None:
        """Write one row."""
        labels = {"task": self.data.task.name, **data_labels(self.data)}
        workspace.write_rows([Row("examples", len(self.data.read()), "examples").labelled(**labels)])
