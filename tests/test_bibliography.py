"""Works that papers cite: each is cited somewhere, and each name is of a work."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from babelscope.report.paper import citations
from babelscope.report.used import UsedEncoder
from babelscope.studies import STUDIES

pytestmark = pytest.mark.usefixtures("in_process")


def entries() -> list[str]:
    return re.split(r"\n\n(?=@)", (Path(citations.__file__).parent / "works.bib").read_text(encoding="utf-8").strip())


def test_every_work_is_cited_somewhere_and_every_name_is_of_something():
    with (Path(citations.__file__).parent / "cited.csv").open(encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    keys = [re.match(r"@\w+\{(\w+),", entry)[1] for entry in entries()]
    assert len(keys) == len(set(keys))
    assert {work for line in lines for work in line["works"].split()} == set(keys) - {citations.ITSELF}
    studies = {line["name"] for line in lines if line["kind"] == "study"}
    assert studies <= set(STUDIES) and studies == {name for name in STUDIES if "follows" in _page(name)}


def _page(study: str) -> str:
    page = Path(__file__).parent.parent / "docs" / f"{study}.md"
    return page.read_text(encoding="utf-8")[:300] if page.is_file() else ""


def test_works_are_ascii_with_braces_that_match():
    for entry in entries():
        assert entry.isascii() and entry.count("{") == entry.count("}") and "author = " in entry and "title = " in entry


@pytest.mark.parametrize(
    ("name", "works"),
    [
        ("bert-base-multilingual-cased", "devlin2019bert"), ("google-bert/bert-base-uncased", "devlin2019bert"),
        ("FacebookAI/xlm-roberta-large", "conneau2020xlmr"), ("xlm-roberta-base", "conneau2020xlmr"),
        ("all-MiniLM-L6-v2", "wang2020minilm reimers2019sentencebert"), ("someone/own", "hub-someone-own"),
    ],
)  # fmt: skip
def test_encoders_of_the_hub_are_cited(name, works):
    encoder = UsedEncoder(name, "0123abc", on_hub=True)
    assert " ".join(citations.of_encoder(encoder).works) == works
    written = citations.bibliography(works.split(), [encoder])
    assert written.count("@") == len(works.split()) and ("Commit 0123abc" in written) == works.startswith("hub-")
