"""A report of a study that is not finished says so wherever it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.face.job import Job
from babelscope.report import write_report
from babelscope.study.declare import load_study
from command_line import declaration, write_study

MISSING = "5 of 8 steps are done; the rest is missing"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, encoder_folder: Path, in_process: None) -> Job:
    """One of two seeds is there."""
    folder = tmp_path_factory.mktemp("unfinished")
    declared = declaration(encoder_folder, surgeries=[None])
    del declared["retrieval"]
    one = write_study(folder / "one.yaml", declared | {"seeds": [0]})
    two = write_study(folder / "two.yaml", declared)
    store = Store(folder / "store")
    run_plan(Job.of(load_study(one), store).plan, store)
    return Job.of(load_study(two), store)


def test_a_report_knows_what_is_missing(job: Job) -> None:
    report = job.report()
    assert report.warnings == [f"The study is not finished: {MISSING}."]
    assert report.provenance["steps"] == "2 Baseline, 1 of 2 Tune, 2 of 4 Evaluate"


def test_what_failed_is_named(job: Job) -> None:
    """A mean over the other seeds is not one that waits for more."""
    key = next(key for key in job.plan.steps if key not in job.store.published(job.plan.steps))
    log = job.store.folder / "logs" / f"{key}.txt"
    log.write_text("the loss became nan", encoding="utf-8")
    try:
        assert job.missing == f"{MISSING}, since {job.plan.steps[key].title} failed (1 in all)"
    finally:
        log.unlink()


def test_a_page_says_so_first(job: Job, tmp_path: Path) -> None:
    (file,) = write_report(job.report(), tmp_path / "page.html")
    first, *_ = re.findall("<ul class=.warnings.*?</ul>", file.read_text(encoding="utf-8"))
    assert f"<li>The study is not finished: {MISSING}.</li><li>" in first


def test_tables_say_so_first(job: Job, tmp_path: Path) -> None:
    (file,) = write_report(job.report(), tmp_path / "tables.md")
    assert file.read_text(encoding="utf-8").startswith(f"> **To mind:** The study is not finished: {MISSING}.\n\n")


def test_a_paper_says_so_and_claims_no_training_that_was_not_run(job: Job, tmp_path: Path) -> None:
    write_report(job.report(), tmp_path / "paper")
    methods, paper = ((tmp_path / "paper" / f"{name}.tex").read_text(encoding="utf-8") for name in ("methods", "paper"))
    assert f"is to be run with the seeds 0 and 1; at the time of writing {MISSING}." in methods
    assert "was run with" not in methods and MISSING in paper


def test_a_finished_study_has_nothing_of_it(job: Job, tmp_path: Path) -> None:
    done = Job.of(job.study.model_copy(update={"seeds": (0,)}), job.store).report()
    assert done.warnings == [] and done.provenance["steps"] == "2 Baseline, 1 Tune, 2 Evaluate"
    (file,) = write_report(done, tmp_path / "tables.md")
    assert "not finished" not in file.read_text(encoding="utf-8")
