"""docs/results are written from the rows of a store, and nothing is computed for it."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import results

import old_store
from babelscope.engine.store import Store

KEPT = sorted((Path(__file__).parents[1] / "docs" / "results" / "rows").glob("*.tar.xz"))
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[old_store.Sample, str]:
    folder = tmp_path_factory.mktemp("results")
    sample = old_store.sample(folder)
    before = sorted((path, path.stat().st_mtime_ns) for path in sample.store.rglob("*"))
    file = results.write_page(str(sample.study), Store(sample.store), folder / "pages")
    assert sorted((path, path.stat().st_mtime_ns) for path in sample.store.rglob("*")) == before
    return sample, file.read_text(encoding="utf-8")


def test_a_page_says_where_its_numbers_come_from(written: tuple[old_store.Sample, str]) -> None:
    _, page = written
    assert "    babelscope run " in page and re.search(r"[\d,]+ rows of ", page) and "Seeds: 0, 1" in page


def test_a_page_has_the_scores_of_the_rows(written: tuple[old_store.Sample, str]) -> None:
    _, page = written
    rows = old_store.old_rows()
    scores = rows[(rows["measure"] == "accuracy") & (rows["split"] == "test") & (rows["task"] == "pos")]
    means = scores.assign(value=scores["value"].astype(float)).groupby(
        ["encoder", "surgery", "schedule", "train_languages", "dataset"]
    )["value"]
    shown = {f"{100 * mean:.2f}" for mean in means.mean()}
    assert shown and shown <= set(re.findall(r"\d+\.\d\d", page))


def test_writing_it_again_changes_nothing(written: tuple[old_store.Sample, str], tmp_path: Path) -> None:
    sample, page = written
    file = results.write_page(str(sample.study), Store(sample.store), tmp_path)
    assert file.read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["first-look", "--store", "STORE"], "first-look: nothing is written: .*there is no such store"),
        (["--store", "STORE"], "there is no such store"),
        (["first-look", "--store", "DOCS"], "first-look: nothing is written: .*neither empty nor a store"),
        (["first-look"], "no rows are kept in .*first-look.tar.xz: run the study, and give its store with --store"),
        (["first-sight"], "no study is named 'first-sight'"),
        (["nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_study_of_which_nothing_is_known_keeps_its_page(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "docs" / "first-look.md"
    kept.parent.mkdir()
    kept.write_text("as it is", encoding="utf-8")
    places = {"STORE": str(tmp_path / "store"), "DOCS": str(kept.parent)}
    assert results.main([*(places.get(each, each) for each in given), "--docs", str(kept.parent)]) == 1
    assert kept.read_text(encoding="utf-8") == "as it is"
    assert re.search(said, capsys.readouterr().err)


def test_studies_that_are_there_are_written_beside_those_that_are_not(
    written: tuple[old_store.Sample, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a YAML file the page and the rows have the name that the study gives itself."""
    sample, page = written
    moved = Path(shutil.copy(sample.study, tmp_path / "of another name.yaml"))
    asked = [str(moved), "first-look", "--docs", str(tmp_path / "docs")]
    assert results.main([*asked, "--store", str(sample.store)]) == 1
    told = capsys.readouterr()
    assert told.out.splitlines() == [str(tmp_path / "docs" / "sample.md")] and "first-look" in told.err
    text = (tmp_path / "docs" / "sample.md").read_text(encoding="utf-8")
    assert text == page.replace(str(sample.study), shlex.quote(str(moved))) and str(moved) in text
    assert results.rows_of(str(moved), tmp_path / "docs").name == "sample.tar.xz"
    assert results.main([str(moved), "--docs", str(tmp_path / "docs")]) == 0


def test_the_rows_that_are_kept_give_the_same_page(written: tuple[old_store.Sample, str], tmp_path: Path) -> None:
    sample, page = written
    results.keep(str(sample.study), Store(sample.store), tmp_path)
    kept = results.rows_of(str(sample.study), tmp_path).read_bytes()
    results.keep(str(sample.study), Store(sample.store), tmp_path)
    assert results.rows_of(str(sample.study), tmp_path).read_bytes() == kept
    file = results.write_kept(str(sample.study), tmp_path)
    assert file and file.read_text(encoding="utf-8") == page


@pytest.mark.parametrize("rows", KEPT, ids=[rows.name for rows in KEPT])
def test_pages_in_the_documentation_are_those_of_the_rows_beside_them(rows: Path, tmp_path: Path) -> None:
    """Last digits aside, since processors sum in different orders."""
    name = rows.name.removesuffix(".tar.xz")
    with results.unpacked(rows) as store:
        file = results.write_page(name.replace("-real", "@real"), store, tmp_path)
    assert file
    ours, kept = file.read_text(encoding="utf-8"), (rows.parents[1] / f"{name}.md").read_text(encoding="utf-8")
    assert NUMBER.sub("", ours) == NUMBER.sub("", kept)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (ours, kept)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.011)
