"""What `import babelscope` offers, and that its numbers are those of the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import babelscope as bs
from babelscope.core.errors import InputError
from babelscope.core.yaml import parse_value
from babelscope.engine.brought_in import records_of
from babelscope.face.job import spoken_changes
from babelscope.steps import Evaluate, Operate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from babelscope.world import World
from command_line import babelscope, declaration, transfer, write_study
from python_models import ENGLISH, OTHERS, SMALL

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def tiny(encoder_folder, tmp_path_factory) -> bs.Encoder:
    return bs.load(encoder_folder, store=tmp_path_factory.mktemp("python") / "store")


@pytest.fixture(scope="module")
def tagger(tiny) -> bs.Tuned:
    return tiny.operate("reinit").tune("pos", train="world:qaa", seed=1, **SMALL)


@pytest.fixture(scope="module")
def other_tagger(tiny) -> bs.Tuned:
    return tiny.operate("reinit").tune("pos", train=["world:qaa", "world:qab"], seed=1, **SMALL)


@pytest.fixture(scope="module")
def declared(encoder_folder) -> dict[str, object]:
    """A study of what the fixtures do one by one."""
    both = transfer(train=["world:qaa", "world:qab"], baselines=[])
    return declaration(
        encoder_folder, surgeries=["reinit"], seeds=[1], retrieval=None,
        tasks={"pos": transfer(baselines=[]), "both": both | {"task": "pos"}},
        measures=[
            {"measure": "interpolation", "tasks": ["pos", "both"], "evaluate": ["world:qab"], "sentences": 20,
             "alphas": [0, 0.5, 1]},
        ],
    )  # fmt: skip


@pytest.fixture(scope="module")
def study_rows(declared, tmp_path_factory) -> list[bs.Row]:
    """The rows of that study, from the command line in a store of its own."""
    folder = tmp_path_factory.mktemp("commands")
    path = write_study(folder / "study.yaml", declared)
    assert babelscope("run", path, "--store", folder / "store").status == 0
    return list(bs.read_study(path).rows(folder / "store"))


def without_study(row: bs.Row) -> bs.Row:
    return replace(row, study=None)


# The same numbers


def test_a_score_is_the_row_of_the_study(tagger, study_rows):
    scored = [without_study(row) for row in tagger.score("world:qaa", "world:qab")]
    expected = [without_study(row) for row in study_rows if row.split == "test" and row.train_languages == "qaa"]
    assert {row.language for row in scored} == {"qaa", "qab"}
    assert scored == expected


def test_learning_curves_are_those_of_the_study(other_tagger, study_rows):
    curves = [without_study(row) for row in other_tagger.rows()]
    assert curves == [without_study(row) for row in study_rows if row.key == other_tagger.key]
    assert {row.split for row in curves} == {"dev", "train"}


def test_models_between_are_those_of_the_study(tagger, other_tagger, study_rows):
    between = bs.interpolate(tagger, other_tagger, [0, 0.5, 1], evaluate="world:qab", sentences=20)
    assert [row.alpha1 for row in between if row.measure == "accuracy"] == [0, 0.5, 1]
    expected = [without_study(row) for row in study_rows if row.alpha1 is not None]
    assert [without_study(row) for row in between] == expected


def test_models_between_are_scored_on_what_both_were_trained_on(tagger, other_tagger):
    between = bs.interpolate(tagger, other_tagger, [0.5], sentences=10)
    assert {row.dataset for row in between} == {"world:qaa", "world:qab"}
    assert {row.split for row in between} == {"dev"}


def test_similarity_is_that_of_a_study(tiny, encoder_folder, tmp_path):
    from babelscope.corpora.parallel_sentences import find_parallel

    asked = {"source": "world:qaa", "targets": ["world:qab"], "sentences": 12}
    measures = ["linear CKA (debiased)", "RBF CKA (biased)", "mutual retrieval"]
    study = bs.Study(
        name="likeness", encoders=[tiny], seeds=[0],
        measures=[{"measure": "similarity", **asked, "measures": measures}],
    )  # fmt: skip
    rows = study.run(tmp_path / "store")
    source, target = find_parallel("world:qaa", ("world:qab",), 12, 0).read()
    for measure in measures:
        in_study = [row.value for row in rows if row.measure == measure]
        assert len(in_study) == 3
        assert bs.similarity(tiny, source, target, measure).tolist() == in_study


def test_the_plan_of_a_declared_study_is_that_of_its_file(declared, tmp_path, tiny):
    file = write_study(tmp_path / "study.yaml", declared)
    ours = bs.Study(**{**declared, "encoders": [tiny]})
    assert set(ours.plan(tmp_path / "store").plan.steps) == set(compile_study(load_study(file)).steps)


# Encoders


def test_operations_are_declared_one_after_the_other(tiny):
    twice = tiny.operate("reverse").operate("drop:last=1", name="short")
    step = twice.step()
    assert isinstance(step, Operate)
    assert (step.surgery, [str(one) for one in step.operations]) == ("short", ["reverse", "drop:last=1"])
    assert tiny.surgery is None
    assert tiny.operate("reverse", "drop:last=1").title == f"{tiny.name} (reverse; drop:last=1)"
    assert twice.build().model.config.num_hidden_layers == 1
    with pytest.raises(bs.errors.InputError, match="no such operation"):
        tiny.operate("upside-down")
    with pytest.raises(bs.errors.InputError, match="give an operation"):
        tiny.operate()


def test_the_step_of_an_encoder_is_the_one_that_is_tuned(tiny, tagger):
    assert tiny.operate("reinit").step(seed=1).key == tagger.step.encoder.key
    seeds = {tiny.operate("reinit").step(seed).key for seed in (0, 1)}
    assert len(seeds) == 2
    assert len({tiny.operate("reverse").step(seed).key for seed in (0, 1)}) == 1
    grafted = tiny.operate(f"graft:donor={tiny.source},part=layers")
    step = grafted.step()
    assert isinstance(step, Operate) and step.donors == (tiny.step(),)


def test_a_shipped_encoder_goes_by_its_name():
    encoder = bs.load("world-natural")
    assert (encoder.name, encoder.source) == ("world-natural", "world-natural")
    assert encoder.anatomy == {
        "family": "bert", "layers": 6, "hidden size": 64, "parameters": 405_980, "vocabulary": 1500,
    }  # fmt: skip


def test_an_encoder_in_memory_is_kept_by_its_content(tiny, tmp_path):
    built, store = tiny.build(), tmp_path / "store"
    mine = bs.load(built.model, built.tokenizer, name="my encoder", store=store)
    assert (mine.name, mine.store.folder) == ("my encoder", store)
    again = bs.load(built, name="my encoder", store=store)
    assert again.place == mine.place
    with torch.no_grad():
        built.model.get_input_embeddings().weight += 1
    changed = bs.load(built, name="my encoder", store=store)
    assert changed.place.content != mine.place.content and changed.place.path != mine.place.path
    difference = changed.build().model.get_input_embeddings().weight - mine.build().model.get_input_embeddings().weight
    assert torch.allclose(difference, torch.ones_like(difference))
    assert not [path for path in (store / "encoders").iterdir() if path.name.startswith(".")]
    scored = mine.tune("pos", train="world:qaa", **SMALL | {"tuning": {"steps": 1}}).score("world:qaa")
    assert {row.encoder for row in scored} == {"my encoder"}


def test_a_language_is_brought_in_and_it_is_told_whose_sentences_it_was_by(tiny, tmp_path):
    files = {code: tmp_path / f"{code}.tsv" for code in ("qab", "qae")}
    for code, file in files.items():
        pairs = World().parallel_text("qaa", code, 60)
        file.write_text("".join(f"{first}\t{other}\n" for first, other in pairs), encoding="utf-8")
    mine = bs.load(tiny.place.path, store=tmp_path / "store")
    first = mine.bring_in("qab", str(files["qab"]), source="qaa", pairs=50)
    both = first.bring_in("qae", str(files["qae"]), source="qaa", name="both")
    assert (first.name, both.name) == (f"{tiny.name}+qab", "both")
    assert first.bring_in("qae", str(files["qae"]), source="qaa", name="both").place == both.place
    records = records_of(Path(both.place.path))
    assert [(record["model"], record["language"], record["pairs"]) for record in records] == [
        (tiny.name, "qab", 50), (first.name, "qae", 60)
    ]  # fmt: skip
    card = (Path(both.place.path) / "README.md").read_text()
    assert all(file.name in card for file in files.values()) and str(tmp_path) not in card
    text = World().text("qae", 1)[0]
    assert both.build(language="qae").tokenizer.tokenize(text) != tiny.build().tokenizer.tokenize(text)
    for wrong, problem in (
        ({"language": "qab"}, "reads qab already"),
        ({"language": "qaa"}, "language and source are both qaa"),
        ({"language": "a/b"}, "^language 'a/b': .*should be the code of a language"),
    ):
        with pytest.raises(InputError, match=problem):
            first.bring_in(wrong["language"], str(files["qab"]), source="qaa")


def test_surgery_takes_models_and_encoders(tiny):
    built = tiny.build()
    model = bs.surgery.apply(built.model, "drop:last=1")
    assert type(model) is type(built.model)
    assert (model.config.num_hidden_layers, built.model.config.num_hidden_layers) == (1, 2)
    backbone = bs.surgery.apply(built.model.base_model, ["reverse", "drop:last=1"])
    ours, theirs = (dict(one.encoder.layer[-1].named_parameters()) for one in (backbone, built.model.base_model))
    assert all(torch.equal(ours[name], weight) for name, weight in theirs.items())
    shuffled = bs.surgery.apply(tiny, "shuffle", seed=3)
    assert shuffled.tokenizer.get_vocab() == built.tokenizer.get_vocab()
    grafted = bs.surgery.apply(built, "graft:donor=other", donors={"other": tiny.operate("reinit")})
    assert not torch.equal(grafted.model.get_input_embeddings().weight, built.model.get_input_embeddings().weight)
    with pytest.raises(bs.errors.InputError, match="operation shuffle: this operation needs the tokenizer"):
        bs.surgery.apply(built.model, "shuffle")
    with pytest.raises(bs.errors.InputError, match="str: give a model of transformers"):
        bs.surgery.apply("world-natural", "reverse")


# Tuning


def test_tune_has_the_defaults_of_a_study(tiny, encoder_folder):
    from babelscope.face.tuned import Tuned
    from babelscope.study.declare import Study

    given = declaration(encoder_folder, surgeries=["reinit"], seeds=[1], retrieval=None)
    given["tasks"] = {"pos": {"train": ["world:qaa"], "evaluate": ["world:qab"]}}
    steps = compile_study(Study.model_validate(given)).steps.values()
    (tuned,) = (step for step in steps if isinstance(step, Tune))
    (task,) = Study.model_validate(given).tasks.values()
    alone = Study.model_validate(given | {"tasks": {"pos": task.model_copy(update={"evaluate": ()})}})
    assert Tuned(alone, tiny.store).key == tuned.key
    assert not [step for step in compile_study(alone).steps.values() if isinstance(step, Evaluate)]


def test_a_tuned_encoder_is_read_and_exported(tagger, tmp_path):
    built = tagger.build()
    assert built.model.config.num_hidden_layers == 2
    assert (tagger.export(tmp_path / "model") / "config.json").is_file()
    with pytest.raises(bs.errors.InputError, match="already there"):
        tagger.export(tmp_path / "model")
    with pytest.raises(bs.errors.InputError, match="None: no path"):
        tagger.export(None)
    layers = bs.similarity(tagger, ENGLISH, OTHERS)
    assert layers.shape == (3,) and not np.array_equal(layers, bs.similarity(built, OTHERS, ENGLISH[::-1]))


def test_sentences_can_come_one_by_one(tiny):
    listed = bs.similarity(tiny, ENGLISH, OTHERS)
    assert np.array_equal(bs.similarity(tiny, (text for text in ENGLISH), np.array(OTHERS)), listed)


def test_models_of_several_seeds_on_the_same_data_are_interpolated(tiny):
    first, second = (tiny.tune("pos", train="world:qaa", seed=seed, **SMALL) for seed in (1, 2))
    between = bs.interpolate(first, second, [1], evaluate="world:qaa", split="test", sentences=10)
    assert [row.value for row in between if row.measure == "accuracy"] == [
        row.value for row in bs.interpolate(second, first, [0], evaluate="world:qaa", split="test", sentences=10)
        if row.measure == "accuracy"
    ]  # fmt: skip
    assert {row.seed for row in between} == {1}  # the origin's, as where there are several places
    (mean,) = {row.seed for row in bs.interpolate(first, second, [0.5], evaluate="world:qaa", sentences=10)}
    assert mean is None


def test_threads_are_left_as_they_were(tiny):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        bs.similarity(tiny, ENGLISH, OTHERS, pooling="first")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


# Results


def test_encoders_and_models_show_themselves(tiny, tagger):
    shown = tiny.operate("drop:last=1", name="<short>")._repr_html_()
    assert "&lt;short&gt;" in shown and "<td>layers</td><td>1</td>" in shown
    assert "<td>train languages</td><td>qaa</td>" in tagger._repr_html_()
    assert repr(tagger) == f"<Tuned {tiny.name} (reinit) on qaa, pos, seed 1>"


def test_rows_are_a_sequence(tagger, tmp_path):
    rows = tagger.score("world:qaa")
    assert isinstance(rows[0], bs.Row) and isinstance(rows[1:], bs.Rows) and len(rows[1:]) == len(rows) - 1
    assert rows.frame()["value"].tolist() == [row.value for row in rows]
    assert repr(rows) == f"<{len(rows)} rows>"
    with pytest.raises(bs.errors.InputError, match=r"rows.txt: the suffix .txt"):
        rows.write(tmp_path / "rows.txt")


def test_the_key_of_a_tuned_encoder_is_the_one_that_commands_take(tagger, tmp_path):
    store = tagger.store.folder
    assert babelscope("export", tagger.key[:12], "-o", tmp_path / "model", "--store", store).status == 0
    assert json.loads((tmp_path / "model" / "babelscope.json").read_text(encoding="utf-8"))["design"]["task"] == "pos"


def test_changes_are_told_as_yaml_has_them():
    given = {"shots": None, "seeds": (0, 1), "small": True, "rate": 2e-5, "encoder": Path("my folder")}
    told = spoken_changes(given)
    assert [parse_value(change.partition("=")[2]) for change in told] == [None, [0, 1], True, 2e-5, "my folder"]
