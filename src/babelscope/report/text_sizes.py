"""How long texts are, so that perplexities per token can be taken per character or byte.

A perplexity is per token, so that those of two tokenizers cannot be compared.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from babelscope.core.intervals import exponential
from babelscope.core.row import Row
from babelscope.core.samples import Counts, Samples
from babelscope.core.step import PROBE_SPLIT

if TYPE_CHECKING:
    from babelscope.report.score import Score

KIND = "text size"
Unit = Literal["characters", "bytes"]


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

    def losses_per(self, unit: Unit, per_token: Samples, kept: Counts) -> Samples:
        """From losses per token; over sentences as far as both these and the size of each (`kept`) are known."""
        count = self.characters if unit == "characters" else self.bytes
        rate = Samples.of({None: self.tokens / count}, {None: kept[unit]} if unit in kept else {})
        return per_token.product(rate)


SizeOf = Callable[["Row | Score"], TextSize | None]
BySplit = dict[str | None, TextSize]
TEST = "test"


def sizes_of(rows: Sequence[Row]) -> SizeOf:
    """The size of the text that the perplexity of a row or a score was measured on; None where it is not known.

    A reference's perplexities belong to no task: its text is told by its name, where that stands for one text alone.
    """
    counts: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row.kind == KIND:
            counts[row.encoder, row.surgery, row.language, row.dataset, row.task, row.split].append(row)
    by_text: dict[tuple[str | None, ...], dict[str | None, BySplit]] = defaultdict(lambda: defaultdict(dict))
    for (*text, task, split), each in counts.items():
        if size := _size(each):
            by_text[tuple(text)][task][split] = size

    def size_of(of: Row | Score) -> TextSize | None:
        by_task = by_text.get((of.encoder, of.surgery, of.language, of.dataset), {})
        asked = [by_task.get(of.task, {})] if of.task else by_task.values()
        found = {size for by_split in asked for size in _fitting(of, by_split)}
        return found.pop() if len(found) == 1 else None

    return size_of


def _fitting(of: Row | Score, by_split: BySplit) -> Sequence[TextSize]:
    """The size of a score's text is that of the test split.

    A probe's row does not say which split its text is of, and the text may have the name of a data set that is scored:
    of a probe it is any other split's, or that of the test split where there is no other.
    """
    tested = [by_split[TEST]] if TEST in by_split else []
    if not isinstance(of, Row) or of.split != PROBE_SPLIT:
        return tested
    return [size for split, size in by_split.items() if split != TEST] or tested


def _spread(perplexity: float, tokens: float) -> float:
    """The perplexity of so many tokens taken as one unit."""
    return exponential(math.log(perplexity) * tokens)


def _size(rows: Sequence[Row]) -> TextSize | None:
    """None where a number is missing, or the text is empty."""
    counts = {row.measure: row.value for row in rows}
    names = ("tokens", "unknown tokens", "characters", "bytes")
    tokens, unknown, characters, bytes_ = (counts.get(name, 0.0) for name in names)
    size = TextSize(tokens, unknown, characters, bytes_, rows[0].key or "")
    return size if size.tokens and size.characters and size.bytes else None
