"""How many examples a study is trained on: counted, and shown beside the published numbers."""

from __future__ import annotations

from babelscope.core.row import Row
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.measures.data_sizes import CountExamples
from babelscope.report.model import Report
from babelscope.report.section import sections_of
from babelscope.steps.plan import Plan
from babelscope.studies.published_numbers import published_rows
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import declaration, transfer


def counted(value: int, **labels: object) -> Row:
    named = {"kind": "data_sizes", "task": "pos", "language": "en", "split": "train", "dataset": "UD_English-EWT"}
    return Row("examples", value, "examples").labelled(**named | labels)


def test_every_training_and_dev_set_is_counted_once(encoder_folder, tmp_path):
    base = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None)
    task = transfer(train=["world:qaa", "world:qab"], sizes={"train": [30, 20], "dev": 10, "test": 5}, baselines=[])
    declared = base | {"tasks": {"pos": task}, "measures": [{"measure": "data_sizes"}]}
    plan = compile_study(Study.model_validate(declared))
    counts = [step for step in plan.steps.values() if isinstance(step, CountExamples)]
    store = Store(tmp_path / "store")
    assert not run_plan(Plan.of(counts), store, jobs=1).failed
    rows = [row for step in counts for row in store.rows(step.key)]
    found = {(row.task, row.language, row.split): (row.measure, row.value, row.unit) for row in rows}
    assert found == {
        ("pos", language, split): ("examples", count, "examples")
        for language, split, count in (
            ("qaa", "train", 30),
            ("qab", "train", 20),
            ("qaa", "dev", 10),
            ("qab", "dev", 10),
        )
    }
    assert len(rows) == 4


def test_the_published_sizes_stand_beside_ours():
    rows = [counted(12544), counted(2001, split="dev"), counted(7, language="fo")]
    (section,) = sections_of(Report("t", "q", [*rows, *published_rows("underspecified@paper")[2:]]))
    (table,) = section.tables
    assert list(table.headers) == [
        "Task", "Language", "training: published", "training: ours", "dev: published", "dev: ours"
    ]  # fmt: skip
    lines = {(line[0].text, line[1].text): [cell.text for cell in line[2:]] for line in table.lines}
    assert len(lines) == 4 * 9 + 1
    assert lines["Part-of-speech tagging", "en"] == ["12,543", "12,544", "2,002", "2,001"]
    assert lines["Part-of-speech tagging", "fo"] == ["", "7", "", ""]
    assert lines["Dependency parsing", "vi"] == ["1,400", "", "800", ""]
    assert section.findings == ["0 of 2 training and dev sets have as many examples as the published ones."]


def test_published_sizes_alone_and_several_data_sets_of_a_language():
    (section,) = sections_of(Report("t", "q", published_rows("underspecified@world")[2:]))
    assert list(section.tables[0].headers) == ["Task", "Language", "training: published", "dev: published"]
    assert section.findings == []
    (both,) = sections_of(Report("t", "q", [counted(3), counted(4, dataset="UD_English-GUM")]))
    assert [cell.text for cell in both.tables[0].lines[0]] == ["Part-of-speech tagging", "en", "7"]


def test_one_data_set_read_in_two_sizes_counts_with_the_larger():
    rows = [counted(3), counted(30), counted(30), counted(5, dataset="UD_English-GUM"), counted(2, language="fo")]
    (section,) = sections_of(Report("t", "q", rows))
    (table,) = section.tables
    assert {line[1].text: line[2].text for line in table.lines} == {"en": "35", "fo": "2"}
    assert "the largest is shown" in table.note
    (once,) = sections_of(Report("t", "q", rows[1:]))
    assert once.tables[0].lines == table.lines and "the largest" not in once.tables[0].note


def test_the_published_table_is_shipped_without_an_error_of_copying():
    shipped = {
        (row.task, row.language, row.split): row.value
        for row in published_rows("underspecified")
        if row.kind == "data_sizes"
    }
    assert len(shipped) == 4 * 9 * 2
    assert all(shipped["pos", language, split] == shipped["parsing", language, split] for _, language, split in shipped)
    assert {shipped["xnli", language, "train"] for _, language, _ in shipped} == {392703}
    assert shipped["ner", "hi", "train"] == 5000 and shipped["ner", "hi", "dev"] == 1000
    assert {shipped["ner", language, "train"] for _, language, _ in shipped if language != "hi"} == {20000}
    sums = [
        sum(n for (task, _, of), n in shipped.items() if (task, of) == ("pos", split)) for split in ("train", "dev")
    ]
    assert sums == [83619, 10124]
