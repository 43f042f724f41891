"""The check of the paper profiles, with an encoder so narrow that it takes seconds."""

from __future__ import annotations

import sys

import pytest
from paper_check import checks, data_of, main
from published_settings import studies_with_paper

STUDIES = ("align-then-predict", "monolingual-benefits", "evolution")
NARROW = ("--hidden", "32", "--layers", "1", "--full-layers", "2", "--batches", "2")


def test_every_kind_of_task_trains_as_declared(monkeypatch, capsys):
    """Parsing, tagging, entities, classification, regression and language modelling, on data written on the spot."""
    monkeypatch.setenv("BABELSCOPE_DATA", "")
    monkeypatch.setattr(sys, "argv", ["paper_check.py", *NARROW, "--studies", *STUDIES])
    main()
    _, header, _, *lines = capsys.readouterr().out.strip().split("\n")[1:]
    names = [cell.strip() for cell in header.strip("|").split("|")]
    rows = [dict(zip(names, (cell.strip() for cell in line.strip("|").split("|")), strict=True)) for line in lines]
    assert {row["data"] for row in rows} == {"written"}
    whole = {row["training"]: row for row in rows if "layers" not in row["training"]}
    told = {name: (row["steps"], row["batches"], row["validations"]) for name, row in whole.items()}
    assert told == {
        "tasks.parsing-en": ("10 of 10", "10 x 32", "5"),
        "tasks.pos-en": ("10 of 10", "10 x 32", "5"),
        "tasks.ner-en": ("10 of 10", "10 x 32", "5"),
        "tasks.cola": ("6 of 6", "6 x 32", "3"),
        "tasks.stsb": ("6 of 6", "6 x 32", "3"),
        "tasks.mlm": ("6 of 6", "6 x 8", "1"),
    }
    assert all(0 < int(row["best step"]) <= int(row["steps"].split()[0]) for row in rows)
    full = [row for row in rows if "2 layers" in row["training"]]
    assert [row["steps"] for row in full] == ["5 of 5"] * len(STUDIES)


@pytest.mark.parametrize("study", studies_with_paper())
def test_every_training_has_data_that_are_written_on_the_spot(study, tmp_path, monkeypatch):
    """Divided treebanks, other letters and sentence pairs too."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    for check in checks(study):
        data = data_of(check, 1, tmp_path, None)
        assert all(data.parts) and data.test and data.origin == "written", check.training.name
