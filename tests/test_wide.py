"""Rows of one split, a line a model, and the pieces of code on docs/rows.md."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.core.row import COLUMNS, Row
from babelscope.core.row_table import write_rows
from babelscope.face.result import Rows
from babelscope.face.wide import of_split, wide_table
from synthetic_report import synthetic_rows

PAGE = Path(__file__).parent.parent / "docs" / "rows.md"

keys = st.fixed_dictionaries(
    {
        "measure": st.sampled_from(["accuracy", "f1"]), "encoder": st.sampled_from(["a", "b"]),
        "surgery": st.sampled_from([None, "reverse"]), "task": st.just("pos"), "seed": st.sampled_from([None, 0, 1]),
        "language": st.sampled_from(["qaa", "qab"]), "dataset": st.sampled_from([None, "d1", "d2"]),
        "split": st.just("test"),
    }
)  # fmt: skip
many = st.lists(keys, min_size=1, max_size=30, unique_by=lambda given: tuple(sorted(given.items(), key=str)))


@given(many, st.sampled_from(["language", "measure"]))
def test_every_score_is_in_one_cell_of_its_own(labels, beside):
    rows = [Row(value=float(k), kind="score", key=str(k), **given) for k, given in enumerate(labels)]
    table = wide_table([*rows, Row("loss", 9.0, kind="curve", encoder="a")], beside)
    fixed = [name for name in table.columns if name in COLUMNS]
    beside_each_other = [name for name in table.columns if name not in COLUMNS]
    assert beside not in fixed and not table[fixed].isna().all().any()
    assert not table.duplicated(fixed).any()
    cells = table[beside_each_other].stack().dropna()
    assert sorted(cells) == [row.value for row in rows]
    for row in rows:
        line = next(index[0] for index, value in cells.items() if value == row.value)
        column = next(index[1] for index, value in cells.items() if value == row.value)
        assert all(pd.isna(table[name][line]) or table[name][line] == getattr(row, name) for name in fixed)
        if beside == "measure":
            assert column == row.measure
        else:
            assert column in (row.language, f"{row.language} ({row.dataset})")


def test_whole_numbers_stay_whole_and_baselines_have_none():
    table = Rows(synthetic_rows()).frame(wide="language")
    assert str(table["seed"].dtype) == "Int64" and table["seed"].isna().sum() == 2
    assert list(table.columns[-9:]) == [f"qa{letter}" for letter in "abcdefghi"] and "step" not in table


def test_languages_that_are_called_as_columns_have_columns_of_their_own(tmp_path):
    made = [("seed", 0.25), ("measure", 0.5), ("qaa", 0.75)]
    rows = [Row("accuracy", value, kind="score", seed=1, split="test", language=name) for name, value in made]
    table = wide_table(rows, "language")
    assert list(table["measure"]) == ["accuracy"] and list(table["seed"]) == [1]
    assert [table[name][0] for name in ("seed (language)", "measure (language)", "qaa")] == [0.25, 0.5, 0.75]
    Rows(rows).write(tmp_path / "rows.parquet", wide="language")
    assert pd.read_parquet(tmp_path / "rows.parquet")["measure (language)"][0] == 0.5


def test_a_split_alone():
    rows = of_split(synthetic_rows(), "dev")
    assert rows and {row.split for row in rows} == {"dev"}
    with pytest.raises(InputError, match="no rows of the split 'probe'; there are dev, test, train"):
        of_split(synthetic_rows(), "probe")


def test_what_cannot_be_wide_is_refused():
    score = Row("accuracy", 0.5, kind="score", encoder="a", language="qaa")
    with pytest.raises(InputError, match="a column a language or a measure, not a 'seed'"):
        wide_table([score], "seed")
    with pytest.raises(InputError, match="no scores among the rows"):
        wide_table([score.labelled(kind="probe")], "language")
    with pytest.raises(InputError, match="two values of accuracy in the column qaa"):
        wide_table([score, score.labelled(value=0.6)], "language")


def test_the_page_has_every_column_in_the_order_of_files():
    table = PAGE.read_text(encoding="utf-8").partition("## Columns")[2].partition("\n## ")[0]
    firsts = re.findall(r"(?m)^\| (`[^|]*`) \|", table)
    assert tuple(re.findall(r"`(\w+)`", " ".join(firsts))) == COLUMNS


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: re.findall(r"import (\w+)", block)[-1])
def test_the_pieces_of_code_on_the_page_run(block, tmp_path, monkeypatch, capfd):
    for library in re.findall(r"(?m)^import (\w+)", block):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    perplexity = Row("perplexity", 8.0, kind="score", encoder="natural", language="qaa", split="test", seed=0)
    similar = Row("linear CKA (debiased)", 0.9, kind="similarity", encoder="natural", language="qab", layer=1)
    rows = [*synthetic_rows(), perplexity, similar]
    for name in ("rows.csv", "rows.parquet"):
        write_rows(rows, Path(name))
    Rows(rows).write("scores.csv", wide="language")
    exec(block, {})  # noqa: S102
    assert "natural" in capfd.readouterr().out
