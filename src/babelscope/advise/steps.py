"""The steps that a recipe stands for, and the settings that suit its encoder."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from babelscope.advise.recipes import EXTENDED, Recipe
from babelscope.advise.request import Request
from babelscope.corpora.datasets import FileData, find_file
from babelscope.corpora.letters import LETTERS
from babelscope.corpora.sources import ALL, SPLITS, Split
from babelscope.encoders.places import hidden_width, locate
from babelscope.steps import Adapt, EncoderStep, Evaluate, Load, Recurrent, Tune
from babelscope.study.verdicts import AS_IT_IS, BILSTM
from babelscope.tuning.settings import RECURRENT, Tuning

MASKING = 0.15
"""Share of the tokens that an adaptation masks."""


def load_step(encoder: str) -> Load:
    """The step that loads an encoder."""
    place = locate(encoder)
    return Load(name=place.name, content=place.content, place=place.path)


def evaluation(request: Request, recipe: Recipe, encoder: Load | None, seed: int) -> Evaluate:
    """The score of a recipe on the test sentences, tuned with a seed; `encoder` is None for the BiLSTM."""
    train, dev, test = (_labelled(request, recipe, split) for split in SPLITS)
    model = Tune(
        encoder=_prepared(request, recipe, encoder) if encoder else Recurrent(), task=request.task, train=(train,),
        dev=(dev,), tuning=tuning_of(request, recipe), seed=seed,
    )  # fmt: skip
    return Evaluate(model=model, data=test)


def on_dev(scored: Evaluate) -> Evaluate:
    """The score of the same model on the dev sentences."""
    return Evaluate(model=scored.model, data=scored.model.dev[0])


def _prepared(request: Request, recipe: Recipe, encoder: Load) -> EncoderStep:
    """The encoder that a recipe tunes: as it is, or adapted to the text."""
    if recipe.kind == AS_IT_IS:
        return encoder
    text = find_file("mlm", _lettered(request.text_name, recipe), "train")
    return Adapt(
        name=recipe.row_name, encoder=encoder, texts=(text,), masking=MASKING, seed=0,
        new_pieces=request.new_pieces if recipe.kind == EXTENDED else None, tuning=adaptation_tuning(request, recipe),
    )  # fmt: skip


def _labelled(request: Request, recipe: Recipe, split: Split) -> FileData:
    return find_file(request.task, _lettered(request.treebank_name or "", recipe), split, ALL)


def _lettered(name: str, recipe: Recipe) -> str:
    return f"{name}{LETTERS}{recipe.letters}" if recipe.letters else name


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
    """Settings that suit the size of the encoder; those of the BiLSTM are its own."""
    if recipe.encoder == BILSTM:
        return RECURRENT
    return Tuning(**_size(recipe.encoder).tuning, device=request.device, precision=request.precision)


def adaptation_tuning(request: Request, recipe: Recipe) -> Tuning:
    """Those of its language modelling on the text."""
    longer = {"epochs": None, "steps": request.adaptation_steps, "learning_rate": _size(recipe.encoder).learning}
    return tuning_of(request, recipe).model_copy(update=longer)
