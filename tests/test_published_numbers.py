"""Where published numbers are from: each has a source, and each source has numbers."""

from __future__ import annotations

from importlib.resources import files

import pytest

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.report.declared import report_of
from babelscope.studies import STUDIES, find_study, published_numbers
from babelscope.studies.published_numbers import published_rows, sources

WITH_NUMBERS = [study for study in STUDIES if published_rows(study)]


def test_numbers_are_of_studies_that_there_are():
    folder = files("babelscope.studies") / "published"
    of_studies = {file.name.removesuffix(".csv") for file in folder.iterdir() if "-" in file.name}
    assert of_studies | {"evolution", "underspecified"} == {*WITH_NUMBERS} and len(WITH_NUMBERS) == 5


@pytest.mark.parametrize("study", WITH_NUMBERS)
def test_every_number_has_a_source_and_every_source_numbers(study):
    found = sources(f"{study}@paper")
    assert sum(source.numbers for source in found) == len(published_rows(study))
    assert all(all(source) for source in found)


def test_a_number_that_no_line_is_about_is_named(monkeypatch):
    monkeypatch.setattr(published_numbers, "published_rows", lambda study: [Row("a measure of nobody", 1.0)])
    with pytest.raises(InputError, match=r"sources\.csv does not say where .* is from: .*a measure of nobody"):
        sources("evolution")


def test_a_report_says_where_its_published_numbers_are_from():
    told = report_of(find_study("evolution", {}), []).provenance["published numbers"]
    assert told.startswith("perplexity on the Dutch test set: table 2; ")
    assert "published numbers" not in report_of(find_study("first-look", {}), []).provenance
