"""The report: scores, findings and tables against hand-made rows."""

import dataclasses
import math
import re
import subprocess
import sys
from statistics import geometric_mean

import pytest
from scipy import stats

from babelscope.core.errors import InputError
from babelscope.core.intervals import Interval, student_t_interval
from babelscope.core.row import Row
from babelscope.report import Report, report_of, write_report
from babelscope.report.kinds import is_score
from babelscope.report.score import mean_ends
from babelscope.report.sections.scores.findings import differences, findings
from babelscope.report.sections.scores.tables import score_table
from babelscope.report.tables import chance_cell
from babelscope.report.words import in_words
from babelscope.studies import find_study
from babelscope.study.verdicts import ADAPTED, SCRATCH
from babelscope.surgery.operations.reinit import Reinit
from synthetic_report import LABELS, synthetic_report

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def report() -> Report:
    return synthetic_report()


def test_reports_load_no_torch():
    loaded = "import babelscope.report, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def values_of(report: Report, surgery: str | None, language: str) -> dict[int, float]:
    wanted = ("natural", surgery, language)
    scores = (row for row in report.rows if is_score(row) and (row.encoder, row.surgery, row.language) == wanted)
    return {row.seed: row.value for row in scores}


def test_scores_are_ordered_and_complete(report):
    (scores,) = report.by_task
    assert [score.place for score in scores][::4] == list(LABELS.values())
    assert len(scores) == len(LABELS) * 4
    assert report.conditions == ["natural", "natural, untrained", "most-frequent-tag", "word-majority"]
    near = next(score for score in scores if score.place == "near")
    assert near.interval == student_t_interval(list(values_of(report, None, "qab").values()))
    assert near.sentences == pytest.approx((near.interval.mean - 0.01, near.interval.mean + 0.01))
    assert near.companions == {"coverage": 1.0, "words": 4321}


def test_every_language_is_compared_with_the_untrained_encoder(report):
    found = differences(report.scores)
    assert [one.score.place for one in found] == list(LABELS.values())
    for one in found:
        language = one.score.language
        a, b = values_of(report, None, language), values_of(report, "reinit", language)
        test = stats.ttest_rel(list(a.values()), [b[seed] for seed in a])
        expected = (*test.confidence_interval(), test.pvalue)
        assert (one.interval.low, one.interval.high, one.effect.p) == pytest.approx(expected)
    adjusted = stats.false_discovery_control([one.effect.p for one in found])
    assert [one.shows for one in found] == [p < 0.05 for p in adjusted]


def test_findings_name_what_shows_and_what_does_not(report):
    rows = [dataclasses.replace(row, value=0.4 + 0.1 * row.seed) if row.language == "qaf" and row.seed is not None
            and row.measure == "accuracy" and not row.surgery else row for row in report.rows]  # fmt: skip
    text = "\n".join(findings(dataclasses.replace(report, rows=rows).scores))
    assert (
        "Against itself untrained, natural shows to be higher on 8 of 9 languages (in points, with the interval" in text
    )
    assert re.search(r"On the others: isolate −?\d+\.\d \[−\d+\.\d, \d+\.\d\] \(does not show\)\.", text)
    order = text.split("highest first: ")[1].splitlines()[0]
    assert order.index("near ") < order.index("middle ") < order.index("unseen isolate ")
    assert "source" not in order
    assert "On source, the training language: natural 96.6% [95.4, 97.7]; natural, untrained 91.0%" in text


def test_the_reverse_shows_and_two_seeds_say_nothing():
    def rows(level, surgery, seeds):
        labels = {
            "encoder": "e",
            "surgery": surgery,
            "task": "pos",
            "language": "de",
            "train_languages": "en",
            "split": "test",
            "kind": "score",
        }
        step = 0.001 if surgery else 0.002
        return [Row("accuracy", level + step * seed, "share", seed=seed, **labels) for seed in range(seeds)]

    worse = Report("t", "q", rows(0.4, None, 3) + rows(0.6, "reinit", 3))
    assert [one.verdict for one in differences(worse.scores)] == ["the reverse shows"]
    for few in (1, 2):
        report = Report("t", "q", rows(0.6, None, few) + rows(0.4, "reinit", few))
        assert [one.verdict for one in differences(report.scores)] == ["not enough seeds to say"]
        told = "Beside itself untrained, there are not enough seeds to say whether e is higher, in points: de 20."
        assert told in findings(report.scores)[-1] and "0 of 1" not in "".join(findings(report.scores))


def test_untrained_is_what_the_report_says_draws_all_weights_anew():
    run = {"encoder": "e", "task": "pos", "language": "de", "train_languages": "en", "split": "test", "kind": "score"}
    levels = {None: 0.6, "clean": 0.4, "reinit": 0.5}
    rows = [
        Row("accuracy", level + 0.01 * seed * level, "share", seed=seed, surgery=surgery, **run)
        for surgery, level in levels.items() for seed in range(3)
    ]  # fmt: skip
    named = Report("t", "q", rows, surgeries={"clean": (Reinit(),)})
    assert named.conditions == ["e", "e, clean", "e, reinit"]
    assert [(one.reference.surgery, one.shows) for one in differences(named.scores)] == [("clean", True)]
    assert Report("t", "q", rows).conditions == ["e", "e, clean", "e, untrained"]
    assert differences(Report("t", "q", rows, surgeries={}).scores) == []


@pytest.mark.parametrize("other", [{"schedule": "freeze:4"}, {"shots": 10}])
def test_an_encoder_is_compared_with_the_untrained_one_that_was_tuned_likewise(other):
    run = {"encoder": "e", "task": "pos", "language": "de", "train_languages": "en", "split": "test", "kind": "score"}
    rows = [
        Row("accuracy", level + 0.01 * seed * level, "share", seed=seed).labelled(**run | labels)
        for level, labels in ((0.2, other | {"surgery": "reinit"}), (0.9, {}), (0.5, {"surgery": "reinit"}))
        for seed in range(3)
    ]
    (difference,) = differences(Report("t", "q", rows).scores)
    assert difference.interval.mean == pytest.approx(0.4 * 1.01)


def perplexities(*, train: str = "qaa") -> list[Row]:
    """Three seeds of an encoder and of itself untrained, tuned by masked language modelling."""
    levels = {None: {"qaa": 5.0, "qab": 9.0, "qac": 8.0}, "reinit": {"qaa": 40.0, "qab": 60.0, "qac": 8.0}}
    steps = {None: 0.5, "reinit": 1}
    return [
        Row("perplexity", level + steps[surgery] * seed, kind="score", encoder="natural", surgery=surgery, task="mlm",
            train_languages=train, language=code, split="test", seed=seed)
        for surgery, by_code in levels.items() for code, level in by_code.items() for seed in (0, 1, 2)
    ]  # fmt: skip


def test_a_lower_perplexity_is_better(tmp_path):
    report = Report("t", "q", perplexities(), labels={code: LABELS[code] for code in ("qaa", "qab", "qac")})
    (scores,) = report.by_task
    assert [one.verdict for one in differences(scores)] == ["shows", "shows", "does not show"]
    assert {score.best_seed for score in scores} == {0}
    text = "\n".join(findings(scores))
    assert "Zero-shot perplexity of natural, lowest first: near, other script 8.5; near 9.5." in text
    assert "Against itself untrained, natural shows to be lower on 2 of 3 languages" in text
    assert (
        "near ×0.16 [0.14, 0.17]" in text
        and "On the others: near, other script ×0.947 [0.831, 1.080] (does not show)." in text
    )
    table = score_table(scores)
    gaps = {(line[0].text, line[1].text): line[table.headers.index("Gap to source")].number for line in table.lines}
    expected = math.prod([9.0, 9.5, 10.0]) / math.prod([5.0, 5.5, 6.0])
    assert gaps["near", "natural"] == pytest.approx(expected ** (1 / 3)) and gaps["source", "natural"] is None
    write_report(report, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<h2>Masked language modelling: Perplexity</h2>" in page and "No results yet" not in page


def test_the_gap_to_several_training_languages_is_to_their_mean():
    scores = Report("t", "q", perplexities(train="qaa+qab")).scores
    table = score_table(scores)
    gaps = {(line[0].text, line[1].text): line[table.headers.index("Gap to source")].number for line in table.lines}
    mean = {level: geometric_mean([level, level + 0.5, level + 1]) for level in (5.0, 9.0, 8.0)}
    assert gaps["qac", "natural"] == pytest.approx(mean[8.0] / geometric_mean([mean[5.0], mean[9.0]]))
    assert gaps["qaa", "natural"] is None and "the mean over the training languages" in table.note
    assert "On qab, a training language: natural 9.5" in "\n".join(findings(scores))


def test_two_values_for_one_seed_are_an_error(report):
    row = next(row for row in report.rows if is_score(row) and row.seed == 1)
    twice = dataclasses.replace(report, rows=[*report.rows, dataclasses.replace(row, value=0.1, key="beef")])
    with pytest.raises(InputError, match="two values of accuracy for seed 1 of natural on source, from the results"):
        _ = twice.scores


def test_a_study_with_and_without_a_schedule_tells_the_two_apart():
    run = {"encoder": "e", "task": "pos", "language": "en", "train_languages": "en", "split": "test", "seed": 0}
    run["kind"] = "score"
    frozen = Row("accuracy", 0.8, "share", schedule="freeze:4", **run)
    baseline = Row("accuracy", 0.3, "share").labelled(**run | {"encoder": "majority", "seed": None})
    both = Report("t", "q", [Row("accuracy", 0.9, "share", **run), frozen, baseline])
    assert {s.condition: s.by_seed[0] for s in both.scores} == {"e": 0.9, "e, schedule freeze:4": 0.8, "majority": 0.3}
    alone = Report("t", "q", [frozen, baseline])
    assert {s.condition for s in alone.scores} == {"e", "majority"}


def test_the_ends_over_sentences_are_of_all_seeds():
    """A seed at 100%, whose sentences are all alike, has no interval: it counts with itself."""
    rows = [Row("accuracy", 0.8, low=0.6, high=0.9), Row("accuracy", 1.0), Row("accuracy", 1.0)]
    assert mean_ends(rows) == pytest.approx(((0.6 + 1 + 1) / 3, (0.9 + 1 + 1) / 3))
    assert mean_ends(rows[1:]) is None


def test_a_p_value_is_never_nothing():
    assert [chance_cell(p).text for p in (0.0004, 0.001, 0.25, None)] == ["< 0.001", "0.001", "0.250", ""]
    assert chance_cell(0.0004).number == 0.0004


def test_intervals_in_words():
    assert in_words(Interval(0.873, 0.861, 0.885, 0.01, 3), "share") == "87.3% [86.1, 88.5]"
    assert in_words(Interval(-0.1, None, None, None, 1), "share") == "−10.0%"
    assert in_words(student_t_interval([1.0, 1.0, 1.0]), "share") == "100.0%"
    assert in_words(Interval(1.24, 1.0, 1.5, 0.1, 3), "bits") == "1.2 bits [1.0, 1.5]"


def test_a_language_with_two_data_sets_is_two_places():
    labels = {"encoder": "e", "task": "pos", "language": "en", "train_languages": "en", "split": "test", "seed": 0}
    labels["kind"] = "score"
    rows = [Row("accuracy", 0.9, "share", dataset=name, **labels) for name in ("UD_English-EWT", "UD_English-PUD")]
    assert [s.place for s in Report("t", "q", rows, labels={"en": "English"}).scores] == [
        "English · UD_English-EWT",
        "English · UD_English-PUD",
    ]


def test_gap_to_source_is_source_minus_language(report):
    table = score_table(report.scores)
    gap, mean = table.headers.index("Gap to source"), table.headers.index("Mean (%)")
    lines = {(line[0].text, line[1].text): line for line in table.lines}
    near, source = lines["near", "natural"], lines["source", "natural"]
    assert near[gap].number == pytest.approx(source[mean].number - near[mean].number)
    assert source[gap].text == ""


def test_a_report_knows_what_its_study_declares():
    frozen = report_of(find_study("alignment-by-layer", {"scale": "small"}), [])
    assert frozen.schedules["freeze:3"].freeze == 3 and frozen.title == "alignment-by-layer@world"
    drawn = report_of(find_study("align-then-predict", {"scale": "small"}), [], title="mine")
    assert drawn.title == "mine" and "published: mBERT" in {row.encoder for row in drawn.rows}
    for name in ("reinit:layers=0+1", "reinit:layers=10+11"):  # declared, and of a published number
        assert [operation.layers for operation in drawn.surgeries[name]] == [tuple(map(int, name[14:].split("+")))]
    made = report_of(find_study("unseen-languages", {"scale": "small", "languages": ["qag"]}), [])
    assert made.recipes == {"adapted qag": ADAPTED, "from scratch qag": SCRATCH}


@pytest.mark.parametrize(
    ("task", "measure", "beside", "told"),
    [
        ("stsb", "pearson", ("spearman", 0.816, "correlation"), "81.60"),
        ("pos", "accuracy", ("coverage", 0.5, "share"), "50.0%"),
        ("pos", "accuracy", ("words", 4321.0, "words"), "4,321"),
    ],
)
def test_what_stands_beside_a_score_is_told_in_its_unit(task, measure, beside, told):
    """A correlation as that beside it: of 100, which is no share."""
    name, value, unit = beside
    about = {"kind": "score", "task": task, "encoder": "e", "language": "de", "split": "test", "train_languages": "en"}
    rows = [Row(measure, 0.8, "share", seed=0, **about), Row(name, value, unit, seed=0, **about)]
    table = score_table(Report("t", "q", rows).scores)
    assert table.headers[-1] == name.capitalize() and table.lines[0][-1].text == told
