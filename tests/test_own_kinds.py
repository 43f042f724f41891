"""Kinds of tasks, data sources and baselines of one's own: one class each."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import SentencePair, Tagged
from babelscope.core.registry import Registered
from babelscope.core.scores import MEASURES
from babelscope.core.tasks import TASKS, Task, add_task
from babelscope.corpora.data_sources import DataSource
from babelscope.corpora.datasets import find
from babelscope.steps import SENTENCES, Baseline, Evaluate
from babelscope.study.compile import compile_study
from babelscope.tasks.baselines import BaselineRule
from babelscope.tasks.kinds import TaskKind, kind_of
from babelscope.tasks.kinds.classification import Classification
from command_line import transfer
from own_tasks import _validated

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def tables(monkeypatch):
    """The tables of kinds, sources and baselines are as they were afterwards."""
    for family in (TaskKind, DataSource, BaselineRule):
        monkeypatch.setattr(family, "kinds", dict(family.kinds))
    kept = dict(TASKS)
    yield
    TASKS.clear()
    TASKS.update(kept)


def test_the_data_source_on_the_page_works(tables, tmp_path):
    page = (Path(__file__).parent.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "OwnFile" in block)
    (tmp_path / "columns_source.py").write_text(code, encoding="utf-8")
    runpy.run_path(str(tmp_path / "columns_source.py"))
    (tmp_path / "x.tsv").write_text("".join(f"word{k}\tA\nx\tB\n\n" for k in range(10)))
    data = find("pos", f"columns:fo:{tmp_path / 'x.tsv'}", "train", 3)
    assert (data.code, data.splits_one_file) == ("fo", True)
    assert data.read()[2] == Tagged(("word2", "x"), ("A", "B"))
    with pytest.raises(InputError, match="treebank:CODE:FILE, columns:CODE:FILE"):
        find("pos", "nothing", "train", 3)
    (tmp_path / "y.tsv").write_text("a\tA\n")
    with pytest.raises(DataError, match="1 examples; a file that is divided takes 10 or more"):
        find("pos", f"columns:fo:{tmp_path / 'y.tsv'}", "train", 3).read()


def test_a_kind_and_a_baseline_are_one_class_each(tables, encoder_folder, tmp_path):
    class Length(Classification):
        """Whether a sentence of a treebank has more words than the label says."""

        task: Literal["length"] = "length"
        reads: ClassVar[str] = "words"

        def gold(self, task, examples):
            longer = [len(sentence.words) > int(task.label) for sentence in examples]
            return [
                SentencePair(" ".join(one.forms), None, str(more)) for one, more in zip(examples, longer, strict=True)
            ]

        def classes(self, task, examples):
            return ("False", "True")

    class Always(BaselineRule):
        """True."""

        baseline: Literal["always"] = "always"
        suits: ClassVar[tuple[str, ...]] = ("length",)

        def fit(self, examples):
            return lambda texts: ["True"] * len(texts)

    number = transfer(task="length", label="7", train=["world:qaa"], evaluate=["world:qab"],
                      baselines=["always", "majority"])  # fmt: skip
    plan = compile_study(_validated(tmp_path, encoder_folder, {"longer": number}))
    scored = [step for step in plan.steps.values() if isinstance(step, Evaluate | Baseline)]
    assert len(scored) == 3
    fitted = next(step for step in scored if isinstance(step, Baseline) and step.baseline == "always")
    rows: list[Any] = []
    fitted.execute(_Rows(rows, tmp_path))
    above, below = json.loads((tmp_path / SENTENCES).read_text())["accuracy"]
    gold = [len(sentence.words) > 7 for sentence in fitted.data.read()]
    assert {row.value for row in rows if row.measure == "accuracy"} == {sum(gold) / len(gold)}
    assert (above, below) == ([float(label) for label in gold], [1] * len(gold))
    assert kind_of(fitted.task).scored_by_sentence(fitted.task)


class _Rows:
    def __init__(self, rows, folder):
        self.rows, self.folder = rows, folder

    def write_rows(self, rows):
        self.rows.extend(rows)


@pytest.mark.parametrize("measures", [("mbe",), "accuracy"])
def test_a_kind_with_a_measure_that_is_not_there_is_named(tables, measures):
    class Odd(Classification):
        """Scored by what is in no table."""

        task: Literal["odd"] = "odd"

    Odd.measures = measures
    with pytest.raises(
        InputError, match=r"the kind 'odd' is scored by '.*', which is no measure's name; the file of Odd has to"
    ):
        Odd().declared("mine", "label")


def test_a_task_can_be_made_a_built_in_one(tables):
    task = kind_of(TASKS["pos"]).declared("lemmas", "lemma")
    assert add_task(task).known_as == "lemmas"
    assert find("lemmas", "world:qaa", "train", 3).model_dump(mode="json")["task"] == "lemmas"
    with pytest.raises(ValueError, match="there is a task lemmas already"):
        add_task(task.model_copy(update={"label": "xpos"}))


def test_all_tasks_have_kinds_and_measures_in_the_table():
    for task in TASKS.values():
        assert set(task.measures) <= MEASURES.keys() and MEASURES[task.measures[0]].main
        assert kind_of(task).reads == task.reads
    with pytest.raises(ValueError, match="no measure is named 'charm'; there are accuracy"):
        Task(name="x", kind="tagging", reads="words", measures=("charm",))
    assert all(issubclass(family, Registered) for family in (TaskKind, DataSource, BaselineRule))
