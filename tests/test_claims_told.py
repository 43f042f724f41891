"""How claims with a margin are told, and how scores in a measure that is entered later."""

from __future__ import annotations

import pytest
from scipy import stats

from babelscope.core.row import Row
from babelscope.core.scores import MEASURES, Measure
from babelscope.report.kinds import is_companion, is_score
from babelscope.report.model import Report
from babelscope.report.sections.effect_tables import language_table
from babelscope.report.sections.effects import claims, effects
from contrast_rows import ALIKE, PRETRAINED, rows, scored

NEAR, ALSO = {0: 0.800, 1: 0.812, 2: 0.806, 3: 0.791}, {0: 0.801, 1: 0.811, 2: 0.808, 3: 0.790}


def equivalent(margin):
    """The larger p-value of two one-sided t tests of the differences, in scipy's words."""
    gains = [NEAR[seed] - ALSO[seed] for seed in NEAR]
    return max(
        stats.ttest_1samp(gains, end, alternative=side).pvalue for end, side in ((-margin, "greater"), (margin, "less"))
    )


def test_a_claim_with_a_margin_that_would_show_by_itself_is_told_so():
    margin = next(margin / 10_000 for margin in range(1, 100) if 0.025 < equivalent(margin / 10_000) < 0.05)
    made = scored("e", NEAR) + scored("e", ALSO, surgery="clean")
    told = [ALIKE._replace(claim=f"claim {k}", margin=margin) for k in range(2)]
    assert claims(effects(Report("t", "q", made, contrasts=told[:1])))[0].startswith("claim 0: shows for e within")
    both = claims(effects(Report("t", "q", made, contrasts=told)))
    assert all(f"claim {k}: does not show among 2 claims for e within" in text for k, text in enumerate(both)), both


def test_two_claims_of_one_pair_have_the_lines_of_its_languages_once():
    made = [row.labelled(language=code) for row in rows() for code in ("qaa", "qab")]
    pair = [PRETRAINED, PRETRAINED._replace(claim="As good", margin=0.9)]
    alone, both = (language_table(effects(Report("t", "q", made, contrasts=told)), {}) for told in (pair[:1], pair))
    assert both.lines == alone.lines and alone.lines
    more = [*made, *(row.labelled(language="qac") for row in rows())]
    wide, narrow = PRETRAINED._replace(claim="All"), PRETRAINED._replace(claim="Two", languages=("qaa", "qab"))
    for told in ([wide, narrow], [narrow, wide]):
        lines = language_table(effects(Report("t", "q", more, contrasts=told)), {}).lines
        assert sorted(line[2].text for line in lines) == ["qaa", "qab", "qac"]


def test_a_measure_that_is_entered_after_reports_were_imported_can_be_a_score(monkeypatch):
    """As one of a package of one's own is."""
    row = Row("balanced", 0.5, "share", task="mine", language="qaa", split="test", kind="score")
    assert not is_score(row)
    monkeypatch.setitem(MEASURES, "balanced", Measure("balanced accuracy", "mean over classes", main=True))
    assert is_score(row)
    assert not is_score(row, {"mine": "accuracy"})


@pytest.mark.parametrize("measure", ["f1", "matthews", "pearson", "accuracy", "las"])
def test_a_score_stands_beside_another_that_a_study_scores_by(measure):
    """F1 was nowhere on the page of a task that is scored by accuracy there."""
    row = Row(measure, 0.5, "share", task="mine", language="qaa", split="test", kind="score")
    assert is_score(row) and not is_companion(row)
    assert is_companion(row, {"mine": "another"}) and not is_score(row, {"mine": "another"})
