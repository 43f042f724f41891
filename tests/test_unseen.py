"""Languages never seen: verdicts from intervals, and what the report says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.training import TrainedOn
from babelscope.report import Report, markdown
from babelscope.report.judged import Verdict
from babelscope.report.page import render
from babelscope.report.sections import sections_of
from babelscope.report.sections.unseen.figures import unseen_figures
from babelscope.report.sections.unseen.findings import unseen_findings
from babelscope.report.sections.unseen.gains import Case, Gain, gains, is_gain, verdicts
from babelscope.report.sections.unseen.tables import unseen_tables
from babelscope.study.verdicts import (
    ADAPTED,
    AS_IT_IS,
    BILSTM,
    EASY,
    HARD,
    INTERMEDIATE,
    above,
    by_letters,
    verdict,
    verdict_of,
)


@pytest.mark.parametrize(
    ("as_it_is", "adapted", "expected"),
    [
        (1, 1, EASY),
        (1, -1, EASY),
        (-1, 1, INTERMEDIATE),
        (-1, -1, HARD),
        (-1, 0, "undecided: Intermediate or Hard"),
        (0, 1, "undecided: Easy or Intermediate"),
        (0, -1, "undecided: Easy or Hard"),
        (0, 0, "undecided: Easy or Intermediate or Hard"),
    ],
)
def test_verdicts(as_it_is, adapted, expected):
    assert verdict(as_it_is, adapted) == expected
    assert verdict_of({above(AS_IT_IS, BILSTM): as_it_is, above(ADAPTED, BILSTM): adapted}) == expected


@given(*[st.floats(-5, 5)] * 4)
def test_a_verdict_that_is_decided_is_the_one_of_any_value_within_the_intervals(mean, reach, other, also):
    """Whatever the true gains within the intervals are, a verdict that is not undecided is theirs."""
    one, two = (Interval(m, m - abs(r), m + abs(r), 1, 9) for m, r in ((mean, reach), (other, also)))
    found = verdict(one.sign, two.sign)
    if "undecided" not in found:
        for a in (one.low, one.high):
            for b in (two.low, two.high):
                assert found == (EASY if a > 0 else INTERMEDIATE if b > 0 else HARD)


# --- the report


def gain(claim, mean, low, high, language="mt", training="mt:100", task="pos", p=0.01):
    return Row(
        "accuracy gain", mean, "share", kind="comparison", encoder="mbert", task=task, claim=claim, low=low, high=high,
        p=p, language=language, dataset="UD_Maltese-MUDT", split="test", **TrainedOn.read(training).columns,
    )  # fmt: skip


def scored(encoder, value):
    return Row(
        "accuracy", value, "share", kind="score", encoder=encoder, task="pos", train_languages="mt", shots=100,
        language="mt", dataset="UD_Maltese-MUDT", split="test", seed=0,
    )  # fmt: skip


ROWS = [
    gain(above(AS_IT_IS, BILSTM), -0.05, -0.08, -0.02),
    gain(above(ADAPTED, BILSTM), 0.03, 0.01, 0.05),
    gain(by_letters(AS_IT_IS), 0.2, 0.1, 0.3, "ug>uyghur", "en"),
    gain(by_letters(AS_IT_IS, permuted=True), -0.02, -0.03, -0.01, "ug>uyghur-permute-1", "en"),
    gain(by_letters(ADAPTED), 0.1, -0.1, 0.3, "ug>uyghur", "en", p=0.2),
    Row("published verdict", 1, kind="verdict", claim="Intermediate", language="mt"),
    scored("adapted mt", 0.8), scored("bilstm", 0.7),
]  # fmt: skip


@pytest.fixture
def report():
    return Report("unseen", "?", ROWS, labels={"mt": "Maltese (Latn)"}, recipes={"adapted mt": ADAPTED})


def test_gains_are_read_by_case(report):
    found = gains(report)
    assert found[Case("pos", "mt", 100)][above(ADAPTED, BILSTM)] == Gain(Interval(0.03, 0.01, 0.05, None, 1), "shows")
    assert verdicts(found) == {Case("pos", "mt", 100): INTERMEDIATE}
    assert {case.shots for case in found if case.language != "mt"} == {0}


def test_gains_are_corrected_for_their_number(report):
    """By Benjamini and Hochberg (1995): a gain shows if its p is at most that of the largest p below its line."""
    p_values = [0.001, 0.02, 0.029, 0.045, 0.4]
    signs = [1, -1, 1, 1, -1]
    rows = [gain(f"claim {k}", 0.1 * signs[k], 0, 0, p=p) for k, p in enumerate(p_values)]
    (by_claim,) = gains(Report("t", "q", [*rows, gain("few", 0.1, None, None, p=None)])).values()
    rejected = max(k for k, p in enumerate(p_values, 1) if p <= 0.05 * k / 5)
    assert rejected == 3
    expected = ["shows", "the reverse shows", "shows", "does not show", "does not show", Verdict.UNKNOWN]
    assert [one.verdict for one in by_claim.values()] == expected
    assert [one.verdict.sign for one in by_claim.values()] == [1, -1, 1, 0, 0, None]


def test_without_enough_seeds_there_is_no_verdict_but_a_page():
    rows = [row.labelled(low=None, high=None, p=None) if is_gain(row) else row for row in ROWS]
    few = Report("unseen", "?", rows, recipes={"adapted mt": ADAPTED})
    assert verdicts(gains(few)) == {Case("pos", "mt", 100): "not enough seeds to say"}
    (line,) = unseen_tables(few, gains(few))[0].lines
    assert [cell.text for cell in line[2:7]] == ["not enough seeds to say", "−5.0", "", "+3.0", ""]
    assert "Against a BiLSTM" in render(few)


def test_models_with_one_claim_stand_beside_each_other_and_no_claim_is_lost():
    claim = "the encoder is better than a BiLSTM"
    rows = [gain(claim, 0.1, 0.0, 0.2).labelled(encoder=encoder) for encoder in ("one", "two")]
    (table,) = unseen_tables(Report("t", "q", rows), gains(Report("t", "q", rows)))
    assert [line[2].text for line in table.lines] == [f"{claim} ({one}, trained on mt:100)" for one in ("one", "two")]


def test_findings_say_what_shows(report):
    verdict_line, *letters = unseen_findings(report, gains(report))
    said = "Part-of-speech tagging, 100 sentences, points over the BiLSTM: Intermediate: Maltese (Latn)"
    assert verdict_line == f"{said} (as it is −5.0, adapted +3.0)."
    assert letters == [
        "Part-of-speech tagging, ug>uyghur, none of its own: transliteration: a gain of 20.0 points [10.0, 30.0].",
        "Part-of-speech tagging, ug>uyghur-permute-1, none of its own: letters exchanged at random: a loss of 2.0 "
        "points [1.0, 3.0].",
    ]


def test_tables_and_figures(report):
    found = gains(report)
    decided, others, scores = unseen_tables(report, found)
    assert [cell.text for cell in decided.lines[0]] == [
        "Maltese (Latn)", "100", "Intermediate", "−5.0", "[−8.00, −2.00]", "+3.0", "[1.00, 5.00]", "", "",
        "Intermediate",
    ]  # fmt: skip
    assert [line[-1].text for line in others.lines] == ["shows", "does not show", "the reverse shows"]
    assert [cell.text for cell in scores.lines[0]][3:] == ["", "80.0", "", "70.0"]
    assert [figure.title for figure in unseen_figures(report, found)] == [
        "Against a BiLSTM: Part-of-speech tagging, 100 sentences"
    ]


def test_gains_in_other_measures_and_scores_without_verdicts_have_their_tables():
    heads = gain("first is better", 0.1, 0.0, 0.2).labelled(task="parsing")
    assert not is_gain(heads)  # the accuracy of a parser's heads, say
    (section,) = sections_of(Report("t", "q", [heads]))
    (line,) = section.tables[0].lines
    assert section.title == "Further results" and "claim first is better" in [cell.text for cell in line]
    zero = [row.labelled(train_languages="en", shots=None) for row in ROWS[-2:]]
    (scores,) = unseen_tables(Report("t", "q", zero, recipes={"adapted mt": ADAPTED}), {})
    assert [cell.text for cell in scores.lines[0]][3:] == ["", "80.0", "", "70.0"]


def test_recipes_are_what_was_declared():
    assert unseen_tables(Report("t", "q", ROWS[-2:]), {}) == []
    twice = Report("t", "q", [*ROWS[-2:], scored("more", 0.9)], recipes={"adapted mt": ADAPTED, "more": ADAPTED})
    assert unseen_tables(twice, {}) == []


def test_what_is_left_out_stands_on_the_page_with_its_reason(report):
    said = replace(report, left_out={"Narabizi": "no text"})
    assert "| Narabizi | no text |" in markdown(said) and "no text" in render(said)
    assert "Left out" not in markdown(report)


def test_they_stand_on_the_page_and_in_markdown(report):
    assert "Easy, Intermediate or Hard" in markdown(report)
    assert "Against a BiLSTM" in render(report)
