"""What a report warns of: trainings that did not learn or could go on, baselines, text that cannot be read."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.row import Row
from babelscope.core.samples import Samples
from babelscope.core.scores import measure_of
from babelscope.report import Report
from babelscope.report.cautions import cautions
from scored_runs import RUN, scored


def curve(values, *, seed=0, measure="accuracy", split="dev"):
    run = RUN | {"kind": "curve", "split": split}
    return [Row(measure, value, "share", seed=seed, step=step, **run) for step, value in values.items()]


def warned(rows):
    report = Report("t", "q", rows)
    return [warning.removeprefix("Part-of-speech tagging: ") for warning in cautions(report, report.scores)]


@pytest.mark.parametrize(("losses", "told"), [((2.0, 1.4, 2.6), 1), ((2.0, 2.0, 2.0), 1), ((2.0, 3.0, 1.9), 0)])
def test_a_training_whose_loss_did_not_fall_is_told_and_not_advised_to_go_on(losses, told):
    steps = (100, 300, 500)
    rows = scored({"de": 0.6}) + curve(dict(zip(steps, (0.5, 0.55, 0.6), strict=True)))
    rows += curve(dict(zip(steps, losses, strict=True)), measure="loss", split="train")
    (warning,) = warned(rows)
    assert ("did not fall" in warning, "still got better" in warning) == (bool(told), not told)
    if told:
        said = f"the loss on training data did not fall (e; from {losses[0]:.3g} to {losses[-1]:.3g})."
        assert warning.startswith(said)


def test_the_loss_of_a_single_point_says_nothing():
    assert warned(scored({"de": 0.6}) + curve({500: 2.0}, measure="loss", split="train")) == []


def test_a_long_training_that_was_done_needs_no_warning():
    rows = scored({"de": 0.6}) + [
        row for seed in range(3) for row in curve({100: 0.5, 300: 0.6, 500: 0.605}, seed=seed)
    ]
    assert warned(rows) == []


@pytest.mark.parametrize(
    ("sentences", "kept", "told"), [(1, None, 0), (1, 1, 1), (15, None, 1), (29, 29, 1), (30, 30, 0), (30, 8, 1)]
)
def test_few_test_sentences_are_told(sentences, kept, told):
    """With one column nothing is known of sentences, unless it is kept that there is one."""
    score = Report("t", "q", scored({"de": 0.6})).scores[0]
    score = replace(score, samples=Samples((0, 1, 2), np.full((3, sentences), 0.6), kept))
    found = cautions(Report("t", "q", []), [score])
    assert len(found) == told and all("tested on as few as" in each and "(de)" in each for each in found)
    many = replace(score, samples=Samples((0, 1, 2), np.full((3, 99), 0.6)))
    assert [*cautions(Report("t", "q", []), [score, many])] == found, "the other score is of the same language"


@pytest.mark.parametrize(("unknown", "told"), [(0.5, 0), (0.757, 1)])
def test_a_text_that_an_encoder_cannot_read_is_told(unknown, told):
    shares = {"de": 0.01, "el": unknown}
    scores = [
        replace(score, companions={"unknown": shares[score.place]})
        for score in Report("t", "q", scored({"de": 0.6, "el": 0.1})).scores
    ]
    found = [line for line in cautions(Report("t", "q", []), scores) if "cannot read" in line]
    said = "Part-of-speech tagging: e cannot read el: 75% or more of the words have a letter or sign that its tokenizer"
    assert found == told * [f"{said} does not know."]


@pytest.mark.parametrize(("tokens", "told"), [(818, 0), (652, 1)])
def test_perplexities_of_other_tokens_are_told(tokens, told):
    run = {"encoder": "e", "task": "mlm", "train_languages": "en", "language": "de", "dataset": "text", "split": "test"}
    rows = [
        Row("perplexity", 20.0, "perplexity", kind="score", seed=seed, **run | {"encoder": encoder})
        for encoder in "ef" for seed in range(3)
    ]  # fmt: skip
    sizes = [
        Row(measure, count, kind="text size", **run | {"encoder": encoder, "train_languages": None})
        for encoder, tokens in (("e", 818), ("f", tokens))
        for measure, count in {"tokens": tokens, "characters": 4000, "bytes": 4100}.items()
    ]
    report = Report("t", "q", rows + sizes)
    found = [line for line in cautions(report, report.scores) if "per token" in line]
    assert len(found) == told and all("e and f do not all divide a text into the same tokens" in line for line in found)


@pytest.mark.parametrize(("levels", "told"), [({"de": 0.0, "fr": 0.0}, True), ({"de": 0.0, "fr": 0.1}, False)])
def test_models_that_find_nothing_are_told(levels, told):
    """Such as F1 of entities, of which none is found in any language."""
    rows = [row.labelled(value=levels[row.language]) for row in scored(levels) if row.surgery is None]
    assert any(line.startswith("every score of e is 0") for line in warned(rows)) == told


def test_nine_steps_are_too_few():
    (warning,) = warned(scored({"de": 0.6}) + curve({3: 0.605, 9: 0.61}))
    assert warning.startswith("trained for as few as nine optimiser steps (e).")


def test_a_score_that_still_rises_at_the_end_is_said():
    rows = (
        scored({"de": 0.6}) + curve({100: 0.5, 200: 0.55, 300: 0.6}) + curve({100: 0.5, 200: 0.55, 300: 0.57}, seed=1)
    )
    (warning,) = warned(rows)
    assert "still got better in the last third of training, by up to 3.5 points (e)" in warning
    assert warned(scored({"de": 0.6}) + curve({100: 0.5, 200: 0.6, 300: 0.5})) == []
    assert len(warned(scored({"de": 0.6}) + curve({100: 0.5}) + curve({100: 0.5, 200: 0.52}, seed=1))) == 1


def test_rates_that_fall_to_0_do_not_hide_that_a_score_rises():
    """The last two of six hardly differ."""
    rising = curve(dict(zip(range(100, 700, 100), (0.3, 0.4, 0.5, 0.6, 0.68, 0.681), strict=True)))
    (warning,) = warned(scored({"de": 0.6}) + rising)
    assert "by up to 8.1 points (e)" in warning


@given(st.lists(st.floats(1.0, 99.0), max_size=9), st.booleans())
def test_a_late_gain_is_the_best_of_the_last_third_over_the_best_before(values, falls):
    gained = measure_of("perplexity" if falls else "accuracy").late_gain(values)
    if len(values) < 2:
        assert gained is None
        return
    kept = 2 * len(values) // 3
    ahead = [min(part) if falls else max(part) for part in (values[:kept], values[kept:])]
    assert gained == pytest.approx(math.log(ahead[0] / ahead[1]) if falls else ahead[1] - ahead[0], abs=1e-12)


def test_a_loss_with_nothing_left_to_learn_need_not_fall():
    def losses(first, last):
        common = RUN | {"kind": "curve", "split": "train", "language": "en", "key": "k", "seed": 0}
        return [Row("loss", value, step=step, **common) for step, value in ((0, first), (200, last))]

    said = [any("did not fall" in line for line in warned(scored({"de": 0.6}) + losses(*ends)))
            for ends in ((1e-5, 2e-5), (0.5, 0.6), (0.6, 0.5))]  # fmt: skip
    assert said == [False, True, False]


def test_what_a_baseline_beats_is_named():
    rows = scored({"de": 0.6, "fr": 0.3, "es": 0.2})
    common = RUN | {"encoder": "most-frequent-tag"}
    rows += [Row("accuracy", 0.4, "share", language=code, **common) for code in ("de", "fr", "es")]
    assert warned(rows) == ["e is below the baseline most-frequent-tag in two of three languages: es and fr."]
    published = [
        row.labelled(encoder="published: mBERT") if row.encoder == "most-frequent-tag" else row for row in rows
    ]
    assert warned(published) == []


def test_data_sets_that_share_a_code_are_named():
    rows = [row.labelled(dataset=name) for name in ("A", "B") for row in scored({"no": 0.6})]
    assert warned(rows) == ["A and B share the code no; where languages are counted or averaged, they are one."]


@pytest.mark.parametrize(("other", "said"), [(0.4, True), (0.6, False)])
def test_a_model_that_does_nothing_but_what_a_baseline_does_is_named(other, said):
    rows = scored({"de": 0.4, "fr": other})
    common = RUN | {"encoder": "majority"}
    rows += [Row("accuracy", 0.4, "share", language=code, **common) for code in ("de", "fr")]
    told = [line for line in warned(rows) if "every score of e is that of the baseline majority" in line]
    assert bool(told) == said


def test_rounding_makes_no_model_worse_than_a_baseline_that_is_the_same():
    """Means over seeds and over sentences differ in their last bit."""
    for number in range(20):
        right, words = np.random.default_rng(number).integers(1, 9, (2, 40))
        kept = {"accuracy": [[float(min(pair)) for pair in zip(right, words, strict=True)], [*map(float, words)]]}
        value = sum(kept["accuracy"][0]) / sum(kept["accuracy"][1])
        rows = [Row("accuracy", value, "share", language="de", seed=seed, key=f"e{seed}", **RUN) for seed in range(3)]
        rows.append(Row("accuracy", value, "share", language="de", key="b", **RUN | {"encoder": "majority"}))
        made = Report("t", "q", rows, outcomes=dict.fromkeys(("e0", "e1", "e2", "b"), kept).__getitem__)
        told = cautions(made, made.scores)
        assert not any("is below the baseline" in line for line in told)
        assert any("every score of e is that of the baseline majority" in line for line in told)
