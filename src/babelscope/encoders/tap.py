"""Hidden states of an encoder, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from babelscope.core.errors import EncoderError, InputError
from babelscope.core.examples import Pooling
from babelscope.encoders.encoded import encoded_words
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Batch, Frame, by_length, encode_sentences, evaluation_tokens, in_order
from babelscope.encoders.windows import Windows


class Reading(NamedTuple):
    """How sentences are read. The default is how it should be; the rest is there to repeat published protocols."""

    sentences_per_batch: int | None = None
    """In their order; None: those of like lengths together."""
    attends_padding: bool = False
    dropout: bool = False
    """Whether the encoder drops units at random, by torch's global generator."""
    masking: Callable[[Batch], Batch] | None = None
    """What replaces pieces before they are read."""

    def batches(self, lengths: NDArray[np.int64], device: torch.device) -> list[NDArray[np.int64]]:
        """Indices of the sequences of each batch."""
        if self.sentences_per_batch is None:
            return by_length(lengths, evaluation_tokens(device))
        return in_order(len(lengths), self.sentences_per_batch)

    def shown(self, batch: Batch) -> Batch:
        """A batch as the encoder sees it."""
        masked = self.masking(batch) if self.masking else batch
        return masked.unmasked() if self.attends_padding else masked


USUAL = Reading()


@torch.no_grad()
def hidden_states(encoder: Encoder, batch: Batch) -> Tensor:
    """[layers + 1, sequences, pieces, hidden]: the embeddings, then the output of each layer."""
    states = encoder.backbone(
        input_ids=batch.ids, attention_mask=batch.attention_mask, output_hidden_states=True
    ).hidden_states
    return torch.stack(states)


@torch.no_grad()
def sentence_states(encoder: Encoder, sentences: Sequence[str], pooling: Pooling = "mean") -> Tensor:
    """[layers + 1, sentences, hidden]: the mean state of each sentence's pieces, special pieces left out.

    A sentence longer than the encoder is read in parts, and the mean is over the pieces of all. With another
    `pooling` special pieces count as well, later pieces count more, or the first alone.

    Raises:
        EncoderError: the first piece is to count, and the tokenizer puts no special one there.
        InputError: the tokenizer makes nothing of a sentence, which then has no state.
    """
    was_training = encoder.model.training
    encoder.model.eval()
    frame = Frame.of(encoder.tokenizer)
    if pooling == "first" and not frame.before:
        raise EncoderError(f"{encoder.name}: its tokenizer puts no special piece, such as [CLS], before a sentence")
    shown = frame.twice() if pooling == "mean-with-special-twice" else frame
    pieces, owners = encode_sentences(encoder.tokenizer, sentences, encoder.max_length, shown)
    before = _pieces_before(pieces.lengths - len(shown), owners)
    config, device = encoder.model.config, encoder.model.device
    sums = torch.zeros(config.num_hidden_layers + 1, len(sentences), config.hidden_size, device=device)
    counts = torch.zeros(len(sentences), device=device)
    for indices in by_length(pieces.lengths, evaluation_tokens(device)):
        batch = pieces.batch(indices).to(device)
        weights = _weights(batch, frame, pooling, torch.from_numpy(before[indices]).to(device))
        states = (hidden_states(encoder, batch) * weights[None, :, :, None]).sum(dim=2)
        where = torch.from_numpy(owners[indices]).to(device)
        sums.index_add_(1, where, states)
        counts.index_add_(0, where, weights.sum(dim=1, dtype=counts.dtype))
    encoder.model.train(was_training)
    if not counts.all():
        sentence = sentences[int((counts == 0).nonzero()[0])]
        raise InputError(f"{encoder.name}: its tokenizer makes nothing of the sentence {sentence!r:.100}; leave it out")
    return sums / counts[:, None]


@torch.no_grad()
def word_states(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    reading: Reading = USUAL,
) -> Tensor:
    """[layers + 1, words, hidden], float32: of every word of all sentences, in order, the mean state of its pieces.

    Words are encoded as running text. A sentence longer than the encoder is read in overlapping windows, and each
    word where it has context on both sides; a word that the tokenizer makes nothing of is the unknown piece.
    """
    was_training = encoder.model.training
    encoder.model.train(reading.dropout)
    windows = encoded_words(encoder.tokenizer, sentences, encoder.max_length)
    config, device = encoder.model.config, encoder.model.device
    states = torch.empty(config.num_hidden_layers + 1, len(windows.widths), config.hidden_size, device=device)
    for indices in reading.batches(windows.pieces.lengths, device):
        batch = reading.shown(windows.pieces.batch(indices)).to(device)
        words = np.concatenate([windows.owned[index] for index in indices])
        places, bags = (tensor.to(device) for tensor in _places(windows, indices, batch.ids.shape[1]))
        layers = hidden_states(encoder, batch).float().flatten(1, 2)
        means = [embedding_bag(places, layer, bags, mode="mean") for layer in layers]
        states[:, torch.from_numpy(words).to(device)] = torch.stack(means)
    encoder.model.train(was_training)
    return states


def _places(windows: Windows, indices: NDArray[np.int64], width: int) -> tuple[Tensor, Tensor]:
    """Where the pieces of the words that the windows own are in a batch of rows of `width`, and each word's first."""
    firsts = np.concatenate([row * width + windows.places[index] for row, index in enumerate(indices)])
    widths = windows.widths[np.concatenate([windows.owned[index] for index in indices])]
    bags = np.cumsum(widths) - widths
    places = np.repeat(firsts - bags, widths) + np.arange(widths.sum())
    return torch.from_numpy(places), torch.from_numpy(bags)


def _pieces_before(lengths: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """[parts]: pieces of the same sentence in the parts before this one; parts are in order."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    return starts - starts[np.searchsorted(owners, owners)]


def _weights(batch: Batch, frame: Frame, pooling: Pooling, before: Tensor) -> Tensor:
    """[sequences, pieces]: how often a piece counts in the mean; `before` [sequences] are pieces in earlier parts."""
    if pooling == "mean-with-special":
        return batch.real
    if pooling == "first":
        return _first(batch)
    inside = frame.inside(batch)
    return (inside.cumsum(dim=1) + before[:, None]) * inside if pooling == "weighted" else inside


def _first(batch: Batch) -> Tensor:
    return (torch.arange(batch.ids.shape[1], device=batch.ids.device) == 0).expand_as(batch.real)
