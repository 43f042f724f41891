"""Where published numbers are from: each has a source, and each source has numbers."""

from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.report.declared import report_of
from babelscope.studies import STUDIES, find_study, published_numbers
from babelscope.studies.published_numbers import origins, published_rows

WITH_NUMBERS = [study for study in STUDIES if published_rows(study)]


def test_numbers_and_their_origins_are_of_studies_that_there_are():
    folder = files("babelscope.studies") / "published"
    assert {file.name.removesuffix(".csv") for file in (folder / "numbers").iterdir()} == {*WITH_NUMBERS}
    lines = csv.DictReader((folder / "origins.csv").read_text(encoding="utf-8").splitlines())
    assert {line["study"] for line in lines} == {*WITH_NUMBERS}


def test_other_tables_are_no_study_of_a_users():
    assert not any(published_rows(name) for name in ("origins", "protocols", "training_examples", "mine"))


@pytest.mark.parametrize("study", WITH_NUMBERS)
def test_every_number_has_a_source_and_every_source_numbers(study):
    found = origins(f"{study}@paper")
    assert sum(origin.how_many for origin in found) == len(published_rows(study))
    assert all(all(origin) for origin in found)


def test_a_number_that_no_line_is_about_is_named(monkeypatch):
    monkeypatch.setattr(published_numbers, "published_rows", lambda study: [Row("a measure of nobody", 1.0)])
    with pytest.raises(InputError, match=r"origins\.csv does not say where .* is from: .*a measure of nobody"):
        origins("evolution")


def test_a_report_says_where_its_published_numbers_are_from():
    told = report_of(find_study("evolution", {}), []).provenance["published numbers"]
    assert told.startswith("perplexity on the Dutch test set: table 2; ")
    assert "published numbers" not in report_of(find_study("first-look", {}), []).provenance
