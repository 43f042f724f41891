"""Where each family of encoders keeps its parts: a table, so that a new family is a new line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from babelscope.core.errors import EncoderError
from babelscope.core.plugins import import_plugins

if TYPE_CHECKING:
    from transformers import PretrainedConfig


@dataclass(frozen=True)
class LayerAnatomy:
    """Prefixes of a layer's weights; where several match (BERT's `output`, `output.LayerNorm`), the longest counts."""

    attention: tuple[str, ...]
    feed_forward: tuple[str, ...]
    norms: tuple[str, ...]


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
    """From the masked language model: the modules that turn the last hidden states into logits, in order.

    Empty for a decoder, which is used as a backbone alone.
    """
    layer: LayerAnatomy
    """What the layers consist of."""
    positions: tuple[str, ...]
    """From the backbone to its tables of absolute or relative positions; rotary positions have no weights."""
    norms: tuple[str, ...]
    """From the backbone to its norms outside the layers."""
    final_norm: str | None = None
    """The one of these norms that comes after the last layer."""
    per_layer: tuple[str, ...] = ()
    """The configuration's lists of one entry a layer."""
    positions_after_padding: bool = False
    """Whether positions count from the padding piece's id + 1, so that no piece may use those before."""


_BERT_LAYERS = "encoder.layer"
_WORDS = "embeddings.word_embeddings"
_POSITIONS = "embeddings.position_embeddings"
_BERT_LAYER = LayerAnatomy(
    attention=("attention",),
    feed_forward=("intermediate", "output"),
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
)
_BERT = Anatomy(
    "bert", _WORDS, _BERT_LAYERS, ("cls",), _BERT_LAYER, positions=(_POSITIONS,), norms=("embeddings.LayerNorm",)
)
_ROBERTA = replace(_BERT, backbone="roberta", head=("lm_head",), positions_after_padding=True)
_LLAMA = Anatomy(
    "model", "embed_tokens", "layers", (),
    LayerAnatomy(
        attention=("self_attn",),
        feed_forward=("mlp",),
        norms=("input_layernorm", "post_attention_layernorm", "self_attn.q_norm", "self_attn.k_norm"),
    ),
    positions=(), norms=("norm",), final_norm="norm",
)  # fmt: skip

ANATOMY = {
    "bert": _BERT,
    "distilbert": Anatomy(
        "distilbert", _WORDS, "transformer.layer",
        ("vocab_transform", "activation", "vocab_layer_norm", "vocab_projector"),
        LayerAnatomy(("attention",), ("ffn",), norms=("sa_layer_norm", "output_layer_norm")),
        positions=(_POSITIONS,), norms=("embeddings.LayerNorm",),
    ),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "electra": replace(_BERT, backbone="electra", head=("generator_predictions", "generator_lm_head")),
    "deberta": replace(_BERT, backbone="deberta", positions=(_POSITIONS, "encoder.rel_embeddings")),
    "deberta-v2": replace(
        _BERT, backbone="deberta", positions=(_POSITIONS, "encoder.rel_embeddings"),
        norms=("embeddings.LayerNorm", "encoder.LayerNorm", "encoder.conv.LayerNorm"),
    ),
    "modernbert": Anatomy(
        "model", "embeddings.tok_embeddings", "layers", ("head", "decoder"),
        LayerAnatomy(("attn",), ("mlp",), norms=("attn_norm", "mlp_norm")),
        positions=(), norms=("embeddings.norm", "final_norm"), final_norm="final_norm", per_layer=("layer_types",),
    ),
    "gpt2": Anatomy(
        "transformer", "wte", "h", (),
        LayerAnatomy(("attn",), ("mlp",), norms=("ln_1", "ln_2")),
        positions=("wpe",), norms=("ln_f",), final_norm="ln_f",
    ),
    "llama": _LLAMA,
    "qwen2": replace(_LLAMA, per_layer=("layer_types",)),
    "qwen3": replace(_LLAMA, per_layer=("layer_types",)),
}  # fmt: skip
"""Anatomy by `config.model_type`."""


def anatomy_of(config: PretrainedConfig) -> Anatomy:
    """The anatomy of a configuration's family; EncoderError if it is not in the table."""
    check_family(config.model_type)
    return ANATOMY[config.model_type]


def check_family(model_type: object) -> None:
    """Refuse a `model_type` of config.json that is not in the table, nor brought by another package.

    Raises:
        EncoderError: says what to add to the table.
    """
    if isinstance(model_type, str) and model_type not in ANATOMY:
        import_plugins()
    if not isinstance(model_type, str) or model_type not in ANATOMY:
        raise EncoderError(
            f"encoders of type {model_type!r} are not known; known are {', '.join(ANATOMY)}. To use one, add a "
            "line for it to ANATOMY in babelscope/encoders/anatomy.py: the paths of its backbone, word embeddings, "
            "layers and their parts, positions, norms and masked language model head"
        )


def reads_types(config: PretrainedConfig) -> bool:
    """Whether the encoder has types for the sentences of a pair. DistilBERT's family does not even take them."""
    return getattr(config, "type_vocab_size", 0) > 1


def max_positions(config: PretrainedConfig) -> int:
    """The longest sequence, in pieces with the special ones, that the encoder has positions for."""
    return config.max_position_embeddings - first_position(config)


def first_position(config: PretrainedConfig) -> int:
    """The position of a sequence's first piece."""
    return config.pad_token_id + 1 if anatomy_of(config).positions_after_padding else 0
