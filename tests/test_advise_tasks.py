"""Advice on named entities, and on what else words are labelled with."""

from __future__ import annotations

import json

import pytest
import yaml

from babelscope.advise import command
from babelscope.advise.data import learned
from babelscope.advise.floor import constant_answer
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
from language_files import request_on, tagger_of_the_card, written_to

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return written_to(tmp_path_factory.mktemp("language"))


@pytest.fixture
def request_(files, encoder_folder):
    return request_on(files, encoder_folder)


def asked(request_, task, file):
    return request_.model_copy(update={"task": task, "labelled": str(file)})


@pytest.mark.parametrize(("task", "measure", "suffix"), [("ner", "f1", ".bio"), ("deprel", "accuracy", ".conllu")])
def test_a_verdict_and_a_model(files, encoder_folder, tmp_path, task, measure, suffix):
    file = files / ("news.bio" if task == "ner" else "trees.conllu")
    folder, page = tmp_path / "model", tmp_path / "advice.html"
    answer = babelscope(
        "advise", "--language", "qah", "--text", files / "text.txt", "--labelled", file, "--task", task,
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
    assert list(map(tagger_of_the_card(card, folder), sentences)) == load_model(folder).module.predict(sentences)
    given = tmp_path / f"given{suffix}"
    if task == "ner":
        write_bio(given, [Tagged(words, ["O"] * len(words)) for words in sentences])
    else:
        write_conllu(given, World().treebank("qah", "test", 9))
    predicted = babelscope("predict", folder, given, "-o", tmp_path / f"predicted{suffix}")
    assert predicted.status == 0, predicted.errors
    if task == "ner":
        found = [list(tags) for _, tags in read_bio(tmp_path / "predicted.bio")]
        assert found == list(map(repaired, load_model(folder).module.predict(sentences)))


def test_what_is_learned_is_what_the_training_sentences_have(request_, files):
    entities = learned(asked(request_, "ner", files / "news.bio"))
    assert entities.task.known_as == "ner" and entities.entity_types == ("LOC", "ORG", "PER")
    relations = learned(asked(request_, "deprel", files / "trees.conllu")).task
    trained = World().treebank("qah", "train", 60)[:48]
    assert relations.labels == tuple(sorted({word.deprel for sentence in trained for word in sentence.words}))


def test_no_entity_is_what_a_model_of_entities_must_beat(request_, files):
    constant = constant_answer(asked(request_, "ner", files / "news.bio"))
    assert constant.name == "O for every word" and not constant.test.table.any()


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("ner", "--labelled .*bare, train: no word is in an entity"),
        ("xpos", "--labelled .*trees.conllu, train: no word has xpos, so that nothing can be scored"),
        ("parsing", "entities.bio"),
    ],
)
def test_data_without_labels_are_refused(request_, files, tmp_path, task, message):
    if task == "ner":
        bare = [
            Tagged(sentence.forms, ["O"] * len(sentence.words)) for sentence in World().treebank("qah", "train", 60)
        ]
        write_bio(tmp_path / "bare", bare)
    file = {"ner": tmp_path / "bare", "xpos": files / "trees.conllu", "parsing": files / "entities.bio"}[task]
    with pytest.raises(InputError, match=message):
        command.check(asked(request_, task, file), False, Outputs(tmp_path / "advice.html"))


def test_files_are_named_after_the_task(request_):
    bare = request_.model_copy(update={"labelled": None, "task": "ner"})
    ((purpose, lines),) = next_section(bare, Outputs(), True).commands.items()
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
