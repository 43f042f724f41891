"""Named-entity recognition: a BIO tag for each word, scored by the spans of whole sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from babelscope.core.examples import Tagged
from babelscope.corpora.bio import OUTSIDE
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
    predicted = label_sentences(tagger, windows.windows, classes)
    return [*span_scores(predicted, [labels for _, labels in sentences]), *windows.reading_scores(classes)]


def _f1(tagger: Tagger, held_out: TaggedWindows, sentences: Sequence[Tagged]) -> float:
    predicted = label_sentences(tagger, held_out.windows, held_out.classes(tagger))
    return count_spans(predicted, [labels for _, labels in sentences]).f1
