"""What tuning and adapting cost here, from a few steps of each that are run on the data itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from babelscope.advise.data import learned, read_split, source_data
from babelscope.advise.recipes import BRINGING, ZERO_SHOT, Recipe
from babelscope.advise.request import Request
from babelscope.advise.steps import adaptation_tuning, tuning_of
from babelscope.advise.translated import translated
from babelscope.core.errors import InputError
from babelscope.core.examples import word_count
from babelscope.corpora.sources import SPLITS
from babelscope.encoders.aligned_text import AlignedLanguage
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder, with_mlm_head
from babelscope.study.verdicts import ADAPTED, AS_IT_IS
from babelscope.tasks.design import Design, TaskModel
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.models import known_words, recurrent_model, task_model
from babelscope.tasks.task import Objective
from babelscope.tuning.batches import Order
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import RECURRENT, Tuning

SAMPLE = 300
"""Sentences that steps are timed on."""
PAIRS = 1000
"""Pairs of sentences that an alignment is timed on."""
STEPS, PATIENCE = 7, 8.0
"""So many steps are timed after one that warms up; or fewer, if they take so many seconds."""
READING = 1 / 3
"""What reading a sentence costs of what learning from it costs: there is no way back."""


class Costs(NamedTuple):
    """Seconds of computing on one thread, or on the CUDA device, of one encoder or of the BiLSTM."""

    word: float
    """Of training on a word of the labelled sentences, as the language is written."""
    step: float = 0.0
    """Of language modelling."""
    pair: float = 0.0
    """Of aligning a pair of sentences."""


class Words(NamedTuple):
    """Words of the labelled sentences by split."""

    train: int
    dev: int
    test: int


class _EnoughError(Exception):
    """The steps that were to be timed are done."""


def words_of(request: Request, kind: str = AS_IT_IS) -> Words:
    """How much there is to train and to score on, for a kind of recipe."""
    own = Words(*(_count(read_split(request, split)) for split in SPLITS))
    if kind != ZERO_SHOT:
        return own
    train, dev = (_count(source_data(request, split).read()) for split in SPLITS[:2])
    return Words(train, dev, own.dev + own.test)


def encoder_costs(request: Request, name: str, encoder: Encoder, text: Sequence[str]) -> Costs:
    """Of an encoder; its weights change."""
    pair = _pair(request, encoder)
    recipe = Recipe(name, ADAPTED)
    tuning, sample = tuning_of(request, recipe), read_split(request, "train")[:SAMPLE]
    task, types = learned(request)
    design = Design(task, entity_types=types, dropout=tuning.dropout, max_length=tuning.max_length)
    word = _word(task_model(encoder, design), tuning, sample)
    if not anatomy_of(encoder.model.config).head:
        return Costs(word, pair=pair)  # it reads from left to right, and cannot be adapted so
    tuning, learner = adaptation_tuning(request, recipe), with_mlm_head(encoder, 0)
    length = min(encoder.max_length, tuning.max_length or encoder.max_length)
    language = MaskedLanguageModelling(learner.tokenizer, text, length)
    return Costs(word, median(seconds for seconds, _ in _timed(learner.model, language, tuning)), pair)


def recurrent_costs(request: Request) -> Costs:
    """Of the BiLSTM, which has settings of its own."""
    train = read_split(request, "train")
    task, types = learned(request)
    model = recurrent_model(Design(task, entity_types=types, dropout=RECURRENT.dropout), known_words(train))
    return Costs(_word(model, RECURRENT, train[:SAMPLE]))


def expected_seconds(request: Request, recipe: Recipe, costs: Costs, words: Words, longer: float) -> float:
    """Of all rounds of a recipe, with validation after each epoch and the scores on dev and test sentences.

    `longer` is how many subwords the words have, as a multiple of those that they have as the language is written.
    """
    epochs = tuning_of(request, recipe).epochs or 1
    read = READING * ((epochs + 1) * words.dev + words.test)
    before = {AS_IT_IS: 0.0} | dict.fromkeys(BRINGING, len(translated(request).pairs) * costs.pair)
    adapting = before.get(recipe.kind, request.adaptation_steps * costs.step)
    return request.seeds * costs.word * longer * (epochs * words.train + read) + adapting


def _count(sentences: Sequence[Any]) -> int:
    return sum(map(word_count, sentences))


def _pair(request: Request, encoder: Encoder) -> float:
    """Seconds a pair, from a vocabulary and an alignment of the first ones; what is wrong with them, the race says."""
    pairs, start = translated(request).pairs[:PAIRS], time.process_time()
    with suppress(InputError):
        AlignedLanguage.learned(encoder, pairs)
    return (time.process_time() - start) / max(1, len(pairs))


def _word(model: TaskModel, tuning: Tuning, sample: Sequence[Any]) -> float:
    """Seconds a word, from seconds a subword of the batches that were timed."""
    task = model.training(sample, {})
    each = median(seconds / subwords for seconds, subwords in _timed(model.module, task, tuning))
    return each * int(task.lengths.sum()) / _count(sample)


def _timed(model: nn.Module, task: Objective, tuning: Tuning) -> list[tuple[float, int]]:
    """Of the steps that are timed, the seconds, and the subwords that were learned from.

    On a CPU it is computing time, so that other work on the machine does not count.
    """
    clock: Callable[[], float] = time.process_time if tuning.device == "cpu" else time.perf_counter
    endless = tuning.model_copy(update={"epochs": None, "steps": 10**6, "validate_every": 10**6})
    marks: list[float] = []

    def mark(done: int, total: int, **numbers: Any) -> None:
        marks.append(clock())
        if done > STEPS or (done > 2 and marks[-1] - marks[0] > PATIENCE):
            raise _EnoughError

    with TemporaryDirectory() as folder, suppress(_EnoughError):
        tune(model, task, endless, 0, Path(folder), mark)
    turns = islice(Order(task.lengths, endless, 0).turns(), 1, None)
    steps = zip(pairwise(marks), turns, strict=False)
    return [(end - start, int(np.sum(task.lengths[turn.batch]))) for (start, end), turn in steps]
