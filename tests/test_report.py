"""The report: findings against hand-made rows, files, and the page in a real browser."""

import dataclasses
import gzip
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import geometric_mean

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from babelscope.core.errors import InputError
from babelscope.core.intervals import Interval, student_t_interval
from babelscope.core.row import COLUMNS, Row
from babelscope.report import Report, markdown, report_of, write_figures, write_report, write_rows
from babelscope.report.kinds import is_score
from babelscope.report.page import render
from babelscope.report.section import REGISTERED
from babelscope.report.sections import Section, section, sections_of
from babelscope.report.sections.scores.figures import difference_chart, score_chart
from babelscope.report.sections.scores.findings import differences, findings
from babelscope.report.sections.scores.tables import score_table
from babelscope.report.words import in_words
from babelscope.studies import find_study
from babelscope.study.verdicts import ADAPTED, SCRATCH
from babelscope.surgery.operations.reinit import Reinit
from babelscope.tuning.schedule import parse_schedule

CHROMIUM = shutil.which("chromium")
LABELS = {
    "qaa": "source", "qab": "near", "qac": "near, other script", "qad": "middle", "qae": "far", "qaf": "isolate",
    "qag": "unseen close relative", "qah": "unseen, other script", "qai": "unseen isolate",
}  # fmt: skip
HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked=1'>"]
LEVELS = {"natural": [97, 93, 88, 84, 79, 70, 85, 66, 52], "reinit": [91, 82, 45, 52, 47, 44, 71, 42, 40]}


def synthetic_rows() -> list[Row]:
    """Nine languages, an encoder and itself untrained, three seeds, two baselines, curves, and an odd measure."""
    draw = np.random.default_rng(0)
    rows = []
    shared = {"study": "demo", "task": "pos", "train_languages": "qaa", "kind": "score"}
    for surgery in (None, "reinit"):
        run = shared | {"encoder": "natural", "surgery": surgery}
        for seed in range(3):
            for code, level in zip(LABELS, LEVELS[surgery or "natural"], strict=True):
                value = level / 100 + draw.normal(0, 0.008)
                test = run | {"language": code, "dataset": f"world:{code}", "split": "test", "seed": seed}
                rows.append(Row("accuracy", value, "share", low=value - 0.01, high=value + 0.01, **test))
                rows += [Row("coverage", 1.0, "share", **test), Row("words", 4321, "words", **test)]
            for step in range(50, 301, 50):
                curve = run | {"seed": seed, "step": step, "kind": "curve"}
                rows.append(Row("accuracy", 0.95 - 10 / step, "share", split="dev", dataset="world:qaa", **curve))
                rows.append(Row("loss", 20 / step + draw.uniform(0, 0.05), split="train", **curve))
    for name, level in (("most-frequent-tag", 0.25), ("word-majority", 0.6)):
        for code in LABELS:
            rows.append(Row("accuracy", level, "share", **shared, encoder=name, language=code, split="test"))
    for layer in range(3):
        rows.append(
            Row("retrieval", 0.3 * layer, "share", kind="retrieval", encoder="natural", language="qab", layer=layer)
        )
    return rows


@pytest.fixture(scope="module")
def report() -> Report:
    question = "What does part-of-speech tagging learned in one language carry over to the others?"
    provenance = {
        "versions": {"torch": "2.13.0", "numpy": "2.4.6"},
        "seeds": [0, 1, 2],
        "wall seconds": 201.4,
        "steps": 66,
    }
    return Report("First look", question, synthetic_rows(), "name: first-look\nseeds: [0, 1, 2]\n", LABELS, provenance)


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
    assert "Against itself untrained, natural is higher on 8 of 9 languages (in points, with the interval" in text
    assert "On the others: isolate (does not show)." in text
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
    assert "Against itself untrained, natural is lower on 2 of 3 languages" in text
    assert "near ×0.16 [0.14, 0.17]" in text and "On the others: near, other script (does not show)." in text
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
    with pytest.raises(ValueError, match="two values of accuracy for seed 1 of natural on source, from the results"):
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


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_rows_survive_a_file(report, tmp_path, name):
    write_rows(report.rows, tmp_path / name)
    read = pd.read_csv(tmp_path / name) if name.endswith("csv") else pd.read_parquet(tmp_path / name)
    assert tuple(read.columns) == COLUMNS
    assert read["value"].tolist() == [row.value for row in report.rows]
    back = [
        Row(**{key: value for key, value in record.items() if pd.notna(value)}) for record in read.to_dict("records")
    ]
    assert back == list(report.rows)


def test_no_rows_make_files_and_a_page_too(tmp_path):
    write_rows([], tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == ",".join(COLUMNS) + "\n"
    write_report(Report("Empty", "", []), tmp_path / "page.html")
    assert "No results yet" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("name", ["rows.xlsx", "rows"])
def test_another_suffix_is_refused(report, tmp_path, name):
    with pytest.raises(InputError, match=r"allowed are \.csv and \.parquet"):
        write_rows(report.rows, tmp_path / name)
    with pytest.raises(InputError, match=r"allowed are \.svg and \.png"):
        write_figures(report, tmp_path / name)


def test_an_unwritable_place_is_an_input_error(report, tmp_path):
    for write, name in ((write_report, "page.html"), (write_figures, "figure.svg"), (write_figures, "figure.png")):
        with pytest.raises(InputError, match="cannot be written"):
            write(report, tmp_path / "missing" / name)
    with pytest.raises(InputError, match="cannot be written"):
        write_rows(report.rows, tmp_path / "missing" / "rows.parquet")


def test_figures_are_drawn(report, tmp_path):
    write_figures(report, tmp_path / "figure.svg")
    write_figures(report, tmp_path / "figure.png")
    svg = (tmp_path / "figure.svg").read_text()
    assert all(label in svg for label in LABELS.values())
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="nothing to show yet"):
        write_figures(Report("Empty", "", []), tmp_path / "figure.svg")


def test_markdown_has_a_line_a_language(report):
    text = markdown(report)
    assert text.startswith("## Part-of-speech tagging: Accuracy\n\n- On source, the training language: natural 9")
    lines = text.partition("### At a glance\n")[2].split("\n\n")[1].splitlines()
    assert lines[0] == "|  | natural | natural, untrained | most-frequent-tag | word-majority |"
    assert len(lines) == 2 + len(LABELS)
    near = next(score for score in report.scores if score.place == "near")
    assert lines[3].startswith(f"| near | {in_words(near.interval, 'share')} |")
    assert lines[3].endswith("| 25.0% | 60.0% |")


def test_markdown_of_many_conditions_has_a_line_each(report):
    rows = [dataclasses.replace(row, encoder=f"{row.encoder} {k}") for row in report.rows for k in range(10)]
    text = markdown(dataclasses.replace(report, rows=rows))
    assert "### At a glance" not in text and "| Language | Condition | Mean (%) | 95% interval |" in text
    assert "\n| near | natural 7 |" in text


@pytest.fixture(scope="module")
def two_tasks(report) -> Report:
    parsed = [dataclasses.replace(row, task="parsing", measure="las") for row in report.rows if is_score(row)]
    return dataclasses.replace(report, rows=[*parsed, *report.rows])


def test_every_figure_is_a_file_of_its_own(report, two_tasks, tmp_path):
    assert write_report(report, tmp_path / "one.svg")[0] == tmp_path / "one.svg"
    written = write_report(two_tasks, tmp_path / "two.svg")
    assert [path.name for path in written] == [
        "two-pos.svg", "two-pos-against-untrained.svg", "two-parsing.svg", "two-parsing-against-untrained.svg",
        "two-accuracy-on-dev.svg", "two-loss-on-train.svg", "two-retrieval-near.svg",
    ]  # fmt: skip
    assert "Accuracy (%)" in written[0].read_text() and "LAS (%)" in written[2].read_text()


def test_page_markdown_and_pictures_have_the_same_sections(two_tasks, tmp_path):
    odd = Row("depth", 3.0, kind="depth of trees", encoder="natural")
    whole = dataclasses.replace(two_tasks, rows=[*two_tasks.rows, odd])
    page, text = render(whole), markdown(whole)
    for part in sections_of(whole):
        assert f"<h2>{part.title}</h2>" in page and f"## {part.title}\n" in text
        for table in part.tables:
            assert f"<h3>{table.title}</h3>" in page and f"### {table.title}\n" in text
        for figure in part.figures:
            assert f"<h3>{figure.title}</h3>" in page and figure.title in text
    figures = sum(len(part.figures) for part in sections_of(whole))
    assert page.count("<figure>") == figures == len(set(write_figures(whole, tmp_path / "all.svg")))
    assert "| depth | natural | 3 | 1 |" in text
    with pytest.raises(InputError, match="nothing to show yet"):
        write_report(Report("Empty", "", []), tmp_path / "empty.md")


def test_figures_of_one_title_are_files_of_their_own(report, monkeypatch, tmp_path):
    (figure, *_) = (figure for part in sections_of(report) for figure in part.figures)
    twice = Section("t", (), [dataclasses.replace(figure, title="A, b", name=None)] * 3)
    monkeypatch.setattr("babelscope.report.files.sections_of", lambda given: [twice])
    names = [path.name for path in write_figures(report, tmp_path / "x.svg")]
    assert names == ["x-a-b.svg", "x-a-b-2.svg", "x-a-b-3.svg"]


def test_a_measure_that_nobody_knows_has_a_chart_and_a_table():
    rows = [
        Row("anisotropy", 0.1 * layer, kind="anisotropy", encoder=encoder, language="qab", seed=seed, layer=layer)
        for encoder in ("one", "two") for layer in range(3) for seed in (0, 1)
    ]  # fmt: skip
    (part,) = sections_of(Report("t", "q", rows, labels={"qab": "near"}))
    assert part.title == "Layer by layer" and [figure.title for figure in part.figures] == ["Anisotropy, near"]
    (table,) = part.tables
    assert list(table.headers) == ["Measure", "Condition", "Language", "0", "1", "2", "Runs"]
    assert [cell.text for cell in table.lines[0]] == ["anisotropy", "one", "near", "0", "0.1", "0.2", "2"]
    assert "### By layer" in markdown(Report("t", "q", rows)) and "Anisotropy" in render(Report("t", "q", rows))


def test_numbers_that_differ_in_more_than_the_seed_are_not_pooled():
    shared = {"kind": "odd", "encoder": "e", "language": "qab", "layer": 1}
    rows = [
        Row("depth", value, **shared | labels, seed=seed)
        for value, labels in enumerate([{}, {"part": "head"}, {"task": "pos"}, {"dataset": "a"}, {"dataset": "b"}])
        for seed in (0, 1)
    ]
    for each in (rows, [row.labelled(layer=None) for row in rows]):
        (part,) = sections_of(Report("t", "q", each))
        (table,) = part.tables
        assert len(table.lines) == 5 and {line[-1].text for line in table.lines} == {"2"}


def test_a_section_of_ones_own_is_a_function(monkeypatch):
    monkeypatch.setattr("babelscope.report.section.REGISTERED", dict(REGISTERED))

    @section("depth", order=5)
    def depths(report, rows):
        yield Section("Depth", [f"{len(rows)} depths"] if rows else [])

    deep = Row("depth", 1.0, kind="depth")
    (own,) = sections_of(Report("t", "q", [deep]))
    assert (own.title, own.findings) == ("Depth", ["1 depths"])
    assert [part.title for part in sections_of(Report("t", "q", [deep.labelled(kind="width")]))] == ["Further results"]


def test_rows_that_their_section_says_nothing_of_are_in_the_last_one():
    half = Row("accuracy", 0.5, kind="similarity", language="qab", layer=1, surgery="reverse")
    assert [part.title for part in sections_of(Report("t", "q", [half]))] == ["Layer by layer"]


def test_retrieval_alone_makes_a_report(report, tmp_path):
    rows = [row for row in report.rows if row.kind == "retrieval"]
    alone = dataclasses.replace(report, rows=rows)
    assert [part.title for part in sections_of(alone)] == ["Layer by layer"]
    assert write_report(alone, tmp_path / "r.svg") and "Retrieval, near" in markdown(alone)


def test_charts_without_seeds_are_drawn(report, tmp_path):
    baselines = [row for row in report.rows if row.kind == "score" and row.seed is None]
    (path,) = write_figures(dataclasses.replace(report, rows=baselines), tmp_path / "base.svg")
    assert "word-majority" in path.read_text()


def test_a_condition_keeps_its_colour_in_all_charts(report):
    shuffled = dataclasses.replace(report, rows=list(reversed(report.rows)))
    (scores,) = shuffled.by_task
    charts = [score_chart(shuffled, scores), difference_chart(shuffled, differences(scores))]
    rest = (part for part in sections_of(shuffled) if part.side_by_side)
    charts += [figure.chart for part in rest for figure in part.figures]
    scales = [json.dumps(chart.to_dict()["layer"]) for chart in charts]
    found = [re.findall(r'"scale": \{"domain": (\[[^]]*\]), "range": (\[[^]]*\])\}', text) for text in scales]
    pairs = {pair for chart in found for d, r in chart for pair in zip(json.loads(d), json.loads(r), strict=True)}
    assert len(found) == 5 and all(found)
    assert len(pairs) == len({condition for condition, _ in pairs}) == len({colour for _, colour in pairs}) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_from_outside_is_markup(report, tmp_path, text):
    odd = hostile(report, text)
    write_report(odd, tmp_path / "page.html")
    assert text not in (tmp_path / "page.html").read_text()


def test_the_same_report_is_the_same_file(report, tmp_path):
    write_report(report, tmp_path / "one.html")
    write_report(report, tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def hostile(report: Report, text: str) -> Report:
    rows = [dataclasses.replace(row, encoder=f"{row.encoder} {text}") for row in report.rows]
    rows += [Row(text, 1.0, text, language=text)]
    labels = {code: f"{label} {text}" for code, label in LABELS.items()}
    return Report(text, text, rows, text, labels, {text: {text: [text]}})


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("no chromium on this machine; install Debian's package chromium to test the page")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report; at the end, the page must have asked for itself alone and complained of nothing."""
    complaints, requests = [], []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))

    from playwright.sync_api import expect

    def open_report(report: Report):
        path: Path = tmp_path / "page.html"
        write_report(report, path)
        page.goto(path.as_uri())
        expect(page.locator(".chart svg.marks")).to_have_count(page.locator(".chart").count(), timeout=30_000)
        return page

    yield open_report
    page.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [(tmp_path / "page.html").as_uri()]


def test_charts_are_drawn_from_the_rows(visit, report):
    page = visit(report)
    charts = page.locator(".chart svg.marks")
    assert charts.count() == 5
    marks = charts.nth(0).locator(".role-mark")
    rings, dots, ticks = 9 * 2 * 3, 9 * 2, 9 * 2  # every seed; every mean; every baseline
    assert marks.locator("xpath=self::*[contains(@class, 'mark-symbol')]/*").count() == rings + dots
    assert marks.locator("xpath=self::*[contains(@class, 'mark-rect')]/*").count() == ticks
    assert charts.nth(1).locator(".role-mark.mark-symbol path").count() == 9
    assert charts.nth(2).locator(".mark-line path").count() >= 2
    assert all(charts.nth(0).get_by_text(label, exact=True).count() for label in LABELS.values())


def test_the_table_sorts_both_ways_with_empty_cells_last(visit, report):
    page = visit(report)
    table = page.locator("table.sortable").nth(1)
    for column in ("Mean (%)", "Gap to source"):
        index = score_table(report.scores).headers.index(column)
        header = table.locator("thead th").nth(index)
        for expected in ("ascending", "descending"):
            header.locator("button").click()
            assert header.get_attribute("aria-sort") == expected
            assert table.locator('thead th:not([aria-sort="none"])').count() == 1
            cells = table.locator(f"tbody tr > :nth-child({index + 1})")
            given = cells.evaluate_all("cells => cells.map(cell => cell.dataset.number ?? null)")
            numbers = [float(number) for number in given if number is not None]
            assert numbers == sorted(numbers, reverse=expected == "descending")
            assert None not in given[: len(numbers)]
            assert len(given) == 36


def test_the_rows_can_be_downloaded(visit, report, tmp_path):
    page = visit(report)
    with page.expect_download() as download:
        page.get_by_text("rows (CSV, compressed)").click()
    download.value.save_as(tmp_path / "down.csv.gz")
    write_rows(report.rows, tmp_path / "rows.csv")
    assert gzip.decompress((tmp_path / "down.csv.gz").read_bytes()) == (tmp_path / "rows.csv").read_bytes()


def test_a_chart_of_many_runs_shows_means_alone():
    rows = [
        Row("loss", float(step + seed), kind="curve", encoder="e", split="train", key=str(seed), seed=seed, step=step)
        for seed in range(60)
        for step in range(100)
    ]
    (part,) = sections_of(Report("title", "", rows))
    chart = part.figures[0].chart
    assert len(chart.to_dict()["layer"]) == 1
    (values,) = chart.to_dict()["datasets"].values()
    assert len(values) == 100 and values[3]["value"] == 3 + sum(range(60)) / 60


def test_the_page_fits_a_phone(visit, report):
    page = visit(report)
    page.set_viewport_size({"width": 375, "height": 700})
    page.wait_for_function("document.documentElement.scrollWidth <= 375")  # charts follow the window a moment later
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def watched_rows() -> list[Row]:
    """More schedules than there are colours, with all kinds of probes; one of them is not tested yet."""
    alike = {"kind": "retrieval", "encoder": "e", "language": "qab"}
    rows = [Row("retrieval", 0.1 * layer, "share", layer=layer, **alike) for layer in range(8)]
    for frozen in range(-1, 8):
        for seed in range(2):
            run = {
                "encoder": "e",
                "task": "pos",
                "train_languages": "qaa",
                "schedule": f"freeze:{frozen}",
                "seed": seed,
            }
            if frozen < 7:
                value = 0.5 + 0.01 * frozen * seed
                test = run | {"kind": "score", "language": "qab", "dataset": "world:qab", "split": "test"}
                rows.append(Row("accuracy", value, "share", **test))
            for step in (0, 10):
                point = run | {"kind": "probe", "split": "probe", "step": step}
                rows.append(Row("loss", 1.0 + step, **run, kind="curve", split="train", step=step))
                rows.append(Row("accuracy", 0.1 * seed + step / 20, "share", dataset="world:qab", **point))
                rows += [Row("CKA with start", 1 - step / 90, dataset="target", layer=k, **point) for k in range(13)]
                for corpus, level in (("target", 90 - 5 * step), ("control", 20 + step + frozen), ("third", 5)):
                    rows.append(Row("perplexity", level + seed, dataset=corpus, **point))
    return rows


def test_a_page_of_probes_and_sweeps_is_drawn_and_fits_a_phone(visit):
    schedules = {name: parse_schedule(name) for name in (f"freeze:{n}" for n in range(-1, 8))}
    page = visit(Report("title", "question", watched_rows(), schedules=schedules))
    titles = page.locator("figure h3").all_inner_texts()
    assert titles[:4] == [
        "Perplexity while one language is learned",
        "Perplexity of the target against what the control loses",
        "Accuracy during training: Part-of-speech tagging",
        "CKA with start, by layer",
    ]
    page.set_viewport_size({"width": 1100, "height": 800})
    widths = page.locator(".chart").evaluate_all("charts => charts.map(one => [one.scrollWidth, one.clientWidth])")
    assert len(widths) == len(titles) and all(whole <= seen for whole, seen in widths)
    page.set_viewport_size({"width": 375, "height": 700})
    page.wait_for_function("document.documentElement.scrollWidth <= 375")


@pytest.mark.parametrize("text", HOSTILE)
def test_injected_scripts_are_inert(visit, report, text):
    page = visit(hostile(report, text))
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == text
    assert page.title() == text
    assert page.locator("main img, main script:not([type='application/json'])").count() == 0
    specification = page.locator(".chart script").first.text_content()
    assert text in json.dumps(json.loads(specification), ensure_ascii=False)


def test_a_report_knows_what_its_study_declares():
    frozen = report_of(find_study("alignment-by-layer", {"scale": "small"}), [])
    assert frozen.schedules["freeze:3"].freeze == 3 and frozen.title == "alignment-by-layer@world"
    drawn = report_of(find_study("align-then-predict", {"scale": "small"}), [], title="mine")
    assert drawn.title == "mine" and "published: mBERT" in {row.encoder for row in drawn.rows}
    for name in ("reinit:layers=0+1", "reinit:layers=10+11"):  # declared, and of a published number
        assert [operation.layers for operation in drawn.surgeries[name]] == [tuple(map(int, name[14:].split("+")))]
    made = report_of(find_study("unseen-languages", {"scale": "small", "languages": ["qag"]}), [])
    assert made.recipes == {"adapted qag": ADAPTED, "from scratch qag": SCRATCH}
