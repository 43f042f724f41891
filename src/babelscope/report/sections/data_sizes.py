"""How many examples a study was trained and selected on, and how many the published one was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, number_cell, without_empty

SPLITS = {"train": "training", "dev": "dev"}


class Size(NamedTuple):
    """Of a task's data in a language."""

    task: str
    language: str
    split: str


@section("data_sizes", order=110)
def data_sizes(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """A table: the published numbers, and the study's own where it counts them."""
    published, ours = sizes(rows, published=True), sizes(rows, published=False)
    if published or ours:
        table = _table(report, published, ours, _note(rows))
        yield Section("Training examples", _in_words(published, ours), tables=[table])


def sizes(rows: Sequence[Row], *, published: bool) -> dict[Size, int]:
    """Examples in all data sets together, each at the largest size that is read of it."""
    found: dict[Size, int] = defaultdict(int)
    for (size, _), counts in _counts(rows, published=published).items():
        found[size] += max(counts)
    return dict(found)


def _counts(rows: Sequence[Row], *, published: bool) -> dict[tuple[Size, str], set[int]]:
    """Every number of examples read of a data set. Published rows say whose they are in the column of the encoder."""
    counts: dict[tuple[Size, str], set[int]] = defaultdict(set)
    for row in rows:
        if bool(row.encoder) == published:
            size = Size(row.task or "", row.language or "", row.split or "")
            counts[size, row.dataset or ""].add(int(row.value))
    return counts


def _in_words(published: Mapping[Size, int], ours: Mapping[Size, int]) -> list[str]:
    both = published.keys() & ours.keys()
    if not both:
        return []
    same = sum(published[size] == ours[size] for size in both)
    return [f"{same} of {len(both)} training and dev sets have as many examples as the published ones."]


def _note(rows: Sequence[Row]) -> str:
    note = "Sentences, or pairs of them. Ours are as many as the study reads."
    several = any(len(counts) > 1 for counts in _counts(rows, published=False).values())
    return f"{note} Of a data set that it reads in several sizes the largest is shown." if several else note


def _table(report: Report, published: Mapping[Size, int], ours: Mapping[Size, int], note: str) -> Table:
    places = dict.fromkeys((size.task, size.language) for size in (*published, *ours))
    lines = [
        [
            Cell(title_of(task)), Cell(report.labels.get(language, language)),
            *(
                number_cell(side.get(Size(task, language, split)), ",d")
                for split in SPLITS
                for side in (published, ours)
            ),
        ]
        for task, language in places
    ]  # fmt: skip
    columns = [f"{name}: {side}" for name in SPLITS.values() for side in ("published", "ours")]
    return Table("Training examples: the paper’s and ours", *without_empty(["Task", "Language", *columns], lines), note)
