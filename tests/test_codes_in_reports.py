"""Data of tasks and parallel texts may name a language by two codes, `de` and `deu`; reports count it as one."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.sections.alignment.alignments import alignments, correlations
from babelscope.report.sections.brought_in.gains import gains
from babelscope.report.sections.freezing.likeness import likenesses
from babelscope.report.sections.unseen.gains import case_in
from babelscope.study.encoders import BringingIn
from babelscope.tuning.schedule import parse_schedule

CODES = {"de": "deu", "fr": "fra", "es": "spa", "ru": "rus", "hi": "hin"}
SEEDS = range(3)


def score(language: str, value: float, seed: int, **labels: Any) -> Row:
    about = {"kind": "score", "encoder": "e", "task": "pos", "train_languages": "en", "split": "test"}
    return Row("accuracy", value, "share", language=language, seed=seed, **about | labels)


def alike(code: str, value: float, seed: int, collection: str = "ntrex") -> Row:
    about = {
        "kind": "similarity",
        "encoder": "e",
        "task": "pos",
        "train_languages": "en",
        "key": f"{collection} {seed}",
    }
    return Row("CKA", value, language=code, dataset=f"{collection}:{code}", layer=1, seed=seed, **about)


def scored_and_compared(letters: str = "") -> list[Row]:
    """Five languages, each a little worse and less like English than the one before, by a code of three letters."""
    rows = [score("en", 0.9, seed) for seed in SEEDS]
    for (place, (short, long)), seed in product(enumerate(CODES.items()), SEEDS):
        rows += [score(short, 0.8 - 0.1 * place, seed), alike(long + letters, 0.7 - 0.1 * place, seed)]
    return rows


def test_similarities_are_held_against_gaps_by_language_whatever_its_code() -> None:
    found = correlations(Report("t", "q", scored_and_compared()))
    assert [(each.layer, each.interval.n) for each in found] == [(1, len(CODES)), (None, len(CODES))]
    assert [each.interval.mean for each in found] == pytest.approx([1, 1])


def test_scripts_of_one_language_are_not_one() -> None:
    """A score in Cyrillic is no score of text in Latin letters."""
    serbian = [row for seed in SEEDS for row in (score("sr-Latn", 0.25, seed), alike("srp_Latn", 0.15, seed))]
    other = [score("sr-Cyrl", 0.85, seed) for seed in SEEDS]
    without, beside = (
        correlations(Report("t", "q", [*scored_and_compared(), *serbian, *more])) for more in ([], other)
    )
    assert [each.interval for each in beside] == [each.interval for each in without]
    assert without[0].interval.n == len(CODES) + 1 and without[0].interval.mean == pytest.approx(1)
    assert case_in("pos", "zh-Hant", ("en", "zh-Hans"), 10).shots == 0
    assert case_in("pos", "zho_Hans", ("en", "zh"), 10).shots == 10


def test_text_in_other_letters_is_not_held_against_a_score_in_its_own() -> None:
    assert correlations(Report("t", "q", scored_and_compared(letters=">latin"))) == []


def test_two_texts_of_one_language_stay_apart_whatever_their_codes() -> None:
    others = [alike(short, 0.3, seed, "flores") for short, seed in product(CODES, SEEDS)]
    found = alignments(Report("t", "q", [*scored_and_compared(), *others]))
    assert {each.source: list(each.values) for each in found} == {
        "en (flores:de)": list(CODES),
        "en (ntrex:deu)": list(CODES.values()),
    }


@pytest.mark.parametrize("code", ["de", "deu"])
def test_what_was_brought_in_by_another_code_has_its_gain(code: str) -> None:
    rows = [score("de", value, seed, encoder=name) for name, value in (("e", 0.3), ("more", 0.6)) for seed in SEEDS]
    pairs = [Row("pairs", 200, kind="alignment", encoder="more", language=code, key="a")]
    made = BringingIn(name="more", encoder="e", languages={code: [f"ntrex:{code}"]})
    (gain,) = gains(Report("t", "q", [*rows, *pairs], brought_in={"more": made}), pairs)
    assert gain.pairs == 200 and gain.better is not None and gain.better.mean == pytest.approx(0.3)


def test_scripts_that_were_brought_in_apart_keep_their_numbers_of_sentences() -> None:
    """As the encoder reads each with a tokenizer of its own."""
    brought = {"sr-Latn": 100, "srp-Cyrl": 200}
    rows = [
        score(code, value, seed, encoder=name, dataset=code)
        for name, value in (("e", 0.3), ("more", 0.6)) for code in ("sr-Cyrl", "sr-Latn") for seed in SEEDS
    ]  # fmt: skip
    pairs = [Row("pairs", count, kind="alignment", encoder="more", language=code) for code, count in brought.items()]
    texts = {"sr-Latn": ["ntrex:srp_Latn"], "srp-Cyrl": ["ntrex:srp_Cyrl"]}
    made = BringingIn(name="more", encoder="e", languages=texts)
    found = gains(Report("t", "q", [*rows, *pairs], brought_in={"more": made}), pairs)
    assert {gain.score.language: gain.pairs for gain in found} == {"sr-Cyrl": 200, "sr-Latn": 100}


def test_frozen_layers_are_held_against_retrieval_whatever_the_code() -> None:
    schedules = [f"freeze:{n}" for n in (-1, 0, 1, 2)]
    rows = [score("de", 0.5 + 0.1 * n, seed, schedule=name) for n, name in enumerate(schedules) for seed in SEEDS]
    rows += [
        Row("retrieval", 0.1 * n, "share", kind="retrieval", encoder="e", language="deu", layer=n) for n in range(3)
    ]
    declared = {name: parse_schedule(name) for name in schedules}
    (found,) = likenesses(Report("t", "q", rows, schedules=declared))
    assert {place.language: value for place, value in found.by_place.items()} == pytest.approx({"de": 1})
