"""Sentences of words as windows of pieces; many of them are encoded once on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from babelscope.corpora.prepared import prepared
from babelscope.encoders.pieces import Pieces
from babelscope.encoders.windows import Windows, encode_words

if TYPE_CHECKING:
    import pyarrow

MANY = 1000
"""Sentences that are worth a look at the disk, for which the whole vocabulary is hashed."""
ENCODING = 1
"""Raise it where `encode_words` gives something else of the same words."""


def encoded_words(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sequence[str]], max_length: int, repeating: bool = False
) -> Windows:
    """What `encode_words` gives, made or read from the user's cache folder."""
    if len(sentences) < MANY or not _is_known(tokenizer):
        return encode_words(tokenizer, sentences, max_length, repeating)
    windows = "repeating windows" if repeating else "windows"
    made_of = [windows, ENCODING, _described(tokenizer), sentences, max_length]
    return prepared(made_of, lambda: encode_words(tokenizer, sentences, max_length, repeating), _as_table, _of_table)


def _is_known(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether its pieces follow from what it says of itself: neither from code of others nor from chance."""
    by_chance = getattr(tokenizer.backend_tokenizer.model, "dropout", None)
    return type(tokenizer).__module__.startswith("transformers.") and not by_chance


def _described(tokenizer: PreTrainedTokenizerBase) -> list[Any]:
    """All that decides which pieces it cuts text into."""
    ids = [tokenizer.pad_token_id, tokenizer.unk_token_id]
    libraries = [version("transformers"), version("tokenizers")]
    options = [type(tokenizer).__qualname__, tokenizer.split_special_tokens]
    return [tokenizer.backend_tokenizer.to_str(), *ids, *options, *libraries]


def _as_table(windows: Windows) -> pyarrow.Table:
    """One row; each column is a list of numbers."""
    import pyarrow

    arrays = {
        "ids": windows.pieces.ids.numpy(),
        "starts": windows.pieces.starts.numpy(),
        "padding": np.asarray([windows.pieces.padding_id]),
        "owned": _joined(windows.owned),
        "places": _joined(windows.places),
        "ends": np.cumsum([len(words) for words in windows.owned], dtype=np.int64),
        "sentence_starts": windows.sentence_starts,
        "unknown": windows.unknown.view(np.uint8),
        "widths": windows.widths,
    }
    return pyarrow.table({name: pyarrow.array([values]) for name, values in arrays.items()})


def _joined(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def _of_table(table: pyarrow.Table) -> Windows:
    arrays: dict[str, NDArray[Any]] = {
        name: np.from_dlpack(table[name].combine_chunks().values).copy() for name in table.column_names
    }
    return Windows(
        Pieces(torch.from_numpy(arrays["ids"]), torch.from_numpy(arrays["starts"]), int(arrays["padding"][0])),
        np.split(arrays["owned"], arrays["ends"])[:-1],
        np.split(arrays["places"], arrays["ends"])[:-1],
        arrays["sentence_starts"],
        arrays["unknown"].view(np.bool_),
        arrays["widths"],
    )
