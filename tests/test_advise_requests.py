"""Requests for advice: what is refused in words before anything is computed, and what is never written over."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from babelscope.advise import command
from babelscope.advise.outputs import Outputs
from babelscope.advise.page import next_section
from babelscope.core.errors import InputError
from command_line import babelscope

pytestmark = pytest.mark.usefixtures("in_process", "short")


def test_files_are_named_by_their_whole_path(request_, language_folder, monkeypatch):
    monkeypatch.chdir(language_folder)
    near = request_.model_copy(update={"text": "text.txt", "labelled": "trees.conllu"})
    assert (near.text_name, near.labelled_name) == (request_.text_name, request_.labelled_name)


def test_a_page_that_is_a_folder_is_refused_beforehand(request_, tmp_path):
    with pytest.raises(InputError, match="a folder; give -o the name of a file"):
        command.check(request_, True, Outputs(tmp_path, tmp_path / "store"))


def test_without_labelled_sentences_there_is_a_plan_but_no_verdict(request_):
    plain = request_.model_copy(update={"labelled": None})
    sections = command.look(plain).sections
    assert sections[1].tables[0].headers == ["Recipe"]
    (next_,) = next_section(plain, Outputs()).commands.values()
    assert "--labelled FILE.conllu" in next_[0] and "--run" in next_[0]
    with pytest.raises(InputError, match="give labelled sentences with --labelled"):
        command.check(plain, True, Outputs())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--language", "q x"], "--language: should be the code of a language"),
        (
            ["--task", "sentiment"],
            "--task: should be pos, parsing, ner, or a column of CoNLL-U such as xpos or feats:Case",
        ),
        (["--task", "NER"], "such as xpos or feats:Case (did you mean ner?)"),
        (["--labelled", "masakhaner2:wol"], "masakhaner2:wol: no data for pos, which are named UD_LANGUAGE-NAME"),
        (["--margin", "2"], "--margin: "),
        (["--text", str(Path(__file__).parent)], "a folder; give a file of raw text"),
        (["--encoder", __file__], "a file; give the folder that it is in"),
        (["--text", "ntrex:ug>uyghur"], "> in a name stands for a transliteration"),
        (["--text", "nowhere.txt"], "nowhere.txt: there is no such file"),
        (["--labelled", "nowhere.conllu"], "nowhere.conllu: there is no such file"),
        (["--export", "model"], "give --run too"),
        (["--run", "--seeds", "1"], "give labelled sentences with --labelled"),
        (["--encoder", "./nowhere"], "no such folder"),
    ],
)
def test_bad_requests_are_refused_in_words(language_folder, encoder_folder, tmp_path, changes, message):
    given = {"--language": "qah", "--text": str(language_folder / "text.txt"), "--encoder": str(encoder_folder)}
    given.pop(changes[0], None)
    arguments = [*(part for pair in given.items() for part in pair), *changes]
    answer = babelscope("advise", *arguments, "-o", tmp_path / "x.html", "--store", tmp_path / "store")
    assert answer.status == 2
    assert message in answer.errors
    assert "Traceback" not in answer.errors


@pytest.mark.parametrize("given", ["--text", "--labelled"])
@pytest.mark.parametrize("run", [(), ("--run", "--seeds", 1)])
def test_nothing_that_advise_has_not_written_is_written_over(language_folder, encoder_folder, tmp_path, given, run):
    """Neither what it reads nor any other file, be it the page or what is beside it."""
    names = {"--text": "text.txt", "--labelled": "trees.conllu"}
    own = {option: Path(shutil.copy(language_folder / name, tmp_path / name)) for option, name in names.items()}
    arguments = ["advise", "--language", "qah", "--encoder", encoder_folder, "--store", tmp_path / "store", *run]
    arguments += [part for pair in own.items() for part in pair]
    answer = babelscope(*arguments, "-o", own[given])
    assert answer.status == 2 and "already there, and no page of advice" in answer.errors
    beside = tmp_path / "notes.json"
    beside.write_text('{"mine": 1}', encoding="utf-8")
    if run:
        answer = babelscope(*arguments, "-o", beside.with_suffix(".html"))
        assert answer.status == 2 and "already there, and what a run has decided by goes there" in answer.errors
        answer = babelscope(*arguments, "-o", tmp_path / "new.html", "--export", tmp_path / "new.json")
        assert answer.status == 2 and "give another folder" in answer.errors
    assert beside.read_text(encoding="utf-8") == '{"mine": 1}'
    assert [file.read_bytes() for file in own.values()] == [
        (language_folder / name).read_bytes() for name in names.values()
    ]


def test_a_page_of_advice_is_written_again(language_folder, encoder_folder, tmp_path):
    page = tmp_path / "advice.html"
    asked = (
        "advise",
        "--language",
        "qah",
        "--encoder",
        encoder_folder,
        "--text",
        language_folder / "text.txt",
        "-o",
        page,
    )
    answers = [babelscope(*asked, "--store", tmp_path / "store") for _ in range(2)]
    assert [answer.status for answer in answers] == [0, 0], answers[1].errors


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "treebank:qab:{trees}"}, "--text treebank:qab:.* is in qab, but the advice asked for is on qah"),
        (
            {"labelled": "treebank:qab:{trees}"},
            "--labelled treebank:qab:.* is in qab, but the advice asked for is on qah",
        ),
        ({"language": "qah-Cyrl"}, "qah-Cyrl: \\d+% of the letters of its text are Grek; give text in Cyrl"),
    ],
)
def test_data_of_another_language_or_script_are_refused(request_, language_folder, tmp_path, changes, message):
    changes = {key: value.format(trees=language_folder / "trees.conllu") for key, value in changes.items()}
    with pytest.raises(InputError, match=message):
        command.check(request_.model_copy(update=changes), False, Outputs(tmp_path / "advice.html"))


def test_line_numbers_stay_numbers(language_folder, encoder_folder, tmp_path):
    """Rich takes `:100:` for the name of a picture."""
    lines = (language_folder / "trees.conllu").read_text(encoding="utf-8").splitlines()
    (tmp_path / "broken.conllu").write_text("\n".join([*lines[:99], "one two"]) + "\n", encoding="utf-8")
    answer = babelscope(
        "advise", "--language", "qah", "--text", language_folder / "text.txt", "--encoder", encoder_folder,
        "--labelled", tmp_path / "broken.conllu", "-o", tmp_path / "x.html", "--store", tmp_path / "store",
    )  # fmt: skip
    assert answer.status == 2 and "broken.conllu:100:" in answer.errors
