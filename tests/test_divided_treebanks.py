"""Treebanks with a test file alone, divided by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import InputError, StudyError
from babelscope.corpora import datasets
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study


@pytest.fixture(autouse=True)
def treebanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A treebank of forty test sentences, and two files that are not looked at."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    folder = tmp_path / "ud" / "UD_Livvi-X"
    folder.mkdir(parents=True)
    for split, count in (("train", 2), ("dev", 3), ("test", 40)):
        lines = [f"# sent_id = {split}{k}\n1\tw{k}\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for k in range(count)]
        (folder / f"olo_x-ud-{split}.conllu").write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize(("tenths", "sizes"), [("8-1-1", (32, 4, 4)), ("4-1-5", (16, 4, 20)), ("1-1-8", (4, 4, 32))])
def test_the_test_file_is_divided_in_its_order(tenths, sizes):
    name = f"UD_Livvi-X:tenths-{tenths}"
    parts = [datasets.find_file("parsing", name, split).read() for split in ("train", "dev", "test")]
    assert tuple(map(len, parts)) == sizes
    assert [sentence.id for part in parts for sentence in part] == [f"test{k}" for k in range(40)]


def test_it_is_data_of_the_same_tasks_and_in_other_letters():
    data = datasets.find("mlm", "UD_Livvi-X:tenths-8-1-1>cyrillic", "dev", 2)
    assert (data.code, data.source, data.read()) == ("olo>cyrillic", "UD_Livvi-X:tenths-8-1-1", ("w32", "w33"))
    assert data.edition == 2 and data.splits_one_file
    assert len(datasets.find("pos", "UD_Livvi-X", "test", 99).read()) == 40


@pytest.mark.parametrize("tenths", ["8-1-2", "9-1-0", "8-2", "", "a-b-c", "81-1-1"])
def test_tenths_that_are_not_ten_are_refused(tenths):
    with pytest.raises(InputError, match="a divided treebank is named UD_LANGUAGE-NAME:tenths-TRAIN-DEV-TEST"):
        datasets.find_file("pos", f"UD_Livvi-X:tenths-{tenths}", "train")


def study(train: str, test: str) -> Study:
    tasks = {"pos": {"train": [train], "evaluate": [test], "sizes": {"train": 9, "dev": 9, "test": 9}}}
    return Study.model_validate({"name": "x", "encoders": ["world-natural"], "tasks": tasks})


def test_what_is_trained_on_is_never_tested_on():
    divided = "UD_Livvi-X:tenths-8-1-1"
    compile_study(study(divided, divided))
    compile_study(study(divided, f"{divided}>cyrillic"))
    for other in ("UD_Livvi-X", "UD_Livvi-X:tenths-4-1-5"):
        with pytest.raises(StudyError, match="is the file that is trained or selected on"):
            compile_study(study(divided, other))


def test_narabizi_has_its_own_name_and_code(tmp_path):
    folder = tmp_path / "ud" / "UD_Maghrebi_Arabic_French-Arabizi"
    folder.mkdir()
    text = (tmp_path / "ud" / "UD_Livvi-X" / "olo_x-ud-test.conllu").read_text()
    (folder / "qaf_arabizi-ud-test.conllu").write_text(text)
    assert datasets.find_file("pos", "UD_Maghrebi_Arabic_French-Arabizi", "test").code == "nrz"


def test_swiss_german_has_half_of_its_sentences_to_decide_on():
    transfer = find_study("unseen-languages@paper", {"languages": ["gsw"]}).tasks["parsing with all in gsw"]
    assert transfer.train == transfer.evaluate == ("UD_Swiss_German-UZH:tenths-4-1-5",)
