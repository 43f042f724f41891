"""The ways to serve a language with an encoder, and the study that tries them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from babelscope.advise.request import Request
from babelscope.corpora.letters import LETTERS
from babelscope.encoders.places import display_name, hidden_width, locate
from babelscope.measures.formulas.overlap import Coverage
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.study.encoders import Adaptation
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

BY_SCRIPT = {"Cyrl": ("cyrillic",), "Geor": ("georgian",), "Grek": ("greek",), "Arab": ("buckwalter",)}
"""Script -> tables that write it in Latin letters."""
BY_LANGUAGE = {"ug": ("uyghur",), "ckb": ("sorani",)}
"""Languages in Arabic script with tables of their own, toward the orthography of a relative."""


EXTENDED = "adapted with new pieces"
"""Adapted after its vocabulary was extended by pieces of the text."""
UNKNOWN, FERTILITY = 0.01, 2.0
"""A vocabulary covers a text badly above this share of words with something unknown, or so many pieces a word."""


class Recipe(NamedTuple):
    """An encoder, what is done to it before it is tuned, and the letters of what it reads."""

    encoder: str
    """As the request names it; BiLSTM: none."""
    kind: str
    letters: str | None = None

    @property
    def name(self) -> str:
        """For people."""
        if self.encoder == BILSTM:
            return BILSTM
        in_letters = f", in {self.letters} letters" if self.letters else ""
        return f"{display_name(self.encoder)} {self.kind}{in_letters}"

    @property
    def row_name(self) -> str:
        """What rows call the encoder that it tunes."""
        if self.encoder == BILSTM:
            return "bilstm"
        return display_name(self.encoder) if self.kind == AS_IT_IS else self.name

    def loads_directly(self, task: str) -> bool:
        """Whether its model reads the language as it is written; a tagger also in transformers' own pipelines.

        Parsers are for Babelscope alone, with an encoder and without.
        """
        return self.letters is None and (self.encoder != BILSTM or task == "parsing")


def letters_for(language: str, script: str | None) -> tuple[str, ...]:
    """Transliterations to try of text in a script."""
    if language in FAMILY:
        return () if script == "Latn" else ("world",)
    own = BY_LANGUAGE.get(language, ()) if script == "Arab" else ()
    return own or BY_SCRIPT.get(script or "", ())


def recipes(covered: Mapping[tuple[str, str | None], Coverage], decoders: Collection[str] = ()) -> list[Recipe]:
    """All that are tried: every encoder as it is and adapted, in all letters; and the BiLSTM.

    Args:
        covered: by encoder and letters, how its pieces cover the text; where they do badly, new ones are tried too.
        decoders: those that read from left to right, which masked language modelling cannot adapt.
    """
    tried = []
    for (encoder, letters), one in covered.items():
        badly = one.unknown > UNKNOWN or one.fertility > FERTILITY
        adapted = () if encoder in decoders else (ADAPTED, EXTENDED) if badly else (ADAPTED,)
        tried += [Recipe(encoder, kind, letters) for kind in (AS_IT_IS, *adapted)]
    return [*tried, Recipe(BILSTM, AS_IT_IS)]


def study_of(request: Request, tried: Iterable[Recipe], seeds: Iterable[int]) -> Study:
    """The study that tunes recipes on the labelled sentences, all of one encoder's size with the same settings."""
    tried = list(tried)
    tasks = {f"{request.task} of {recipe.name}": _transfer(request, recipe) for recipe in tried}
    made = [_adaptation(request, recipe) for recipe in tried if recipe.kind != AS_IT_IS]
    return Study(
        name=f"advise-{request.language}", encoders=(*request.encoders, *made), tasks=tasks, seeds=tuple(seeds),
    )  # fmt: skip


def _transfer(request: Request, recipe: Recipe) -> Transfer:
    """Of the BiLSTM too, which is a baseline, so that the first encoder stands beside it."""
    data = _lettered(request.treebank_name or "", recipe)
    encoder = display_name(request.encoders[0]) if recipe.encoder == BILSTM else recipe.row_name
    return Transfer(
        task=request.task, train=(data,), evaluate=(data,), sizes=Sizes(train=10**6, dev=10**6, test=10**6),
        tuning=tuning_of(request, recipe), encoders=(encoder,),
        baselines=("bilstm",) if recipe.encoder == BILSTM else (),
    )  # fmt: skip


def _adaptation(request: Request, recipe: Recipe) -> Adaptation:
    return Adaptation(
        name=recipe.row_name,
        encoder=recipe.encoder,
        new_pieces=request.new_pieces if recipe.kind == EXTENDED else None,
        texts=(_lettered(request.text_name, recipe),),
        tuning=adaptation_tuning(request, recipe),
    )


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
    """Settings that suit the size of the encoder."""
    settings = _size(request.encoders[0] if recipe.encoder == BILSTM else recipe.encoder).tuning
    return Tuning(**settings, device=request.device, precision=request.precision)


def adaptation_tuning(request: Request, recipe: Recipe) -> Tuning:
    """Those of its language modelling on the text."""
    longer = {"epochs": None, "steps": request.adaptation_steps, "learning_rate": _size(recipe.encoder).learning}
    return tuning_of(request, recipe).model_copy(update=longer)


def _lettered(name: str, recipe: Recipe) -> str:
    return f"{name}{LETTERS}{recipe.letters}" if recipe.letters else name
