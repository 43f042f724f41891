"""A model measured again and again on the same examples, which are encoded once: its scores and its loss.

One forward pass gives both. There are no intervals: a bootstrap would cost more than the pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from babelscope.core.errors import InputError
from babelscope.core.examples import Sentence, SentencePair, Tagged, Tree
from babelscope.tasks.attachment import attachment_shares
from babelscope.tasks.classify import Classifier, LabelledTexts, mean_loss, values_of
from babelscope.tasks.design import Measured, TaskModel
from babelscope.tasks.metrics import computed
from babelscope.tasks.mlm import HeldOut
from babelscope.tasks.ner import compared_tags
from babelscope.tasks.parsable import check_sentences
from babelscope.tasks.parse import EncodedSentences, Parser, gold_trees, read_sentences
from babelscope.tasks.spans import count_spans
from babelscope.tasks.tag import TaggedWindows, Tagger, placed_classes, read_words


def measured(model: TaskModel, examples: Sequence[Any]) -> Measured:
    """Encode examples for a model, to measure it on them.

    Raises:
        InputError: there is no example, or the model is a BiLSTM, whose weights are no encoder's.
    """
    if not examples:
        raise InputError("nothing to measure on: the evaluation data is empty")
    return model.measured(examples)


def measured_tags(tagger: Tagger, sentences: Sequence[Tagged]) -> Measured:
    """Accuracy of a tagger, and its loss."""
    windows = TaggedWindows.of(tagger, sentences)

    def measure() -> dict[str, float]:
        classes, loss = _classes(tagger, windows)
        return {"accuracy": float(windows.right(classes).mean()), "loss": loss}

    return measure


def measured_entities(tagger: Tagger, sentences: Sequence[Tagged]) -> Measured:
    """F1 of a tagger's spans, and its loss."""
    windows = TaggedWindows.of(tagger, sentences)

    def measure() -> dict[str, float]:
        classes, loss = _classes(tagger, windows)
        return {"f1": count_spans(*compared_tags(tagger, windows, classes, sentences)).f1, "loss": loss}

    return measure


def _classes(tagger: Tagger, windows: TaggedWindows) -> tuple[NDArray[np.int64], float]:
    """[words]: the best class of each; and the mean cross-entropy of the gold classes that the tagger has."""
    gold, read, losses = torch.from_numpy(windows.gold), [], []
    for owned, logits in read_words(tagger, windows.batches.on(tagger.classifier.weight.device)):
        read.append((owned, logits.argmax(dim=1)))
        wanted = gold[owned].to(logits.device)
        losses.append(cross_entropy(logits.float(), wanted, ignore_index=-1, reduction="sum"))
    return placed_classes(len(gold), read), _total(losses) / max(1, int((gold >= 0).sum()))


def _total(losses: Sequence[Tensor]) -> float:
    """The sum of what batches lost; taken from an accelerator together, since each time it is waited for."""
    return sum(torch.stack(list(losses)).tolist()) if losses else 0.0


def measured_trees(parser: Parser, sentences: Sequence[Sentence], names: Sequence[str]) -> Measured:
    """Measures of a parser by name (LAS, UAS, with or without punctuation), and its loss."""
    check_sentences(sentences)
    words = [sentence.words for sentence in sentences if sentence.words]
    encoded = EncodedSentences.of(parser, [sentence.forms for sentence in sentences if sentence.words])
    gold, device = gold_trees(words), parser.biaffine.device

    def measure() -> dict[str, float]:
        trees, total, counted = [Tree([], []) for _ in words], 0.0, 0
        for indices, batch, states in read_sentences(parser, encoded.batches.on(device)):
            heads, relations = (pieces.batch(indices).ids.to(states.device) for pieces in gold)
            predicted, loss = parser.biaffine.trees_and_loss(states, batch.real, heads, relations)
            count = int(parser.biaffine.count(batch.real, heads))
            total, counted = total + max(1, count) * float(loss), counted + count
            for index, tree in zip(indices.tolist(), predicted, strict=True):
                trees[index] = tree
        return attachment_shares(names, words, trees) | {"loss": total / max(1, counted)}

    return measure


def measured_texts(classifier: Classifier, examples: Sequence[SentencePair], names: Sequence[str]) -> Measured:
    """Measures of a classifier by name, and its loss."""
    texts = LabelledTexts.of(classifier, examples)
    targets = texts.targets(classifier)
    measures = {name: computed(name, len(classifier.labels)) for name in names}

    def measure() -> dict[str, float]:
        outputs = texts.outputs(classifier)
        predicted = values_of(classifier, outputs)
        scores = {name: float(compute(predicted, texts.gold)) for name, compute in measures.items()}
        return scores | {"loss": float(mean_loss(classifier, outputs, targets))}

    return measure


def measured_language(model: PreTrainedModel, held_out: HeldOut) -> Measured:
    """Perplexity of a masked language model, and its logarithm, the loss."""

    def measure() -> dict[str, float]:
        perplexity = held_out.perplexity(model)
        return {"perplexity": perplexity, "loss": math.log(perplexity)}

    return measure
