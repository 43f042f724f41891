"""How much an encoder computes in a step, before it runs: the tokens that it reads and learns from."""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.step import Step
from babelscope.encoders.footprint import Footprint
from babelscope.measures.retrieval import Retrieve
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.measures.surface import Surface
from babelscope.steps import Adapt, Distil, EncoderStep, Evaluate, Pretrain, Training, Tune
from babelscope.steps.duration import PIECES_A_WORD, USUAL_WORDS, counted, duration_of, read_by, words_of
from babelscope.steps.memory import LONGEST, shape_of
from babelscope.tuning.settings import Tuning

SPECIAL = 2
"""Pieces around a sequence."""
LEARNING = 3
"""What learning from a token takes, as a multiple of reading it: the way back takes twice the way forward."""


class Work(NamedTuple):
    """What an encoder does in a step."""

    tokens: float
    """That it reads; one that it learns from counts `LEARNING` times."""
    length: float
    """Tokens of a sequence, padding included, mean."""
    predicted: float = 0.0
    """Share of the tokens that a masked language model head predicts."""

    def operations(self, shape: Footprint) -> float:
        """Floating-point operations of an encoder of that shape."""
        return self.tokens * shape.forward(self.length, self.predicted)


class Texts(NamedTuple):
    """How long the examples of data are for an encoder."""

    examples: int
    lengths: NDArray[np.float64]
    """[sampled examples], ascending: tokens of each, special ones included."""
    shares: NDArray[np.float64]
    """[sampled examples]: of the examples that each stands for; their sum is 1."""

    @property
    def tokens(self) -> float:
        """All of them."""
        return self.examples * float(self.lengths @ self.shares)

    @property
    def length(self) -> float:
        """Of the sequence that a token is in, mean over tokens."""
        return float(self.lengths**2 @ self.shares) / float(self.lengths @ self.shares)

    def longest_of(self, batch: int) -> float:
        """Mean length of the longest of so many examples, to which the others are padded."""
        below = np.concatenate([[0.0], np.cumsum(self.shares)]) ** min(batch, self.examples)
        return float(self.lengths @ np.diff(below))


@lru_cache(maxsize=1024)
def texts_of(read: tuple[tuple[Any, int], ...], tuning: Tuning) -> Texts:
    """So many examples of each data set, as a training reads them: what is too long for it counts as the longest."""
    parts = [(examples, words_of(data)) for data, examples in read if examples]
    pieces = np.concatenate([PIECES_A_WORD * words + SPECIAL for _, words in parts])
    lengths = np.minimum(pieces, tuning.max_length or LONGEST)
    weights = np.concatenate([np.full(len(words), count / len(words)) for count, words in parts])
    order = np.argsort(lengths)
    return Texts(sum(count for count, _ in parts), lengths[order], weights[order] / weights.sum())


def work_of(step: Step) -> Work | None:
    """What an encoder computes in a step, as if no layer were frozen; None where that cannot be seen.

    What probes read is left out.
    """
    match step:
        case Tune() | Pretrain() | Adapt() | Distil():
            return _learning(step)
        case Evaluate(model=model, data=data):
            return _reading((data,), model.tuning)
        case Surface(models=models, points=points, data=data):
            return _reading(data, models[0].tuning, len(points))
        case SentenceSimilarity(texts=texts):
            return _usual((len(texts.pairs) + 1) * texts.sentences)
        case Retrieve(sentences=sentences):
            return _usual(2 * sentences)
    return None


def worked_with(step: Step) -> Step:
    """The training or the encoder that a step computes with: itself if it trains; itself, too, if there is none."""
    if isinstance(step, Training):
        return step
    models = getattr(step, "models", None) or [getattr(step, "model", None) or getattr(step, "encoder", None)]
    return models[0] or step


def shape_in(step: Step) -> Footprint | None:
    """The sizes of the encoder that a step computes with; None where they cannot be seen, or there is none."""
    used = worked_with(step)
    encoder = used.encoder if isinstance(used, Tune) else used
    return shape_of(encoder) if isinstance(encoder, EncoderStep) else None


def tuning_in(step: Step) -> Tuning:
    """How the training that a step computes with computes; the defaults where there is none."""
    tuning: Tuning = getattr(worked_with(step), "tuning", None) or Tuning()
    return tuning


def _learning(step: Training) -> Work:
    tuning, steps = step.tuning, duration_of(step).steps
    texts = texts_of(read_by(step), tuning)
    if tuning.examples_per_batch is None:
        tokens, length = steps * float(tuning.tokens_per_batch or 0), texts.length
    else:
        length = texts.longest_of(tuning.examples_per_batch)
        tokens = steps * min(tuning.examples_per_batch, texts.examples) * length
    passes = LEARNING + tuning.recompute + isinstance(step, Distil)  # layers again, or the teacher's
    return Work(passes * tokens + _selecting(step, steps), length, step.predicted)


def _selecting(step: Training, steps: int) -> float:
    """Tokens of the dev sets, as often as they are read."""
    if not isinstance(step, Tune) or not step.dev:
        return 0.0
    return _validations(step, steps) * texts_of(counted(step.dev), step.tuning).tokens


def _validations(step: Tune, steps: int) -> int:
    """How often the dev sets are read in so many steps; after the last of them in any case."""
    tuning = step.tuning
    if tuning.validate_every:
        return ceil(steps / tuning.validate_every)
    often = tuning.validations_per_epoch or 1
    return min(steps, often * tuning.epochs if tuning.epochs else ceil(steps * often / _batches(step)))


def _batches(step: Tune) -> int:
    """Of an epoch."""
    once = step.tuning.model_copy(update={"epochs": 1, "steps": None})
    return duration_of(step.model_copy(update={"tuning": once})).steps


def _reading(data: tuple[Any, ...], tuning: Tuning, times: int = 1) -> Work:
    texts = texts_of(counted(data), tuning)
    return Work(times * texts.tokens, texts.length)


def _usual(sentences: int) -> Work:
    length = USUAL_WORDS * PIECES_A_WORD + SPECIAL
    return Work(sentences * length, length)
