"""Scores against each other: perplexities of encoders of other tokens are compared per character."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest

from babelscope.core.row import Row
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.paired import differences
from babelscope.report.sections.brought_in.gains import gains
from babelscope.report.sections.effects import claims, effects
from babelscope.report.text_sizes import KIND
from babelscope.study.encoders import BringingIn

PERPLEXITIES = {
    "e": {"de": [20.0, 21.0, 22.0], "nl": [12.0, 12.5, 13.1]},
    "f": {"de": [30.0, 31.0, 34.0], "nl": [18.0, 18.2, 19.0]},
}
TOKENS = {"e": {"de": 900, "nl": 500}, "f": {"de": 600, "nl": 500}}
CHARACTERS = {"de": 3000, "nl": 2000}


def scored(sized: Iterable[str] = "ef") -> list[Row]:
    about = {"task": "mlm", "split": "test"}
    rows = [
        Row("perplexity", value, "perplexity", kind="score", encoder=encoder, language=language, dataset=language,
            train_languages="en", seed=seed, key=f"{encoder}{language}{seed}", **about)
        for encoder, by_language in PERPLEXITIES.items()
        for language, values in by_language.items()
        for seed, value in enumerate(values)
    ]  # fmt: skip
    for encoder in sized:
        for language, tokens in TOKENS[encoder].items():
            counts = {"tokens": tokens, "unknown tokens": 0, "characters": CHARACTERS[language], "bytes": 9999}
            rows += [
                Row(name, count, kind=KIND, encoder=encoder, language=language, dataset=language, **about)
                for name, count in counts.items()
            ]
    return rows


def per_character(encoder: str, language: str, seed: int) -> float:
    """By hand: the loss of all tokens of the text, over its characters."""
    loss = math.log(PERPLEXITIES[encoder][language][seed]) * TOKENS[encoder][language]
    return loss / CHARACTERS[language]


def pairs(report: Report, languages: Iterable[str]):
    by_side = {(score.encoder, score.language): score for score in report.scores}
    return [(by_side["e", language], by_side["f", language]) for language in languages]


def test_perplexities_of_other_tokens_are_compared_per_character():
    report = Report("t", "q", scored())
    shown, found = differences(report, pairs(report, ["de", "nl"]))
    assert shown.per == "character"
    for language, samples in zip(["de", "nl"], found, strict=True):
        slow = {seed: per_character("f", language, seed) - per_character("e", language, seed) for seed in range(3)}
        assert samples.by_seed == pytest.approx(slow)


def test_the_better_of_two_can_be_the_other_per_character():
    """Per token e is better in German; per character f is, as its tokens are longer."""
    report = Report("t", "q", scored())
    ((first, second),) = pairs(report, ["de"])
    _, (samples,) = differences(report, [(first, second)])
    assert first.interval.mean < second.interval.mean and samples.mean < 0


def test_perplexities_of_the_same_tokens_stay_per_token():
    report = Report("t", "q", scored())
    shown, (samples,) = differences(report, pairs(report, ["nl"]))
    assert not shown.per
    nl = {encoder: by_language["nl"] for encoder, by_language in PERPLEXITIES.items()}
    slow = {seed: math.log(nl["f"][seed]) - math.log(nl["e"][seed]) for seed in range(3)}
    assert samples.by_seed == pytest.approx(slow)


def test_a_text_of_unknown_length_cannot_be_compared_beside_others():
    rows = [row for row in scored() if not (row.kind == KIND and row.encoder == "f" and row.language == "nl")]
    report = Report("t", "q", rows)
    shown, (german, dutch) = differences(report, pairs(report, ["de", "nl"]))
    assert shown.per == "character" and german and dutch is None
    shown, found = differences(unsized := Report("t", "q", scored("")), pairs(unsized, ["de"]))
    assert not shown.per and all(found)
    unfinished = Report("t", "q", scored(""), missing="2 of 4 steps are done; the rest is missing")
    assert differences(unfinished, pairs(unfinished, ["de"]))[1] == [None], "texts may be counted later"
    (german, *_), _ = zip(*pairs(unfinished, ["de"]), strict=True)
    assert all(differences(unfinished, [(german, german)])[1]), "an encoder has the tokens that it has"


def test_claims_say_that_they_are_per_character():
    contrast = Contrasted("e is better", Side("e"), Side("f"), languages=("de",))
    (line,) = effects(Report("t", "q", scored(), contrasts=[contrast]))
    mean = math.exp(sum(per_character("e", "de", seed) - per_character("f", "de", seed) for seed in range(3)) / 3)
    assert mean > 1 and f"(×{mean:.2f} per character [" in claims([line])[0]
    assert line.shown.cells(line.size)[0].text == f"×{mean:.2f} per character"


def test_gains_of_a_language_with_own_tokens_are_per_character():
    pairs_of = [Row("pairs", 40, kind="alignment", encoder="e", language="de")]
    text = [{"languages": ["qaa", "qab"], "sentences": 40}]
    made = {"e": BringingIn.model_validate({"name": "e", "encoder": "f", "languages": {"de": text}, "pairs": 40})}
    report = Report("t", "q", [*scored(), *pairs_of], brought_in=made)
    (gain,) = gains(report, pairs_of)
    assert (
        gain.shown.per == "character" and gain.effect.mean < 0 and "per character" in gain.shown.in_words(gain.better)
    )
