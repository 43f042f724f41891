"""Dependency parsing without a pre-trained encoder: the biaffine scorer over a BiLSTM (Dozat and Manning, 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babelscope.encoders.pieces import Pieces
from babelscope.errors import InputError
from babelscope.tasks.attachment import attachment_scores, count_attachments, universal
from babelscope.tasks.biaffine import NONE, Biaffine
from babelscope.tasks.bilstm import BiLstmBackbone
from babelscope.tasks.task import Score
from babelscope.tasks.words import EncodedWords, TrainingWords, WordBatch
from babelscope.text import DEPREL, Sentence, Tree


class BiLstmParser(nn.Module):
    """Gives the words of a sentence a tree."""

    def __init__(self, backbone: BiLstmBackbone, head: str | None = "small"):
        super().__init__()
        self.backbone = backbone
        self.biaffine = Biaffine(backbone.hidden_size, head)

    def forward(self, words: WordBatch) -> Tensor:
        """[sentences, words, hidden]: the states of words."""
        return self.backbone(words)

    def predict(self, sentences: Sequence[Sequence[str]], words_per_batch: int = 2048) -> list[Tree]:
        """A tree over the words of each sentence: one word is the root, and it alone has the relation `root`."""
        return predict_bilstm_trees(self, EncodedWords.of(self.backbone.vocabulary, sentences), words_per_batch)


@torch.no_grad()
def predict_bilstm_trees(parser: BiLstmParser, encoded: EncodedWords, words_per_batch: int = 2048) -> list[Tree]:
    """The tree of each sentence."""
    was_training, device = parser.training, parser.biaffine.root.device
    parser.eval()
    trees = [Tree([], []) for _ in encoded.lengths]
    for indices, words in encoded.batches(words_per_batch):
        words = words.to(device)
        heads, relations = parser.biaffine.decode(parser(words), words.real)
        for index, its_heads, its_relations in zip(indices.tolist(), heads.tolist(), relations.tolist(), strict=True):
            count = int(encoded.lengths[index])
            trees[index] = Tree(its_heads[:count], [DEPREL[number] for number in its_relations[:count]])
    parser.train(was_training)
    return trees


def evaluate_bilstm_parser(parser: BiLstmParser, sentences: Sequence[Sentence]) -> list[Score]:
    """LAS and UAS of a parser; then `las.nopunct` and `uas.nopunct`, without the words tagged PUNCT or SYM.

    Raises:
        InputError: there is no word.
    """
    sentences = [sentence for sentence in sentences if sentence.words]
    if not sentences:
        raise InputError("no word to parse: the evaluation data is empty")
    return attachment_scores([one.words for one in sentences], parser.predict([one.forms for one in sentences]))


class BiLstmParseBatch(NamedTuple):
    """Sentences with their gold trees."""

    words: WordBatch
    heads: Tensor
    """[sentences, words]: gold heads; `NONE` where padded."""
    relations: Tensor
    """[sentences, words]: gold classes; `NONE` where padded."""


@dataclass(frozen=True)
class BiLstmParsing:
    """The task: sentences with gold trees to train a BiLSTM parser on, and dev sets by name."""

    parser: BiLstmParser
    sentences: Sequence[Sentence]
    dev: Mapping[str, Sequence[Sentence]] = field(default_factory=dict)
    measure: str = "las"
    higher_is_better: bool = True

    @cached_property
    def examples(self) -> TrainingWords:
        """The training sentences that have words."""
        return TrainingWords.of(self.parser.backbone.vocabulary, [one.forms for one in self.sentences if one.words])

    @cached_property
    def gold(self) -> tuple[Pieces, Pieces]:
        """The heads of their words, and the classes of their relations."""
        trees = [sentence.words for sentence in self.sentences if sentence.words]
        classes = {deprel: number for number, deprel in enumerate(DEPREL)}
        if strange := {universal(word.deprel) for words in trees for word in words} - classes.keys():
            raise InputError(
                f"relation {min(strange)!r} in the training data; the universal ones are {', '.join(DEPREL)}, "
                "with a subtype after a colon or without"
            )
        relations = [[classes[universal(word.deprel)] for word in words] for words in trees]
        return Pieces.of([[word.head for word in words] for words in trees], NONE), Pieces.of(relations, NONE)

    @cached_property
    def held_out(self) -> dict[str, EncodedWords]:
        """The dev sentences."""
        vocabulary = self.parser.backbone.vocabulary
        return {name: EncodedWords.of(vocabulary, [one.forms for one in part]) for name, part in self.dev.items()}

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[sentences]: words of each."""
        return self.examples.encoded.lengths

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> BiLstmParseBatch:
        """Training sentences, some of their words unknown, with their trees."""
        heads, relations = (gold.batch(indices).ids for gold in self.gold)
        return BiLstmParseBatch(self.examples.batch(indices, generator), heads, relations)

    def loss(self, model: BiLstmParser, batch: BiLstmParseBatch) -> Tensor:
        """Mean cross-entropy of heads plus that of relations, in nats."""
        device = model.biaffine.root.device
        words = batch.words.to(device)
        return model.biaffine.loss(model(words), words.real, batch.heads.to(device), batch.relations.to(device))

    def evaluate(self, model: BiLstmParser) -> dict[str, float]:
        """LAS on each dev set."""
        values = {}
        for name, encoded in self.held_out.items():
            counted = count_attachments([one.words for one in self.dev[name]], predict_bilstm_trees(model, encoded))
            values[name] = float(counted.labelled.sum() / counted.words.sum())
        return values
