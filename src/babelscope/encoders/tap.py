"""Hidden states of an encoder, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Batch, Frame, by_length, encode_sentences


@torch.no_grad()
def hidden_states(encoder: Encoder, batch: Batch) -> Tensor:
    """[layers + 1, sequences, pieces, hidden]: the embeddings, then the output of each layer."""
    states = encoder.backbone(
        input_ids=batch.ids, attention_mask=batch.attention_mask, output_hidden_states=True
    ).hidden_states
    return torch.stack(states)


@torch.no_grad()
def sentence_states(encoder: Encoder, sentences: Sequence[str], tokens_per_batch: int = 4096) -> Tensor:
    """[layers + 1, sentences, hidden]: the mean state of each sentence's pieces, special pieces left out.

    A sentence longer than the encoder is read in parts, and the mean is over the pieces of all. One without any
    piece has zeros.
    """
    encoder.model.eval()
    frame = Frame.of(encoder.tokenizer)
    pieces, owners = encode_sentences(encoder.tokenizer, sentences, encoder.max_length)
    config, device = encoder.model.config, encoder.model.device
    sums = torch.zeros(config.num_hidden_layers + 1, len(sentences), config.hidden_size, device=device)
    counts = torch.zeros(len(sentences), device=device)
    for indices in by_length(pieces.lengths, tokens_per_batch):
        batch = pieces.batch(indices).to(device)
        inside = _inside(batch, frame)
        states = (hidden_states(encoder, batch) * inside[None, :, :, None]).sum(dim=2)
        where = torch.from_numpy(owners[indices]).to(device)
        sums.index_add_(1, where, states)
        counts.index_add_(0, where, inside.sum(dim=1, dtype=counts.dtype))
    return sums / counts.clamp(min=1)[:, None]


def _inside(batch: Batch, frame: Frame) -> Tensor:
    """[sequences, pieces]: False at padding and at the special pieces before and after."""
    position = torch.arange(batch.ids.shape[1], device=batch.ids.device)
    ends = batch.real.sum(dim=1, keepdim=True) - len(frame.after)
    return (position >= len(frame.before)) & (position < ends)
