"""What the report says of how long texts are: perplexities per character and byte, two tokenizers side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from babelscope.core.intervals import Interval, geometric_interval
from babelscope.core.row import Row
from babelscope.report import text_sizes
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.report.sections.probes import sizes
from babelscope.report.sections.probes.probed import perplexities
from babelscope.report.sections.probes.tables import probe_tables
from babelscope.studies.published_numbers import published_rows


def sized(encoder: str, tokens: float, **labels: Any) -> list[Row]:
    counts = {"tokens": tokens, "unknown tokens": 1, "characters": 100, "bytes": 200}
    shared = {"kind": text_sizes.KIND, "encoder": encoder, "task": "mlm", "language": "nl", "split": "dev"} | labels
    return [Row(name, value, **shared) for name, value in counts.items()]


def probed(encoder: str, value: float, step: int, **labels: Any) -> Row:
    shared = {"kind": "probe", "encoder": encoder, "language": "nl", "dataset": "target", "split": "probe"}
    return Row("perplexity", value, step=step, **shared | labels)


def texts(table) -> list[list[str]]:
    return [[cell.text for cell in line] for line in table.lines]


def test_the_report_sets_two_tokenizers_side_by_side():
    tuned = [probed("m", value, step, task="mlm", seed=seed) for seed in (0, 1) for step, value in ((0, 64), (9, 16.0))]
    native = [probed("native", 256.0, 0)]
    rows = [*tuned, *native, *sized("m", 50, dataset="target"), *sized("native", 25, dataset="target")]
    made = Report("", "", rows)
    (table,) = (table for table in probe_tables(made) if "character" in table.title)
    assert [line[:3] + line[4:5] + line[6:7] + line[8:] for line in texts(table)] == [
        ["m", "target", "16.00", "4.000", "2.000", "0.500", "2.0%"],
        ["native", "target", "256.00", "4.000", "2.000", "0.250", "4.0%"],
    ]
    assert "only" not in table.note and "exp of the mean loss" in table.note


def test_intervals_are_carried_over():
    size = text_sizes.TextSize(50, 0, 100, 200)
    line = sizes.size_line("m", "target", sizes.carried_over(Interval(16.0, 4.0, 64.0, None, 3), size), size)
    assert [cell.text for cell in line][2:8] == [
        "16.00", "[4.00, 64.00]", "4.000", "[2.000, 8.000]", "2.000", "[1.414, 2.828]",
    ]  # fmt: skip


def test_a_text_of_unknown_length_has_empty_cells():
    (made,) = perplexities(Report("", "", [probed("m", 7.0, 3, task="mlm", seed=0)]))
    assert made.sizes == {}
    line = sizes.size_line("m", "target", sizes.carried_over(geometric_interval([7.0]), None), None)
    assert [cell.text for cell in line] == ["m", "target", "7.00", *[""] * 7]


def test_two_texts_of_one_name_are_not_confused():
    """A reference's row has no task; where two tasks measure it on texts of one name, no length can be told."""
    other = sized("native", 30, dataset="target", task="pos")
    rows = [probed("native", 5.0, 0), *sized("native", 25, dataset="target")]
    size_of = text_sizes.sizes_of([*rows, *other])
    assert size_of(rows[0]) is None
    assert size_of(probed("native", 5.0, 0, task="pos")).tokens == 30
    assert text_sizes.sizes_of([*rows, *sized("native", 25, dataset="target", task="pos")])(rows[0])


def test_a_corpus_of_probes_with_the_name_of_a_test_set_has_a_size_of_its_own():
    """Their numbers were mixed, and sentences of the one were paired with losses of the other."""
    shared = {"encoder": "m", "language": "nl", "dataset": "text:nl:t"}
    of_probes = sized("m", 30, dataset="text:nl:t", key="of probes")
    tested = sized("m", 90, dataset="text:nl:t", split="test", key="tested")
    probe = probed("m", 7.0, 0, task="mlm", seed=0, dataset="text:nl:t")
    score = Row("perplexity", 9.0, kind="score", task="mlm", split="test", seed=0, train_languages="nl", **shared)
    for counts in (of_probes + tested, tested + of_probes):
        made = Report("", "", [probe, score, *counts])
        sizes_there = [made.size_of(each) for each in (probe, probe.labelled(task=None), score, *made.scores)]
        assert [(size.tokens, size.key) for size in sizes_there] == [(30, "of probes")] * 2 + [(90, "tested")] * 2
    assert text_sizes.sizes_of(of_probes)(score) is None, "the test set was not counted"
    assert text_sizes.sizes_of(tested)(probe).tokens == 90, "probes may be of a test split"


def test_test_sets_have_a_table_too():
    shared = {"kind": "score", "task": "mlm", "language": "nl", "dataset": "text:nl:t", "split": "test"}
    scores = [Row("perplexity", 16.0, encoder="m", seed=seed, train_languages="nl", **shared) for seed in (0, 1)]
    scores += [Row("perplexity", 256.0, encoder="native", **shared)]
    text = {"dataset": "text:nl:t", "split": "test"}
    counts = sized("m", 50, **text) + sized("native", 25, **text)
    (section,) = (one for one in sections_of(Report("", "", [*scores, *counts])) if "character" in one.title)
    assert [line[0] + line[4] for line in texts(section.tables[0])] == ["m4.000", "native4.000"]
    assert not [one for one in sections_of(Report("", "", scores)) if "character" in one.title]


def learned(encoder: str, schedule: str | None, value: float, seed: int | None, dataset: str = "wikipedia:nl") -> Row:
    tuned = {"train_languages": "nl", "schedule": schedule, "seed": seed} if schedule else {}
    shared = {"kind": "score", "task": "mlm", "language": "nl", "split": "test"}
    return Row("perplexity", value, encoder=encoder, dataset=dataset, **shared | tuned)


def test_techniques_stand_beside_the_published_ones():
    published = [row for row in published_rows("evolution@paper") if row.kind == "score"]
    ours = [learned("mBERT", "layers:6-12", 9.5, seed) for seed in (0, 1)] + [learned("BERTje", None, 20, None)]
    (section,) = (one for one in sections_of(Report("", "", [*ours, *published])) if "techniques" in one.title)
    (table,) = section.tables
    lines = {line[1].text: [cell.text for cell in line[2:]] for line in table.lines}
    assert table.headers[2:] == ["mBERT", "BERTje", "published: mBERT", "published: BERTje"]
    assert {line[0].text for line in table.lines} == {"nl"}
    assert lines["layers:6-12"] == ["9.5", "", "9.0", ""]
    assert lines["freeze:0"] == ["", "", "7.3", ""]
    assert lines["as it is, not tuned"] == ["", "20.0", "", "23.5"]


def test_a_tuning_without_a_schedule_has_a_name_among_techniques():
    rows = [learned("m", schedule, 9.5, 0) for schedule in ("freeze:0", "upper:half")]
    rows.append(replace(learned("m", "none", 8.5, 0), schedule=None))
    (section,) = (one for one in sections_of(Report("", "", rows)) if "techniques" in one.title)
    assert [line[1].text for line in section.tables[0].lines] == ["freeze:0", "upper:half", "everything trained"]


def test_one_schedule_is_no_comparison_of_techniques():
    one = [learned("m", "freeze:0", 9.5, 0), learned("n", None, 20, None)]
    assert not [each for each in sections_of(Report("", "", one)) if "techniques" in each.title]
