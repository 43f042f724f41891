"""A small model of every family in the anatomy table, with weights like pre-trained ones: nothing is constant."""

from __future__ import annotations

import json
from collections.abc import Iterable

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoConfig, GemmaTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from babelscope.encoders.anatomy import ANATOMY
from babelscope.encoders.load import untrained_model

FAMILIES = tuple(ANATOMY)
DECODERS = ("gpt2", "llama", "qwen2", "qwen3")

_HIDDEN = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 26}
_DISENTANGLED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
_OWN = {
    "distilbert": {"dim": 32, "n_heads": 2, "hidden_dim": 64},
    "electra": {"embedding_size": 16},
    "deberta": _DISENTANGLED,
    "deberta-v2": _DISENTANGLED | {"position_buckets": 8, "norm_rel_ebd": "layer_norm"},
    "modernbert": {
        "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3,
        "local_attention": 4, "global_attn_every_n_layers": 3,
    },
    "gpt2": {"n_embd": 32, "n_head": 2, "n_positions": 26, "bos_token_id": 2, "eos_token_id": 3},
    "llama": {"num_key_value_heads": 1},
    "qwen2": {"num_key_value_heads": 1},
    "qwen3": {"num_key_value_heads": 1, "head_dim": 16},
}  # fmt: skip


def family_model(model_type: str, *, layers: int = 2, vocabulary: int = 90, **changes: object) -> PreTrainedModel:
    """A model of 32 dimensions; each weight has noise of its own, norms and biases too."""
    hidden = {} if model_type in ("distilbert", "gpt2") else _HIDDEN
    positions = {"max_position_embeddings": 26} if model_type == "distilbert" else {}
    count = {"distilbert": "n_layers", "gpt2": "n_layer"}.get(model_type, "num_hidden_layers")
    settings = hidden | positions | _OWN.get(model_type, {}) | {count: layers, "vocab_size": vocabulary}
    config = AutoConfig.for_model(model_type, **({"pad_token_id": 0} | settings | changes))
    generator = torch.Generator().manual_seed(0)
    model = untrained_model(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=generator))
    return model


def byte_level_tokenizer(sentences: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A tokenizer as decoders have: byte pairs, one special piece, none around a text."""
    pipeline = Tokenizer(models.BPE())
    pipeline.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pipeline.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    pipeline.train_from_iterator(
        sentences,
        trainers.BpeTrainer(
            vocab_size=vocabulary, special_tokens=[end], initial_alphabet=alphabet, show_progress=False
        ),
    )
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, eos_token=end, pad_token=end)


SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")


def gemma_tokenizer(sentences: Iterable[str], vocabulary: int) -> GemmaTokenizer:
    """A tokenizer as Gemma 2 and mmBERT have: pairs of characters, bytes for what is none, special pieces around."""
    return GemmaTokenizer(**_byte_fallback(sentences, vocabulary), add_bos_token=True, add_eos_token=True)


def llama_tokenizer(sentences: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A tokenizer as Llama 2 has: the same kind of pieces, and a space before a text; nothing splits words."""
    model = models.BPE(**_byte_fallback(sentences, vocabulary), unk_token="<unk>", fuse_unk=True, byte_fallback=True)  # noqa: S106
    pipeline = Tokenizer(model)
    pipeline.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    pipeline.decoder = decoders.Sequence(parts)
    names = ("pad_token", "eos_token", "bos_token", "unk_token")
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, **dict(zip(names, SPECIAL, strict=False)))


def _byte_fallback(sentences: Iterable[str], vocabulary: int) -> dict[str, object]:
    """Pieces and merges of words that begin with `▁`, with a piece for each byte."""
    pipeline = Tokenizer(models.BPE())
    pipeline.pre_tokenizer = pre_tokenizers.Metaspace()
    first = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    pipeline.train_from_iterator(
        sentences, trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=first, show_progress=False)
    )
    model = json.loads(pipeline.to_str())["model"]
    return {"vocab": model["vocab"], "merges": [tuple(pair) for pair in model["merges"]]}
