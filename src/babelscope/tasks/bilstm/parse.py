"""Dependency parsing without a pre-trained encoder: the biaffine scorer over a BiLSTM (Dozat and Manning, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babelscope.core.examples import Tree
from babelscope.tasks.biaffine import Biaffine
from babelscope.tasks.bilstm.backbone import BiLstmBackbone
from babelscope.tasks.bilstm.words import EVALUATION_WORDS, EncodedWords, TrainingWords, WordBatch
from babelscope.tasks.parsable import check_lengths
from babelscope.tasks.parse import ParseBatch, Parsing, predict_trees


class BiLstmParser(nn.Module):
    """Gives the words of a sentence a tree."""

    def __init__(self, backbone: BiLstmBackbone):
        super().__init__()
        self.backbone = backbone
        self.biaffine = Biaffine(backbone.hidden_size, "small")

    def forward(self, words: WordBatch) -> Tensor:
        """[sentences, words, hidden]: the states of words."""
        return self.backbone(words)

    def predict(self, sentences: Sequence[Sequence[str]], words_per_batch: int = EVALUATION_WORDS) -> list[Tree]:
        """A tree over the words of each sentence: one word is the root, and it alone has the relation `root`."""
        check_lengths(sentences)
        encoded = EncodedWords.of(self.backbone.vocabulary, sentences)
        return predict_trees(self, len(sentences), encoded.cut(words_per_batch))


@dataclass(frozen=True)
class BiLstmParsing(Parsing):
    """The task: as `Parsing`, for a `BiLstmParser`; lengths are words."""

    @cached_property
    def examples(self) -> TrainingWords:
        """The training sentences that have words."""
        return TrainingWords.of(
            self.parser.backbone.vocabulary, [sentence.forms for sentence in self.sentences if sentence.words]
        )

    @cached_property
    def held_out(self) -> dict[str, EncodedWords]:
        """The dev sentences."""
        vocabulary = self.parser.backbone.vocabulary
        return {
            name: EncodedWords.of(vocabulary, [sentence.forms for sentence in part]) for name, part in self.dev.items()
        }

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[sentences]: words of each."""
        return self.examples.encoded.lengths

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> ParseBatch:
        """Training sentences, some of their words unknown, with their trees."""
        heads, relations = (gold.batch(indices).ids for gold in self.gold)
        return ParseBatch(self.examples.batch(indices, generator), heads, relations)
