"""What is said of misspelt names, missing files, data of an odd kind, and of how long a study will take."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from unicodedata import normalize

import pytest

import babelscope as bs
from babelscope.core.errors import BabelscopeError, EncoderError, InputError
from babelscope.core.examples import Tagged, not_composed, read_twice
from babelscope.core.languages import code_of_name, is_language
from babelscope.core.registry import import_plugins
from babelscope.core.tasks import task_of
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.plain import available_ntrex
from babelscope.corpora.sources import (
    available_treebanks,
    data_folders,
    local_folder,
    treebank_folder,
    treebank_language,
)
from babelscope.encoders.places import display_name, locate
from babelscope.face import prediction
from babelscope.face.doubts import doubts
from babelscope.face.job import job_of
from babelscope.face.notes import notes
from babelscope.measures.similarities.table import check_similarity
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.surgery import Operation
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
        (lambda: check_similarity("retreival"), "retrieval"),
        (lambda: locate("world-naturl"), "world-natural"),
        (lambda: locate("mbret"), "mbert"),
        (lambda: treebank_language("UD_Germn-PUD"), "German"),
    ],
)
def test_the_nearest_name_is_said(ask, meant):
    import_plugins()
    with pytest.raises((BabelscopeError, ValueError), match=rf"\(did you mean {meant}\?\)"):
        ask()


def test_a_name_like_no_other_has_no_nearest():
    with pytest.raises(InputError) as error:
        find_study("zzzzzz", {})
    assert "did you mean" not in str(error.value)


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


@pytest.mark.parametrize(("known", "told"), [(2, False), (3, True), (20, True)])
def test_test_sentences_that_are_trained_on_too_are_told_before_they_run(tmp_path, encoder_folder, known, told):
    """Under other ids, so that the files are not the same."""
    trained, tested = World().treebank("qaa", "train", 40), World().treebank("qaa", "test", 20)
    mixed = [replace(sentence, id=f"t{k}") for k, sentence in enumerate([*trained[:known], *tested[known:]])]
    for split, sentences in (("train", trained), ("test", mixed)):
        write_conllu(tmp_path / f"qaa-{split}.conllu", sentences)
    name = f"treebank:qaa:{tmp_path}"
    tasks = {"pos": transfer(train=[name], evaluate=[name], baselines=[], sizes={"train": 36, "dev": 4, "test": 20})}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks)
    steps = compile_study(Study.model_validate(declared)).steps.values()
    said = [line for line in notes(steps) if "it has no dev file" not in line]
    assert bool(said) == told
    assert all(f"{known} of 20 examples of the test split are also among those of {name}" in line for line in said)
    assert list(doubts(steps)) == said


def written(folder, **splits):
    """A treebank of one's own."""
    folder.mkdir()
    for split, sentences in splits.items():
        write_conllu(folder / f"qaa-{split}.conllu", sentences)
    return folder


def numbered(sentences, letter):
    """With other ids, so that a file is another one."""
    return [replace(sentence, id=f"{letter}{k}") for k, sentence in enumerate(sentences)]


@pytest.mark.parametrize(
    ("tasks", "harm"),
    [
        ({"train": ["treebank:qaa:{a}"], "evaluate": ["treebank:qab:{b}"]}, "its scores are better than on new ones"),
        ({"train": ["treebank:qaa:{c}"], "evaluate": ["world:qab"]}, "the best step is selected on what is trained on"),
        ({"train": ["treebank:qaa:{a}", "treebank:qaa:{d}"], "evaluate": ["world:qab"]}, "they count twice in every"),
        ({"train": ["treebank:qaa:{d}"], "evaluate": ["treebank:qaa:{d}"]}, "its scores are better than on new ones"),
    ],
    ids=["another code", "dev and train", "two training sets", "dev and test"],
)
def test_sentences_that_are_read_for_two_purposes_are_told(tmp_path, encoder_folder, tasks, harm):
    world = World()
    train, dev, test = (world.treebank("qaa", split, 20) for split in ("train", "dev", "test"))
    folders = {
        "a": written(tmp_path / "a", train=train, dev=dev, test=test),
        "b": written(tmp_path / "b", train=test, dev=dev, test=numbered(train, "b")),
        "c": written(tmp_path / "c", train=train, dev=numbered(train, "c"), test=test),
        "d": written(tmp_path / "d", train=numbered(train, "d"), dev=dev, test=numbered(dev, "d")),
    }
    given = {key: [name.format(**folders) for name in names] for key, names in tasks.items()}
    sizes = {"train": 20, "dev": 20, "test": 20}
    declared = declaration(
        encoder_folder, surgeries=[None], retrieval=None, seeds=[0],
        tasks={"pos": transfer(**given, baselines=[], sizes=sizes)},
    )  # fmt: skip
    told = list(doubts(compile_study(Study.model_validate(declared)).steps.values()))
    assert any(line.endswith(f"so that {harm}" + (" epoch" if harm.endswith("every") else "")) for line in told)


@pytest.mark.parametrize(("code", "told"), [("qab", True), ("qaa", False)])
def test_one_test_set_under_two_codes_is_told(tmp_path, encoder_folder, code, told):
    """Under one code it is one language's, which reports say by themselves; so are other sentences of another."""
    sentences = World().treebank("qaa", "test", 60)
    a, b, c = (
        written(tmp_path / name, train=sentences[:20], dev=sentences[:20], test=numbered(tested, name))
        for name, tested in (("a", sentences[20:40]), ("b", sentences[20:40]), ("c", sentences[40:]))
    )
    names = [f"treebank:qaa:{a}", f"treebank:{code}:{b}", f"treebank:qac:{c}"]
    declared = declaration(
        encoder_folder, surgeries=[None], retrieval=None, seeds=[0],
        tasks={"pos": transfer(train=["world:qaa"], evaluate=names, baselines=[],
                               sizes={"train": 20, "dev": 20, "test": 20})},
    )  # fmt: skip
    said = list(doubts(compile_study(Study.model_validate(declared)).steps.values()))
    assert len(said) == told
    assert all("20 of 20" in line and line.endswith("scores of the two are not of two languages") for line in said)


def test_letters_that_are_encoded_otherwise_are_told_and_hide_no_leak(tmp_path, encoder_folder):
    """Every word of the world with an accent on it, as one letter and as two."""
    accented = {
        split: [
            replace(sentence, words=tuple(word._replace(form=f"{word.form}\u0301") for word in sentence.words))
            for sentence in World().treebank("qaa", split, 20)
        ]
        for split in ("train", "dev", "test")
    }
    composed = {
        split: [
            replace(each, words=tuple(word._replace(form=normalize("NFC", word.form)) for word in each.words))
            for each in sentences
        ]
        for split, sentences in accented.items()
    }
    a, b = (
        written(tmp_path / name, **splits)
        for name, splits in (("a", composed), ("b", {**accented, "test": numbered(accented["train"], "b")}))
    )
    declared = declaration(
        encoder_folder, surgeries=[None], retrieval=None, seeds=[0],
        tasks={"pos": transfer(train=[f"treebank:qaa:{a}"], evaluate=[f"treebank:qab:{b}"], baselines=[],
                               sizes={"train": 20, "dev": 20, "test": 20})},
    )  # fmt: skip
    told = notes(compile_study(Study.model_validate(declared)).steps.values())
    assert len(told) == 2
    assert re.match(r"treebank:qab:.*: \d+ of 20 examples of the test split are not in Unicode NFC", told[0])
    assert "20 of 20 examples of the test split are also among those of" in told[1]


@pytest.mark.parametrize(
    "spelled",
    [str.upper, lambda word: "\u00ad".join(word), lambda word: f"{word}\u0301", lambda word: f"{word}\u200b"],
    ids=["capitals", "soft hyphens", "accents", "spaces of no width"],
)
def test_what_tokenizers_drop_hides_no_leak(spelled):
    trained = [Tagged(("one", f"w{k}"), ("X", "X")) for k in range(20)]
    tested = [Tagged(tuple(map(spelled, each.words)), each.labels) for each in trained]
    assert tested != trained and read_twice(tested, trained) == 20
    assert read_twice(tested, [Tagged(("one", f"v{k}"), ("X", "X")) for k in range(20)]) == 0


@pytest.mark.parametrize(("letters", "told"), [("cyrillic", True), ("world", False)])
def test_rules_that_change_no_letter_are_told(tmp_path, encoder_folder, letters, told):
    """The language is written in Greek letters, of which there are none in the rules for Cyrillic ones."""
    sentences = World().treebank("qah", "test", 60)
    folder = written(tmp_path / "a", train=sentences[:20], dev=sentences[20:40], test=sentences[40:])
    name = f"treebank:qah:{folder}>{letters}"
    declared = declaration(
        encoder_folder, surgeries=[None], retrieval=None, seeds=[0],
        tasks={"pos": transfer(train=["world:qaa"], evaluate=[name], baselines=[],
                               sizes={"train": 20, "dev": 20, "test": 20})},
    )  # fmt: skip
    said = notes(compile_study(Study.model_validate(declared)).steps.values())
    assert said == ([f"{name}: {letters} changes no letter of the test split"] if told else [])


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


@pytest.mark.usefixtures("in_process")
def test_python_warns_of_them(tmp_path, encoder_folder):
    train, dev = (World().treebank("qaa", split, 20) for split in ("train", "dev"))
    name = f"treebank:qaa:{written(tmp_path / 'a', train=train, dev=numbered(train, 'a'), test=numbered(dev, 'b'))}"
    encoder = bs.load(encoder_folder, store=tmp_path / "store")
    with pytest.warns(UserWarning, match="the best step is selected on what is trained on") as warned:
        tagger = encoder.tune("pos", train=name, tuning={"epochs": 1})
    with pytest.warns(UserWarning, match="of the test split are also among those") as warned_again:
        tagger.score(f"treebank:qab:{written(tmp_path / 'b', train=dev, dev=dev, test=numbered(train, 'c'))}")
    assert {each.filename for each in (warned[0], warned_again[0])} == {__file__}
