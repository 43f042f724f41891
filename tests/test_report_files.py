"""Reports as files: rows, figures, Markdown and pages."""

import dataclasses
import errno
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from babelscope.core.errors import InputError
from babelscope.core.row import COLUMNS, Row
from babelscope.core.row_table import write_rows
from babelscope.report import Report, markdown, write_figures, write_report
from babelscope.report.figures import look_of
from babelscope.report.files import answer_markdown, section_markdown
from babelscope.report.kinds import is_score
from babelscope.report.page import render
from babelscope.report.sections import Section, sections_of
from babelscope.report.sections.scores.figures import difference_chart, score_chart
from babelscope.report.sections.scores.findings import differences
from babelscope.report.tables import Cell, Table
from babelscope.report.words import in_words
from odd_reports import HOSTILE, hostile
from rows_file import read_rows
from synthetic_report import LABELS, synthetic_report

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def report() -> Report:
    return synthetic_report()


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_rows_survive_a_file(report, tmp_path, name):
    write_rows(report.rows, tmp_path / name)
    read = read_rows(tmp_path / name) if name.endswith("csv") else pd.read_parquet(tmp_path / name)
    assert tuple(read.columns) == COLUMNS
    assert read["value"].tolist() == [row.value for row in report.rows]
    back = [
        Row(**{key: value for key, value in record.items() if pd.notna(value)}) for record in read.to_dict("records")
    ]
    assert back == list(report.rows)


def test_names_are_text_in_markdown():
    """Whatever signs they have: no link, no picture, no tag, no further cell or line."""
    table = Table("t", ["what"], [[Cell("x](//e)\n\n# Injected\n![p](http://e/p.png) <b> | y [1.0, 2.0]")]])
    text = section_markdown(Section("s", tables=[table]))
    line = r"| x]\(//e) # Injected ![p]\(http://e/p.png) &lt;b> \| y [1.0, 2.0] |"
    assert line in text.splitlines()


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
    (tmp_path / "file").touch()
    for write, name in ((write_report, "page.html"), (write_figures, "figure.svg"), (write_figures, "figure.png")):
        with pytest.raises(InputError, match="cannot be written"):
            write(report, tmp_path / "file" / name)
    with pytest.raises(InputError, match="cannot be written"):
        write_rows(report.rows, tmp_path / "file" / "rows.parquet")


def test_figures_are_drawn(report, tmp_path):
    write_figures(report, tmp_path / "figure.svg")
    write_figures(report, tmp_path / "figure.png")
    svg = (tmp_path / "figure.svg").read_text()
    assert all(label in svg for label in LABELS.values())
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="nothing to show yet"):
        write_figures(Report("Empty", "", []), tmp_path / "figure.svg")


def test_a_picture_that_finds_no_room_leaves_the_one_that_is_there(report, tmp_path, monkeypatch):
    def full(chart, file, **how):
        Path(file).write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "chart.png").write_bytes(b"whole")
    monkeypatch.setattr("altair.TopLevelMixin.save", full)
    with pytest.raises(InputError, match=r"chart\.png: cannot be written: No space left on device"):
        write_figures(report, tmp_path / "chart.png")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"chart.png": b"whole"}


def test_markdown_has_a_line_a_language(report):
    text = markdown(report)
    assert "\n## Part-of-speech tagging: Accuracy\n\n- On source, the training language: natural 9" in text
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


@pytest.mark.parametrize("tag", ["<script>x()</script>", "<!-- x -->", "<?php x ?>", "</td>", "<IMG SRC=x onerror=y>"])
def test_markdown_hands_on_no_html(tag):
    class Drawn(NamedTuple):
        title: str

    text = f"near {tag} | p < 0.001, 3 <5"
    shown = Section(
        text, [text], [Drawn(text)], [Table(text, [text], [[Cell(text)]], note=text)], answer=[text], warnings=[text]
    )
    written = answer_markdown([shown]) + section_markdown(shown)
    read = Tags()
    read.feed(written)
    read.close()
    assert read.tags == [] and written.count("p < 0.001, 3 <5") == 10


def test_markdown_begins_with_the_answer_and_says_what_to_mind():
    """As the page does; a section without an answer has its findings alone."""
    told, plain = (
        Section("One", ["a finding"], answer=["Yes.", "By two."], warnings=["few seeds"]),
        Section("Two", ["b"]),
    )
    assert answer_markdown([told, plain]) == "Yes. By two.\n\n> **To mind:** few seeds\n"
    assert answer_markdown([plain, told]) == "> **To mind:** few seeds\n" and answer_markdown([plain]) == ""
    many = answer_markdown([dataclasses.replace(told, warnings=[str(k) for k in range(7)])])
    assert many.count("To mind") == 4 and many.endswith("\n\nMore to mind: 3, with their sections below.\n")
    assert section_markdown(told) == "## One\n\n- a finding\n\n> **To mind:** few seeds\n"


class Tags(HTMLParser):
    """The tags, comments and declarations of a text, as a browser sees them."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    handle_endtag = handle_comment = handle_decl = handle_pi = unknown_decl = lambda self, text: self.tags.append(text)


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
            heading = rf"<(h[23])>{re.escape(figure.title)}</\1>"  # h2 at the top of the page
            assert re.search(heading, page) and figure.title in text
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


def test_the_same_report_is_the_same_file(report, tmp_path):
    write_report(report, tmp_path / "one.html")
    write_report(report, tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


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


@pytest.mark.parametrize(("count", "place"), [(12, "top"), (40, "bottom")])
def test_a_long_legend_is_below_the_chart_and_whole(count, place):
    names = [f"condition {k}" for k in range(count)]
    legend = look_of("condition:N", names, set(names))["color"].to_dict()["legend"]
    assert (legend["orient"], legend["symbolLimit"]) == (place, 0)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_from_outside_is_markup(report, tmp_path, text):
    odd = hostile(report, text)
    write_report(odd, tmp_path / "page.html")
    assert text not in (tmp_path / "page.html").read_text()
