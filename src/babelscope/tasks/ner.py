"""Named-entity recognition: a BIO tag for each word, scored by the spans of whole sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from babelscope.core.examples import Tagged
from babelscope.corpora.bio import OUTSIDE
from babelscope.encoders.windows import Windows
from babelscope.tasks.spans import count_spans, span_scores
from babelscope.tasks.tag import TaggedWindows, Tagger, Tagging, check_words, label_sentences
from babelscope.tasks.task import Score


def bio_labels(types: Iterable[str]) -> tuple[str, ...]:
    """The labels of a `Tagger` for these types of entities: O, then B- and I- of each."""
    return (OUTSIDE, *(f"{position}-{entity_type}" for entity_type in types for position in "BI"))


@dataclass(frozen=True)
class EntityTagging(Tagging):
    """The task: as `Tagging` over BIO labels, but the best step on dev sets is that of the best span F1."""

    measure: str = "f1"

    def evaluate(self, model: Tagger) -> dict[str, float]:
        """Span F1 on each dev set."""
        return {name: _f1(model, self.held_out[name], sentences) for name, sentences in self.dev.items()}


def evaluate_ner(tagger: Tagger, sentences: Sequence[Tagged]) -> list[Score]:
    """F1, precision, recall and the F1 of each type (`span_scores`); then coverage, unknown and words (`Tagger`'s).

    An entity whose type the tagger does not have is one that it never finds.

    Raises:
        InputError: there is no word, or a gold label is not BIO.
    """
    check_words(sentences)
    windows = TaggedWindows.of(tagger, sentences)
    classes = windows.classes(tagger)
    return [*span_scores(*compared_tags(tagger, windows, classes, sentences)), *windows.reading_scores(classes)]


def compared_tags(
    tagger: Tagger, read: TaggedWindows, classes: NDArray[np.int64], sentences: Sequence[Tagged]
) -> tuple[list[list[str]], list[list[str]]]:
    """The tags of each sentence's words as the tagger has them, from the class of each word, and the gold ones."""
    predicted = label_sentences(tagger, read.windows, classes)
    gold = [list(labels) for _, labels in sentences]
    if "cut-spans" in tagger.quirks:
        return _cut(predicted, read.windows), _cut(gold, read.windows)
    return predicted, gold


def _cut(tags: list[list[str]], windows: Windows) -> list[list[str]]:
    """The same, but an entity that goes on in the next window begins there anew; so none is in two windows."""
    every = [tag for sentence in tags for tag in sentence]
    for first in (owned[0] for owned in windows.owned):
        if every[first].startswith("I-"):
            every[first] = f"B-{every[first].removeprefix('I-')}"
    return [every[start:end] for start, end in pairwise(windows.sentence_starts.tolist())]


def _f1(tagger: Tagger, held_out: TaggedWindows, sentences: Sequence[Tagged]) -> float:
    return count_spans(*compared_tags(tagger, held_out, held_out.classes(tagger), sentences)).f1
