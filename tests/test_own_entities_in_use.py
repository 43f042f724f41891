"""A file of entities of one's own, from a study to an exported model, as a user goes; and what is said on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from babelscope.advise.raw import line_notes
from babelscope.advise.request import Request
from babelscope.core.row import Row
from babelscope.corpora.bio import read_bio, write_bio
from babelscope.corpora.unlabelled import word_a_line
from babelscope.report.cautions import cautions
from babelscope.report.model import Report
from babelscope.world import World
from command_line import babelscope, declaration, transfer, write_study

NOTE = "every sentence has one word; if the file has a word a line, write each sentence on one line"


@pytest.fixture(scope="module")
def used(tmp_path_factory, encoder_folder) -> Path:
    """A folder with a file of entities, a study that was run, and its model."""
    folder = tmp_path_factory.mktemp("own")
    write_bio(folder / "mine.bio", World().entities("qaa", "train", 60))
    name = f"entities:wo:{folder / 'mine.bio'}"
    tasks = {"ner": transfer(train=[name], evaluate=[name], baselines=[])}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks, seeds=[0])
    study, store = write_study(folder / "study.yaml", declared), folder / "store"
    for command in (["run"], ["rows", "-o", folder / "rows.csv"], ["report", "-o", folder / "report.html"]):
        answer = babelscope(command[0], study, "--store", store, *command[1:])
        assert answer.status == 0, answer.errors
    key = next(line.split(",")[1] for line in (folder / "rows.csv").read_text().splitlines() if ",score," in line)
    answer = babelscope("export", key, "--store", store, "-o", folder / "model")
    assert answer.status == 0, answer.errors
    return folder


def test_rows_and_report_name_the_file(used):
    rows = (used / "rows.csv").read_text()
    assert f",wo,entities:wo:{used / 'mine.bio'},test,0," in rows and ",f1," in rows
    assert f"entities:wo:{used / 'mine.bio'}" in (used / "report.html").read_text()


def test_an_exported_model_is_scored_on_the_test_split_of_such_a_file(used):
    answer = babelscope("score", used / "model", f"entities:wo:{used / 'mine.bio'}")
    last_tenth = World().entities("qaa", "train", 60)[54:]
    assert answer.status == 0, answer.errors
    assert f" words scored {sum(len(each.words) for each in last_tenth)}" in " ".join(answer.output.split())


@pytest.mark.parametrize(("lines", "told"), [("Dakar\n\nla\n\ndëkk\n\n.\n", True), ("Dakar la\nla\nla\nla\n", False)])
def test_predict_says_that_every_sentence_has_one_word(used, lines, told):
    (used / "in.txt").write_text(lines)
    answer = babelscope("predict", used / "model", used / "in.txt", "-o", used / "out.bio")
    assert answer.status == 0, answer.errors
    assert ("note: " + NOTE in " ".join((answer.output + answer.errors).split())) == told
    assert len(read_bio(used / "out.bio")) == 4
    (used / "out.bio").unlink()


@pytest.mark.parametrize(
    ("sentences", "told"),
    [([["a"]] * 4, True), ([["a"]] * 3, False), ([["a"]] * 9 + [["a", "b"]], False), ([], False)],
)
def test_a_word_a_line_is_known(sentences, told):
    assert word_a_line(sentences) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (["Dakar", "la", "", "dëkk", "."] * 4, True),
        (["Dakar la", "la"] * 8, False),
        (["我们今天在北京大学读书"] * 16, False),
    ],
)
def test_advice_says_that_every_sentence_of_the_text_has_one_word(tmp_path, text, told):
    (tmp_path / "text.txt").write_text("\n".join(text))
    asked = Request(language="wo", text=str(tmp_path / "text.txt"), encoders=("world-natural",))
    found = [
        note for note in line_notes(asked) if note.startswith("Every sentence of the text has one word (16 lines)")
    ]
    assert bool(found) == told


# Taggers that find nothing


def scores(values: dict[str, list[float]], condition: str = "e") -> list[Row]:
    common = {"kind": "score", "task": "ner", "train_languages": "wo", "split": "test", "encoder": condition}
    return [
        Row("f1", value, "share", language=code, dataset=f"entities:{code}:x.bio", seed=seed, **common)
        for code, of_seeds in values.items()
        for seed, value in enumerate(of_seeds)
    ]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"wo": [0.0] * 3, "yo": [0.0] * 3}, "every score of e is 0: nothing was learnt or found"),
        ({"wo": [0.4] * 3, "yo": [0.0] * 3}, "three of six scores of e are 0 (on yo): no entity was found there"),
        ({"wo": [0.4, 0.0, 0.4], "yo": [0.1] * 3}, "one of six scores of e is 0 (on wo): no entity was found there"),
        ({"wo": [0.4] * 3, "yo": [0.1] * 3}, None),
    ],
)
def test_a_tagger_that_finds_no_entity_is_told(values, told):
    report = Report("t", "q", scores(values))
    found = [line for line in cautions(report, report.scores) if " 0" in line]
    assert [line.startswith(f"Named-entity recognition: {told}") for line in found] == ([True] if told else [])
    own = replace(report, rows=[replace(row, task="mine") for row in report.rows], main={"mine": "f1"})
    assert [line.startswith(f"mine: {told}") for line in cautions(own, own.scores) if " 0" in line] == [True] * bool(
        told
    )
