"""What encoders' vocabularies share, how English-like they and their texts are, and how they cover languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, number_cell, without_empty

PIECES = {
    "pieces": "Pieces", "shared pieces": "Shared", "English-like pieces": "English-like",
    "shared English-like pieces": "Shared and English-like",
}  # fmt: skip
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
    return Table("Pieces of the vocabularies", *without_empty(["Encoder", *PIECES.values()], lines), note)


def _texts_table(report: Report, rows: Sequence[Row]) -> Table:
    texts: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.language is not None:
            # Encoders read the same texts, and a language can have a treebank and raw text.
            label = report.labels.get(row.language, row.language)
            texts[report.start(row), f"{label} · {row.dataset}"][row.split or ""][row.measure] = row.value
    lines = [
        # Contexts are counted in training splits, the rest is of test splits: of one treebank both may be there.
        [Cell(encoder), Cell(f"{text}, {split}" if len(by_split) > 1 and split else text), *_numbers(each)]
        for (encoder, text), by_split in texts.items()
        for split, each in by_split.items()
    ]
    headers = ["Encoder", "Text", *(f"{name[0].upper()}{name[1:]} (%)" for name in SHARES), "Pieces a word"]
    note = "English-like contexts: of all windows of 10 pieces in a row, those with more than 5 English-like ones."
    return Table("Texts as the tokenizers read them", *without_empty(headers, lines), note)


def _numbers(measured: Mapping[str, float]) -> list[Cell]:
    shares = (number_cell(100 * measured[name] if name in measured else None, ".2f") for name in SHARES)
    return [*shares, number_cell(measured.get("fertility"), ".2f")]
