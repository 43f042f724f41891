"""Perplexities per character and per byte, which can be compared where two tokenizers' perplexities cannot."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from babelscope.core.inference import effect
from babelscope.core.intervals import Interval, exponential
from babelscope.core.row import Row
from babelscope.core.samples import Samples
from babelscope.report.kinds import SCORES
from babelscope.report.model import Report
from babelscope.report.score import Score
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
    key: str = field(default="", compare=False)
    """Of the result that counted it, which may have kept this of every sentence."""

    def per_character(self, perplexity: float) -> float:
        """From a perplexity per token."""
        return _spread(perplexity, self.tokens / self.characters)

    def per_byte(self, perplexity: float) -> float:
        """From a perplexity per token."""
        return _spread(perplexity, self.tokens / self.bytes)


SizeOf = Callable[[Row | Score], TextSize | None]


def sizes_of(report: Report) -> SizeOf:
    """The size of the text that the perplexity of a row or a score was measured on; None where it is not known.

    A reference's perplexities belong to no task: its text is told by its name, where that stands for one text alone.
    """
    counts: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
    for row in report.rows:
        if row.kind == KIND:
            counts[row.encoder, row.surgery, row.language, row.dataset, row.task].append(row)
    by_task = {key: size for key, each in counts.items() if (size := _size(each))}
    told: dict[tuple[str | None, ...], set[TextSize]] = defaultdict(set)
    for key, size in by_task.items():
        told[key[:-1]].add(size)

    def size_of(of: Row | Score) -> TextSize | None:
        key = (of.encoder, of.surgery, of.language, of.dataset)
        alike = told.get(key, set())
        return by_task.get((*key, of.task)) if of.task else next(iter(alike)) if len(alike) == 1 else None

    return size_of


def carried_over(perplexity: Interval, size: TextSize | None) -> list[Interval]:
    """Per token and, where the text's size is known, per character and byte; the ends too, since all grow with it."""
    others = (size.per_character, size.per_byte) if size else ()
    return [perplexity, *(_converted(perplexity, convert) for convert in others)]


def with_sentences(report: Report, score: Score, size: TextSize | None) -> list[Interval]:
    """The same, over sentences as well as far as both the losses and the sizes of each were kept."""
    if size is None:
        return [score.interval]
    measure, loss = SCORES[score.measure], score.samples.times(score.sign)
    kept = report.outcomes(size.key)
    tokens_per = [
        Samples.of({None: size.tokens / count}, {None: kept[unit]} if unit in kept else {})
        for unit, count in (("characters", size.characters), ("bytes", size.bytes))
    ]
    losses = [loss.product(each) for each in tokens_per]
    return [score.interval, *(measure.taken_back(effect(each.table).interval) for each in losses)]


def size_line(condition: str, text: str, perplexities: Sequence[Interval], size: TextSize | None) -> list[Cell]:
    """A perplexity per token, and where the text's size is known per character and byte."""
    per_token, *others = perplexities
    line = [Cell(condition), Cell(text), number_cell(per_token.mean, ".2f"), bounds_cell(per_token, 1.0)]
    if size is None:
        return [*line, *(Cell("") for _ in HEADERS[len(line) :])]
    for each in others:
        known = each.low is not None and each.high is not None
        line += [
            number_cell(each.mean, ".3f"),
            Cell(f"[{each.low:.3f}, {each.high:.3f}]", each.low) if known else Cell(""),
        ]
    return [*line, number_cell(size.tokens / size.characters, ".3f"), number_cell(size.unknown / size.tokens, ".1%")]


@section(KIND, order=81)
def text_sizes(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Perplexities on the test sets, per token, character and byte."""
    size_of = sizes_of(report)
    sizes = [(score, size_of(score)) for score in report.scores if score.measure == "perplexity"]
    if any(size for _, size in sizes):
        lines = [
            size_line(score.condition, score.place, with_sentences(report, score, size), size) for score, size in sizes
        ]
        note = (
            "Geometric means over seeds; the 95% interval is that of their logarithms, over seeds and, as far as they "
            f"are known, test sentences. {NOTE}"
        )
        yield Section("Perplexity per character and byte", tables=[Table("On test sets", HEADERS, lines, note)])


def _spread(perplexity: float, tokens: float) -> float:
    """The perplexity of so many tokens taken as one unit."""
    return exponential(math.log(perplexity) * tokens)


def _converted(perplexity: Interval, convert: Callable[[float], float]) -> Interval:
    low, high = (None if end is None else convert(end) for end in (perplexity.low, perplexity.high))
    return Interval(convert(perplexity.mean), low, high, None, perplexity.n)


def _size(rows: Sequence[Row]) -> TextSize | None:
    """None where a number is missing, or the text is empty."""
    counts = {row.measure: row.value for row in rows}
    names = ("tokens", "unknown tokens", "characters", "bytes")
    tokens, unknown, characters, bytes_ = (counts.get(name, 0.0) for name in names)
    size = TextSize(tokens, unknown, characters, bytes_, rows[0].key or "")
    return size if size.tokens and size.characters and size.bytes else None
