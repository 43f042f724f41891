"""Named entities as spans of words, and how well predicted spans agree with gold ones.

An entity is right if its first word, its last word and its type are. Tags are repaired first: an I- without a
predecessor of its type begins an entity. Entities belong to whole sentences, however many windows these were read in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.corpora.bio import repaired, split_tag
from babelscope.tasks.task import Score, ratio_score


class Entity(NamedTuple):
    """The words from `start` to `end` of a sentence (0-based, `end` excluded)."""

    start: int
    end: int
    type: str


class SpanCounts(NamedTuple):
    """Entities of each sentence. All arrays are [sentences]."""

    correct: NDArray[np.int64]
    """Predicted, and right."""
    predicted: NDArray[np.int64]
    gold: NDArray[np.int64]

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where there is neither a predicted nor a gold entity."""
        return 2 * int(self.correct.sum()) / max(1, int((self.predicted + self.gold).sum()))


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of a sentence, from left to right. Raises `InputError` for a tag that is not BIO."""
    spans: list[Entity] = []
    for place, tag in enumerate(repaired(tags)):
        position, entity_type = split_tag(tag)
        if position == "B":
            spans.append(Entity(place, place + 1, entity_type))
        elif position == "I":  # after the repair, it goes on with the latest
            spans[-1] = spans[-1]._replace(end=place + 1)
    return spans


def count_spans(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> SpanCounts:
    """Count the entities of predicted and gold tags, sentence by sentence."""
    return _count(*_paired(predicted, gold))


def span_scores(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> list[Score]:
    """F1, precision and recall of entities, then the F1 of each type (`f1.LOC`), with intervals over sentences.

    A ratio without anything to count (F1 without any entity, precision without a predicted one, recall without a gold
    one) is 0, as in conlleval and seqeval. The intervals of seldom types are wide and, as of all small counts, rough.
    """
    predicted_spans, wanted = _paired(predicted, gold)
    counts = _count(predicted_spans, wanted)
    types = sorted({entity.type for sentence in (*predicted_spans, *wanted) for entity in sentence})
    return [
        _f1("f1", counts),
        _ratio("precision", counts.correct, counts.predicted),
        _ratio("recall", counts.correct, counts.gold),
        *(
            _f1(f"f1.{entity_type}", _count(_of_type(entity_type, predicted_spans), _of_type(entity_type, wanted)))
            for entity_type in types
        ),
    ]


_Entities = list[set[Entity]]
"""Those of each sentence."""


def _paired(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> tuple[_Entities, _Entities]:
    for given, wanted in zip(predicted, gold, strict=True):
        if len(given) != len(wanted):
            raise ValueError(f"a sentence of {len(wanted)} words was given {len(given)} tags")
    return [set(entities(tags)) for tags in predicted], [set(entities(tags)) for tags in gold]


def _count(predicted: _Entities, gold: _Entities) -> SpanCounts:
    pairs = list(zip(predicted, gold, strict=True))
    return SpanCounts(
        np.asarray([len(spans & wanted) for spans, wanted in pairs], dtype=np.int64),
        np.asarray([len(spans) for spans, _ in pairs], dtype=np.int64),
        np.asarray([len(wanted) for _, wanted in pairs], dtype=np.int64),
    )


def _of_type(wanted: str, sentences: _Entities) -> _Entities:
    return [{entity for entity in sentence if entity.type == wanted} for sentence in sentences]


def _f1(measure: str, counts: SpanCounts) -> Score:
    return _ratio(measure, 2 * counts.correct, counts.predicted + counts.gold)


def _ratio(measure: str, numerators: NDArray[np.int64], denominators: NDArray[np.int64]) -> Score:
    return ratio_score(measure, numerators, denominators) if denominators.any() else Score(measure, 0.0)
