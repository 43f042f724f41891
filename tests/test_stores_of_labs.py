"""Results between stores by the commands that labs use, none of which writes over a study or what it reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.corpora.conllu import write_conllu
from babelscope.engine.made_of import MADE_OF
from babelscope.engine.manifest import replace_manifest
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.face.job import job_of
from babelscope.face.result import Result
from babelscope.measures.comparison import Compare
from babelscope.steps import Evaluate
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from babelscope.world import World
from command_line import babelscope, declaration, transfer, write_study
from computed_study import computed, small_study

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def study(encoder_folder: Path) -> Path:
    return small_study(encoder_folder)


@pytest.fixture(scope="module")
def store(study: Path) -> Path:
    return computed(study)


def test_results_are_pushed_pulled_verified_and_removed(
    study: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    count = len(Store(store).keys())
    for address in (str(shared), f"file://{tmp_path / 'objects'}"):
        answer = babelscope("store", "push", address, study, "--store", store)
        assert answer == (0, f"{count} results copied, 0 were there, 0 damaged\n", "")
        assert babelscope("store", "verify", "--store", address).output.startswith(f"{count} of {count} results are")
    answer = babelscope("store", "pull", f"file://{tmp_path / 'objects'}", "--store", mine)
    assert answer.output == f"{count} results copied, 0 were there, 0 damaged\n"
    assert babelscope("run", study, "--store", mine).output.startswith(f"tiny: 0 steps computed, {count} cached")
    assert babelscope("store", "gc", "--store", mine).output == "0 can go, 0 bytes\n"
    answer = babelscope("store", "gc", "--keep", "first-look", "--store", mine)
    assert f"{count} can go" in answer.output and "--yes removes them" in answer.output
    assert len(Store(mine).keys()) == count
    assert "removed: " in babelscope("store", "gc", "--keep", "first-look", "--yes", "--store", mine).output
    assert Store(mine).keys() == []
    assert babelscope("store", "push", mine, "--store", mine).status == 2


def test_damage_is_said_with_status_1(store: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(store, tmp_path / "damaged")
    next(damaged.glob("results/*/*/rows.jsonl")).write_text("")
    for arguments in (("verify",), ("push", tmp_path / "other")):
        answer = babelscope("store", *arguments, "--store", damaged)
        assert answer.status == 1 and answer.errors.startswith("damaged ") and "rows.jsonl" in answer.errors


@pytest.mark.parametrize("name", ["rows.jsonl", "manifest.json"])
def test_damage_of_what_is_there_already_is_said_when_results_are_pushed(
    store: Path, tmp_path: Path, name: str
) -> None:
    other = shutil.copytree(store, tmp_path / "other")
    file = next(other.glob(f"results/*/*/{name}"))
    file.unlink() if name == "manifest.json" else file.write_text("")
    answer = babelscope("store", "push", other, "--store", store)
    assert answer.status == 1 and "1 damaged" in answer.output and str(file.parent) in answer.errors


@pytest.mark.parametrize("address", ["{folder}", "file://{folder}"])
@pytest.mark.parametrize("command", ["pull", "push", "verify", "sizes", "gc"])
def test_a_store_that_is_not_there_is_not_read_as_an_empty_one(command: str, address: str, tmp_path: Path) -> None:
    """Its name may be wrong."""
    nowhere, new = address.format(folder=tmp_path / "nowhere"), tmp_path / "new"
    given = {"pull": [nowhere, "--store", new], "push": [new, "--store", nowhere]}.get(command, ["--store", nowhere])
    answer = babelscope("store", command, *given)
    assert answer.status == 2 and f"error {nowhere}: there is no such store" in answer.errors
    assert not new.exists() and not (tmp_path / "nowhere").exists()


def test_a_folder_that_machines_share_is_made_by_a_copy(store: Path, tmp_path: Path) -> None:
    answer = babelscope("store", "push", f"file://{tmp_path / 'new'}", "--store", store)
    assert answer.status == 0 and (tmp_path / "new" / "results").is_dir()


@pytest.mark.parametrize(("command", "suffix"), [("bundle", ".yaml"), ("rows", ".csv"), ("report", ".md")])
def test_nothing_is_written_over_the_study(study: Path, store: Path, tmp_path: Path, command: str, suffix: str) -> None:
    own = tmp_path / f"own{suffix}"
    own.write_bytes(study.read_bytes())
    answer = babelscope(command, own, "--store", store, "-o", own)
    assert answer.status == 2 and "the study itself" in answer.errors and own.read_bytes() == study.read_bytes()


@pytest.mark.parametrize("place", [".", "results", "results/00/rows.csv"])
def test_nothing_is_written_into_a_store(study: Path, store: Path, place: str) -> None:
    """A report's folder among the results, or a file that would make one of them damaged."""
    command = "rows" if place.endswith(".csv") else "report"
    before = sorted(Path(store).rglob("*"))
    answer = babelscope(command, study, "--store", store, "-o", Path(store) / place)
    assert answer.status == 2 and "choose a place outside of it" in answer.errors
    assert sorted(Path(store).rglob("*")) == before


@pytest.mark.parametrize("command", ["bundle", "rows", "report"])
def test_nothing_is_written_over_what_the_study_reads(
    encoder_folder: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    files = [tmp_path / f"{split}.conllu" for split in ("train", "test")]
    for file in files:
        write_conllu(file, World().treebank("qab", file.stem, 20))
    before = [file.read_bytes() for file in files]
    train, test = [f"treebank:qab:{files[0]}"], ["treebank:qab:~/test.conllu"]
    declared = declaration(encoder_folder, tasks={"pos": transfer(train=train, evaluate=test, baselines=[])})
    study = write_study(tmp_path / "own.yaml", {key: declared[key] for key in declared if key != "retrieval"})
    for read in (*files, encoder_folder):
        answer = babelscope(command, study, "--store", tmp_path / "store", "-o", read)
        assert answer.status == 2 and "the study reads it, and it would be lost" in answer.errors, answer.errors
    weights = (encoder_folder / "model.safetensors").read_bytes()
    for inside in (encoder_folder / "model.safetensors", encoder_folder / "new" / "rows.csv"):
        answer = babelscope(command, study, "--store", tmp_path / "store", "-o", inside)
        assert answer.status == 2 and f"the study reads the folder {encoder_folder}; choose" in answer.errors
    assert [file.read_bytes() for file in files] == before
    assert (encoder_folder / "model.safetensors").read_bytes() == weights and not (encoder_folder / "new").exists()


def test_python_writes_nothing_into_what_the_study_reads(study: Path, store: Path, encoder_folder: Path) -> None:
    result = Result(job_of(str(study), (), store))
    for write in (result.write, result.report):
        with pytest.raises(InputError, match=f"the study reads the folder {encoder_folder}; choose"):
            write(encoder_folder / "rows.csv")
    assert not (encoder_folder / "rows.csv").exists()


def test_a_run_says_what_has_no_rows_and_brings_scores_back(study: Path, store: Path, tmp_path: Path) -> None:
    """It counted as done, and running again changed nothing."""
    copied, plan = shutil.copytree(store, tmp_path / "store"), compile_study(load_study(study))
    (scored,) = (step for step in plan.steps.values() if isinstance(step, Evaluate))
    result = Store(copied).place_of(scored.model.key)
    shutil.rmtree(result)
    answer = babelscope("run", study, "--store", copied)
    assert answer.status == 0 and ": 0 steps computed, 2 cached" in answer.output
    assert "note: 1 of the study's steps have no result here, and so no rows (tune " in answer.output
    shutil.copytree(store / "results" / result.parent.name / result.name, result)
    shutil.rmtree(Store(copied).place_of(scored.key))
    reader = Compare(claim="any", first=(scored,), second=(scored,))
    assert run_plan(Plan.of([*plan.steps.values(), reader]), Store(copied), jobs=1).computed
    shutil.rmtree(Store(copied).place_of(scored.key))
    again = run_plan(Plan.of([*plan.steps.values(), reader]), Store(copied), jobs=1)
    assert again.computed == (scored.key,)


def test_results_that_contradict_those_that_are_there_are_said_when_they_are_copied(
    study: Path, store: Path, tmp_path: Path
) -> None:
    """Of a machine whose training ended in other bits; it was said by whoever read them."""
    (scored,) = (step for step in compile_study(load_study(study)).steps.values() if isinstance(step, Evaluate))
    here, elsewhere = (shutil.copytree(store, tmp_path / name) for name in ("here", "elsewhere"))
    other = Store(elsewhere)
    replace_manifest(other.place_of(scored.key), other.manifest(scored.key) | {MADE_OF: {scored.model.key: "0" * 64}})
    shutil.rmtree(other.place_of(scored.model.key))
    shutil.rmtree(Store(here).place_of(scored.key))
    answer = babelscope("store", "pull", elsewhere, "--store", here)
    assert answer.status == 1 and "0 results copied, 1 were there, 1 damaged" in answer.output
    assert "was computed from other bits of result" in answer.errors
