"""`babelscope score`: what a trained model is worth on labelled data, as an evaluation of a study has it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from babelscope.core.errors import InputError
from babelscope.corpora.conllu import write_conllu
from babelscope.encoders.beside import FIRST
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import export
from babelscope.face import scored
from babelscope.face.cli import app
from babelscope.face.scored import score
from babelscope.steps import Evaluate
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from babelscope.world.world import VERSION

pytestmark = pytest.mark.usefixtures("in_process")
SIZES = {"train": 30, "dev": 5, "test": 40}
Ran = tuple[Store, dict[str, Evaluate]]


def run(folder: Path, encoder: Any, tasks: dict[str, Any], **more: Any) -> Ran:
    """A store with models, and their evaluations by encoder, task and data."""
    usual = {"sizes": SIZES, "tuning": {"epochs": 1}}
    declared = {"name": "s", "encoders": encoder, "tasks": {name: usual | task for name, task in tasks.items()}}
    plan = compile_study(Study.model_validate(declared | {"seeds": [0]} | more))
    store = Store(folder)
    run_plan(plan, store, jobs=1)
    found = [step for step in plan.steps.values() if isinstance(step, Evaluate)]
    return store, {f"{step.labels['encoder']} {step.model.task} {step.data.name}": step for step in found}


@pytest.fixture(scope="module")
def ran(tmp_path_factory, encoder_folder) -> Ran:
    """Of all kinds of tasks of the world that is numbered 3, with a BiLSTM."""
    words = {"train": ["world:qaa"], "evaluate": ["world:qaa", "world:qah>world"]}
    tasks = {"pos": words | {"baselines": ["bilstm"]}, "parsing": words, "ner": words, "sentiment": words, "mlm": words}
    return run(tmp_path_factory.mktemp("store"), [str(encoder_folder)], tasks, world_seed=3)


@pytest.fixture(scope="module")
def brought(tmp_path_factory, encoder_folder) -> Ran:
    """A tagger that a language was brought into."""
    pairs = {"languages": ["qaa", "qag"], "sentences": 200}
    made = {"name": "reading", "encoder": str(encoder_folder), "languages": {"qag": [pairs]}}
    task = {"train": ["world:qaa"], "evaluate": ["world:qag", "world:qab"]}
    return run(tmp_path_factory.mktemp("brought"), [made], {"pos": task})


def values(rows: Any) -> dict[str, tuple[float, float | None, float | None]]:
    return {row.measure: (row.value, row.low, row.high) for row in rows}


def equal(found: Any, rows: Any) -> bool:
    """Perplexities have no interval here, nor in rows."""
    return values(found) == values(rows)


def test_scores_are_those_of_the_evaluation(ran):
    store, steps = ran
    assert len(steps) == 12
    for step in steps.values():
        found = score(store, step.model.key, step.data.name, 40)
        assert equal(found.scores, store.rows(step.key)), step.title
        assert found.title == f"{step.data.name} ({step.data.code}, artificial world 3)"


def test_a_language_that_was_brought_in_is_read_as_in_the_study(brought, tmp_path):
    store, steps = brought
    for step in steps.values():
        assert equal(score(store, step.key, step.data.name, 40).scores, store.rows(step.key)), step.title
    (of_qag,) = (step for step in steps.values() if step.data.name == "world:qag")
    export(store, of_qag.key, tmp_path / "reads-qag")
    folder = str(tmp_path / "reads-qag")
    assert equal(score(store, folder, "world:qag", 40).scores, store.rows(of_qag.key))
    assert score(store, folder, "world:qaa", 40).scores
    of_qab = score(store, folder, "world:qab", 40).scores
    assert equal(of_qab, score(store, of_qag.key, "world:qab", 40).scores), "read as before qag was brought in"
    config = json.loads((tmp_path / "reads-qag" / "config.json").read_text())
    del config[FIRST]
    (tmp_path / "reads-qag" / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="qab has no tokenizer of its own in this model"):  # as of earlier versions
        score(store, folder, "world:qab", 40)
    assert equal(score(store, folder, "world:qag", 40).scores, store.rows(of_qag.key))


def test_of_a_file_the_test_part_is_scored(ran, tmp_path):
    store, steps = ran
    model = next(step.model.key for name, step in steps.items() if "pos world:qaa" in name and "bilstm" not in name)
    trees = World(3).treebank("qab", "test", 40)
    write_conllu(tmp_path / "own.conllu", trees)
    found = score(store, model, f"treebank:qab:{tmp_path / 'own.conllu'}")
    assert values(found.scores)["words"][0] == sum(len(tree.words) for tree in trees[-4:])
    few = score(store, model, f"treebank:qab:{tmp_path / 'own.conllu'}", 2)
    assert 0 < values(few.scores)["words"][0] < values(found.scores)["words"][0]


def test_a_folder_scores_as_the_key_does_and_the_command_prints_it(ran, tmp_path):
    store, steps = ran
    for task, counted in (("pos", "words scored"), ("sentiment", "texts scored")):
        step = next(each for name, each in steps.items() if f"{task} world:qaa" in name and "bilstm" not in name)
        source = step.model.key
        if task == "pos":
            export(store, source, tmp_path / "tagger")
            source = str(tmp_path / "tagger")  # which says in which artificial world it learned
            assert equal(score(store, source, "world:qaa", 40).scores, store.rows(step.key))
        given = ["score", source, "world:qaa", "--examples", "40", "--store", str(store.folder)]
        answer = CliRunner().invoke(app, given)
        assert answer.exit_code == 0, answer.output
        first, *lines = answer.stdout.splitlines()
        assert first == "world:qaa (qaa, artificial world 3)"
        told = dict(re.split(r"  +", line) for line in lines)
        assert "." not in told[counted]
        if task == "pos":
            assert set(told) == {"accuracy", "words labelled", "words with an unknown token", "words scored"}
            assert told["words labelled"] == "100.0%"
        if task == "sentiment":
            value, low, high = values(store.rows(step.key))["accuracy"]
            assert told["accuracy"] == f"{value:.1%} [{100 * low:.1f}, {100 * high:.1f}]"


def test_types_of_entities_count_as_in_training(tmp_path, monkeypatch, encoder_folder):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    (tmp_path / "masakhaner2" / "wol").mkdir(parents=True)
    for split, times in (("train", 20), ("dev", 3), ("test", 8)):
        text = "Anna B-PER\nsees O\nRome B-GPE\non O\nMonday B-DATE\n\n" * times
        (tmp_path / "masakhaner2" / "wol" / f"{split}.txt").write_text(text, encoding="utf-8")
    data = {"train": ["masakhaner2:wol"], "evaluate": ["masakhaner2:wol"]}
    types = {"entity_types": {"GPE": "LOC", "DATE": "O"}, "baselines": []}
    store, steps = run(tmp_path / "store", [str(encoder_folder)], {"ner": data | types})
    (step,) = steps.values()
    export(store, step.model.key, tmp_path / "named")
    for source in (step.model.key, str(tmp_path / "named")):
        assert equal(score(store, source, "masakhaner2:wol").scores, store.rows(step.key))


def test_a_model_of_another_version_of_the_world_is_not_scored_in_this_one(ran, tmp_path):
    store, steps = ran
    step = next(each for name, each in steps.items() if "pos world:qaa" in name and "bilstm" not in name)
    export(store, step.model.key, tmp_path / "tagger")
    file = tmp_path / "tagger" / "babelscope.json"
    record = json.loads(file.read_text())
    assert record["training_data"] == {"world_seed": 3, "world_version": VERSION, "entity_types": {}}
    record["training_data"]["world_version"] = VERSION + 1
    file.write_text(json.dumps(record))
    with pytest.raises(InputError, match=f"learned in version {VERSION + 1} of the artificial world, and this"):
        score(store, str(tmp_path / "tagger"), "world:qaa")


def test_of_the_world_500_are_scored(ran, monkeypatch):
    store, steps = ran
    model = next(step.model.key for name, step in steps.items() if "sentiment world:qaa" in name)
    assert scored.OF_THE_WORLD == 500
    monkeypatch.setattr(scored, "OF_THE_WORLD", 30)
    assert values(score(store, model, "world:qaa").scores)["examples"][0] == 30


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("glue:RTE", "'glue:RTE' is no data of pos"),
        (__file__, "a file of one's own is named treebank:CODE:FILE, with the code of its language"),
        ("treebank:qab:nowhere.conllu", "there is no file or folder /.*/nowhere.conllu"),
        ("world:qaz", "the world has no language 'qaz'"),
        ("qab", "its data are named world:qab"),
    ],
)
def test_what_cannot_be_scored_is_refused(ran, name, problem):
    store, steps = ran
    with pytest.raises(InputError, match=problem):
        score(store, next(step.model.key for each, step in steps.items() if " pos " in each), name)


def test_that_a_file_is_scored_in_part_is_told_and_how_it_is_scored_whole(ran, tmp_path):
    store, steps = ran
    model = next(step.model.key for name, step in steps.items() if " pos " in name)
    write_conllu(tmp_path / "held.conllu", World().treebank("qab", "test", 40))
    part = score(store, model, f"treebank:qab:{tmp_path}/held.conllu")
    assert (
        len(part.notes) == 1 and "only the test split is scored" in part.notes[0] and "…-test.conllu" in part.notes[0]
    )
    (tmp_path / "held.conllu").rename(tmp_path / "qab-test.conllu")
    whole = score(store, model, f"treebank:qab:{tmp_path}")
    assert whole.notes == [] == score(store, model, "world:qab").notes
    assert values(whole.scores)["words"][0] > 5 * values(part.scores)["words"][0]


def test_an_encoder_without_a_task_is_called_that(ran, encoder_folder):
    with pytest.raises(InputError, match="an encoder without a task, since it has no"):
        score(ran[0], str(encoder_folder), "world:qaa")
