"""Perplexities per character and per byte, which can be compared where two tokenizers' perplexities cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from babelscope.core.inference import effect
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.scores import MEASURES
from babelscope.report.model import Report
from babelscope.report.score import Score
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.text_sizes import KIND, TextSize, Unit

HEADERS = ["Condition", "Text", "Per token", "95%", "Per character", "95%", "Per byte", "95%", "Tokens a character",
           "Unknown tokens"]  # fmt: skip
NOTE = (
    "Tokens are those of the encoder's own tokenizer, so perplexities per token compare encoders of one vocabulary "
    "alone. Per character (Unicode code point) or byte (UTF-8): exp of the mean loss of a masked token × tokens of the "
    "text / its characters or bytes. An unknown token is never masked and counts as an average one, so where "
    "many are unknown the perplexity is too low."
)


def carried_over(perplexity: Interval, size: TextSize | None) -> list[Interval]:
    """Per token and, where the text's size is known, per character and byte; the ends too, since all grow with it."""
    others = (size.per_character, size.per_byte) if size else ()
    return [perplexity, *(_converted(perplexity, convert) for convert in others)]


def with_sentences(report: Report, score: Score, size: TextSize | None) -> list[Interval]:
    """The same, over sentences as well as far as both the losses and the sizes of each were kept."""
    if size is None:
        return [score.interval]
    measure, loss, kept = MEASURES[score.measure], score.samples.times(score.sign), report.outcomes(size.key)
    units: tuple[Unit, Unit] = ("characters", "bytes")
    losses = [size.losses_per(unit, loss, kept) for unit in units]
    return [score.interval, *(measure.taken_back(effect(*each.known).interval) for each in losses)]


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
    sizes = [(score, report.size_of(score)) for score in report.scores if score.measure == "perplexity"]
    if any(size for _, size in sizes):
        lines = [
            size_line(score.condition, score.place, with_sentences(report, score, size), size) for score, size in sizes
        ]
        note = (
            "Geometric means over seeds; the 95% interval is that of their logarithms, over seeds and, as far as they "
            f"are known, test sentences. {NOTE}"
        )
        yield Section("Perplexity per character and byte", tables=[Table("On test sets", HEADERS, lines, note)])


def _converted(perplexity: Interval, convert: Callable[[float], float]) -> Interval:
    low, high = (None if end is None else convert(end) for end in (perplexity.low, perplexity.high))
    return Interval(convert(perplexity.mean), low, high, None, perplexity.n)
