"""Sentences that are trained on and tested on, in whatever letters and under whatever names, are told of beforehand."""

from __future__ import annotations

import re
from dataclasses import replace
from unicodedata import normalize

import pytest

import babelscope as bs
from babelscope.core.examples import Tagged, read_twice
from babelscope.corpora.conllu import write_conllu
from babelscope.face.doubts import doubts
from babelscope.face.notes import notes
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer


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
