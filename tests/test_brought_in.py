"""What the report says of languages that were brought in."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest

from babelscope.core.row import Row
from babelscope.engine.progress import language_labels
from babelscope.report import Report, markdown
from babelscope.report.declared import report_of
from babelscope.report.page import render
from babelscope.report.sections import sections_of
from babelscope.report.sections.brought_in.figures import _ticks
from babelscope.report.sections.brought_in.gains import gains, recipe
from babelscope.studies import find_study
from babelscope.study.encoders import BringingIn

TEXT = {"qag": [{"languages": ["qaa", "qag"], "sentences": 9}], "qai": [{"languages": ["qaa", "qai"], "sentences": 9}]}
SCORES = {
    "e": {"qag": 0.5, "qai": 0.2},
    "e with 200": {"qag": 0.6, "qai": 0.2},
    "e with 600": {"qag": 0.9, "qai": 0.3},
    "e by spelling": {"qag": 0.4, "qai": 0.2},
}
PAIRS = {"e with 200": 200, "e with 600": 600, "e by spelling": 600}
LINES = range(20)


def made(name, **how):
    return BringingIn.model_validate({"name": name, "encoder": "e", "languages": TEXT, "after_tuning": True} | how)


MADE = {
    "e with 200": made("e with 200", pairs=200),
    "e with 600": made("e with 600", pairs=600),
    "e by spelling": made("e by spelling", pairs=600, rows="spelling"),
}


def right(encoder, language, seed, sentence):
    """A sentence of ten words."""
    return round(10 * SCORES[encoder][language]) + (sentence + seed) % 2 - (sentence % 2) * (encoder != "e")


def outcomes(key):
    kind, *told = key.split("|")
    if kind != "score":
        return {}
    encoder, language, seed = told
    return {"accuracy": [[right(encoder, language, int(seed), k) for k in LINES], [10] * len(LINES)]}


def rows():
    shared = {"kind": "score", "task": "pos", "train_languages": "qaa", "split": "test"}
    for encoder, by_language in SCORES.items():
        for language in by_language:
            for seed in range(3):
                value = fmean(right(encoder, language, seed, k) / 10 for k in LINES)
                labels = {"encoder": encoder, "language": language, "dataset": f"world:{language}", "seed": seed}
                yield Row("accuracy", value, "share", key=f"score|{encoder}|{language}|{seed}", **shared, **labels)
    for encoder, count in PAIRS.items():
        for language in TEXT:
            labels = {"kind": "alignment", "encoder": encoder, "language": language, "key": f"{language} {count}"}
            error = 0.05 if language == "qag" else 0.0625
            for measure, value in (("pairs", count), ("own pieces", 1234), ("linked pieces", 0.5), ("fertility", 1.25)):
                yield Row(measure, value, **labels)
            yield Row("alignment error rate", error, "share", **labels)


@pytest.fixture
def report():
    labels = {"qag": "qag near (Latn)", "qai": "qai isolate (Latn)"}
    return Report("t", "?", list(rows()), labels=labels, brought_in=MADE, outcomes=outcomes)


def alignments(report):
    return [row for row in report.rows if row.kind == "alignment"]


def test_gains_are_against_the_encoder_as_it_is_on_the_same_sentences(report):
    found = gains(report, alignments(report))
    assert {(gain.score.encoder, gain.score.language, gain.pairs) for gain in found} == {
        (encoder, language, count) for encoder, count in PAIRS.items() for language in TEXT
    }
    for gain in found:
        encoder, language = gain.score.encoder, gain.score.language
        assert gain.reference.encoder == "e" and gain.reference.language == language
        differences = [
            (right(encoder, language, seed, k) - right("e", language, seed, k)) / 10 for seed in range(3) for k in LINES
        ]
        assert gain.effect.mean == pytest.approx(fmean(differences))
    said = {(gain.score.encoder, gain.score.language): gain.verdict for gain in found}
    assert said["e with 600", "qag"] == "shows" and said["e by spelling", "qag"] == "the reverse shows"


def test_an_encoder_gains_nothing_in_a_language_that_was_not_brought_into_it(report):
    fewer = [row for row in alignments(report) if row.language != "qai"]
    assert {gain.score.language for gain in gains(report, fewer)} == {"qag"}
    unknown = replace(report, brought_in={})
    assert gains(unknown, alignments(unknown)) == []


def test_a_recipe_is_what_is_the_same_by_other_sentences():
    assert recipe(MADE["e with 200"]) == recipe(MADE["e with 600"]) == ""
    others = [
        made("x", **how) for how in ({"rows": "spelling"}, {"pieces": 5}, {"shrinkage": 2}, {"keep_accents": False})
    ]
    assert len({recipe(each) for each in [MADE["e with 200"], *others]}) == 5


def test_findings_figures_and_tables(report):
    (section,) = (each for each in sections_of(report) if each.title == "Languages brought in")
    first, second, errors = section.findings
    assert first.startswith(
        "Part-of-speech tagging: Accuracy, what e with 200 gains over e: qag near (Latn): 5.0 points ["
    )
    assert "e by spelling" not in first + second and second.count("points") == 2
    assert errors == "The links that are learnt have alignment error rates from 5.0% to 6.2%."
    lines, alignment = section.tables
    assert len(lines.lines) == 6
    place, condition, before, after, gain, verdict = (cell.text for cell in lines.lines[0])
    assert (place, condition, before, after, verdict) == ("qag near (Latn)", "e with 200", "55.0", "60.0", "shows")
    assert gain.startswith("+5.0 [")
    assert [[cell.text for cell in line] for line in alignment.lines][:2] == [
        ["qag near (Latn)", "e with 200", "200", "1,234", "50.0", "1.25", "5.0"],
        ["qag near (Latn)", "e with 600 and 1 more", "600", "1,234", "50.0", "1.25", "5.0"],
    ]
    assert "Recall (%)" not in alignment.headers
    (figure,) = section.figures
    assert figure.title == "By number of sentences: Part-of-speech tagging: Accuracy, e"


def test_curves_begin_at_the_encoder_as_it_is(report):
    (section,) = (each for each in sections_of(report) if each.title == "Languages brought in")
    chart = section.figures[0].chart.to_dict()
    points = {
        (point["language"], point["pairs"]): point["score"] for data in chart["datasets"].values() for point in data
    }
    assert {pairs for _, pairs in points} == {0, 200, 600}
    scores = {(score.encoder, score.place): 100 * score.interval.mean for score in report.scores}
    for (place, pairs), value in points.items():
        assert value == scores[f"e with {pairs}" if pairs else "e", place]
    assert chart["layer"][0]["encoding"]["x"]["axis"]["values"] == [0, 200, 600]


def test_errors_are_said_of_links_that_are_learnt_also_where_there_are_none(report):
    counted = {"e with 200": 0.0, "e with 600": 0.25, "e by spelling": 0.125}
    changed = [
        replace(row, value=counted[row.encoder]) if row.measure == "alignment error rate" else row
        for row in report.rows
    ]
    for known, said in ((["e with 600"], "from 0.0% to 12.5%"), (["e with 200"], "from 12.5% to 25.0%")):
        told = {name: each.model_copy(update={"known": name in known}) for name, each in MADE.items()}
        (section,) = (
            each for each in sections_of(replace(report, rows=changed, brought_in=told)) if "brought in" in each.title
        )
        assert section.findings[-1] == f"The links that are learnt have alignment error rates {said}."


def test_known_links_have_no_error_and_few_seeds_no_verdict(report):
    known = {name: each.model_copy(update={"known": True}) for name, each in MADE.items()}
    few = replace(report, rows=[row for row in report.rows if row.seed in (None, 0)], brought_in=known)
    (section,) = (each for each in sections_of(few) if each.title == "Languages brought in")
    assert all("not enough seeds to say" in line for line in section.findings) and section.findings
    assert "[" not in section.findings[0]


def test_alignments_alone_have_their_table(report):
    early = replace(report, rows=alignments(report))
    (section,) = sections_of(early)
    assert [table.title for table in section.tables] == ["Vocabularies and alignments"] and not section.figures


def test_alignments_that_say_no_gain_stand_after_the_scores(report):
    unknown = replace(report, brought_in={})
    assert [part.title for part in sections_of(unknown)][-1] == "Languages brought in"


def test_pieces_a_word_are_left_out_of_languages_without_spaces(report):
    real = {"qag": "zh", "qai": "bg"}
    renamed = [replace(row, language=real[row.language]) for row in alignments(report)]
    (section,) = sections_of(replace(report, rows=renamed, labels=language_labels(["zh", "bg"])))
    (table,) = section.tables
    column = table.headers.index("Pieces a word")
    assert {(line[0].text, line[column].text) for line in table.lines} == {
        ("Chinese (Hant)", ""),
        ("Bulgarian (Cyrl)", "1.25"),
    }


@pytest.mark.parametrize(("code", "label"), [("el", "Greek (Grek)"), ("sr-Latn", "Serbian (Latin)"), ("qtx", "qtx")])
def test_languages_of_no_treebank_have_a_script_too(code, label):
    assert language_labels([code]) == {code: label}


def test_it_stands_on_the_page_and_in_markdown(report):
    assert "Languages brought in" in markdown(report) and "By number of sentences" in render(report)


def test_a_report_knows_what_languages_are_brought_into(tmp_path, monkeypatch):
    study = find_study("bring-in", {"scale": "small"})
    declared = report_of(study, [])
    assert declared.recipes == {} and list(declared.brought_in) == [made.name for made in study.encoders[1:]]
    folder = tmp_path / "models" / "own"
    folder.mkdir(parents=True)
    spelled = [encoder.model_copy(update={"encoder": str(folder)}) for encoder in study.encoders[1:2]]
    (known,) = report_of(study.model_copy(update={"encoders": (str(folder), *spelled)}), []).brought_in.values()
    assert known.encoder == "models/own"


def test_many_numbers_of_sentences_have_round_ticks():
    assert _ticks({0, 200, 600}) == [0, 200, 600]
    assert _ticks({0, *range(1000, 1009)}) == [0, 100, 200, 500, 1000]
