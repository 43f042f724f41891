"""Spans and their scores against counting by hand and against seqeval."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics import f1_score
from seqeval.metrics.v1 import precision_recall_fscore_support
from seqeval.scheme import IOB2

from babelscope.core.errors import InputError
from babelscope.core.intervals import bca_interval
from babelscope.corpora.bio import read_bio, repaired
from babelscope.tasks.spans import Entity, count_spans, entities, span_scores
from entity_file import real_file

STRICT = {"mode": "strict", "scheme": IOB2, "zero_division": 0}
LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG")


def test_spans_by_hand():
    tags = ["I-PER", "I-PER", "B-PER", "O", "B-LOC", "I-ORG", "I-ORG", "O", "I-LOC"]
    expected = [(0, 2, "PER"), (2, 3, "PER"), (4, 5, "LOC"), (5, 7, "ORG"), (8, 9, "LOC")]
    assert entities(tags) == [Entity(*span) for span in expected]
    assert entities([]) == []


@given(st.lists(st.sampled_from(LABELS), max_size=12))
def test_spans_undo_tagging(tags):
    again = ["O"] * len(tags)
    for entity in entities(tags):
        again[entity.start : entity.end] = [f"I-{entity.type}"] * (entity.end - entity.start)
        again[entity.start] = f"B-{entity.type}"
    assert again == repaired(tags)


def test_a_label_that_is_not_bio_is_refused():
    with pytest.raises(InputError, match="'NOUN' is not a BIO tag"):
        entities(["O", "NOUN"])


def test_counts_are_those_of_each_sentence():
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O"], ["B-ORG", "I-ORG"]]
    predicted = [["B-PER", "I-PER", "O", "B-ORG"], ["B-LOC"], ["B-ORG", "B-ORG"]]
    counts = count_spans(predicted, gold)
    assert [part.tolist() for part in counts] == [[1, 0, 0], [2, 1, 2], [2, 0, 1]]
    assert counts.f1 == 2 * 1 / (5 + 3)
    scores = {score.measure: score for score in span_scores(predicted, gold)}
    assert list(scores) == ["f1", "precision", "recall", "f1.LOC", "f1.ORG", "f1.PER"]
    assert [score.value for score in scores.values()] == [2 / 8, 1 / 5, 1 / 3, 0, 0, 1]
    interval = bca_interval([2, 0, 0], [4, 1, 3])
    assert scores["f1"][2:] == ("share", interval.low, interval.high, (2, 0, 0), (4, 1, 3))


def test_what_cannot_be_counted_is_zero():
    nothing, something = [["O", "O"]], [["B-PER", "O"]]
    assert [score[:2] for score in span_scores(nothing, nothing)] == [("f1", 0), ("precision", 0), ("recall", 0)]
    assert [score.value for score in span_scores(something, nothing)] == [0, 0, 0, 0]
    assert [score.value for score in span_scores(nothing, something)] == [0, 0, 0, 0]
    assert count_spans(nothing, nothing).f1 == 0 == count_spans([], []).f1


def test_every_word_needs_a_tag():
    with pytest.raises(ValueError, match="a sentence of 2 words was given 1 tags"):
        count_spans([["O"]], [["O", "O"]])
    with pytest.raises(ValueError, match="longer"):
        count_spans([], [["O"]])


def damaged(labels, share, chance):
    return [chance.choice(LABELS) if chance.random() < share else label for label in labels]


def assert_equal_to_seqeval(predicted, gold):
    """Precision and recall to the bit; F1 but for rounding, as seqeval computes it from these two."""
    counts = count_spans(predicted, gold)
    tags = [repaired(labels) for labels in gold], [repaired(labels) for labels in predicted]
    correct, found, wanted = (int(part.sum()) for part in counts)
    precision, recall, f1, _ = precision_recall_fscore_support(*tags, average="micro", **STRICT)
    assert (correct / found if found else 0) == precision
    assert (correct / wanted if wanted else 0) == recall
    assert counts.f1 == pytest.approx(f1, rel=1e-14, abs=0)


@settings(max_examples=1000, deadline=None)
@given(st.integers(1, 4), st.floats(0, 1), st.randoms(use_true_random=False))
def test_counts_are_seqevals_on_random_cases(count, share, chance):
    gold = [damaged(["B-PER"] * chance.randint(1, 12), 0.9, chance) for _ in range(count)]
    predicted = [damaged(labels, share, chance) for labels in gold]
    if any(label != "O" for labels in (*gold, *predicted) for label in labels):
        assert_equal_to_seqeval(predicted, gold)


@pytest.mark.parametrize("language", ["bam", "hau", "pcm", "swa", "wol", "yor"])
def test_scores_are_seqevals_on_real_files(language):
    gold = [list(sentence.labels) for sentence in read_bio(real_file(language, "test"))]
    for share in (0.0, 0.02, 0.3):
        chance = random.Random(language)
        predicted = [damaged(labels, share, chance) for labels in gold]
        assert_equal_to_seqeval(predicted, gold)
    scores = {score.measure: score.value for score in span_scores(predicted, gold)}
    assert scores["f1"] == count_spans(predicted, gold).f1
    each = f1_score(
        [repaired(labels) for labels in gold], [repaired(labels) for labels in predicted], average=None, **STRICT
    )
    types = ["DATE", "LOC", "ORG", "PER"]
    assert [scores[f"f1.{one}"] for one in types] == pytest.approx(list(each), rel=1e-14, abs=0)
