"""The study align-then-predict: what it consists of, and what its report says."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bootstrap, spearmanr, t

from babelscope.core.errors import InputError, StudyError
from babelscope.core.intervals import ratio_interval, spearman_interval
from babelscope.core.row import Row
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.report.files import markdown
from babelscope.report.model import Report
from babelscope.report.page import render
from babelscope.report.sections import sections_of
from babelscope.report.sections.alignment.alignments import alignments, correlations, gaps, is_similarity
from babelscope.report.sections.alignment.figures import aligned_figures
from babelscope.report.sections.alignment.tables import aligned_findings, aligned_tables
from babelscope.report.sections.redrawn_layers.figures import reinitialised_figures
from babelscope.report.sections.redrawn_layers.findings import reinitialised_findings
from babelscope.report.sections.redrawn_layers.reinitialised import layers_of, reinitialised
from babelscope.report.sections.redrawn_layers.tables import reinitialised_tables
from babelscope.report.sources import sources
from babelscope.steps import Tune
from babelscope.studies import find_study, published_rows
from babelscope.studies.align_then_predict import PUD, TREEBANKS
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.study.encoders import BringingIn
from babelscope.surgery import parse_operation
from slowly import judged

SEEDS = (0, 1, 2)


# The study.


def tuned(study: Study) -> int:
    return len(study.tasks) * len(study.surgeries) * len(study.seeds)


@pytest.mark.parametrize("study", ["align-then-predict", "alignment-by-layer"])
def test_layers_that_no_encoder_has_are_refused_before_they_are_counted(study):
    with pytest.raises(StudyError, match=r"layers: .*1000"):
        find_study(study, {"layers": 10**9})


def test_layers_are_drawn_anew_in_twos():
    names = [surgery.name if surgery else None for surgery in find_study("align-then-predict", {}).surgeries]
    assert names == [None, "reinit:layers=0+1", "reinit:layers=2+3", "reinit:layers=4+5"]
    assert [layers_of([parse_operation(name)]) for name in names[1:]] == [(0, 1), (2, 3), (4, 5)]
    others = ("reinit", "reinit:layers=0+1,part=attention", "reverse", "drop:last=1")
    assert [layers_of([parse_operation(text)]) for text in others] == [()] * 4
    assert layers_of([parse_operation("reinit:layers=0+1"), parse_operation("reverse")]) == ()
    assert len(find_study("align-then-predict@paper", {}).surgeries) == 7


def test_the_world_compares_untuned_and_tuned_encoders():
    study = find_study("align-then-predict", {})
    steps = compile_study(study).steps.values()
    assert sum(isinstance(step, Tune) for step in steps) == tuned(study) == 3 * 4 * 3
    # Untuned, the encoder as it is counts once for all seeds.
    assert sum(isinstance(step, SentenceSimilarity) for step in steps) == tuned(study) + 1 + 3 * 3


def test_other_sources_and_encoders_can_be_given():
    study = find_study("align-then-predict", {"sources": ["qaa", "qad"], "layers": 4, "encoder": "world-pairs"})
    assert list(study.tasks) == [f"{task}-{code}" for code in ("qaa", "qad") for task in ("pos", "parsing", "ner")]
    assert [one.source for one in study.measures] == ["world:qaa", "world:qad"] and len(study.surgeries) == 3
    with pytest.raises(InputError, match="sources: 'fr' cannot be one here; allowed are en, ru, ar"):
        find_study("align-then-predict@real", {"sources": ["fr"]})


WORD = "1\tone\t_\tX\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treebanks of a sentence, and entities of a word."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    for name, code in [(f"UD_{language}-PUD", code) for code, language in PUD.items()]:
        split_files(tmp_path / "ud" / name, f"{code}_pud-ud-{{}}.conllu", ("test",), f"# {code}\n{WORD}")
    for code, name in TREEBANKS.items():
        splits = ("train", "dev") if code == "en" else ("dev",)
        split_files(tmp_path / "ud" / name, f"{code}_x-ud-{{}}.conllu", splits, "# {}\n" + WORD * 20)
    for code in PUD:
        split_files(tmp_path / "wikiann" / code, "{}.txt", ("train", "dev", "test"), f"{code}{{}} B-PER\n\n")


def split_files(folder: Path, name: str, splits: tuple[str, ...], text: str) -> None:
    folder.mkdir(parents=True)
    for split in splits:
        (folder / name.format(split)).write_text(text.replace("{}", split), encoding="utf-8")


@pytest.mark.parametrize(("profile", "tasks"), [("real", 2), ("paper", 3 * 3)])
@pytest.mark.parametrize("scale", ["full", "small"])
def test_real_data_are_planned(stand_ins, encoder_folder, profile, tasks, scale):
    given = {"encoder": str(encoder_folder), "layers": 2, "scale": scale}
    study = find_study(f"align-then-predict@{profile}", given)
    steps = compile_study(study).steps.values()
    assert sum(isinstance(step, Tune) for step in steps) == tasks * 2 * len(study.seeds)
    (english, *_) = study.measures
    assert english.source == "UD_English-PUD" and len(english.targets) == (9 if profile == "real" else 18)
    heads = {name: one.head for name, one in study.tasks.items() if one.task == "parsing"}
    assert set(heads.values()) == ({"align-then-predict"} if profile == "paper" else {None})


def test_the_published_targets_are_all_but_the_source():
    """The authors' code lists eighteen parallel treebanks beside English."""
    study = find_study("align-then-predict@paper", {})
    targets = {measure.source: set(measure.targets) for measure in study.measures}
    assert set(targets) == {"UD_English-PUD", "UD_Russian-PUD", "UD_Arabic-PUD"}
    languages = "Arabic Chinese Czech Finnish French German Hindi Indonesian Italian Japanese Korean Polish Portuguese"
    languages += " Russian Spanish Swedish Thai Turkish"
    assert targets["UD_English-PUD"] == {f"UD_{language}-PUD" for language in languages.split()}
    assert all(len(others) == 18 and source not in others for source, others in targets.items())
    assert {len(task.evaluate) for task in study.tasks.values()} == {19}


def titles(made: Report) -> list[str]:
    return [section.title for section in sections_of(made)]


# The statistics.


def test_the_ends_of_a_ratios_interval_are_those_of_a_paired_test():
    a, b = ({seed: value for seed, value in enumerate(side)} for side in ([9.0, 11.0, 10.5], [4.0, 5.5, 5.0]))
    found = ratio_interval(a, b)
    assert found.mean == pytest.approx(30.5 / 14.5) and found.low is not None and found.high is not None
    for ratio in (found.low, found.high):
        left = np.array([a[seed] - ratio * b[seed] for seed in a])
        assert abs(left.mean()) / (left.std(ddof=1) / 3**0.5) == pytest.approx(t.ppf(0.975, 2))


def test_a_ratio_to_what_may_be_nothing_has_no_bounds():
    assert ratio_interval({0: 9.0, 1: 10.0}, {0: 2.0, 1: -1.0}).low is None
    assert ratio_interval({0: 9.0}, {0: 3.0}).mean == 3
    assert ratio_interval({0: 9.0, 1: 6.0}, {0: 3.0, 1: 2.0}).low is None, "the same ratio at all seeds"
    for other in ({1: 3.0}, {0: 0.0}):
        with pytest.raises(ValueError, match="a ratio needs"):
            ratio_interval({0: 9.0}, other)


@pytest.mark.parametrize("ties", [False, True])
def test_the_rank_correlation_and_its_bootstrap_against_one_resample_at_a_time(ties):
    chance = np.random.default_rng(4)
    x = chance.integers(0, 4, 9).astype(float) if ties else chance.normal(size=9)
    y = x + chance.normal(size=9)
    found = spearman_interval(x.tolist(), y.tolist(), resamples=300)
    slow = bootstrap(
        (x, y), lambda a, b: np.nan_to_num(spearmanr(a, b).statistic), paired=True, vectorized=False, n_resamples=300,
        batch=100, random_state=np.random.default_rng(0), method="BCa",
    )  # fmt: skip
    assert found.mean == pytest.approx(spearmanr(x, y).statistic)
    assert (found.low, found.high) == pytest.approx(tuple(slow.confidence_interval))


def test_what_does_not_vary_has_no_rank_correlation():
    for x, y in (([1, 1, 1], [1, 2, 3]), ([1, 2], [1, 2, 3]), ([1], [2])):
        with pytest.raises(ValueError, match="a rank correlation needs"):
            spearman_interval(x, y)


# The report, on numbers made up.

LANGUAGES = ("qab", "qac", "qad", "qae", "qaf")
LOST = {None: 0.0, "reinit:layers=0+1": 0.10, "reinit:layers=2+3": 0.02, "reinit:layers=4+5": 0.0}


def score(language: str, surgery: str | None, seed: int, value: float) -> Row:
    return Row(
        "las", value, "share", kind="score", encoder="e", surgery=surgery, task="parsing", train_languages="qaa",
        language=language, dataset=f"world:{language}", split="test", seed=seed,
    )  # fmt: skip


def value_of(language: str, surgery: str | None, seed: int) -> float:
    if language == "qaa":
        return 0.9 - LOST[surgery] / 4 - 0.002 * seed * (1 if surgery else 2)
    return 0.8 - 0.1 * LANGUAGES.index(language) - LOST[surgery] - 0.002 * seed * (1 if surgery else 0)


def scores() -> list[Row]:
    return [
        score(language, surgery, seed, value_of(language, surgery, seed))
        for language in ("qaa", *LANGUAGES) for surgery in LOST for seed in SEEDS
    ]  # fmt: skip


def alike(measure: str = "linear CKA (debiased)", task: str | None = None, falling: float = 0.1) -> list[Row]:
    """The further a language is in the list, the less alike; layer 1 is highest."""
    unit = "share" if "retrieval" in measure else ""
    return [
        Row(measure, (0.5, 0.9, 0.7)[layer] - falling * k + 0.001 * (seed or 0), unit, kind="similarity", encoder="e",
            task=task, train_languages=task and "qaa", language=language, dataset=f"world:qaa-{language}", seed=seed,
            layer=layer)
        for k, language in enumerate(LANGUAGES) for layer in range(3) for seed in (SEEDS if task else (None,))
    ]  # fmt: skip


def report(*rows: Row) -> Report:
    labels = {code: f"{code} label" for code in ("qaa", *LANGUAGES)}
    return declared([*scores(), *rows], labels=labels)


def declared(rows: list[Row], **given: object) -> Report:
    """The report of a study with the operations that rows name."""
    surgeries = {row.surgery: (parse_operation(row.surgery),) for row in rows if row.surgery}
    return Report("title", "question", rows, surgeries=surgeries, **given)


def test_changes_are_paired_by_seed():
    (one,) = reinitialised(report())
    assert one.layers == [(0, 1), (2, 3), (4, 5)] and one.sources == ["qaa label"] and len(one.foreign) == 5
    for seed in SEEDS:
        expected = [
            value_of(language, "reinit:layers=0+1", seed) - value_of(language, None, seed) for language in LANGUAGES
        ]
        losses = [loss.by_seed[seed] for loss in one.losses((0, 1), one.foreign).values()]
        assert losses == pytest.approx([-change for change in expected])


@pytest.mark.parametrize("turned", [1, -1], ids=["more is better", "less is better"])
def test_changes_and_losses_have_languages_drawn_by_chance(turned):
    """Against loops over seeds and languages; of perplexities a loss is a rise, of the logarithm."""
    draw = np.random.default_rng(8)
    noise = {(row.language, row.surgery, row.seed): draw.normal(0, 0.02) for row in scores()}
    rows = [row.labelled(value=9 + row.value + noise[row.language, row.surgery, row.seed]) for row in scores()]
    measure = {1: "las", -1: "perplexity"}[turned]
    rows = [row.labelled(measure=measure, task={1: "parsing", -1: "mlm"}[turned]) for row in rows]
    (one,) = reinitialised(declared(rows))
    compare = {1: float, -1: math.log}[turned]
    value = {(row.language, row.surgery, row.seed): compare(row.value) for row in rows}
    lowest = "reinit:layers=0+1"
    changes = [[value[code, lowest, seed] - value[code, None, seed] for code in LANGUAGES] for seed in SEEDS]
    own = [value["qaa", lowest, seed] - value["qaa", None, seed] for seed in SEEDS]
    found = [one.change((0, 1), one.foreign), one.loss((0, 1), one.foreign), one.more((0, 1)),
             one.change((0, 1), one.sources), one.score(one.foreign)]  # fmt: skip
    expected = [
        changes,
        [[-turned * each for each in by_seed] for by_seed in changes],
        [[-turned * (each - source) for each in by_seed] for by_seed, source in zip(changes, own, strict=True)],
        own,
        [[value[code, None, seed] for code in LANGUAGES] for seed in SEEDS],
    ]
    for effect, table in zip(found, expected, strict=True):
        assert (effect.mean, effect.low, effect.high, effect.p) == pytest.approx(judged(table))


def test_seeds_that_one_side_lacks_do_not_count():
    rows = [row for row in scores() if row.surgery is None or row.seed != 1]
    (one,) = reinitialised(declared(rows))
    for loss in one.losses((0, 1), one.foreign).values():
        assert loss.seeds == (0, 2)
    change = one.change((0, 1), one.foreign)
    assert change.seeds == 2 and not change.known


def without(rows: list[Row], surgery: str, language: str) -> list[Row]:
    return [row for row in rows if (row.surgery, row.language) != (surgery, language)]


def test_a_mean_that_lacks_a_language_is_not_told():
    """One over four would stand beside those over five, and be called one over five."""
    made = declared(without(scores(), "reinit:layers=0+1", "qab"))
    (one,) = reinitialised(made)
    assert not one.losses((0, 1), one.foreign) and one.change((0, 1), one.foreign) is None
    assert one.more((0, 1)) is None and one.change((2, 3), one.foreign) is not None
    (table,) = reinitialised_tables(made)
    _, mean, lacking, *others = [[cell.text for cell in line] for line in table.lines]
    assert mean[0] == "qaa → X (mean of 5)" and (mean[3], lacking[3]) == ("", "") and mean[4] and lacking[4]
    assert all(line[3] for line in others) and not reinitialised_findings(made)
    (figure,) = reinitialised_figures(made)
    chart = figure.chart.to_dict()
    records = chart["datasets"][chart["data"]["name"]]
    assert [one["layers"] for one in records if one["scored on"] == "the other languages"] == ["3–4", "5–6"]


def test_how_much_more_the_others_lose_is_over_all_of_them():
    """A language that shares no seed with the source is not left out of the mean."""
    rows = [row for row in scores() if (row.language == "qab") == (row.seed == 2)]
    (one,) = reinitialised(declared(rows))
    assert len(one.losses((0, 1), one.foreign)) == 5 and one.more((0, 1)) is None


def test_where_nothing_is_known_of_any_layers_there_is_no_chart():
    rows = [row for row in scores() if row.language == "qab" or row.surgery is None]
    assert not list(reinitialised_figures(declared(rows)))


def test_the_table_has_a_line_for_the_source_the_mean_and_every_language():
    (table,) = reinitialised_tables(report())
    assert table.headers == ["Trained on → scored on", "Encoder", "LAS (%)", "Δ 1–2", "Δ 3–4", "Δ 5–6"]
    assert [line[0].text for line in table.lines][:3] == [
        "qaa → qaa label", "qaa → X (mean of 5)", "qaa → qab label",
    ]  # fmt: skip
    assert table.lines[1][3].text.startswith("−10.20 [") and table.lines[1][3].number == pytest.approx(-10.2)


def test_the_figure_has_the_numbers_of_the_table():
    """Of the training language and of the mean of the others; published numbers have no interval."""
    made = report(*published_rows("align-then-predict@world"))
    (table,) = reinitialised_tables(made)
    (figure,) = reinitialised_figures(made)
    chart = figure.chart.to_dict()
    records = chart["datasets"][chart["data"]["name"]]
    assert {record["panel"] for record in records} >= {"e; trained on qaa", "published: mBERT; trained on en"}
    for record in records:
        encoder, training = record["panel"].split("; trained on ")
        side = f"{training} → " + ("X" if record["scored on"] == "the other languages" else "")
        line = next(line for line in table.lines if line[0].text.startswith(side) and line[1].text == encoder)
        shown = line[table.headers.index(f"Δ {record['layers']}")].text
        low, high = record["low"], record["high"]
        ends = "" if low is None else f" [{low:.2f}, {high:.2f}]"
        assert shown == f"{record['change']:+.2f}{ends}".replace("-", "−")


def test_the_costs_are_told_in_words():
    (found,) = reinitialised_findings(report())
    assert "drawing layers 1–2 anew costs the other languages (mean of 5) 10.2 points [9.7, 10.7] of LAS" in found
    assert "and qaa 2.3 points [1.8, 2.8]; 4.4 times as much [" in found
    assert "That the others lose more: shows (by 7.9 points [" in found
    assert "Layers 5–6 cost the others 0.2 points [−0.3, 0.7]: does not show." in found


def test_what_shows_is_a_family_of_claims():
    """Two claims of one encoder, and of two encoders four: each has a larger p among more (Holm 1979)."""
    rows = [row.labelled(value=row.value + 0.018 * (row.seed or 0) * (row.surgery is not None)) for row in scores()]
    rows = [row if row.language != "qaa" else each for row, each in zip(rows, scores(), strict=True)]
    (one,) = reinitialised(declared(rows))
    more, highest = one.more((0, 1)), one.loss((4, 5), one.foreign)
    assert 0.05 / 4 < more.p < 0.05 / 2 and highest.p > 0.05
    twice = [*rows, *(row.labelled(encoder="f") for row in rows)]
    found = reinitialised_findings(declared(twice))
    assert len(found) == 2 and all("That the others lose more: does not show (" in each for each in found)


def test_published_numbers_stand_beside():
    published = published_rows("align-then-predict@world")
    made = report(*published)
    (table,) = reinitialised_tables(made)
    lines = {(line[0].text, line[1].text): [cell.text for cell in line[2:]] for line in table.lines}
    assert lines["en → X", "published: mBERT"] == ["53.23", "−15.77", "−6.51", "−3.39", "−1.47", "+0.29", "+1.00"]
    cost = "15.8 points of LAS, and en 1.0 points; 16.4 times as much (too few seeds for an interval)"
    assert any(
        f"{cost}. That the others lose more: not enough seeds to say." in one for one in reinitialised_findings(made)
    )
    alone = [(one.condition, one.place, one.by_seed) for one in report().scores]
    assert [(one.condition, one.place, one.by_seed) for one in made.scores] == alone, "they are in no other section"
    assert titles(made)[:-1] == ["Layers drawn anew before tuning", "Dependency parsing: LAS"]


def test_the_section_leads_to_the_rows_of_its_scores_and_not_to_published_ones_which_have_none():
    keyed = [row.labelled(key=f"{place:064x}") for place, row in enumerate(scores())]
    made = declared([*keyed, *published_rows("align-then-predict@world")])
    sections = sections_of(made)
    first = next(k for k, part in enumerate(sections) if part.title == "Layers drawn anew before tuning")
    steps = {step for _, places in sources(made, sections)["groups"][first] for step in places}
    assert len(steps) == len([row for row in keyed if row.kind == "score"]) > 0


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
    peaks, related, sign = aligned_findings(made, correlations(made))
    assert "is highest before tuning in layer 1 (0.70; 0.50 in the last); after dependency parsing in layer 1" in peaks
    assert "over 5 target languages" in related and sign.startswith("X-Gap is the score in the language of the train")


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
    assert titles(made) == ["Layers drawn anew before tuning", "Where languages are alike", "Dependency parsing: LAS"]
    assert [figure.title for figure in aligned_figures(made, correlations(made))] == [
        "Linear CKA (debiased) with qaa, e", "Retrieval with qaa, e",
        "X-Gap against linear CKA (debiased), trained on qaa, e",
    ]  # fmt: skip
    page = render(made)
    assert "Layers drawn anew before tuning" in page and "Where languages are alike" in page
    text = markdown(made)
    assert "published of mBERT: 0.76" in text and "| qaa → X (mean of 5) |" in text


def test_a_study_that_measures_nothing_of_it_has_no_such_section():
    plain = declared([row for row in scores() if row.surgery is None])
    assert not reinitialised_tables(plain) and not aligned_figures(plain, []) and not aligned_tables(plain, [])
    assert "Where languages are alike" not in markdown(plain)


def test_intervals_of_scores_end_where_scores_do():
    """Of scores near the top Student's t reaches beyond it; changes may be as large as they are."""
    near = [replace(row, value=(0.99, 0.9, 0.95, 0.97)[row.seed % 4]) for row in report().rows if row.seed is not None]
    table, *_ = reinitialised_tables(declared(near))
    ends = [float(end) for line in table.lines for end in re.findall(r", (\d+\.\d+)\]", line[2].text)]
    assert ends and max(ends) == 100.0


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
    assert table.headers[3:5] == ["Compared with", "Measure"] and {len(line) for line in table.lines} == {9}
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


def test_real_languages_are_brought_in_with_distillation_and_without():
    distilled, undistilled = find_study("align-then-predict@real", {}).encoders
    assert distilled.distil and not undistilled.distil and distilled.languages == undistilled.languages
    (small,) = find_study("align-then-predict@real", {"scale": "small"}).encoders
    assert small.distil is None and small.languages["de"] == ("ntrex:deu:lines-1-1597",)
