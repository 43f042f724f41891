"""Words in context without a pre-trained encoder: word and character embeddings, then a BiLSTM, all from scratch.

A baseline trained on a language's own data alone (Lample et al., 2016; Dozat and Manning, 2017).
"""

from __future__ import annotations

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from babelscope.core.declaration import Declaration
from babelscope.encoders.pieces import Batch
from babelscope.tasks.bilstm.words import NO_CHARACTER, UNKNOWN_CHARACTER, Vocabulary, WordBatch


class BiLstmShape(Declaration):
    """The sizes of the layers."""

    word: PositiveInt = 100
    """Of a word's embedding."""
    character: PositiveInt = 32
    """Of a character's embedding."""
    spelling: PositiveInt = 100
    """Of what is made of a word's characters."""
    hidden: PositiveInt = 128
    """Of each direction of the BiLSTM."""
    layers: PositiveInt = 2


class SpellingEncoder(nn.Module):
    """A convolution over three characters, and the maximum over the word (Ma and Hovy, 2016)."""

    def __init__(self, characters: int, shape: BiLstmShape):
        super().__init__()
        self.embedding = nn.Embedding(UNKNOWN_CHARACTER + 1 + characters, shape.character, padding_idx=NO_CHARACTER)
        self.convolution = nn.Conv1d(shape.character, shape.spelling, kernel_size=3, padding=1)

    def forward(self, spelling: Batch) -> Tensor:
        """[forms, spelling]."""
        seen = self.convolution(self.embedding(spelling.ids).mT)
        return seen.masked_fill(~spelling.real[:, None], -torch.inf).amax(2)


class BiLstmLayer(nn.Module):
    """One LSTM from left to right and one from right to left.

    The second reads every sentence reversed in its own length, so that padding comes last for both: this gives the
    states of a packed sequence, in half of its time on a CPU.
    """

    def __init__(self, size: int, hidden: int):
        super().__init__()
        self.right = nn.LSTM(size, hidden, batch_first=True)
        self.left = nn.LSTM(size, hidden, batch_first=True)

    def forward(self, states: Tensor, reversal: Tensor) -> Tensor:
        """[sentences, words, 2 * hidden]; `reversal` is what `reversal` returns."""
        return torch.cat([self.right(states)[0], _take(self.left(_take(states, reversal))[0], reversal)], dim=2)


def reversal(real: Tensor) -> Tensor:
    """[sentences, words]: the place of each word when its sentence is reversed; padding stays where it is."""
    place = torch.arange(real.shape[1], device=real.device)
    return (real.sum(1, keepdim=True) - 1 - place).where(real, place)


def _take(states: Tensor, places: Tensor) -> Tensor:
    rows = torch.arange(len(states), device=states.device) * states.shape[1]
    return states.flatten(0, 1).index_select(0, (rows[:, None] + places).flatten()).view(states.shape)


class BiLstmBackbone(nn.Module):
    """From words to their states. It is drawn from torch's global generator."""

    def __init__(self, vocabulary: Vocabulary, shape: BiLstmShape | None = None, dropout: float = 0.33):
        super().__init__()
        shape = shape or BiLstmShape()
        self.vocabulary, self.shape, self.hidden_size = vocabulary, shape, 2 * shape.hidden
        self.embedding = nn.Embedding(1 + len(vocabulary.words), shape.word)
        nn.init.normal_(self.embedding.weight, std=shape.word**-0.5)
        self.spelling = SpellingEncoder(len(vocabulary.characters), shape)
        sizes = [shape.word + shape.spelling] + [self.hidden_size] * (shape.layers - 1)
        self.layers = nn.ModuleList(BiLstmLayer(size, shape.hidden) for size in sizes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: WordBatch) -> Tensor:
        """[sentences, words, hidden_size], dropout applied; arbitrary at padding."""
        spelling = self.spelling(batch.spelling).index_select(0, batch.forms.flatten())
        states = torch.cat([self.embedding(batch.words), spelling.view(*batch.forms.shape, -1)], dim=2)
        backwards = reversal(batch.real)
        for layer in self.layers:
            states = layer(self.dropout(states), backwards)
        return self.dropout(states)
