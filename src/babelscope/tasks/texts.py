"""Sentences and pairs of sentences as sequences of pieces."""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.core.examples import Text
from babelscope.encoders.pieces import Pieces


def encode_texts(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[Text], max_length: int, types: bool = False
) -> Pieces:
    """Encode sentences, or pairs as the tokenizer's own template joins them, such as `[CLS] a [SEP] b [SEP]`.

    What is longer than `max_length` pieces is cut at the end, of a pair piece by piece from the longer sentence.

    Args:
        tokenizer: of the encoder.
        texts: all single sentences, or all pairs.
        max_length: in pieces, special ones included.
        types: whether to number the sentences of a pair, 0 and 1, for models that tell them apart by that.

    Raises:
        InputError: single sentences and pairs are mixed, or `max_length` has no room for both sentences.
    """
    pairs = [text for text in texts if not isinstance(text, str)]
    if pairs and len(pairs) != len(texts):
        raise InputError(f"{len(pairs)} of {len(texts)} texts are pairs of sentences: give pairs only, or none")
    special = tokenizer.num_special_tokens_to_add(pair=bool(pairs))
    if max_length < special + 1 + bool(pairs):
        raise InputError(f"max_length={max_length} leaves no room for text beside {special} special pieces")
    if not texts:
        return Pieces.of([], tokenizer.pad_token_id, [] if types else None)
    parts = [list(part) for part in zip(*pairs, strict=True)] or [list(texts)]
    encoded = tokenizer(
        *parts, truncation="longest_first", max_length=max_length,
        return_attention_mask=False, return_token_type_ids=types, verbose=False,
    )  # fmt: skip
    # A decoder's tokenizer makes nothing at all of an empty text; the model must read something.
    sequences = [ids or [tokenizer.eos_token_id] for ids in encoded["input_ids"]]
    return Pieces.of(sequences, tokenizer.pad_token_id, encoded["token_type_ids"] if types else None)
