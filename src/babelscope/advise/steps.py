"""The steps that a recipe stands for, and the settings that suit its encoder."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from babelscope.advise.amounts import EVERYTHING, Amounts
from babelscope.advise.data import labelled_data, learned, source_data
from babelscope.advise.recipes import BROUGHT_IN, EXTENDED, ZERO_SHOT, Recipe
from babelscope.advise.request import Request
from babelscope.advise.search import USUAL, Training
from babelscope.advise.translated import source_code, translated
from babelscope.core.tasks import MASKING_RATE
from babelscope.corpora.datasets import FileData, find_file
from babelscope.corpora.letters import lettered
from babelscope.corpora.sources import ALL, SPLITS, Split
from babelscope.encoders.folder import hidden_width
from babelscope.encoders.places import locate
from babelscope.steps import Adapt, Align, BringIn, EncoderStep, Evaluate, Load, Recurrent, Tune
from babelscope.study.verdicts import AS_IT_IS, BILSTM
from babelscope.tuning.settings import LEAST_READ, RECURRENT, Tuning, reading


def load_step(encoder: str) -> Load:
    """The step that loads an encoder."""
    return Load.at(locate(encoder))


def evaluation(
    request: Request,
    recipe: Recipe,
    encoder: Load | None,
    seed: int,
    amounts: Amounts = EVERYTHING,
    training: Training = USUAL,
) -> Evaluate:
    """The score of a recipe on the test sentences, tuned with a seed; `encoder` is None for the BiLSTM.

    With fewer labelled sentences it reads each more often, so that it is trained as long.
    """
    train, dev, test = (_labelled(request, recipe, split) for split in SPLITS)
    tuning, later = training.of(tuning_of(request, recipe)), None
    prepared = _prepared(request, recipe, encoder, amounts.pairs) if encoder else Recurrent()
    if recipe.kind == ZERO_SHOT and encoder:
        name = request.source_labelled_name or ""
        train, dev = (find_file(request.asked_task, name, split, ALL) for split in SPLITS[:2])
        later = _brought_in(request, recipe, encoder, amounts.pairs)
    elif amounts.labelled:
        epochs = tuning.epochs and tuning.epochs * len(train.read()) // amounts.labelled
        tuning = tuning.model_copy(update={"epochs": epochs})
        train = train.model_copy(update={"examples": amounts.labelled})
    task, types = learned(request, recipe.kind == ZERO_SHOT)
    model = Tune(encoder=prepared, task=task, entity_types=types, train=(train,), dev=(dev,), tuning=tuning, seed=seed)
    return Evaluate(model=model, data=test, brought_in=later)


def on_dev(request: Request, recipe: Recipe, scored: Evaluate) -> Evaluate:
    """The score of the same model on the dev sentences."""
    return Evaluate(model=scored.model, data=_labelled(request, recipe, "dev"), brought_in=scored.brought_in)


def _prepared(request: Request, recipe: Recipe, encoder: Load, pairs: int | None) -> EncoderStep:
    """The encoder that a recipe tunes: as it is, with the language brought in, or adapted to the text."""
    if recipe.kind in (AS_IT_IS, ZERO_SHOT):
        return encoder
    if recipe.kind == BROUGHT_IN:
        return _brought_in(request, recipe, encoder, pairs)
    text = find_file("mlm", lettered(request.text_name, recipe.letters), "train")
    return Adapt(
        name=recipe.row_name, encoder=encoder, texts=(text,), masking=MASKING_RATE, seed=0,
        new_pieces=request.new_pieces if recipe.kind == EXTENDED else None, tuning=adaptation_tuning(request, recipe),
    )  # fmt: skip


def _brought_in(request: Request, recipe: Recipe, encoder: Load, pairs: int | None) -> BringIn:
    # Only where it can matter, so that keys of other encoders stay.
    by_its_own = bool(encoder.brought_in and request.source_labelled)
    aligned = Align(
        encoder=encoder, language=_labelled(request, recipe, "test").code, parallel=translated(request).texts,
        pairs=pairs, source=source_code(request) if by_its_own else None,
    )  # fmt: skip
    name = f"{recipe.row_name}, {pairs} pairs" if pairs else recipe.row_name
    return BringIn(name=name, encoder=encoder, languages=(aligned,), after_tuning=recipe.kind == ZERO_SHOT)


def _labelled(request: Request, recipe: Recipe, split: Split) -> FileData:
    return find_file(request.asked_task, lettered(request.labelled_name or "", recipe.letters), split, ALL)


class _Size(NamedTuple):
    """Up to which width of the layers, and what suits encoders of it."""

    width: float
    tuning: dict[str, Any]
    learning: float
    """The learning rate of language modelling."""


_LARGE = {"epochs": 3, "tokens_per_batch": 1024, "warmup": 0.1, "max_length": 128}
_SIZES = (
    _Size(128, {"learning_rate": 1e-3, "epochs": 6}, 1e-3),
    _Size(511, {"learning_rate": 2e-4} | _LARGE, 3e-4),
    _Size(math.inf, {"learning_rate": 5e-5} | _LARGE, 5e-5),
)
"""As small as those that are shipped; smaller than BERT; BERT and larger, or not known."""


@lru_cache(maxsize=32)
def _size(encoder: str) -> _Size:
    width = hidden_width(locate(encoder).path) or math.inf
    return next(size for size in _SIZES if width <= size.width)


def tuning_of(request: Request, recipe: Recipe) -> Tuning:
    """Settings that suit the size of the encoder, or the BiLSTM's own; with more epochs where sentences are few."""
    usual, data = _usual(request, recipe), source_data if recipe.kind == ZERO_SHOT else labelled_data
    return reading(LEAST_READ, usual, len(data(request, "train").read()))


def _usual(request: Request, recipe: Recipe) -> Tuning:
    if recipe.encoder == BILSTM:
        return RECURRENT
    return Tuning(**_size(recipe.encoder).tuning, device=request.device, precision=request.precision)


def usual_in_words(request: Request, encoder: str) -> str:
    """How an encoder, or the BiLSTM, is trained where nothing else was chosen."""
    tuning = _usual(request, Recipe(encoder, AS_IT_IS))
    learning = "" if encoder == BILSTM else f" (language modelling {_size(encoder).learning:g})"
    return (
        f"as usual: learning rate {tuning.learning_rate:g}{learning}, {tuning.epochs} epochs or more, "
        f"{tuning.tokens_per_batch:,} tokens a batch"
    )


def adaptation_tuning(request: Request, recipe: Recipe) -> Tuning:
    """Those of its language modelling on the text."""
    longer = {"epochs": None, "steps": request.adaptation_steps, "learning_rate": _size(recipe.encoder).learning}
    return _usual(request, recipe).model_copy(update=longer)
