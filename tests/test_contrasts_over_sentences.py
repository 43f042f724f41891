"""Contrasts where evaluations kept sentences: intervals over seeds, sentences and languages, against loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import stats

from babelscope.core.row import Row
from babelscope.core.samples import Counts
from babelscope.report.model import Report
from babelscope.report.sections.effect_tables import effect_table
from babelscope.report.sections.effects import effects
from contrast_rows import ALIKE, scored
from slowly import judged as slowly_judged
from slowly import share_of_each


def kept(seeds: Sequence[int], languages: Sequence[str], sentences: int = 12) -> tuple[list[Row], dict[str, Counts]]:
    """Rows with their keys, and by key the words that are right and all words of every sentence."""
    draw = np.random.default_rng(len(seeds))
    made, outcomes = [], {}
    for place, language in enumerate(languages):
        words = draw.integers(1, 9, sentences + 3 * place)
        for seed in seeds:
            for surgery, share in ((None, 0.9 - 0.2 * place), ("clean", 0.6)):
                key, right = f"{surgery} {language} {seed}", draw.binomial(words, share)
                outcomes[key] = {"accuracy": [right.tolist(), words.tolist()]}
                score = {seed: float(right.sum() / words.sum())}
                made += [row.labelled(key=key) for row in scored("e", score, surgery=surgery, language=language)]
    return made, outcomes


def slow_tables(outcomes: Mapping[str, Counts], seeds: Sequence[int], language: str) -> list[list[float]]:
    """By seed, what each sentence adds to the difference."""
    tables = []
    for seed in seeds:
        whole, clean = (share_of_each(*outcomes[f"{side} {language} {seed}"]["accuracy"]) for side in (None, "clean"))
        tables.append([a - b for a, b in zip(whole, clean, strict=True)])
    return tables


@pytest.mark.parametrize("seeds", [3, 5])
def test_what_evaluations_kept_of_sentences_is_in_the_interval(seeds):
    made, outcomes = kept(range(seeds), ["qaa"])
    report = Report("t", "q", made, contrasts=[ALIKE], outcomes=outcomes.__getitem__)
    (line,), (score, _) = effects(report), report.scores
    expected = slowly_judged(slow_tables(outcomes, range(seeds), "qaa"))
    assert (line.effect.mean, line.effect.low, line.effect.high, line.effect.p) == pytest.approx(expected)
    assert line.effect.sentences == 12 and "over seeds and sentences." in effect_table([line]).note
    gains = [score.by_seed[k] - one.by_seed[k] for one in report.scores[1:] for k in range(seeds)]
    alone = effects(Report("t", "q", made, contrasts=[ALIKE]))[0].effect
    assert line.effect.mean == pytest.approx(alone.mean) == pytest.approx(sum(gains) / seeds)
    assert (alone.p, alone.sentences) == (pytest.approx(stats.ttest_1samp(gains, 0).pvalue), 1)
    of_score = slowly_judged([share_of_each(*outcomes[f"None qaa {k}"]["accuracy"]) for k in range(seeds)])
    assert (score.interval.low, score.interval.high) == pytest.approx(of_score[1:3])


def test_one_evaluation_that_kept_nothing_leaves_the_seeds():
    made, outcomes = kept(range(3), ["qaa"])
    outcomes["clean qaa 1"] = {}
    (line,) = effects(Report("t", "q", made, contrasts=[ALIKE], outcomes=outcomes.__getitem__))
    values = {(row.surgery, row.seed): row.value for row in made}
    test = stats.ttest_1samp([values[None, k] - values["clean", k] for k in range(3)], 0)
    assert (line.effect.p, line.effect.sentences) == (pytest.approx(test.pvalue), 1)


def test_three_languages_stand_for_others_and_two_for_themselves():
    made, outcomes = kept(range(4), ["qaa", "qab", "qac"])
    found = []
    for languages in (["qaa", "qab"], ["qaa", "qab", "qac"]):
        rows = [row for row in made if row.language in languages]
        (line,) = effects(Report("t", "q", rows, contrasts=[ALIKE], outcomes=outcomes.__getitem__))
        found.append(line.effect)
    fixed, drawn = found
    assert (fixed.languages, drawn.languages) == (1, 3)
    assert drawn.high - drawn.low > 2 * (fixed.high - fixed.low)
    # A language with fewer sentences fills up with its mean, its sentences weighted so that the variance stays.
    tables = {code: slow_tables(outcomes, range(4), code) for code in ("qaa", "qab", "qac")}
    longest = max(len(table[0]) for table in tables.values())
    cells = [[[filled(tables[code][seed], k, longest) for code in tables] for k in range(longest)] for seed in range(4)]
    assert (drawn.mean, drawn.low, drawn.high, drawn.p) == pytest.approx(slowly_judged(cells))
    shorter = len(tables["qab"][0])
    means = [[(filled(tables["qaa"][seed], k, shorter) + filled(tables["qab"][seed], k, shorter)) / 2
              for k in range(shorter)] for seed in range(4)]  # fmt: skip
    assert (fixed.mean, fixed.low, fixed.high, fixed.p) == pytest.approx(slowly_judged(means))


def filled(by_sentence: list[float], k: int, longest: int) -> float:
    mean, count = sum(by_sentence) / len(by_sentence), len(by_sentence)
    weight = math.sqrt(longest * (longest - 1) / (count * (count - 1)))
    return mean + (by_sentence[k] - mean) * weight if k < count else mean
