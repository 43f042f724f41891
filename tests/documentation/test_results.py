"""docs/results are written from the rows of a store, and nothing is computed for it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest
import results

import old_store
from babelscope.core.errors import DamagedResult, InputError
from babelscope.corpora.conllu import write_conllu
from babelscope.engine.recall import describe
from babelscope.engine.sharing.archive import pack, unpacked
from babelscope.engine.store import Store
from babelscope.face.job import job_of
from babelscope.report.section import sections_of
from babelscope.steps import Evaluate, Tune
from babelscope.world import World
from command_line import declaration, transfer, write_study


class Written(NamedTuple):
    """A study with the store that it was run in, and the page that was written of it."""

    study: Path
    store: Path
    docs: Path
    page: str


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("results")
    sample = old_store.sample(folder)
    before = sorted((path, path.stat().st_mtime_ns) for path in sample.store.rglob("*"))
    assert results.main([str(sample.study), "--store", str(sample.store), "--docs", str(folder / "docs")]) == 0
    assert sorted((path, path.stat().st_mtime_ns) for path in sample.store.rglob("*")) == before
    page = (folder / "docs" / "sample.md").read_text(encoding="utf-8")
    return Written(sample.study, sample.store, folder / "docs", page)


def told(study: Path, store: Path) -> str:
    """What a page has of the report that is made from a store."""
    report = job_of(str(study), (), store).report()
    return "\n".join(chain.from_iterable(map(results.shortened, sections_of(report))))


def test_a_page_says_where_its_numbers_come_from(written: Written) -> None:
    assert f"    babelscope run {shlex.quote(str(written.study))}\n" in written.page
    assert re.search(r"[\d,]+ rows of ", written.page) and "Seeds: 0, 1" in written.page


def test_a_page_has_the_scores_of_the_rows(written: Written) -> None:
    rows = old_store.old_rows()
    scores = rows[(rows["measure"] == "accuracy") & (rows["split"] == "test") & (rows["task"] == "pos")]
    means = scores.assign(value=scores["value"].astype(float)).groupby(
        ["encoder", "surgery", "schedule", "train_languages", "dataset"]
    )["value"]
    shown = {f"{100 * mean:.2f}" for mean in means.mean()}
    assert shown and shown <= set(re.findall(r"\d+\.\d\d", written.page))


def test_a_page_says_what_the_report_of_the_store_says(written: Written) -> None:
    report = told(written.study, written.store)
    assert len(report.splitlines()) > 100 and written.page.endswith(f"\n\n{report}")


def test_keeping_and_writing_again_change_nothing(written: Written, tmp_path: Path) -> None:
    again = results.keep(str(written.study), (), Store(written.store), tmp_path)
    assert again.read_bytes() == results.rows_of("sample", written.docs).read_bytes()
    assert results.write_page(again).read_text(encoding="utf-8") == written.page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["first-look", "--store", "STORE"], "first-look: nothing is written: .*there is no such store"),
        (["--store", "STORE"], "there is no such store"),
        (["first-look", "--store", "DOCS"], "first-look: nothing is written: .*neither empty nor a store"),
        (["first-look"], "no rows are kept in .*first-look.tar.xz; there are those of: nothing. Give a --store"),
        (["first-sight", "--store", "STORE"], "no study is named 'first-sight'"),
        (["nowhere.yaml", "--store", "STORE"], "nowhere.yaml"),
        (["nowhere.json", "--store", "STORE"], "nowhere.json: cannot be read"),
        (["DOCS/first-look.md.json", "--store", "STORE"], "not JSON"),
    ],
)
def test_a_study_of_which_nothing_is_known_keeps_its_page(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "docs" / "first-look.md"
    kept.parent.mkdir()
    kept.write_text("as it is", encoding="utf-8")
    shutil.copy(kept, tmp_path / "docs" / "first-look.md.json")
    places = {"STORE": str(tmp_path / "store"), "DOCS": str(kept.parent)}
    words = [re.sub("^(STORE|DOCS)", lambda place: places[place[0]], each) for each in given]
    assert results.main([*words, "--docs", str(kept.parent)]) == 1
    assert kept.read_text(encoding="utf-8") == "as it is"
    assert not results.archives(kept.parent)
    assert re.search(said, capsys.readouterr().err)


def test_studies_that_are_there_are_written_beside_those_that_are_not(
    written: Written, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a YAML file the page and the rows have the name that the study gives itself."""
    moved = Path(shutil.copy(written.study, tmp_path / "of another name.yaml"))
    docs = tmp_path / "docs"
    assert results.main([str(moved), "first-look", "--docs", str(docs), "--store", str(written.store)]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [str(docs / "sample.md")] and "first-look" in said.err
    text = (docs / "sample.md").read_text(encoding="utf-8")
    assert text == written.page.replace(str(written.study), shlex.quote(str(moved))) and str(moved) in text
    (docs / "sample.md").unlink()
    assert results.main(["--docs", str(docs)]) == results.main(["sample", "--docs", str(docs)]) == 0
    assert (docs / "sample.md").read_text(encoding="utf-8") == text


def test_a_study_with_changes_has_a_page_of_its_own(written: Written, tmp_path: Path) -> None:
    asked = [str(written.study), "--store", str(written.store), "--docs", str(tmp_path)]
    assert results.main([*asked, "--with", "schedules=[null]", "--with", "question=Two words?"]) == 0
    page = (tmp_path / "sample-with-schedules-null-question-Two-words.md").read_text(encoding="utf-8")
    assert page.startswith("# Results of sample with schedules=[null], question=Two words?\n")
    assert f"    babelscope run {written.study} --with 'schedules=[null]' --with 'question=Two words?'\n" in page
    rows = [int(re.findall(r"([\d,]+) rows", text)[0].replace(",", "")) for text in (page, written.page)]
    assert 0 < rows[0] < rows[1]
    with pytest.raises(SystemExit):
        results.main(["sample", "--with", "schedules=[null]", "--docs", str(tmp_path)])


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ((), "first-look"),
        (("scale=small", "encoder=some/where"), "first-look-with-scale-small-encoder-some-where"),
    ],
)
def test_names_of_pages(changes: tuple[str, ...], title: str, written: Written) -> None:
    job = job_of(str(written.study), (), written.store)
    renamed = job.study.model_copy(update={"name": "first-look@world"})
    assert results.title_of(job._replace(study=renamed, changes=changes)) == title


def test_of_a_study_that_is_not_finished_the_page_has_what_is(written: Written, tmp_path: Path) -> None:
    """Models whose scores are missing count, and so do scores whose model is gone; what has just begun does not."""
    store = Store(shutil.copytree(written.store, tmp_path / "store"))
    plan = job_of(str(written.study), (), store).plan
    scored = [step for step in plan.steps.values() if isinstance(step, Evaluate) and store.has(step.key)]
    gone = {step.key for step in scored[::2]} | {scored[1].model.key}
    for key in gone:
        shutil.rmtree(store.folder / "results" / key[:2] / key)
    assert {step.model.key for step in scored[::2]} - gone and isinstance(scored[1].model, Tune)
    unfinished = scored[0].key
    without_draft = told(written.study, store.folder)
    store.write_rows(unfinished, Store(written.store).rows(unfinished))
    assert told(written.study, store.folder) != without_draft
    asked = [str(written.study), "--docs", str(tmp_path / "docs")]
    assert results.main([*asked, "--store", str(store.folder)]) == 0
    page = (tmp_path / "docs" / "sample.md").read_text(encoding="utf-8")
    done = sum(map(store.has, plan.steps))
    assert f"rows of {done:,} of {len(plan.steps):,} steps: the study is not finished" in page
    assert page.endswith(f"\n\n{without_draft}")
    assert results.main(["--docs", str(tmp_path / "docs")]) == 0
    assert (tmp_path / "docs" / "sample.md").read_text(encoding="utf-8") == page


def test_a_study_of_which_nothing_is_finished_has_no_page(written: Written, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.prepare()
    plan = job_of(str(written.study), (), store).plan
    store.write_rows(next(iter(plan.steps)), Store(written.store).rows(next(iter(plan.steps))))
    asked = [str(written.study), "--docs", str(tmp_path / "docs"), "--store", str(store.folder)]
    assert results.main(asked) == 1 and not (tmp_path / "docs").exists()


def test_neither_data_nor_encoders_are_needed(tmp_path: Path, encoder_folder: Path) -> None:
    """The rows are made up: those of evaluations, as a run would write them."""
    own, docs = tmp_path / "own", tmp_path / "docs"
    own.mkdir()
    shutil.copytree(encoder_folder, own / "encoder")
    write_conllu(own / "trees.conllu", World().treebank("qab", "train", 30))
    data = f"treebank:qab:{own / 'trees.conllu'}"
    declared = declaration(own / "encoder", tasks={"pos": transfer(train=[data], evaluate=[data], baselines=[])})
    study = write_study(own / "tiny.yaml", {key: declared[key] for key in declared if key != "retrieval"})
    store = Store(tmp_path / "store")
    store.prepare()
    scores = Store(old_store.sample(tmp_path).store)
    example = next(row for key in old_store.old_rows()["key"].unique() for row in scores.rows(key))
    for number, (key, step) in enumerate(job_of(str(study), (), store).plan.steps.items()):
        if isinstance(step, Evaluate):
            labels = step.labels | {"measure": "accuracy", "value": number / 100, "unit": "share"}
            store.write_rows(key, [example.labelled(**labels)])
        store.publish(key, {**describe(step), "seconds": 60.0})
    expected = told(study, store.folder)
    assert results.main([str(study), "--store", str(store.folder), "--docs", str(docs)]) == 0
    page = (docs / "tiny.md").read_text(encoding="utf-8")
    assert page.endswith(f"\n\n{expected}")
    with unpacked(docs / "rows" / "tiny.tar.xz") as kept:
        manifests = [json.dumps(kept.store.manifest(key)) for key in kept.plan.steps]
    assert not any(str(own / "encoder") in manifest for manifest in manifests)
    shutil.rmtree(own)
    shutil.rmtree(store.folder)
    assert results.main(["--docs", str(docs)]) == 0
    assert (docs / "tiny.md").read_text(encoding="utf-8") == page


def test_what_is_damaged_is_not_kept(written: Written, tmp_path: Path) -> None:
    """Weights are not looked at."""
    store = Store(shutil.copytree(written.store, tmp_path / "store"))
    weights = next(store.folder.glob("results/*/*/**/*.safetensors"))
    weights.write_bytes(b"")
    assert results.keep(str(written.study), (), store, tmp_path).read_bytes()
    sentences = next(store.folder.glob("results/*/*/sentences.json"))
    sentences.write_text("{}", encoding="utf-8")
    with pytest.raises(DamagedResult, match=r"sentences\.json: does not match its recorded checksum"):
        results.keep(str(written.study), (), store, tmp_path)


def test_rows_of_steps_that_are_others_now_are_refused(written: Written, tmp_path: Path) -> None:
    job = job_of(str(written.study), (), written.store)
    rows = pack({}, job.plan, job.store, tmp_path / "rows" / "sample.tar.xz")
    with unpacked(rows) as kept:
        assert (kept.about, list(kept.plan.steps)) == ({}, list(job.plan.steps))
        assert list(kept.plan.steps.values()) == list(job.plan.steps.values())
    other = next(step for step in job.plan.steps.values() if isinstance(step, Tune))
    changed = job.plan.steps | {other.key: other.model_copy(update={"seed": 7})}
    changed[other.key].__dict__.pop("key", None)
    pack({}, type(job.plan)(changed), job.store, rows)
    with pytest.raises(InputError, match=f"its step Tune {other.key[:12]} is another one now"):
        results.write_page(rows)


def test_a_store_in_an_archive_does_not_say_what_it_is_of(written: Written, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    rows = results.rows_of("sample", tmp_path)
    subprocess.run(["tar", "-cJf", rows, "-C", written.store, "babelscope-store.json"], check=True)
    with pytest.raises(InputError, match="does not say what its rows are of"):
        results.write_page(rows)
