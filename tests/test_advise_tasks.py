"""Advice on named entities, and on what else words are labelled with."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import yaml
from safetensors.torch import load_file, save_file

from babelscope.advise import command
from babelscope.advise.data import learned
from babelscope.advise.floor import clear_gain, constant_answer
from babelscope.advise.labelled import labelled_notes
from babelscope.advise.outputs import Outputs
from babelscope.advise.page import next_section
from babelscope.advise.record import read_record
from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.corpora.bio import read_bio, repaired, write_bio
from babelscope.corpora.conllu import write_conllu
from babelscope.tasks.export import load_model
from babelscope.world import World
from command_line import babelscope
from language_files import tagger_of_the_card

pytestmark = pytest.mark.usefixtures("in_process", "short")


def asked(request_, task, file):
    return request_.model_copy(update={"task": task, "labelled": str(file)})


@pytest.mark.parametrize(("task", "measure", "suffix"), [("ner", "f1", ".bio"), ("deprel", "accuracy", ".conllu")])
def test_a_verdict_and_a_model(language_folder, encoder_folder, tmp_path, task, measure, suffix):
    file = language_folder / ("news.bio" if task == "ner" else "trees.conllu")
    folder, page = tmp_path / "model", tmp_path / "advice.html"
    answer = babelscope(
        "advise", "--language", "qah", "--text", language_folder / "text.txt", "--labelled", file, "--task", task,
        "--encoder", encoder_folder, "--seeds", 1, "--steps", 2, "--store", tmp_path / "store", "-o", page, "--run",
        "--no-search", "--no-curve", "--export", folder,
    )  # fmt: skip
    assert answer.status == 0, answer.errors
    title = "Named-entity recognition" if task == "ner" else "Tagging of words (deprel)"
    assert title in page.read_text(encoding="utf-8") and f"FILE{suffix} -o predicted{suffix}" in answer.output
    card = (folder / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(card.split("---")[1])
    assert header["pipeline_tag"] == "token-classification" and f"# {title} for " in card
    assert header["model-index"][0]["results"][0]["metrics"][0]["type"] == measure
    sentences = [sentence.forms for sentence in World().treebank("qah", "test", 9)]
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"][0] -= 9  # of O, which a model that has learned nothing gives to all words
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    model = load_model(folder).module
    brief = [words for words in sentences if len(words) < 10]  # what the card's own Python cuts off has None
    tags = list(map(tagger_of_the_card(card, folder), brief))
    assert tags == model.predict(brief) and len({tag for each in tags for tag in each}) > 1
    given = tmp_path / f"given{suffix}"
    if task == "ner":
        write_bio(given, [Tagged(words, ["O"] * len(words)) for words in sentences])
    else:
        write_conllu(given, World().treebank("qah", "test", 9))
    predicted = babelscope("predict", folder, given, "-o", tmp_path / f"predicted{suffix}")
    assert predicted.status == 0, predicted.errors
    if task == "ner":
        found = [list(tags) for _, tags in read_bio(tmp_path / "predicted.bio")]
        assert found == list(map(repaired, model.predict(sentences)))


def test_what_is_learned_is_what_the_training_sentences_have(request_, language_folder):
    entities = learned(asked(request_, "ner", language_folder / "news.bio"))
    assert entities.task.known_as == "ner" and entities.entity_types == ("LOC", "ORG", "PER")
    relations = learned(asked(request_, "deprel", language_folder / "trees.conllu")).task
    trained = World().treebank("qah", "train", 60)[:48]
    assert relations.labels == tuple(sorted({word.deprel for sentence in trained for word in sentence.words}))


def test_no_entity_is_what_a_model_of_entities_must_beat(request_, tmp_path):
    """Also where most words are in one."""
    write_bio(tmp_path / "dense.bio", [Tagged(["Ana", "came"], ["B-PER", "O"]), Tagged(["Ana"], ["B-PER"])] * 30)
    constant = constant_answer(asked(request_, "ner", tmp_path / "dense.bio"))
    assert constant.name == "O for every word" and not constant.test.table.any()


def split(folder, write, **parts):
    """Files of a folder, by their splits."""
    folder.mkdir()
    for name, part in parts.items():
        write(folder / f"{name}{'.bio' if write is write_bio else '.conllu'}", part)
    return folder


def bare(sentences):
    return [Tagged(words, ["O"] * len(words)) for words, _ in sentences]


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_a_split_without_an_entity_is_refused(request_, tmp_path, part):
    parts = {name: World().entities("qah", name, 9) for name in ("train", "dev", "test")}
    folder = split(tmp_path / "own", write_bio, **parts | {part: bare(parts[part])})
    with pytest.raises(InputError, match=rf"--labelled .*own, {part}: no word is in an entity, so that nothing can be"):
        command.check(asked(request_, "ner", folder), False, Outputs(tmp_path / "advice.html"))


@pytest.mark.parametrize(
    ("task", "file", "message"),
    [
        ("xpos", "trees.conllu", r"--labelled .*trees\.conllu, train: no word has xpos, so that nothing can be scored"),
        ("feats:case", "cased.conllu", r"train: no word has feats:case, so that nothing can be scored; FEATS has Case"),
        ("upos", "nouns.conllu", r"--labelled .*: the words of the training data are all labelled 'NOUN'"),
        ("parsing", "news.bio", r"--labelled .*, train: .*news\.bio: looks like BIO, and a treebank is CoNLL-U"),
        ("ner", "trees.conllu", r"trees\.conllu: looks like CoNLL-U, and a file of entities is BIO"),
        ("ner", "", r"the folder has no file of BIO with train in its name, such as qah-train\.bio"),
    ],
)
def test_data_that_a_task_cannot_read_or_learn_are_refused(request_, language_folder, tmp_path, task, file, message):
    sentences = World().treebank("qah", "train", 20)
    split(tmp_path / "own", write_conllu, train=sentences)
    words = {"cased": {"feats": "Case=Nom"}, "nouns": {"upos": "NOUN"}}
    for name, said in words.items():
        changed = [replace(each, words=tuple(word._replace(**said) for word in each.words)) for each in sentences]
        write_conllu(tmp_path / f"{name}.conllu", changed)
    folder = tmp_path if file in ("cased.conllu", "nouns.conllu") else language_folder
    given = folder / file if file else tmp_path / "own"
    with pytest.raises(InputError, match=message):
        command.check(asked(request_, task, given), False, Outputs(tmp_path / "advice.html"))


def test_types_of_entities_that_are_not_trained_on_are_told(request_, language_folder, tmp_path):
    parts = {name: World().entities("qah", name, 20) for name in ("train", "dev", "test")}
    strange = [Tagged(words, [label.replace("PER", "THING") for label in labels]) for words, labels in parts["test"]]
    folder = split(tmp_path / "own", write_bio, **parts | {"test": strange})
    notes = labelled_notes(asked(request_, "ner", folder))
    assert any(re.search(r"labels of the test split are never trained on in these \(.*B-THING", note) for note in notes)
    assert not any(
        "never trained on" in note for note in labelled_notes(asked(request_, "ner", language_folder / "news.bio"))
    )
    source = split(tmp_path / "source", write_bio, **{name: strange for name in parts})
    given = {"labelled": str(split(tmp_path / "plain", write_bio, **parts)), "task": "ner"}
    zero_shot = request_.model_copy(update=given | {"source_labelled": f"entities:qaa:{source}"})
    assert any("never trained on in those of the source (B-PER" in note for note in labelled_notes(zero_shot))


def test_a_model_is_of_use_where_little_is_left_to_gain():
    """Of a column that is mostly empty, a constant answer is nearly always right."""
    assert [clear_gain(constant, 0.1) for constant in (0.0, 0.5, 0.8)] == pytest.approx([0.1, 0.1, 0.1])
    assert [clear_gain(constant, 0.1) for constant in (0.9, 0.948, 1.0)] == pytest.approx([0.05, 0.026, 0.0])


def test_files_are_named_after_the_task(request_):
    bare = request_.model_copy(update={"labelled": None, "task": "ner"})
    ((purpose, lines),) = next_section(bare, Outputs()).commands.items()
    assert "With them in FILE.bio" in purpose and "--labelled FILE.bio" in lines[0]
    with pytest.raises(InputError, match=r"give labelled sentences with --labelled FILE\.bio"):
        command.check(bare, True, Outputs())


def test_records_that_call_labelled_sentences_a_treebank_are_read(tmp_path):
    request = {"language": "mt", "text": "ntrex:mt", "treebank": "UD_Maltese-MUDT", "encoders": ["mini"]}
    constant = {"name": "NOUN for every word", "dev": [0.1], "test": [0.1]}
    older = {"request": request, "recipes": [], "constant": constant, "curves": []}
    (tmp_path / "advice.json").write_text(json.dumps(older), encoding="utf-8")
    read = read_record(tmp_path / "advice.json").request
    assert (read.labelled, read.source_labelled, read.search) == ("UD_Maltese-MUDT", None, False)
