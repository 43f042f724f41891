"""Pages of docs/results say what the reports of the rows beside them say."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
import results

from babelscope.core.errors import InputError
from babelscope.engine.sharing.archive import unpacked
from babelscope.face.job import job_of

DOCS = Path(__file__).parents[2] / "docs" / "results"
KEPT = results.archives(DOCS)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.mark.parametrize("rows", KEPT, ids=map(results.page_of, KEPT))
def test_pages_in_the_documentation_are_those_of_the_rows_beside_them(rows: Path) -> None:
    """Last digits aside, since processors sum in different orders. Where there are the data, the study is today's."""
    with unpacked(rows) as kept:
        ours = results.page(results.told_of(kept), kept, results.page_of(rows))
        if "study" in kept.about:
            with contextlib.suppress(InputError):
                plan = job_of(kept.about["name"], kept.about["with"], kept.store).plan
                assert plan.steps.keys() == kept.plan.steps.keys()
    page = (DOCS / f"{results.page_of(rows)}.md").read_text(encoding="utf-8")
    assert NUMBER.sub("", ours) == NUMBER.sub("", page)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (ours, page)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.011)
