"""Where each family of encoders keeps its parts: a table, so that a new family is a new line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from babelscope.errors import EncoderError

if TYPE_CHECKING:
    from transformers import PretrainedConfig


@dataclass(frozen=True)
class Anatomy:
    """Paths of a family's modules."""

    backbone: str
    """From the masked language model to the encoder proper."""
    word_embeddings: str
    """From the backbone to its embedding of pieces."""
    layers: str
    """From the backbone to its list of layers."""
    head: tuple[str, ...]
    """From the masked language model: the modules that turn the last hidden states into logits, in order."""
    positions_kept: int = 0
    """Positions at the start of the position table that no piece may use."""


_BERT_LAYERS = "encoder.layer"
_WORDS = "embeddings.word_embeddings"

ANATOMY = {
    "bert": Anatomy("bert", _WORDS, _BERT_LAYERS, ("cls",)),
    "distilbert": Anatomy(
        "distilbert",
        _WORDS,
        "transformer.layer",
        ("vocab_transform", "activation", "vocab_layer_norm", "vocab_projector"),
    ),
    "roberta": Anatomy("roberta", _WORDS, _BERT_LAYERS, ("lm_head",), positions_kept=2),
    "xlm-roberta": Anatomy("roberta", _WORDS, _BERT_LAYERS, ("lm_head",), positions_kept=2),
    "electra": Anatomy("electra", _WORDS, _BERT_LAYERS, ("generator_predictions", "generator_lm_head")),
    "deberta": Anatomy("deberta", _WORDS, _BERT_LAYERS, ("cls",)),
    "deberta-v2": Anatomy("deberta", _WORDS, _BERT_LAYERS, ("cls",)),
    "modernbert": Anatomy("model", "embeddings.tok_embeddings", "layers", ("head", "decoder")),
}
"""Anatomy by `config.model_type`."""


def anatomy_of(config: PretrainedConfig) -> Anatomy:
    """The anatomy of a configuration's family; EncoderError if it is not in the table."""
    check_family(config.model_type)
    return ANATOMY[config.model_type]


def check_family(model_type: object) -> None:
    """Refuse a `model_type` of config.json that is not in the table.

    Raises:
        EncoderError: says what to add to the table.
    """
    if not isinstance(model_type, str) or model_type not in ANATOMY:
        raise EncoderError(
            f"encoders of type {model_type!r} are not known; known are {', '.join(ANATOMY)}. To use one, add a "
            "line for it to ANATOMY in babelscope/encoders/anatomy.py: the paths of its backbone, word embeddings, "
            "layers and masked language model head"
        )


def max_positions(config: PretrainedConfig) -> int:
    """The longest sequence, in pieces with the special ones, that the encoder has positions for."""
    return config.max_position_embeddings - anatomy_of(config).positions_kept
