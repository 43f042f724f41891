"""Perplexities per character and per byte, which can be compared where two tokenizers' perplexities cannot."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

from babelscope.core.intervals import Interval, geometric_interval
from babelscope.core.row import Row
from babelscope.report.kinds import is_score
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell

KIND = "text size"
HEADERS = ["Condition", "Text", "Per token", "95%", "Per character", "95%", "Per byte", "95%", "Tokens a character",
           "Unknown tokens"]  # fmt: skip
NOTE = (
    "Tokens are those of the encoder's own tokenizer, so perplexities per token compare encoders of one vocabulary "
    "alone. Per character (Unicode code point) or byte (UTF-8): exp of the mean loss of a masked token × tokens of the "
    "text / its characters or bytes. An unknown token is never masked and counts as an average one, so where "
    "many are unknown the perplexity is too low."
)


@dataclass(frozen=True)
class TextSize:
    """How long a text is."""

    tokens: float
    unknown: float
    """Tokens that are unknown to the tokenizer, which are among the tokens."""
    characters: float
    bytes: float

    def per_character(self, perplexity: float) -> float:
        """From a perplexity per token."""
        return _spread(perplexity, self.tokens / self.characters)

    def per_byte(self, perplexity: float) -> float:
        """From a perplexity per token."""
        return _spread(perplexity, self.tokens / self.bytes)


SizeOf = Callable[[Row], TextSize | None]


def sizes_of(report: Report) -> SizeOf:
    """The size of the text that a row's perplexity was measured on; None where it is not known.

    A reference's perplexities belong to no task: its text is told by its name, where that stands for one text alone.
    """
    counts: dict[tuple[str | None, ...], dict[str, float]] = defaultdict(dict)
    for row in report.rows:
        if row.kind == KIND:
            counts[row.encoder, row.surgery, row.language, row.dataset, row.task][row.measure] = row.value
    by_task = {key: size for key, each in counts.items() if (size := _size(each))}
    told: dict[tuple[str | None, ...], set[TextSize]] = defaultdict(set)
    for key, size in by_task.items():
        told[key[:-1]].add(size)

    def size_of(row: Row) -> TextSize | None:
        key = (row.encoder, row.surgery, row.language, row.dataset)
        alike = told.get(key, set())
        return by_task.get((*key, row.task)) if row.task else next(iter(alike)) if len(alike) == 1 else None

    return size_of


def size_line(condition: str, text: str, perplexity: Interval, size: TextSize | None) -> list[Cell]:
    """A perplexity in all three units. The ends of its interval are carried over, since all grow with it."""
    line = [Cell(condition), Cell(text), number_cell(perplexity.mean, ".2f"), bounds_cell(perplexity, 1.0)]
    if size is None:
        return [*line, *(Cell("") for _ in HEADERS[len(line) :])]
    for convert in (size.per_character, size.per_byte):
        low, high = (None if end is None else convert(end) for end in (perplexity.low, perplexity.high))
        ends = Cell("") if low is None or high is None else Cell(f"[{low:.3f}, {high:.3f}]", low)
        line += [number_cell(convert(perplexity.mean), ".3f"), ends]
    return [*line, number_cell(size.tokens / size.characters, ".3f"), number_cell(size.unknown / size.tokens, ".1%")]


@section(KIND, order=81)
def text_sizes(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Perplexities on the test sets, per token, character and byte."""
    size_of = sizes_of(report)
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in report.rows:
        if is_score(row) and row.measure == "perplexity":
            groups[report.condition(row), report.place(row)].append(row)
    sizes: Mapping[tuple[str, str], TextSize | None] = {key: size_of(each[0]) for key, each in groups.items()}
    if any(sizes.values()):
        lines = [
            size_line(condition, place, geometric_interval([row.value for row in each]), sizes[condition, place])
            for (condition, place), each in groups.items()
        ]
        note = f"Geometric means over seeds, with Student’s t interval of the logarithms. {NOTE}"
        yield Section("Perplexity per character and byte", tables=[Table("On test sets", HEADERS, lines, note)])


def _spread(perplexity: float, tokens: float) -> float:
    """The perplexity of so many tokens taken as one unit; beyond exp(700), which stands for all above it, as there."""
    return math.exp(min(math.log(perplexity) * tokens, 700.0))


def _size(counts: Mapping[str, float]) -> TextSize | None:
    """None where a number is missing, or the text is empty."""
    size = TextSize(*(counts.get(name, 0.0) for name in ("tokens", "unknown tokens", "characters", "bytes")))
    tokens, _, characters, bytes_ = astuple(size)
    return size if tokens and characters and bytes_ else None
