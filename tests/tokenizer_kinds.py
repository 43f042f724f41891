"""Tokenizers of every kind that learns new pieces, and small encoders with them."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import BertTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast, XLMRobertaTokenizer

from babelscope.encoders.load import Encoder
from babelscope.encoders.segmenter import BYTES
from babelscope.encoders.tokenizer import train_wordpiece
from families import byte_level_tokenizer, family_model, gemma_tokenizer, llama_tokenizer

LATIN = ["the old cat sees a small bird", "a bird likes the big tree", "the tree carries small birds"]
GEORGIAN = ["კატა ხედავს ჩიტს", "ჩიტი ხედავს კატას და ხეს", "კატა და ჩიტი", "ხე და ჩიტი , კატა"]


def unigram() -> XLMRobertaTokenizer:
    """Letters and some pieces, <mask> last and in the model, as in XLM-R."""
    pieces = [("▁", -3.0), *((letter, -4.0) for letter in "abcdefghijklmnoprstuwxyz"), ("▁the", -3.5), ("ir", -5.0)]
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    return XLMRobertaTokenizer(vocab=[*special, *pieces, ("<mask>", 0.0)])


def unigram_with_bytes() -> PreTrainedTokenizerFast:
    """The same pieces with a piece for each byte, and nothing that splits words."""
    model = json.loads(unigram().backend_tokenizer.model.__getstate__())
    pieces = [*map(tuple, model["vocab"]), *((piece, 0.0) for piece in BYTES)]
    pipeline = Tokenizer(models.Unigram(pieces, model["unk_id"], byte_fallback=True))
    pipeline.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    pipeline.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, **unigram().special_tokens_map)


def lower_case() -> BertTokenizer:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnoprstuwxyz"]
    pieces += [f"##{letter}" for letter in "abcdefghijklmnoprstuwxyz"]
    return BertTokenizer(vocab={piece: number for number, piece in enumerate(pieces)}, do_lower_case=True)


KINDS = {
    "WordPiece": lambda: train_wordpiece(LATIN, 46),
    "lower-case WordPiece": lower_case,
    "Unigram": unigram,
    "Unigram with bytes": unigram_with_bytes,
    "BPE": lambda: byte_level_tokenizer(LATIN, 270),
    "BPE of Gemma": lambda: gemma_tokenizer(LATIN, 300),
    "BPE of Llama": lambda: llama_tokenizer(LATIN, 300),
}
FAMILY_OF = {
    "WordPiece": "bert", "lower-case WordPiece": "bert", "Unigram": "xlm-roberta", "Unigram with bytes": "xlm-roberta",
    "BPE": "modernbert", "BPE of Gemma": "modernbert", "BPE of Llama": "llama",
}  # fmt: skip
WITH_BYTES = [kind for kind in KINDS if kind not in ("WordPiece", "lower-case WordPiece", "Unigram", "BPE")]
kinds = pytest.mark.parametrize("kind", KINDS)


def made(tokenizer: PreTrainedTokenizerBase, family: str = "bert", **changes: object) -> Encoder:
    settings = {"vocabulary": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    return Encoder(family_model(family, **settings | changes).eval(), tokenizer, family)
