"""The top of a report's page, its axes and filters, and the way from numbers to their rows."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.languages import family_of
from babelscope.core.row import Row
from babelscope.core.words import listed
from babelscope.report import Report
from babelscope.report.cautions import cautions
from babelscope.report.figures import within
from babelscope.report.filters import facts_of, filters_of
from babelscope.report.first import first_screen
from babelscope.report.kinds import is_score
from babelscope.report.page import render
from babelscope.report.score import BOUNDS
from babelscope.report.section import Section
from babelscope.report.sections import sections_of
from babelscope.report.sections.scores.answer import answer
from babelscope.report.sections.scores.figures import score_chart
from babelscope.report.sections.scores.findings import differences, findings
from babelscope.report.sources import sources
from babelscope.report.tables import number_cell
from babelscope.report.words import counted, direction
from scored_runs import RUN, said, scored
from synthetic_report import synthetic_report


@pytest.fixture(scope="module")
def report() -> Report:
    return synthetic_report()


def test_the_answer_has_the_numbers_and_the_direction(report):
    level, against = answer(report.scores, differences(report.scores))
    foreign = [score.interval.mean for score in report.scores if score.condition == "natural" and not score.is_source]
    mean = f"{100 * sum(foreign) / len(foreign):.1f}%"
    assert f"natural has accuracy {mean} on average over eight languages that it was not trained on" in level
    assert f"from {100 * min(foreign):.1f}% in " in level and f"to {100 * max(foreign):.1f}% in " in level
    assert against.startswith("Against itself untrained, natural is higher in all nine languages (+")
    assert against.endswith("all of these differences show.")


def test_differences_that_do_not_show_still_have_a_direction():
    levels = {code: 0.49 for code in ("de", "fr", "es", "it", "sv")}
    (_, against) = said(scored(levels, spread=0.05))
    assert against == (
        "Against itself untrained, e is lower in all five languages (−1.0 points): undecided, no difference shows."
    )
    scores = Report("t", "q", scored(levels, spread=0.05)).scores
    assert "on 0 of 5 languages. The differences, in points: de −1.0 [" in findings(scores)[-1]


def test_data_sets_of_one_language_are_counted_as_such():
    rows = scored({"fr": 0.6}) + [row.labelled(dataset=name) for name in ("A", "B") for row in scored({"de": 0.4})]
    level, against = said(rows)
    assert "on average over three data sets" in level and "of three data sets" in against
    assert "of 3 data sets" in findings(Report("t", "q", rows).scores)[-1]


@pytest.mark.parametrize(("seeds", "why"), [(1, "one seed"), (2, "two seeds")])
def test_too_few_seeds_decide_nothing(seeds, why):
    rows = scored({"de": 0.4, "fr": 0.6, "es": 0.7}, seeds=seeds)
    assert said(rows)[-1].endswith(f"higher in two and lower in one of three languages (−10.0 to +20.0 points): "
                                   f"undecided, {why} where three are needed.")  # fmt: skip
    report = Report("t", "q", rows)
    assert any(f": {why}." in warning for warning in cautions(report, report.scores))


@given(st.lists(st.sampled_from([-1.0, 0.0, 2.0]), min_size=1, max_size=15))
def test_a_direction_counts_signs(differences):
    text = direction(differences, "higher", "lower")
    for way, sign in (("higher", 1), ("lower", -1)):
        count = sum(sign * each > 0 for each in differences)
        everywhere = count == len(differences)
        assert (f"{way} in" in text) is (count > 0)
        assert everywhere or count == 0 or f"{way} in {counted(count)}" in text
    assert counted(len(differences)) in text or len(differences) <= 2


def test_names_that_are_too_many_are_counted():
    assert listed(["a"]) == "a" and listed(["a", "b"]) == "a and b" and listed("abcdef") == "a, b, c, d, e and f"
    assert listed("abcdefgh") == "a, b, c, d, e and 3 more"
    assert listed(["a, reversed", "b", "c"]) == "a, reversed; b; and c" and listed(["a, reversed"]) == "a, reversed"


def test_the_first_screen_is_of_the_first_section_that_answers(report):
    scores, *_ = parts = sections_of(report)
    first = first_screen(parts)
    assert list(first.answer) == list(scores.answer) and first.figure is scores.figures[0]
    plain = Section("t", findings=["a", "b", "c"], warnings=["w"])
    assert first_screen([Section("t", warnings=["w"]), *parts]).answer == scores.answer
    alone = first_screen([plain, plain])
    assert list(alone.answer) == ["a", "b"] and list(alone.warnings) == ["w"] and alone.figure is None


def test_the_page_says_the_answer_before_any_section(report):
    page = render(report)
    assert page.index('class="answer"') < page.index('id="main-figure"') < page.index('id="section-0"')
    assert page.count("<figure>") == sum(len(part.figures) for part in sections_of(report))


@given(st.sampled_from(sorted(BOUNDS)), st.lists(st.floats(-3, 3), min_size=1, max_size=9), st.booleans())
def test_axes_end_where_scores_do(unit, values, differences):
    lowest, highest = (100 * bound for bound in BOUNDS[unit])
    if differences:
        lowest, highest = lowest - highest, highest - lowest
    low, high = within(unit, [100 * value for value in values] + [math.nan, None], differences=differences).domain
    assert lowest <= low < high <= highest
    assert all(low <= 100 * value <= high for value in values if lowest <= 100 * value <= highest)


def test_axes_of_what_has_no_bounds_are_free():
    assert within("", [1.0, 7.0]).to_dict() == {"zero": False} == within("share", []).to_dict()


def test_an_interval_that_is_cut_ends_in_an_arrow():
    values = {0: 0.999, 1: 0.9, 2: 0.98}
    rows = [Row("accuracy", value, "share", language="de", seed=seed, **RUN) for seed, value in values.items()]
    drawn = json.dumps(score_chart(Report("t", "q", rows), Report("t", "q", rows).scores).to_dict())
    assert "triangle-right" in drawn and "triangle-left" not in drawn


def test_languages_have_scripts_and_families():
    codes = ["qab", "qaf", "ug>uyghur", "eu", "qah", "de"]
    rows = [Row("x", 1.0, language=code, seed=1, layer=2, task="pos") for code in codes]
    report = Report("t", "q", rows)
    facts = facts_of(report)
    assert facts["qab"] == {"language": "qab", "script": "Latn", "family": "of qaa"}
    assert facts["qah"]["family"] == "of qaa" and facts["qaf"]["family"] == "of qaf"
    assert facts["ug>uyghur"] == {"language": "ug>uyghur", "script": "", "family": "Turkic"}
    assert family_of("de-CH") == facts["de"]["family"] == "Indo-European" and family_of("xx") is None
    filters = {each.name: each.options for each in filters_of(report)}
    assert filters["seed"] == ["1"] and filters["layer"] == ["2"] and filters["task"] == ["Part-of-speech tagging"]


class Made(SimpleNamespace):
    """A step, as far as a page knows it."""


def test_numbers_lead_to_the_steps_that_made_them(report):
    load = Made(key="aa" * 32, title="<b>distil", inputs=(), seed=None)
    tune = Made(key="bb" * 32, title="tune", inputs=(load, load), seed=0)
    scored = Made(key="cc" * 32, title="evaluate", inputs=(tune,))
    rows = [row.labelled(key=scored.key) if row.measure == "accuracy" else row for row in report.rows if row.seed == 0]
    used = SimpleNamespace(plan=SimpleNamespace(steps={step.key: step for step in (scored, tune, load)}))
    known = replace(report, rows=rows, used=used, command="babelscope run 'a <b>'")
    told = sources(known, sections_of(known))
    by_key = {key: (title, seed, [told["steps"][k][0] for k in inputs]) for key, title, seed, inputs in told["steps"]}
    assert by_key[scored.key] == ("evaluate", 0, [tune.key]) and by_key[tune.key] == ("tune", 0, [load.key])
    linked = {told["steps"][place][0] for groups in told["groups"] for _, places in groups for place in places}
    assert linked == {scored.key}
    page = render(known)
    assert f'<a href="#key-{scored.key[:12]}">{scored.key[:7]}</a>' in page and 'id="rows-0"' in page
    assert "<b>" not in page.split("</head>")[1].split("<script>")[0]
    without = render(report)
    assert "Run keys" not in without and 'class="rows"' not in without


def test_every_score_has_its_row_beside_it(report):
    rows = [row.labelled(key=f"{place:012x}".ljust(64, "0")) for place, row in enumerate(report.rows)]
    page = render(replace(report, rows=rows))
    for place, row in enumerate(rows):
        if is_score(row):
            assert f'href="#key-{place:012x}"' in page


def test_huge_numbers_are_shown_in_few_digits():
    assert [number_cell(value, ".1f").text for value in (math.exp(700), -2e13, 123456.78)] == [
        "1.01e+304", "−2.00e+13", "123456.8",
    ]  # fmt: skip
