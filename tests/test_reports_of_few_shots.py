"""What a report makes of few-shot training: gaps are measured from what is trained on in full."""

from __future__ import annotations

import pytest

from babelscope.corpora.sources import ALL
from babelscope.report.sections.alignment.alignments import gaps
from babelscope.report.sections.scores.tables import score_table
from babelscope.report.sections.unseen.gains import Case, case_of
from seeded_rows import report, score, seeds


@pytest.mark.parametrize("shots", [None, 10])
def test_gaps_are_measured_from_what_is_trained_on_in_full(shots):
    """Ten sentences of a language do not make it what the others are held against."""
    trained = {"train_languages": "qaa+qab" if shots else "qaa", "shots": shots}
    rows = [row for code, level in (("qaa", 0.9), ("qab", 0.4), ("qac", 0.6)) for row in seeds(level, code, **trained)]
    made = report(rows)
    table = score_table(made.scores)
    gap = {line[0].text: line[8].number for line in table.lines}
    assert gap["qac"] == pytest.approx(30.0) and gap["qab"] == pytest.approx(50.0) and gap["qaa"] is None
    found = {each.language: each.samples.mean for each in gaps(made)}
    assert found["qac"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("training", "shots", "expected"),
    [
        ("qaa+qab", 10, 10),
        ("qab", 10, 10),
        ("qaa", None, 0),
        ("qaa+qab", None, ALL),
        ("qab+qaa", None, ALL),
        ("qaa+qab+qac", 10, 10),
        ("qab+qaa", 10, ALL),
    ],
)
def test_few_sentences_after_those_of_a_source_are_labelled_ones(training, shots, expected):
    assert case_of(score(0.5, 0, "qab", train_languages=training, shots=shots)) == Case("pos", "qab", expected)


@pytest.mark.parametrize("training", ["qaa+qab", "qaa+qab+qac"])
def test_gaps_are_measured_from_what_there_are_not_few_examples_of(training):
    """The second language of three passed for a whole one."""
    values = {"qaa": 0.9, "qab": 0.5, "qac": 0.5, "qad": 0.4}
    rows = [row for code, value in values.items() for row in seeds(value, code, train_languages=training, shots=10)]
    found = {gap.language: gap.samples.mean for gap in gaps(report(rows))}
    assert found == pytest.approx({"qab": 0.4, "qac": 0.4, "qad": 0.5})
