"""`babelscope score`: what a trained model is worth on labelled data, as an evaluation of a study has it."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from babelscope.core.errors import InputError
from babelscope.corpora.conllu import write_conllu
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import export
from babelscope.face.cli import app
from babelscope.face.scored import score
from babelscope.steps import Evaluate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World

pytestmark = pytest.mark.usefixtures("in_process")
SIZES = {"train": 30, "dev": 5, "test": 40}


@pytest.fixture(scope="module")
def ran(tmp_path_factory, encoder_folder) -> tuple[Store, dict[str, Evaluate]]:
    """A tagger and a parser of a tiny encoder, with their evaluations by task and data."""
    tasks = {
        task: {"train": ["world:qaa"], "evaluate": ["world:qaa", "world:qab"], "sizes": SIZES, "tuning": {"epochs": 1}}
        for task in ("pos", "parsing")
    }
    declared = {"name": "s", "encoders": [str(encoder_folder)], "tasks": tasks, "seeds": [0]}
    plan = compile_study(Study.model_validate(declared))
    store = Store(tmp_path_factory.mktemp("store"))
    run_plan(plan, store, jobs=1)
    found = [step for step in plan.steps.values() if isinstance(step, Evaluate)]
    return store, {f"{step.model.task} {step.data.name}": step for step in found}


def values(rows: Any) -> dict[str, tuple[float, float | None, float | None]]:
    return {row.measure: (row.value, row.low, row.high) for row in rows}


@pytest.mark.parametrize("task", ["pos", "parsing"])
@pytest.mark.parametrize("name", ["world:qaa", "world:qab"])
def test_scores_are_those_of_the_evaluation(ran, task, name):
    store, steps = ran
    step = steps[f"{task} {name}"]
    found = score(store, step.model.key, name, 40)
    assert values(found.scores) == values(store.rows(step.key))
    assert (found.data, found.language) == (name, name.removeprefix("world:"))


def test_a_file_of_ones_own_is_scored_whole(ran, tmp_path):
    store, steps = ran
    model = steps["pos world:qab"].model.key
    trees = World().treebank("qab", "test", 40)
    write_conllu(tmp_path / "own.conllu", trees)
    found, of_world = (
        score(store, model, name, 40) for name in (f"treebank:qab:{tmp_path / 'own.conllu'}", "world:qab")
    )
    assert values(found.scores)["words"][0] == sum(len(tree.words) for tree in trees)
    assert values(found.scores)["accuracy"][0] == pytest.approx(values(of_world.scores)["accuracy"][0])
    few = score(store, model, f"treebank:qab:{tmp_path / 'own.conllu'}", 7)
    assert values(few.scores)["words"][0] < values(found.scores)["words"][0]


def test_a_folder_scores_as_the_key_does_and_the_command_prints_it(ran, tmp_path):
    store, steps = ran
    key = steps["pos world:qab"].model.key
    export(store, key, tmp_path / "tagger")
    found = score(store, key, "world:qab", 40)
    answer = CliRunner().invoke(app, ["score", str(tmp_path / "tagger"), "world:qab", "--examples", "40"])
    assert answer.exit_code == 0
    first, *lines = answer.stdout.splitlines()
    assert first == "world:qab (qab)"
    told = dict(line.split(maxsplit=1) for line in lines)
    accuracy = next(each for each in found.scores if each.measure == "accuracy")
    assert told["accuracy"] == f"{accuracy.value:.1%} [{100 * accuracy.low:.1f}, {100 * accuracy.high:.1f}]"
    assert told["words"] == f"{values(found.scores)['words'][0]:,.0f}"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("glue:RTE", "'glue:RTE' is no data of pos"),
        ("treebank:qab:nowhere.conllu", "there is no file or folder nowhere.conllu"),
        ("world:qaz", "qaz"),
    ],
)
def test_what_cannot_be_scored_is_refused(ran, name, problem):
    store, steps = ran
    with pytest.raises(InputError, match=problem):
        score(store, steps["pos world:qab"].model.key, name)


def test_data_without_labels_are_refused(ran, tmp_path):
    store, steps = ran
    bare = [tree.__class__(tree.id, tuple(word._replace(upos="_") for word in tree.words)) for tree in
            World().treebank("qab", "test", 20)]  # fmt: skip
    write_conllu(tmp_path / "bare.conllu", bare)
    with pytest.raises(InputError, match="not annotated"):
        score(store, next(s for s in steps.values() if isinstance(s.model, Tune)).model.key,
              f"treebank:qab:{tmp_path / 'bare.conllu'}")  # fmt: skip
