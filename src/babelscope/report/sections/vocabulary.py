"""What encoders' vocabularies share, how English-like they and their texts are, and how they cover languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, number_cell, without_empty

PIECES = ("pieces", "shared pieces", "English-like pieces")
SHARES = ("English-like contexts", "unknown words", "characters covered")


@section("vocabulary", order=85)
def vocabulary(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """A table of vocabularies, and one of texts as the encoders' tokenizers read them."""
    if rows:
        tables = [_pieces_table(report, rows), _texts_table(report, rows)]
        yield Section("Vocabularies", tables=[table for table in tables if table.lines])


def _pieces_table(report: Report, rows: Sequence[Row]) -> Table:
    counts: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.measure in PIECES:
            counts[report.start(row)][row.measure] = row.value
    lines = [[Cell(name), *(number_cell(each.get(measure), ",.0f") for measure in PIECES)]
             for name, each in counts.items()]  # fmt: skip
    note = "Shared: with the study's reference, which shares all of its own. English-like: of ASCII letters alone."
    return Table("Pieces of the vocabularies", ["Encoder", "Pieces", "Shared", "English-like"], lines, note)


def _texts_table(report: Report, rows: Sequence[Row]) -> Table:
    texts: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.language is not None:
            # Encoders read the same texts, and a language can have a treebank and raw text.
            label = report.labels.get(row.language, row.language)
            texts[report.start(row), f"{label} · {row.dataset}"][row.measure] = row.value
    lines = [
        [
            *map(Cell, names),
            *(number_cell(None if (share := each.get(measure)) is None else 100 * share, ".2f") for measure in SHARES),
            number_cell(each.get("fertility"), ".2f"),
        ]
        for names, each in texts.items()
    ]
    headers = ["Encoder", "Text", *(f"{name[0].upper()}{name[1:]} (%)" for name in SHARES), "Pieces a word"]
    note = "English-like contexts: of all windows of 10 pieces in a row, those with more than 5 English-like ones."
    return Table("Texts as the tokenizers read them", *without_empty(headers, lines), note)
