"""Scores of an encoder and of itself untrained, made up, and the answer that a page gives."""

from __future__ import annotations

from babelscope.core.row import Row
from babelscope.report import Report
from babelscope.report.sections.scores.answer import answer
from babelscope.report.sections.scores.findings import differences

RUN = {"kind": "score", "encoder": "e", "task": "pos", "train_languages": "en", "split": "test"}


def scored(levels, *, seeds=3, spread=0.0):
    """Accuracy of `e` by language, and of itself untrained, which is 0.5 everywhere; some noise of both over seeds."""
    return [
        Row("accuracy", level + (spread if surgery else -spread) * (seed - 1), "share", surgery=surgery, language=code,
            seed=seed, **RUN)
        for code, intact in levels.items() for surgery, level in ((None, intact), ("reinit", 0.5))
        for seed in range(seeds)
    ]  # fmt: skip


def said(rows):
    scores = Report("t", "q", rows).scores
    return answer(scores, differences(scores))
