"""What reports say of where languages are alike, and of whether more carries over there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from align_rows import LANGUAGES, SEEDS, alike, declared, report, scores, titles, value_of
from babelscope.core.row import Row
from babelscope.report.files import markdown
from babelscope.report.page import render
from babelscope.report.sections.alignment.alignments import alignments, correlations, gaps, is_similarity
from babelscope.report.sections.alignment.figures import aligned_figures
from babelscope.report.sections.alignment.tables import aligned_findings, aligned_tables
from babelscope.report.sections.redrawn_layers.tables import reinitialised_tables
from babelscope.studies.published_numbers import published_rows
from babelscope.study.encoders import BringingIn


def test_x_gaps_are_the_differences_to_the_source():
    found = {gap.language: gap.by_seed for gap in gaps(report())}
    assert set(found) == set(LANGUAGES)
    for language, by_seed in found.items():
        expected = {seed: value_of("qaa", None, seed) - value_of(language, None, seed) for seed in SEEDS}
        assert by_seed == pytest.approx(expected)


def test_correlations_are_over_languages_with_the_sign_of_the_published_ones():
    for falling, sign in ((0.1, 1), (-0.1, -1)):
        made = report(*alike(), *alike(task="parsing", falling=falling))
        found = correlations(made)
        assert [one.layer for one in found] == [0, 1, 2, None] and all(one.stage.task == "parsing" for one in found)
        assert [one.interval.mean for one in found] == [pytest.approx(sign)] * 4, "of those most alike the gap is least"
    rng = np.random.default_rng(3)
    rows = [row.labelled(value=rng.normal()) for row in alike(task="parsing")]
    for one in correlations(report(*rows)):
        layers = (0, 1, 2) if one.layer is None else (one.layer,)
        means = [
            np.mean([row.value for row in rows if row.language == code and row.layer in layers]) for code in LANGUAGES
        ]
        gap = [np.mean([value_of("qaa", None, s) - value_of(code, None, s) for s in SEEDS]) for code in LANGUAGES]
        assert one.interval.mean == pytest.approx(-spearmanr(means, gap).statistic)


def test_a_language_in_other_letters_counts_once():
    """What its two codes have is averaged, in means over languages and in correlations over them."""
    rng = np.random.default_rng(3)
    plain = [row.labelled(value=rng.normal()) for row in alike(task="parsing")]
    other = [row for row in (*report(*plain).rows,) if row.language == "qaf"]
    lettered = [row.labelled(language="qaf>world", value=row.value + 0.25) for row in other]
    twice = declared([*report(*plain).rows, *lettered])
    halfway = [row.labelled(value=row.value + 0.125 * (row.language == "qaf")) for row in report(*plain).rows]
    assert len(alignments(twice)[-1].values) == len(alignments(twice)[-1].languages) + 1
    for found, expected in zip(alignments(twice), alignments(declared(halfway)), strict=True):
        assert all(found.mean(layer) == pytest.approx(expected.mean(layer)) for layer in found.layers)
    for found, expected in zip(correlations(twice), correlations(declared(halfway)), strict=True):
        assert found.interval.n == len(LANGUAGES) == expected.interval.n
        assert found.interval.mean == pytest.approx(expected.interval.mean)


@pytest.mark.parametrize(
    ("dataset", "source"),
    [
        ("world:qaa-{}", "world:qaa"),
        ("ntrex:{}:lines-1-9", "ntrex:en"),
        ("treebank:en:a.conllu+treebank:{}:b.conllu", "treebank:en:a.conllu"),
    ],
)
def test_where_no_model_is_tuned_the_text_says_with_what_languages_are_compared(dataset, source):
    rows = [row.labelled(key="1", dataset=dataset.format(row.language)) for row in alike()]
    (alignment,) = alignments(declared(rows))
    assert alignment.source == source and set(alignment.values) == set(LANGUAGES)


@pytest.mark.parametrize("after_tuning", [True, False])
def test_that_layers_are_measured_before_tuning_alone_is_said(after_tuning):
    """Of what is brought in after it."""
    text = [{"languages": ["qaa", "qag"], "sentences": 9}]
    made = {"name": "e", "encoder": "world", "languages": {"qag": text}, "after_tuning": after_tuning}
    given = replace(report(*alike()), brought_in={"e": BringingIn.model_validate(made)})
    peaks, *_ = aligned_tables(given, [])
    assert ("Into e languages are brought after tuning" in peaks.note) == after_tuning


def test_peaks_are_found_before_and_after_tuning():
    made = report(*alike(), *alike(task="parsing"))
    before, after = alignments(made)
    assert (before.stage.task, after.stage.task, before.source) == ("", "parsing", "qaa")
    assert before.peak == after.peak == 1 and before.peak_of("qaf") == 1
    assert after.mean(1) == pytest.approx({seed: 0.7 + 0.001 * seed for seed in SEEDS})
    titles = [table.title for table in aligned_tables(made, correlations(made))]
    assert titles == [
        "Where languages are most alike", "X-Gap", "Does a task carry over further where languages are more alike?",
    ]  # fmt: skip
    peaks, related, sign, exchanged = aligned_findings(made, correlations(made))
    assert "is highest before tuning in layer 1 (0.70; 0.50 in the last); after dependency parsing in layer 1" in peaks
    assert "over 5 target languages" in related and sign.startswith("X-Gap is the score in the language of the train")
    assert "that the more alike languages have the smaller gap: shows (p = 0.017)" in related  # 2 of 120 orders
    assert exchanged.startswith("Verdicts at 5%, corrected for the number of these correlations (Holm)")


def test_correlations_of_several_encoders_are_one_family():
    made = declared([row.labelled(encoder=name) for name in "efgh" for row in (*scores(), *alike(task="parsing"))])
    found = [each for each in aligned_findings(made, correlations(made)) if "target languages, is" in each]
    assert len(found) == 4
    assert all("the smaller gap: does not show among 4 claims (p = 0.017)" in each for each in found)


def test_figures_of_layers_can_be_filtered_by_task():
    """As far as they are of one: what is measured before tuning is of none."""
    made = report(*alike(), *alike(task="parsing"))
    for figure in aligned_figures(made, correlations(made)):
        records = [record for data in figure.chart.to_dict()["datasets"].values() for record in data]
        before, after = (
            {each["task"] for each in records if ("before" in each.get("stage", "")) == is_} for is_ in (1, 0)
        )
        assert after == {"Dependency parsing"} and before <= {None}


def test_similarities_are_in_their_own_section_alone():
    rows = [*alike(), *alike("retrieval"), *alike(task="parsing"), *published_rows("align-then-predict")]
    made = report(*rows)
    assert all(map(is_similarity, alike())) and not is_similarity(Row("retrieval", 0.5, kind="retrieval", layer=1))
    assert titles(made) == [
        "Layers reinitialised before tuning",
        "Where languages are alike",
        "Dependency parsing: LAS",
    ]
    assert [figure.title for figure in aligned_figures(made, correlations(made))] == [
        "Linear CKA (debiased) with qaa, e", "Retrieval with qaa, e",
        "X-Gap against linear CKA (debiased), trained on qaa, e",
    ]  # fmt: skip
    page = render(made)
    assert "Layers reinitialised before tuning" in page and "Where languages are alike" in page
    text = markdown(made)
    assert "published of mBERT: 0.76" in text and "| qaa → X (mean of 5) |" in text


def test_a_study_that_measures_nothing_of_it_has_no_such_section():
    plain = declared([row for row in scores() if row.surgery is None])
    assert not reinitialised_tables(plain) and not aligned_figures(plain, []) and not aligned_tables(plain, [])
    assert "Where languages are alike" not in markdown(plain)


def test_two_texts_that_share_a_target_and_a_training_stay_apart():
    first = [row.labelled(key="1", train_languages="qaa+qab", task="pos", seed=0) for row in alike()]
    second = [row.labelled(key="2", dataset=f"text:{row.language}", value=row.value / 2) for row in first]
    apart = alignments(declared([*first, *second]))
    assert [each.source for each in apart] == ["qaa+qab (text:qab)", "qaa+qab (world:qaa-qab)"]
    assert [each.of("qab", 1) for each in apart] == [0.45, 0.9]


def test_correlations_with_two_sources_are_told_apart():
    """Two texts of one tuning, of which one makes the alike languages close and the other the unlike ones."""
    first = [row.labelled(key="1") for row in alike(task="parsing")]
    second = [row.labelled(key="2", dataset=f"text:{row.language}") for row in alike(task="parsing", falling=-0.1)]
    made = report(*first, *second, *published_rows("align-then-predict"))
    related, sources = correlations(made), {"qaa (world:qaa-qab)": 1, "qaa (text:qab)": -1}
    *_, table = aligned_tables(made, related)
    assert table.headers[3:5] == ["Compared with", "Measure"] and {len(line) for line in table.lines} == {10}
    assert {(line[3].text, line[6].text) for line in table.lines if line[3].text} == {
        (source, f"{sign:.2f}".replace("-", "−")) for source, sign in sources.items()
    }
    titles_there = [each.title for each in aligned_figures(made, related) if each.title.startswith("X-Gap")]
    assert sorted(titles_there) == sorted(
        f"X-Gap against linear CKA (debiased) with {source}, trained on qaa, e" for source in sources
    )
    said = [each for each in aligned_findings(made, related) if "Spearman" in each]
    for source, sign in sources.items():
        (sentence,) = (each for each in said if f"trained on qaa, compared with {source}: Spearman" in each)
        assert ("is 1.00" if sign == 1 else "is −1.00") in sentence


def test_one_source_of_each_training_is_not_named_in_correlations():
    """What a model was trained on names it."""
    other = [
        row.labelled(train_languages="qag", dataset=row.dataset and row.dataset.replace("qaa", "qag"))
        for row in (*scores(), *alike(task="parsing")) if row.language != "qaa"
    ]  # fmt: skip
    other += [row.labelled(language="qag", train_languages="qag") for row in scores() if row.language == "qaa"]
    made = report(*alike(task="parsing"), *other)
    related = correlations(made)
    assert {each.source for each in related} == {"qaa", "qag"}
    *_, table = aligned_tables(made, related)
    assert "Compared with" not in table.headers
    assert not any("compared with" in each for each in aligned_findings(made, related))
    assert [each.title for each in aligned_figures(made, related)][-2:] == [
        f"X-Gap against linear CKA (debiased), trained on {code}, e" for code in ("qaa", "qag")
    ]
