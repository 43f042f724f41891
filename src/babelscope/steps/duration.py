"""How long trainings are, before any of them runs: from their settings and the number of their training examples."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Any, NamedTuple

from babelscope.core.examples import word_count
from babelscope.corpora.datasets import FileData, WorldData
from babelscope.corpora.parallel import WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.steps import Training, Tune
from babelscope.tasks.kinds import kind_of

PIECES_A_WORD = 1.6
"""Between an encoder made for a language (1.2) and one that hardly knows it (2.5)."""
SAMPLE = 300
"""Examples of the world that are made for their words to be counted, about; the others are taken to be as long."""


class Duration(NamedTuple):
    """The length of a training."""

    examples: int
    """Sentences, pairs or lines that are trained on."""
    steps: int
    """Of the optimizer. A sentence that is too long for `max_length` counts once; it is trained on in several parts."""
    exact: bool
    """False where batches are of so many tokens, which are estimated from the number of words."""


def duration_of(step: Training) -> Duration:
    """The examples and steps of a training. Reads data, but nothing more than is needed to count."""
    tuning, parts = step.tuning, _examples(step)
    counted = tuning.steps_of(parts)
    if counted is not None:
        return Duration(sum(parts), counted, True)
    pieces = sum(_words(data) for data in _data(step)) * PIECES_A_WORD
    epochs, tokens = tuning.epochs or 1, tuning.tokens_per_batch or 1
    return Duration(sum(parts), max(1, round(epochs * pieces / tokens)), False)


def _data(step: Training) -> tuple[Any, ...]:
    return step.train if isinstance(step, Tune) else step.read_texts


def _examples(step: Training) -> list[int]:
    """Of each training language."""
    parts: dict[str, int] = {}
    for data in _data(step):
        language = data.code if isinstance(step, Tune) else ""
        parts[language] = parts.get(language, 0) + _count(data)
    return list(parts.values())


@cache
def _count(data: Any) -> int:
    match data:
        case WorldData():
            return data.examples
        case WorldText():
            return data.sentences + data.pairs
        case WorldPairs():
            return data.sentences
        case _:
            return len(data.read())


@cache
def _words(data: Any) -> float:
    words, read = kind_of(data.task).words if isinstance(data, WorldData | FileData) else _words_of_line, _sample(data)
    return sum(map(words, read.read())) * _count(data) / _count(read)


def _sample(data: Any) -> Any:
    """Of data of the world, which are made when they are read, fewer of the same."""
    numbers: dict[Any, tuple[str, ...]] = {
        WorldData: ("examples",),
        WorldText: ("sentences", "pairs"),
        WorldPairs: ("sentences",),
    }
    share = SAMPLE / _count(data)
    if share >= 1 or type(data) not in numbers:
        return data
    return data.model_copy(update={name: ceil(share * getattr(data, name)) for name in numbers[type(data)]})


def _words_of_line(line: str | tuple[str, str]) -> int:
    return sum(map(word_count, (line,) if isinstance(line, str) else line))
