"""Encoders made of models and tokenizers that are in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn, Protocol, cast, runtime_checkable

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from babelscope.core.errors import EncoderError, InputError
from babelscope.encoders.load import Encoder, untrained_model


def given_encoder(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> Encoder:
    """The encoder of a model and its tokenizer; it is the same model, not a copy.

    Raises:
        EncoderError: the family is not in the anatomy table, the model has a head for some task, or the tokenizer has
            no fast version.
    """
    with torch.device("meta"):
        known = untrained_model(model.config)
    if not isinstance(model, (type(known), type(known.base_model))):
        raise EncoderError(
            f"{name}: a {type(model).__name__} has a head for a task; give the encoder alone, its .base_model, or a "
            f"{type(known).__name__}"
        )
    if not getattr(tokenizer, "is_fast", False):
        raise EncoderError(f"{name}: {type(tokenizer).__name__} is no fast tokenizer of transformers, which is needed")
    return Encoder(model=model, tokenizer=tokenizer, name=name)


@runtime_checkable
class Buildable(Protocol):
    """What stands for an encoder, such as `babelscope.load` gives."""

    def build(self) -> Encoder:
        """Its model and tokenizer in memory."""


def as_encoder(given: Encoder | Buildable | PreTrainedModel) -> Encoder:
    """An encoder in memory; of a model alone, one whose tokenizer is missed only when something asks for it.

    Raises:
        InputError: it is neither, or a model that `given_encoder` refuses.
    """
    if isinstance(given, Encoder):
        return given
    if isinstance(given, Buildable):
        return given.build()
    if not isinstance(given, PreTrainedModel):
        hint = "; by a name or a folder: bs.load(it)" if isinstance(given, str | Path) else ""
        raise InputError(
            f"{type(given).__name__}: give a model of transformers, or an encoder with its tokenizer{hint} "
            f"(given: {given!r:.100})"
        )
    return given_encoder(given, cast(PreTrainedTokenizerBase, _NoTokenizer()), type(given).__name__)


class _NoTokenizer:
    is_fast = True

    def __getattr__(self, name: str) -> NoReturn:
        raise InputError("this operation needs the tokenizer; give an encoder with its tokenizer, not the model alone")

    def __deepcopy__(self, memory: dict[int, Any]) -> _NoTokenizer:
        return self
