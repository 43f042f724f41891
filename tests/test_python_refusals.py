"""What the Python face refuses, and in what words."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import babelscope as bs
from babelscope.engine.store import Store
from babelscope.face.kept import keep
from command_line import transfer
from python_models import ENGLISH, OTHERS, SMALL

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def tiny(encoder_folder, tmp_path_factory) -> bs.Encoder:
    return bs.load(encoder_folder, store=tmp_path_factory.mktemp("python") / "store")


@pytest.fixture(scope="module")
def tagger(tiny) -> bs.Tuned:
    return tiny.operate("reinit").tune("pos", train="world:qaa", seed=1, **SMALL)


@pytest.mark.parametrize("name", ["underspecified", "first-look@real"])
def test_a_declared_study_does_not_go_by_the_name_of_a_built_in_one(tiny, name):
    """Its report had that one's published numbers beside its own, its citation and its command."""
    with pytest.raises(bs.errors.InputError, match=f"^study: '{name}' is the name of a built-in study, .*another name"):
        bs.Study(name=name, encoders=[tiny], tasks={"pos": transfer()})
    assert bs.read_study("underspecified").name == "underspecified@world"


@pytest.mark.parametrize("encoders", ["world-natural", {"name": "mine"}, None, 3])
def test_encoders_of_a_study_are_a_list(encoders):
    """A text was read letter by letter, a mapping by its keys."""
    with pytest.raises(bs.errors.StudyError, match="encoders: should be a"):
        bs.Study(name="mine", encoders=encoders, tasks={"pos": transfer()})


def test_what_is_of_another_kind_is_refused_in_words(tiny, tmp_path):
    study = bs.Study(name="mine", encoders=[tiny], tasks={"pos": transfer()})
    with pytest.raises(bs.errors.InputError, match="engine 3: give local, or the address"):
        study.run(store=tmp_path / "store", engine=3)
    file = tmp_path / "study.yaml"
    file.write_text("name: mine")
    with pytest.raises(bs.errors.InputError, match="3: give a key of the study as text"):
        bs.read_study(file, {3: 3})
    with pytest.raises(bs.errors.BabelscopeError, match=r"no-such\.json"):
        study.plan(tmp_path / "store").prediction(calibration=str(tmp_path / "no-such.json"))


def test_nothing_is_exported_into_a_store(tagger):
    """Which takes what is there for its own, and removes it."""
    with pytest.raises(bs.errors.InputError, match="in the folder results of the store"):
        tagger.export(tagger.store.folder / "results" / "model")


def test_what_cannot_be_loaded_is_refused(tiny, encoder):
    from transformers import BertForTokenClassification

    built = tiny.build()
    with pytest.raises(bs.errors.EncoderError, match="no such folder"):
        bs.load("/no/such/folder")
    with pytest.raises(bs.errors.InputError, match="leave them out"):
        bs.load("world-natural", name="mine")
    with pytest.raises(bs.errors.InputError, match="needs a name"):
        bs.load(built)
    with pytest.raises(bs.errors.InputError, match="needs its tokenizer"):
        bs.load(built.model, name="mine")
    with pytest.raises(bs.errors.InputError, match="load: 3 is not a name, a folder, or a model of transformers"):
        bs.load(3, built.tokenizer, name="mine")
    with pytest.raises(bs.errors.EncoderError, match=r"has a head for a task; give .* its \.base_model"):
        bs.load(BertForTokenClassification(built.model.config), built.tokenizer, name="mine")
    with pytest.raises(bs.errors.EncoderError, match="no fast tokenizer"):
        bs.load(built.model, object(), name="mine")


def test_tune_refuses_what_a_study_would(tiny):
    with pytest.raises(bs.errors.StudyError, match=r"tasks.pos.train.0: the world has no language 'xyz'"):
        tiny.tune("pos", train="world:xyz")
    with pytest.raises(bs.errors.StudyError, match=r"the task cannot be 'pose' \(did you mean pos\?\)"):
        tiny.tune("pose", train="world:qaa")
    with pytest.raises(bs.errors.StudyError, match="size: unknown key"):
        tiny.tune("pos", train="world:qaa", size=3)
    with pytest.raises(bs.errors.StudyError, match=r"tuning\.epochs"):
        tiny.tune("pos", train="world:qaa", tuning={"epochs": -1})
    with pytest.raises(bs.errors.StudyError, match="schedule 'thaw:3': no such schedule"):
        tiny.tune("pos", train="world:qaa", schedule="thaw:3")
    with pytest.raises(bs.errors.InputError, match="tune has no evaluate"):
        tiny.tune("pos", train="world:qaa", evaluate=["world:qab"])


def test_what_cannot_be_measured_is_refused(tiny, tagger):
    with pytest.raises(bs.errors.InputError, match="give a data set"):
        tagger.score()
    with pytest.raises(bs.errors.StudyError, match=r"tasks.pos.evaluate.1: .*'nonsense' is no data of pos"):
        tagger.score("world:qaa", "nonsense")
    with pytest.raises(bs.errors.InputError, match="'CKA': no similarity has this name; there are linear CKA"):
        bs.similarity(tiny, ENGLISH, OTHERS, measure="CKA")
    with pytest.raises(bs.errors.InputError, match="5 and 4 sentences"):
        bs.similarity(tiny, ENGLISH, OTHERS[1:])
    with pytest.raises(bs.errors.InputError, match="give places on the line"):
        bs.interpolate(tagger, tagger, [])
    with pytest.raises(bs.errors.InputError, match="is no data of pos"):
        bs.interpolate(tagger, tagger, [0], evaluate="nonsense")


def test_what_is_given_in_place_of_something_else_is_refused(tiny, tagger):
    with pytest.raises(bs.errors.InputError, match=r"score: \['world:qaa'\] is not a data set; give each"):
        tagger.score(["world:qaa"])
    with pytest.raises(bs.errors.InputError, match=r"operate: \[\] is not an operation; give each"):
        tiny.operate([])
    with pytest.raises(bs.errors.InputError, match=r"bring_in: \['ntrex:it'\] is not a text with translations"):
        tiny.bring_in("it", ["ntrex:it"])
    with pytest.raises(bs.errors.InputError, match=r"between two tuned encoders.*given: \["):
        bs.interpolate([tagger, tagger], tagger, [0])
    with pytest.raises(bs.errors.InputError, match=r"between two tuned encoders.*given: None"):
        bs.interpolate(tagger, None, [0])
    with pytest.raises(bs.errors.InputError, match=r"read_study: changes are a mapping.*given: \['scale=small'\]"):
        bs.read_study("first-look", ["scale=small"])
    for wrong, problem in (
        ({"alphas": 0.5}, None), ({"alphas": [1e30]}, "alphas are between -1000 and 1000"),
        ({"alphas": [float("nan")]}, "alphas are numbers"), ({"alphas": ["x"]}, "are numbers"),
        ({"alphas": [[0.5]]}, "are numbers"), ({"alphas": np.array("x")}, "are numbers"),
        ({"alphas": [0.5], "evaluate": {"world:qab"}}, "evaluate is a list of data sets"),
        ({"alphas": [0.5], "evaluate": [5]}, "evaluate is a list of data sets"),
        ({"sentences": 0}, "sentences is a number"), ({"sentences": True}, "sentences is a number"),
        ({"split": "foo"}, "split is one of train, dev, test"), ({"part": "foo"}, "part is one of all, encoder, head"),
    ):  # fmt: skip
        given = {"alphas": [0.5], "evaluate": "world:qab", "sentences": 5} | wrong
        if problem:
            with pytest.raises(bs.errors.InputError, match=problem):
                bs.interpolate(tagger, tagger, **given)
        else:
            assert {row.alpha1 for row in bs.interpolate(tagger, tagger, **given)} == {0.5}
    with pytest.raises(bs.errors.InputError, match="give a list of sentences"):
        bs.similarity(tiny, "one two", "due tre")  # the letters of which would be sentences
    for wrong in (set(ENGLISH), dict.fromkeys(ENGLISH), b"one", 5, np.array("one two"), np.array([ENGLISH])):
        for sides, name in (((wrong, OTHERS), "sentences_a"), ((ENGLISH, wrong), "sentences_b")):
            with pytest.raises(bs.errors.InputError, match=f"{name}: give a list of sentences in their order"):
                bs.similarity(tiny, *sides)
    for pooling in ("cls", "Mean", "", None):
        with pytest.raises(
            bs.errors.InputError, match="there are mean, mean-with-special, mean-with-special-twice, weighted and first"
        ):
            bs.similarity(tiny, ENGLISH, OTHERS, pooling=pooling)
    for empty in ("", "  ", "\u200b"):
        with pytest.raises(bs.errors.InputError, match=r"sentences_a\[5\] is empty"):
            bs.similarity(tiny, [*ENGLISH, empty], [*OTHERS, "x"])
        with pytest.raises(bs.errors.InputError, match=r"sentences_b\[5\] is empty"):
            bs.similarity(tiny, [*ENGLISH, "x"], [*OTHERS, empty])
    for nothing in ("\ue000\ue001", "\ufffd"):  # letters, but not of this tokenizer
        with pytest.raises(bs.errors.InputError, match="its tokenizer makes nothing of the sentence"):
            bs.similarity(tiny, [*ENGLISH, "x"], [*OTHERS, nothing])
        assert bs.similarity(tiny, [*ENGLISH, "x"], [*OTHERS, nothing], pooling="mean-with-special").shape == (3,)
    with pytest.raises(bs.errors.InputError, match=r"sentences_b\[5\] is not Unicode text"):
        bs.similarity(tiny, [*ENGLISH, "x"], [*OTHERS, "\udc80"])
    for languages in ("qaa", ("qaa",), None, (1, 2), ("qaa", "qab", "qac")):
        with pytest.raises(bs.errors.InputError, match="give two codes, None for one that needs none"):
            bs.similarity(tiny, ENGLISH, OTHERS, languages=languages)
    for measure in (None, 3, "cka"):
        with pytest.raises(bs.errors.InputError, match="no similarity has this name; there are linear CKA"):
            bs.similarity(tiny, ENGLISH, OTHERS, measure=measure)
    with pytest.raises(bs.errors.InputError, match=r"str: give a model .*a folder: bs.load.it. .given: 'tiny'"):
        bs.similarity("tiny", ENGLISH, OTHERS)
    for wrong in ({"name": "x"}, None, 5):
        with pytest.raises(bs.errors.InputError, match="read_study: give a file or a name; a mapping is a study by bs"):
            bs.read_study(wrong)
    for evaluate in (np.array(["world:qab"]), (name for name in ["world:qab"])):
        rows = bs.interpolate(tagger, tagger, [0.5], evaluate=evaluate, sentences=np.int64(5))
        assert {row.dataset for row in rows} == {"world:qab"}


def test_numbers_and_names_that_cannot_be_are_refused_in_words(tiny, tagger):
    for seed in (-1, float("nan"), 1.5, True, "x"):
        with pytest.raises(bs.errors.BabelscopeError, match="seed"):
            tiny.operate("reinit").build(seed=seed)
    with pytest.raises(bs.errors.StudyError, match="name: should be text"):
        tiny.operate("reverse", name=3)
    with pytest.raises(bs.errors.InputError, match="a wide table has a column a language or a measure"):
        tagger.score("world:qab").frame(wide=[])


@pytest.mark.parametrize("wrong", [{"world:qaa", "world:qab"}, frozenset(["world:qaa"]), 5, {"world:qaa": 1}])
def test_what_is_trained_on_has_an_order(tiny, wrong):
    with pytest.raises(bs.errors.StudyError, match="train: should be a list"):
        tiny.tune("pos", train=wrong)


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("encoder", {"operation": "drop:last=1"}),
        ("schedule", {"schedule": "freeze:1"}),
        ("seed", {"seed": 2, "train": "world:qab"}),
    ],
)
def test_models_that_rows_could_not_tell_apart_are_not_interpolated(what, change, tiny):
    def tuned(operation="reverse", **given):
        return tiny.operate(operation).tune("pos", **{"train": "world:qaa", "seed": 1} | SMALL | given)

    with pytest.raises(bs.errors.InputError, match=f"each its own {what}"):
        bs.interpolate(tuned(), tuned(**change), [0, 1])


def test_a_study_that_cannot_be_planned_shows_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = bs.Study(name="lost", encoders=["/no/such/<folder>"], tasks={"pos": transfer()})
    assert "encoders.0: /no/such/&lt;folder&gt;: no such folder" in study._repr_html_()


def test_faults_of_a_declaration_are_told_all_at_once(tiny):
    with pytest.raises(bs.errors.StudyError) as told:
        bs.Study(name="a b", encoders=[], tasks={"pos": transfer(sizes={"train": -1})}, nonsense=1)
    assert len(told.value.faults) == 4
    with pytest.raises(bs.errors.InputError, match="under `surgeries` of the study"):
        bs.Study(name="x", encoders=[tiny.operate("reverse")], tasks={"pos": transfer()})
    with pytest.raises(bs.BabelscopeError, match="no study is named 'nonsense'"):
        bs.read_study("nonsense")
    with pytest.raises(bs.errors.InputError, match=r"nonsense\.yaml: cannot be read"):
        bs.read_study("nonsense.yaml")


@pytest.mark.parametrize(("name", "value"), [("pairs", -300), ("pairs", True), ("pieces", 2.5), ("source", None)])
def test_numbers_of_a_language_that_is_brought_in_are_looked_at(name, value):
    """-300 pairs were all but the last 300."""
    with pytest.raises(bs.errors.StudyError, match=rf"bring_in: 1 fault\n  - {name}: "):
        bs.load("world-natural").bring_in("qah", "pairs.tsv", **{name: value})


@pytest.mark.parametrize(
    ("use", "problem"),
    [
        (lambda encoder: bs.load(None), "load: None is not a name, a folder, or a model of transformers"),
        (lambda encoder: bs.load(encoder.build().model, encoder.build().tokenizer, name=3), "needs a name for rows"),
        (lambda encoder: bs.load("world-natural", store=5), "store=5: give a folder"),
        (lambda encoder: encoder.build(language=4), "language=4: give the code of a language"),
        (lambda encoder: encoder.operate("reverse", name=""), r"operate: 1 fault\n  - name: "),
    ],
)
def test_arguments_of_another_kind_are_refused_in_words(use, problem, tmp_path):
    with pytest.raises(bs.errors.InputError, match=problem):
        use(bs.load("world-natural", store=tmp_path))


def test_two_processes_keep_one_encoder(tiny, tmp_path, monkeypatch):
    """The other was faster by a moment: its folder is there when ours is to be moved to its place."""
    built, rename = tiny.build(), Path.rename

    def after_the_other(draft, folder):
        shutil.copytree(draft, folder)
        return rename(draft, folder)

    monkeypatch.setattr(Path, "rename", after_the_other)
    store = Store(tmp_path / "store")
    first = keep(built, store)
    assert keep(built, store) == first
    assert len(list((store.folder / "encoders").iterdir())) == 1
