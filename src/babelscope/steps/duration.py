"""How long trainings are, before any of them runs: from their settings and the number of their training examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from babelscope.core.examples import word_count
from babelscope.corpora.datasets import FileData, WorldData
from babelscope.corpora.parallel import WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.steps import Adapt, Align, Distil, Training, Tune
from babelscope.tasks.kinds import kind_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PIECES_A_WORD = 1.6
"""Between an encoder made for a language (1.2) and one that hardly knows it (2.5)."""
SAMPLE = 300
"""Examples of the world that are made for their words to be counted, about; the others are taken to be as long."""
COUNTED = 2000
"""Examples of a file whose words are counted, about, from its beginning to its end."""
USUAL_WORDS = 20
"""Of an example that cannot be read, mean."""


class Duration(NamedTuple):
    """The length of a training."""

    examples: int
    """Sentences, pairs or lines that are trained on."""
    steps: int
    """Of the optimizer. A sentence that is too long for `max_length` counts once; it is trained on in several parts."""
    exact: bool
    """False where batches are of so many tokens, which are estimated from the number of words, where data are not here,
    where windows count as examples, or where epochs are of translations, some of which may be given twice."""


def duration_of(step: Training) -> Duration:
    """The examples and steps of a training. Reads data, but nothing more than is needed to count."""
    tuning, parts = step.tuning, _examples(step)
    counted = (tuning.apart if isinstance(step, Adapt) else tuning).steps_of(parts)
    if counted is not None:
        in_windows = isinstance(step, Tune) and "repeating-windows" in step.quirks  # each of which is an example
        here = all_here(data_of(step))
        repeated = isinstance(step, Distil) and tuning.steps is None
        return Duration(sum(parts), counted, here and not in_windows and not repeated)
    pieces = sum(float(words_of(data).mean()) * examples for data, examples in read_by(step)) * PIECES_A_WORD
    epochs, tokens = tuning.epochs or 1, tuning.tokens_per_batch or 1
    return Duration(sum(parts), max(epochs, round(epochs * pieces / tokens)), False)  # an epoch has a batch at least


def all_here(train: Iterable[Any]) -> bool:
    """Whether all data sets can be read: of others the sizes are known, if anything."""
    return all(getattr(data, "is_here", True) for data in train)


def by_language(train: Iterable[Any]) -> dict[str, int]:
    """How many examples there are in each language of data sets."""
    parts: dict[str, int] = {}
    for data, examples in counted(train):
        parts[data.code] = parts.get(data.code, 0) + examples
    return parts


def data_of(step: Training) -> tuple[Any, ...]:
    """What it is trained on."""
    return step.train if isinstance(step, Tune) else step.read_texts


def read_by(step: Training) -> tuple[tuple[Any, int], ...]:
    """What it is trained on, and how many examples of each."""
    if isinstance(step, Distil):
        return tuple(chain.from_iterable(map(_first_pairs, step.encoder.languages)))
    return counted(data_of(step))


def counted(data: Iterable[Any]) -> tuple[tuple[Any, int], ...]:
    """Data sets, and all the examples that each has."""
    return tuple((each, examples_of(each)) for each in data)


def _first_pairs(aligned: Align) -> Iterator[tuple[Any, int]]:
    """Parallel texts of a language, up to as many pairs as are read of them together."""
    before = 0
    for text, pairs in counted(aligned.parallel):
        left = pairs if aligned.pairs is None else min(pairs, aligned.pairs - before)
        before += left
        yield text, left


def _examples(step: Training) -> list[int]:
    """Of each training language; of an adaptation, of what is read with each tokenizer."""
    if isinstance(step, Adapt) and (apart := step.by_tokenizer(step.encoder.brought_in or ())):
        read_apart, pairs = [sum(map(examples_of, texts)) for texts in apart.values()], map(examples_of, step.parallel)
        return [read_apart[0] + sum(pairs), *read_apart[1:]]
    if isinstance(step, Tune):
        return list(by_language(step.train).values())
    return [sum(examples for _, examples in read_by(step))]


@cache
def examples_of(data: Any) -> int:
    """How many examples there are in data."""
    match data:
        case WorldData():
            return data.examples
        case FileData(is_here=False, examples=int(known)):
            return known
        case WorldText():
            return data.sentences + data.pairs
        case WorldPairs():
            return data.sentences
        case _:
            return len(data.read())


@cache
def words_of(data: Any) -> NDArray[np.float64]:
    """[examples]: the words of each of a sample.

    Of data that are not here they are drawn as lengths of sentences are distributed, about.
    """
    import numpy as np

    if isinstance(data, FileData) and not data.is_here:
        return np.random.default_rng(0).gamma(2, USUAL_WORDS / 2, SAMPLE)
    words = kind_of(data.task).words if isinstance(data, WorldData | FileData) else _words_of_line
    examples = _sample(data).read()
    return np.array([words(example) for example in examples[:: 1 + len(examples) // COUNTED]], dtype=np.float64)


def _sample(data: Any) -> Any:
    """Of data of the world, which are made when they are read, fewer of the same."""
    numbers: dict[Any, tuple[str, ...]] = {
        WorldData: ("examples",),
        WorldText: ("sentences", "pairs"),
        WorldPairs: ("sentences",),
    }
    share = SAMPLE / examples_of(data)
    if share >= 1 or type(data) not in numbers:
        return data
    return data.model_copy(update={name: ceil(share * getattr(data, name)) for name in numbers[type(data)]})


def _words_of_line(line: str | tuple[str, str]) -> int:
    return sum(map(word_count, (line,) if isinstance(line, str) else line))
