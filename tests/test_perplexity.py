"""Perplexities by sentence, and through their logarithm: kept losses, geometric means, ratios."""

from __future__ import annotations

import math
from statistics import fmean, geometric_mean

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from babelscope.core.intervals import Interval, geometric_interval
from babelscope.core.row import Row
from babelscope.core.samples import Counts, Samples
from babelscope.core.scores import MEASURES, measure_of
from babelscope.corpora.datasets import find
from babelscope.encoders.load import Encoder, load_encoder
from babelscope.encoders.places import locate
from babelscope.measures.probing import ScoreReference
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.sections import sections_of
from babelscope.report.sections.effect_tables import effect_table
from babelscope.report.sections.effects import claims, effects
from babelscope.report.sections.freezing.best import best_in_words
from babelscope.report.sections.freezing.sweeps import sweeps
from babelscope.report.sections.scores.figures import difference_chart, score_chart
from babelscope.report.sections.scores.findings import differences, findings
from babelscope.report.sections.scores.tables import difference_table, glance_table, score_table
from babelscope.report.shown import Shown
from babelscope.steps import Load
from babelscope.tasks.mlm import HeldOut
from babelscope.tuning.schedule import parse_schedule
from perplexity_rows import a_row
from slowly import judged, share_of_each
from written import rows_and_counts

PERPLEXITY = MEASURES["perplexity"]
SENTENCES = 40
perplexities = st.dictionaries(st.integers(0, 5), st.floats(1.0, 1e5), min_size=1, max_size=6)


def loss_of(encoder: Encoder, sentence: str, max_length: int) -> tuple[float, int]:
    """The slow way: a sentence by itself through the whole model, a softmax a hidden token."""
    held_out, total, count = HeldOut.of(encoder.tokenizer, [sentence], max_length), 0.0, 0
    for ids, places in zip(held_out.pieces, held_out.places, strict=True):
        shown = torch.tensor(ids)[None].clone()
        shown[0, places] = encoder.tokenizer.mask_token_id
        with torch.no_grad():
            logits = encoder.model(input_ids=shown).logits[0].double()
        for place in places:
            odds = [math.exp(logit) for logit in logits[place].tolist()]
            total, count = total - math.log(odds[ids[place]] / sum(odds)), count + 1
    return total, count


@pytest.mark.parametrize("max_length", [8, 32])  # at 8 sentences are cut to several sequences, and count once
def test_what_is_kept_are_the_losses_of_one_sentence_at_a_time(encoder_folder, max_length):
    place = locate(str(encoder_folder))
    tiny = Load(name="tiny", content=place.content, place=place.path)
    data, encoder = find("mlm", "world:qaa", "test", 12), load_encoder(encoder_folder)
    (row,), counts = rows_and_counts(ScoreReference(encoder=tiny, task="mlm", data=data, max_length=max_length))
    losses, tokens = counts["perplexity"]
    expected = [loss_of(encoder, sentence, max_length) for sentence in data.read()]
    assert losses == pytest.approx([loss for loss, _ in expected], rel=1e-5)
    assert tokens == [count for _, count in expected] and all(isinstance(count, int) for count in tokens)
    assert sum(losses) / sum(tokens) == pytest.approx(math.log(row.value), abs=1e-6)
    assert row.value == HeldOut.of(encoder.tokenizer, data.read(), max_length).perplexity(encoder.model)


def compared(by_seed: dict[int, float]) -> Samples:
    return Samples.of({seed: PERPLEXITY.compared(value) for seed, value in by_seed.items()}, {})


@given(perplexities, perplexities)
def test_the_geometric_mean_of_ratios_is_the_ratio_of_geometric_means(first, second):
    difference, shared = compared(first) - compared(second), sorted(first.keys() & second.keys())
    if difference is None:
        assert not shared
        return
    ratios = [first[seed] / second[seed] for seed in shared]
    means = [geometric_mean([side[seed] for seed in shared]) for side in (first, second)]
    assert math.exp(difference.mean) == pytest.approx(geometric_mean(ratios)) == pytest.approx(means[0] / means[1])


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=8))
def test_means_of_a_measure_are_scipys(values):
    assert PERPLEXITY.mean(values) == pytest.approx(stats.gmean(values))
    assert PERPLEXITY.interval(values) == geometric_interval(values)
    for name in ("accuracy", "of nobody"):
        means = [measure_of(name).mean(values), measure_of(name).interval(values).mean]
        assert means == pytest.approx([fmean(values)] * 2)


def test_a_perplexity_has_a_logarithm():
    with pytest.raises(ValueError, match="perplexity is above 0, and a row has 0"):
        PERPLEXITY.compared(0.0)
    assert MEASURES["loss"].compared(0.0) == 0.0


CONDITIONS = {"whole": 2.0, "reinit": 2.8}
LANGUAGES = ("qaa", "qab")
Kept = dict[str, list[list[float]]]


def rows_and_kept() -> tuple[list[Row], Kept]:
    """Losses of sentences that are hard or easy for every model, by key; and the perplexities of their sums."""
    draw = np.random.default_rng(3)
    rows, kept = [], {}
    for language in LANGUAGES:
        tokens, hard = draw.integers(1, 6, SENTENCES), draw.normal(0, 0.5, SENTENCES)
        for surgery, level in CONDITIONS.items():
            for seed in range(3):
                each = np.abs(level + hard + draw.normal(0, 0.2, SENTENCES) + draw.normal(0, 0.02))
                losses = (tokens * each).tolist()
                row = a_row(surgery, language, seed, math.exp(sum(losses) / tokens.sum()))
                rows.append(row)
                kept[row.key or ""] = [losses, tokens.tolist()]
    return rows, kept


def report(*, kept: bool = True, rows: list[Row] = [], **declared: object) -> Report:  # noqa: B006
    made, counts = rows_and_kept()

    def outcomes(key: str) -> Counts:
        return {"perplexity": counts[key]} if kept and key in counts else {}

    return Report("t", "q", [*made, *rows], outcomes=outcomes, **declared)


def losses_of(surgery: str, language: str) -> np.ndarray:
    """[seeds, sentences]: what each adds to the loss per token, by loops."""
    _, kept = rows_and_kept()
    return np.array([share_of_each(*kept[f"{surgery} {language} {seed}"]) for seed in range(3)])


def test_scores_are_geometric_means_with_intervals_over_seeds_and_sentences():
    rows, _ = rows_and_kept()
    for score in report().scores:
        found = score.interval
        slow = judged(losses_of(score.surgery or "whole", score.language))
        assert (found.low, found.high) == pytest.approx((math.exp(slow.low), math.exp(slow.high)))
        values = [row.value for row in rows if (row.surgery, row.language) == (score.surgery, score.language)]
        assert found.mean == pytest.approx(geometric_mean(values))
        assert found.sd == pytest.approx(math.exp(np.std(np.log(values), ddof=1)))
        assert list(score.by_seed.values()) == values


def test_without_what_each_sentence_adds_they_are_known_by_seed_alone():
    for score in report(kept=False).scores:
        expected = geometric_interval(list(score.by_seed.values()))
        assert (score.interval.mean, score.interval.low, score.interval.high, score.interval.sd) == pytest.approx(
            (expected.mean, expected.low, expected.high, expected.sd)
        )


def test_differences_are_ratios_with_intervals_over_seeds_and_sentences():
    made = report()
    for difference in differences(made.by_task[0]):
        language = difference.score.language
        slow = judged(losses_of("whole", language) - losses_of("reinit", language))
        assert difference.effect is not None and difference.effect.sentences == SENTENCES
        assert difference.effect.p == pytest.approx(slow.p) and difference.verdict == "shows"
        found = difference.interval
        expected = [math.exp(end) for end in (slow.mean, slow.low, slow.high)]
        assert [found.mean, found.low, found.high] == pytest.approx(expected) and found.high < 1
        means = [geometric_mean(side.by_seed.values()) for side in (difference.score, difference.reference)]
        assert found.mean == pytest.approx(means[0] / means[1])


def test_pages_say_geometric_and_show_ratios():
    made = report()
    (scores,) = made.by_task
    listed = differences(scores)
    ratio = f"×{listed[0].interval.mean:.2f} [{listed[0].interval.low:.2f}, {listed[0].interval.high:.2f}]"
    assert ratio in "\n".join(findings(scores)) and "with the interval of the ratio" in "\n".join(findings(scores))
    table = difference_table(listed)
    assert table.title == "Pretrained over untrained" and table.headers[2] == "Ratio"
    assert " ".join(cell.text for cell in table.lines[0][2:4]) == ratio
    assert "geometric" in score_table(scores).note and "ometric mean" in (glance_table(made, scores) or table).note
    for section in sections_of(made):
        assert all("eometric mean" in figure.caption for figure in section.figures)


def test_the_gap_to_the_source_is_a_ratio():
    (scores,) = report().by_task
    table = score_table(scores)
    column = table.headers.index("Gap to source")
    means = {(score.language, score.surgery): score.interval.mean for score in scores}
    for score, line in zip(scores, table.lines, strict=True):
        expected = None if score.language == "qaa" else means["qab", score.surgery] / means["qaa", score.surgery]
        assert line[column].number == (expected and pytest.approx(expected))


def test_charts_of_perplexities_have_logarithmic_axes_and_ratios_their_line_at_one():
    made = report()
    (scores,) = made.by_task
    charts = [score_chart(made, scores).to_dict(), difference_chart(made, differences(scores)).to_dict()]
    scales = [[layer["encoding"]["x"].get("scale") for layer in chart["layer"]] for chart in charts]
    assert all({"type": "log", "nice": False, "padding": 8} in each for each in scales)
    assert [{"mean": 1}] in charts[1]["datasets"].values()


def test_contrasts_are_ratios_of_the_first_over_the_second():
    contrast = Contrasted("Pre-trained is better", Side("e"), Side("e", "reinit"))
    made = report(contrasts=[contrast])
    (line,) = effects(made)
    first, second = (np.stack([losses_of(side, code) for code in LANGUAGES]).mean(axis=0) for side in CONDITIONS)
    slow = judged(first - second)
    table = effect_table([line])
    assert table.headers[2] == "Ratio" and "ratio" in table.note and line.effect is not None
    assert table.lines[0][0].text == "e / e untrained"
    assert [cell.number for cell in table.lines[0][2:5]] == pytest.approx(
        [math.exp(slow.mean), math.exp(slow.low), slow.p]
    )
    (said,) = claims([line])
    assert said.startswith("Pre-trained is better: shows for e, Masked language modelling (×0.")


@pytest.mark.parametrize(("margin", "verdict"), [(0.5, "shows"), (0.1, "does not show")])
def test_the_margin_of_perplexities_is_a_share(margin, verdict):
    """Two one-sided t tests, of the ratio against 1 + margin and 1 / (1 + margin)."""
    by_seed = {"whole": [8.0, 8.2, 7.9, 8.1], "reinit": [9.3, 9.7, 9.0, 9.6]}
    rows = [a_row(side, "qaa", seed, value) for side, values in by_seed.items() for seed, value in enumerate(values)]
    contrast = Contrasted("As good", Side("e"), Side("e", "reinit"), margin=margin)
    (line,) = effects(Report("t", "q", rows, contrasts=[contrast]))
    logs = np.log(by_seed["whole"]) - np.log(by_seed["reinit"])
    sides = [
        stats.ttest_1samp(logs, end, alternative=side).pvalue
        for end, side in ((math.log(1 + margin), "less"), (-math.log(1 + margin), "greater"))
    ]
    assert effect_table([line]).lines[0][4].number == pytest.approx(max(sides))
    assert line.verdict == verdict and f"within {100 * margin:g}%" in claims([line])[0]


def test_the_best_number_of_frozen_layers_is_by_geometric_means():
    by_frozen = {-1: (4.0, 100.0), 0: (30.0, 30.0), 1: (50.0, 50.0)}
    rows = [
        a_row("whole", code, seed, value, schedule=f"freeze:{frozen}")
        for frozen, values in by_frozen.items()
        for code, value in zip(("qab", "qac"), values, strict=True)
        for seed in range(3)
    ]
    schedules = {name: parse_schedule(name) for name in (f"freeze:{number}" for number in by_frozen)}
    (said,) = best_in_words(sweeps(Report("t", "q", rows, schedules=schedules)))
    assert "perplexity is best on average with nothing frozen (20.0)" in said


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.924, 0.896, 0.953), "×0.924 [0.896, 0.953]"),
        ((0.32, 0.13, 0.95), "×0.32 [0.13, 0.95]"),
        ((1.05, 0.8, 1.38), "×1.050 [0.800, 1.380]"),
        ((1.05, 0.0003, 40_000.0), "×1.050 [0.0003, 4e+04]"),
        ((20_000.0, 0.012, 34_000.0), "×2e+04 [0.012, 3.4e+04]"),
    ],
)
def test_ends_have_the_decimals_of_the_ratio_unless_they_are_very_small_or_large(ends, words):
    mean, low, high = map(math.log, ends)
    assert Shown("", MEASURES["perplexity"]).in_words(Interval(mean, low, high, None, 3)) == words
