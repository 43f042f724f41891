"""What is said of misspelt names, missing files, data of an odd kind, and of how long a study will take."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import EntryPoint

import pytest

from babelscope.core import plugins
from babelscope.core.errors import BabelscopeError, EncoderError, InputError
from babelscope.core.examples import Tagged, not_composed
from babelscope.core.languages import code_of_name, is_language
from babelscope.core.registry import import_plugins
from babelscope.core.tasks import task_of
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.datasets import find
from babelscope.corpora.given_pairs import given_pairs
from babelscope.corpora.plain import available_ntrex
from babelscope.corpora.rewriting import restore
from babelscope.corpora.sources import (
    available_treebanks,
    data_folders,
    local_folder,
    treebank_folder,
    treebank_language,
)
from babelscope.corpora.transliteration import transliteration
from babelscope.corpora.unlabelled import read_words
from babelscope.encoders.places import display_name, locate
from babelscope.engine.store import Store
from babelscope.face import prediction
from babelscope.face.catalogue import study_states
from babelscope.face.job import job_of
from babelscope.face.notes import notes
from babelscope.measures.similarities.table import check_similarity
from babelscope.studies import STUDIES, find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.surgery import Operation, parse_operation
from babelscope.world import World
from command_line import babelscope, declaration, transfer, write_study


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: find_study("first-lok", {}), "first-look"),
        (lambda: find_study("first-look@wrold", {}), "world"),
        (lambda: find_study("first-look", {"seed": 3}), "seeds"),
        (lambda: task_of("parsin"), "parsing"),
        (lambda: Operation.named("revers"), "reverse"),
        (lambda: parse_operation("revers"), "reverse"),
        (lambda: parse_operation("drop:lst=3"), "last"),
        (lambda: check_similarity("retreival"), "retrieval"),
        (lambda: locate("world-naturl"), "world-natural"),
        (lambda: locate("mbret"), "mbert"),
        (lambda: treebank_language("UD_Germn-PUD"), "German"),
        (lambda: transliteration("uygur"), "uyghur"),
        (lambda: find("pos", "wrld:qaa", "train", 5), "world"),
    ],
)
def test_the_nearest_name_is_said(ask, meant):
    import_plugins()
    with pytest.raises((BabelscopeError, ValueError), match=rf"\(did you mean {meant}\?\)"):
        ask()


def test_a_plugin_that_cannot_be_imported_is_named(monkeypatch):
    point = EntryPoint("mine", "no_such_package.at_all", "babelscope.plugins")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])
    with pytest.raises(InputError, match=r"plug-in mine \(no_such_package\.at_all\): ModuleNotFoundError: No module"):
        plugins.import_plugins.__wrapped__()


def test_a_name_like_no_other_has_no_nearest():
    with pytest.raises(InputError) as error:
        find_study("zzzzzz", {})
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"tasks.pos.task": "inference", "tasks.pos.baselines": [], "tasks.pos.head": "famly"},
            "the head cannot be 'famly' (did you mean family?)",
        ),
        ({"contrasts.0.tasks": ["ps"]}, "contrasts.0.tasks: 'ps' is not scored (did you mean pos?)"),
        ({"contrasts.0.first.encoder": "world-natral"}, "is named world-natral (did you mean world-natural?)"),
        ({"contrasts.0.second.surgery": "reint"}, "under reint (did you mean reinit?)"),
    ],
)
def test_the_nearest_name_is_said_of_a_study(tmp_path, changes, said):
    contrast = {
        "claim": "c",
        "first": {"encoder": "world-natural"},
        "second": {"encoder": "world-natural", "surgery": "reinit"},
    }
    study = {"encoders": ["world-natural"], "surgeries": [None, "reinit"], "contrasts": [contrast], "seeds": [0]}
    file = write_study(tmp_path / "s.yaml", declaration(tmp_path, **study, tasks={"pos": transfer()}))
    with pytest.raises(BabelscopeError) as error:
        compile_study(find_study(str(file), changes))
    assert said in str(error.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: read_words(path),
        lambda path: restore(path, path.with_name("new")),
        lambda path: given_pairs(str(path), "it"),
        lambda path: given_pairs(path.name, "it"),
    ],
)
def test_of_a_file_that_is_not_there_it_is_said_and_not_how_it_should_be_named(tmp_path, ask):
    with pytest.raises(BabelscopeError, match=r"(?i)no such file") as error:
        ask(tmp_path / "nosuch.md")
    assert "give CoNLL-U in a file" not in str(error.value)


def test_the_profile_of_a_study_that_has_no_world_is_its_own(tmp_path):
    """Of which `status` plans nothing: it may have to look for data on the network."""
    assert {study.default for study in STUDIES.values()} == {"world", "real"}
    assert STUDIES["multilingual-encoder"].default == "real"
    states = {name: more for name, *more in study_states(Store(tmp_path))}
    assert states["multilingual-encoder"] == [
        "", "has no profile world; babelscope status multilingual-encoder says how far it is"
    ]  # fmt: skip
    assert states["first-look"][0] == "0" and int(states["first-look"][1]) > 50


def test_a_study_of_a_package_that_cannot_be_imported_is_named(tmp_path, monkeypatch):
    package = tmp_path / "broken_studies"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "my_study.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(STUDIES, "_packages", [*STUDIES._packages, "broken_studies"])
    with pytest.raises(InputError, match=r"my_study\.py: ModuleNotFoundError: No module named 'no_such_module'"):
        list(STUDIES)


def test_a_list_that_there_is_not_has_a_nearest():
    assert "(did you mean languages?)" in babelscope("list", "langauges").errors


def test_the_treebank_that_is_missing_is_said_to_be_and_where_it_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    with pytest.raises(InputError) as error:
        treebank_folder("UD_Faroese-OFT")
    assert "it is not in BABELSCOPE_DATA as ud/UD_Faroese-OFT/*-ud-SPLIT.conllu[.gz] either" in str(error.value)
    assert "ud/UD_Faroese-OFT/fo_oft-ud-test.conllu" in str(error.value)
    assert "did you mean" not in str(error.value)  # a treebank of another language is not meant


def test_languages_outside_of_the_table_are_known_by_their_names():
    assert treebank_language("UD_Estonian-EDT").code == code_of_name("Estonian") == "et"
    assert [is_language(code) for code in ("et", "pt-BR", "qzq", "klingonish")] == [True, True, False, False]


def test_several_data_folders_are_looked_through_in_order(tmp_path, monkeypatch):
    sentences = World().treebank("qaa", "test", 3)
    first, second = tmp_path / "a", tmp_path / "b"
    for folder, name in ((first, "UD_Dutch-Alpino"), (second, "UD_Dutch-Alpino"), (second, "UD_Estonian-EDT")):
        (folder / "ud" / name).mkdir(parents=True)
        write_conllu(folder / "ud" / name / "x_y-ud-test.conllu", sentences)
    for folder, code in ((first, "deu"), (second, "deu"), (second, "mlt")):
        (folder / "ntrex").mkdir(exist_ok=True)
        (folder / "ntrex" / f"newstest2019-ref.{code}.txt").write_text("one\n")
    monkeypatch.setenv("BABELSCOPE_DATA", os.pathsep.join((str(first), str(second))))
    assert data_folders() == (first, second)
    assert local_folder("UD_Dutch-Alpino") == first / "ud" / "UD_Dutch-Alpino"
    assert local_folder("UD_Estonian-EDT") == second / "ud" / "UD_Estonian-EDT"
    own = [treebank.name for treebank in available_treebanks() if treebank.source == "BABELSCOPE_DATA"]
    assert own == ["UD_Dutch-Alpino", "UD_Estonian-EDT"]
    assert sorted(available_ntrex()) == ["de", "mt"]
    monkeypatch.setenv("BABELSCOPE_DATA", os.pathsep.join((str(first), str(tmp_path / "nowhere"))))
    with pytest.raises(InputError, match=r"nowhere', which is not a folder"):
        data_folders()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BABELSCOPE_DATA", "~/a")
    assert data_folders() == (first,)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may read all
    with pytest.raises(InputError, match=r"'~/a', which you may not read"):
        data_folders()


def test_short_names_stand_for_names_on_the_hub_and_folders_go_first(tmp_path, monkeypatch):
    assert display_name("mbert") == "bert-base-multilingual-cased"
    with pytest.raises(EncoderError, match="FacebookAI/xlm-roberta-base: no folder here"):
        locate("XLM-R")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mbert").mkdir()
    assert display_name("mbert").endswith("/mbert")
    with pytest.raises(EncoderError, match=r"no config\.json"):
        locate("mbert")


def test_first_look_takes_targets():
    for profile in ("world", "real"):
        study = find_study(f"first-look@{profile}", {"targets": ["world:qab"], "encoder": "world-natural"})
        assert study.tasks["pos"].evaluate == ("world:qab",)


def test_a_single_file_and_a_strange_code_are_told_before_they_run(tmp_path, encoder_folder):
    write_conllu(tmp_path / "mine.conllu", World().treebank("qaa", "test", 40))
    name = f"treebank:qzq:{tmp_path / 'mine.conllu'}"
    tasks = {"pos": transfer(train=[name], evaluate=[name, "world:qab"], baselines=[])}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks)
    said = notes(compile_study(Study.model_validate(declared)).steps.values())
    assert len(said) == 2
    assert said[0].startswith(f"{name}: one file, divided in its order: eight tenths to train on")
    assert said[1] == f"{name}: no language is known by the code 'qzq', so that it is a label alone"
    answer = babelscope("plan", write_study(tmp_path / "study.yaml", declared), "--store", tmp_path / "store")
    assert answer.status == 0 and all(line in answer.output for line in said)


def test_one_encoder_under_two_names_is_told(tmp_path, encoder_folder):
    copied = shutil.copytree(encoder_folder, tmp_path / "copied")
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, seeds=[0])
    both = declared | {"encoders": [*declared["encoders"], str(copied)]}
    assert notes(compile_study(Study.model_validate(declared)).steps.values()) == []
    (said,) = notes(compile_study(Study.model_validate(both)).steps.values())
    assert said.endswith("copied are one encoder, file by file, so that their numbers differ in nothing")


@pytest.mark.parametrize(("split_letters", "told"), [(2, 0), (3, 3)])
def test_a_few_examples_that_are_not_in_nfc_are_passed_over(split_letters, told):
    """Of composed letters, too, that NFC takes apart, as some of Bengali."""
    examples = [Tagged(("\u09df" if k < split_letters else "x",), ("X",)) for k in range(20)]
    assert not_composed(examples) == told


@pytest.mark.usefixtures("in_process")
def test_a_plan_learns_how_long_steps_take_from_another_study_of_the_encoder(tmp_path, encoder_folder, monkeypatch):
    monkeypatch.setattr(prediction, "own_calibration", lambda: tmp_path / "no calibration")

    def costs(**changes) -> dict[str, str]:
        declared = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None, **changes)
        header, lines = job_of(str(write_study(tmp_path / "study.yaml", declared)), None, tmp_path / "store").costs()
        return {line[0]: line[header.index("time, about")] for line in lines}

    other = {"tasks": {"pos": transfer(evaluate=["world:qac"], baselines=[], tuning={"epochs": 3})}}
    assert costs(**other)["Tune"] == "not known"
    declared = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None)
    assert (
        babelscope(
            "run", write_study(tmp_path / "study.yaml", declared), "--store", tmp_path / "store", "--jobs", 1
        ).status
        == 0
    )
    assert set(costs(**other)) == {"Tune", "Evaluate"}
    assert all(cell.endswith((" s", " min")) for cell in costs(**other).values())


def test_trainings_are_as_long_as_their_steps_are_many(tmp_path, encoder_folder, monkeypatch):
    from babelscope.engine import expected
    from babelscope.engine.store import Store

    def plan_of(epochs: int):
        tasks = {"pos": transfer(baselines=[], tuning={"epochs": epochs, "examples_per_batch": 8})}
        declared = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None, tasks=tasks)
        return compile_study(Study.model_validate(declared))

    short, long = plan_of(2), plan_of(6)
    by_key = dict(short.steps)
    monkeypatch.setattr(Store, "keys", lambda store: list(by_key))
    monkeypatch.setattr(Store, "manifest", lambda store, key: {"step": type(by_key[key]).__name__, "seconds": 5.0})
    monkeypatch.setattr(expected, "recall", lambda store, key: by_key[key])
    expectations = expected.estimates(long, Store(tmp_path))
    seconds = {type(step).__name__: expectations[key].seconds for key, step in long.steps.items()}
    assert seconds == pytest.approx({"Tune": 15.0, "Evaluate": 5.0})
