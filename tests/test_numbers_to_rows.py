"""From every number of three pages to the rows that it is of, and from these back to the number."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bs4 import BeautifulSoup, Tag

from babelscope.engine.sharing.archive import unpacked
from babelscope.face.job import Job
from babelscope.report.page import render
from babelscope.study.declare import Study

ROWS = Path(__file__).parents[1] / "docs" / "results" / "rows"
COUNTED = "Training examples"
"""What is counted of the data when a study is planned, which no result is of."""


class Page:
    """What a page holds, as its script reads it."""

    def __init__(self, text: str) -> None:
        self.soup = BeautifulSoup(text, "html.parser")
        self.sources: dict[str, Any] = json.loads(self.soup.select_one("#sources").text)
        self.by_short = {key[:12]: key for key, *_ in self.sources["steps"]}
        content = self.soup.select_one("#made a[download]")["href"].partition(",")[2]
        self.rows = pd.read_csv(io.BytesIO(gzip.decompress(base64.b64decode(content))), low_memory=False)

    def behind(self, link: Tag) -> set[str]:
        """The keys that a link leads to: of results, or of all that its section lists."""
        kind, _, name = link["href"].removeprefix("#").partition("-")
        if kind == "key":
            return {self.by_short[short] for short in name.split("+")}
        assert self.soup.select_one(f"details#rows-{name}")["data-section"] == name
        groups = self.sources["groups"][int(name)]
        return {self.sources["steps"][place][0] for _, places in groups for place in places}


def page_of(name: str) -> Page:
    with unpacked(ROWS / f"{name}.tar.xz") as kept:
        about = kept.about
        job = Job(Study.model_validate(about["study"]), kept.plan, kept.store, tuple(about["with"]))
        return Page(render(job.report()))


@pytest.fixture(scope="module", params=["first-look", "unseen-languages-real", "bring-in-real"])
def page(request) -> Page:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BABELSCOPE_DATA", raising=False)  # what is doubtful of the data takes longer than the page
        return page_of(request.param)


def test_every_number_leads_to_rows(page):
    keys = set(page.rows["key"].dropna())
    followed = 0
    for place, links in numbers(page):
        assert links, place
        for link in links:
            assert (found := page.behind(link)) and found <= keys, place
            followed += 1
    assert followed > 50


def numbers(page: Page) -> Iterator[tuple[str, list[Tag]]]:
    """Whatever has a number, and the links beside it; what is published or counted has no rows of the study."""
    for sentence in page.soup.select(".answer p, .findings li"):
        if re.search(r"\d", sentence.text):
            yield sentence.text, sentence.select("a.rows")
    for table in page.soup.select("section table"):
        if table.find_parent("section").h2.text == COUNTED:
            continue
        of_all = table.find_parent("div").find_previous_sibling(["p", "h3"]).select("a.rows")
        for line in table.select("tbody tr"):
            if line.select("[data-number]") and "published" not in line.text:
                yield line.text, of_all or line.select('a[href^="#key-"]')


def test_the_rows_of_a_number_make_it(page):
    """The mean of one measure over the results that it leads to: as it stands in the rows, or in percent."""
    checked = 0
    for cell in page.soup.select("[data-number]:has(> a)"):
        number = float(cell["data-number"])
        assert any(abs(mean - number) < 1e-9 for mean in means(page, cell.select("a"))), cell
        checked += 1
    for line in page.soup.select("tbody tr"):
        if not line.select_one(".keys a"):
            continue
        if line.find_parent("table").th.text == "Language" and "Mean" in line.find_parent("table").thead.text:
            number = float(line.select("[data-number]")[0]["data-number"])
            assert any(abs(mean - number) < 1e-9 for mean in means(page, line.select(".keys a"))), line
            checked += 1
    assert checked > 30


def means(page: Page, links: list[Tag]) -> Iterator[float]:
    keys = set().union(*map(page.behind, links))
    for _, mean in page.rows[page.rows["key"].isin(keys)].groupby("measure")["value"].mean().items():
        yield from (mean, 100 * mean)


def test_every_row_is_behind_a_number(page):
    linked = set().union(*(page.behind(link) for _, links in numbers(page) for link in links))
    assert linked >= set(page.rows["key"].dropna())


def test_a_number_without_rows_is_found(page):
    broken = BeautifulSoup(str(page.soup), "html.parser")
    for link in broken.select(".findings a.rows"):
        link.decompose()
    lacking = Page(str(broken))
    assert [place for place, links in numbers(lacking) if not links]
