"""A study's results as one file, and the check of them in another folder, by the commands that labs use."""

from __future__ import annotations

import io
import json
import lzma
import re
import shutil
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.corpora.conllu import write_conllu
from babelscope.engine.made_of import MADE_OF
from babelscope.engine.manifest import replace_manifest
from babelscope.engine.run import run_plan
from babelscope.engine.sharing.archive import unpacked
from babelscope.engine.store import Store
from babelscope.face.bundle import encoders_of, reproduce
from babelscope.face.job import job_of
from babelscope.face.result import Result
from babelscope.measures.comparison import Compare
from babelscope.steps import Evaluate
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from babelscope.world import World
from command_line import babelscope, declaration, transfer, write_study

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, encoder_folder: Path) -> Path:
    tasks = {"pos": transfer(evaluate=["world:qab"])}
    declared = declaration(encoder_folder, tasks=tasks, seeds=[0], retrieval=None, surgeries=[None])
    return write_study(tmp_path_factory.mktemp("study") / "tiny.yaml", declared)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, study: Path) -> Path:
    folder = tmp_path_factory.mktemp("computed") / "store"
    assert babelscope("run", study, "--store", folder, "--jobs", 1).status == 0
    return folder


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, study: Path, store: Path) -> Path:
    file = tmp_path_factory.mktemp("bundle") / "tiny.tar.xz"
    answer = babelscope("bundle", study, "--store", store, "-o", file)
    assert answer.status == 0 and re.match(r"bundle: .*tiny.tar.xz, \d", answer.output), answer
    return file


@pytest.fixture(scope="module")
def name(encoder_folder: Path) -> str:
    return "/".join(encoder_folder.parts[-2:])


def test_a_sample_is_computed_again_from_an_empty_store(
    bundle: Path, store: Path, tmp_path: Path, encoder_folder: Path, name: str
) -> None:
    """On the same machine, with the encoder in another folder: equal to the last bit."""
    elsewhere = shutil.copytree(encoder_folder, tmp_path / "encoder")
    arguments = ("reproduce", bundle, "--steps", 9, "--store", tmp_path / "new", "--encoder", f"{name}={elsewhere}")
    answer = babelscope(*arguments)
    assert answer.status == 0, answer.errors
    assert answer.output.endswith("3 of 3 steps are equal to the last bit\n") and "other here" not in answer.output
    assert {*Store(tmp_path / "new").keys()} == {*Store(store).keys()}
    again = babelscope(*arguments)
    assert (again.output, again.errors, again.status) == (answer.output, "", 0)


def test_numbers_that_are_apart_are_said(
    bundle: Path, store: Path, tmp_path: Path, encoder_folder: Path, name: str
) -> None:
    """Of a store in which an accuracy is another one, and the processor, too."""
    other = Store(tmp_path / "other")
    source = Store(store)
    for key in source.keys():  # noqa: SIM118
        rows = [row.labelled(value=row.value + 2**-4) if row.language else row for row in source.rows(key)]
        shutil.copytree(source.result(key), other.draft(key), dirs_exist_ok=True)
        other.write_rows(key, rows)
        other.publish(key, {**source.manifest(key), "seconds": 7.0})
    reproduced = reproduce(bundle, other, 9, 0, {name: encoder_folder})
    differing = {key: apart for key, apart in reproduced.apart.items() if not apart.is_equal}
    assert differing and all(apart.other_files == ("rows.jsonl",) for apart in differing.values())
    for key, apart in differing.items():
        assert isinstance(apart.largest, Row) and apart.difference == pytest.approx(2**-4)
        assert any(row.language for row in source.rows(key))


def test_a_sample_is_drawn(bundle: Path, tmp_path: Path, encoder_folder: Path, name: str) -> None:
    answers = [
        babelscope("reproduce", bundle, "--steps", 1, "--seed", seed, "--store", tmp_path / "new", "--encoder",
                   f"{name}={encoder_folder}")
        for seed in range(4)
    ]  # fmt: skip
    assert len({answer.output for answer in answers}) > 1


def test_the_very_results_of_a_bundle_are_not_compared_with_themselves(
    bundle: Path, store: Path, name: str, encoder_folder: Path
) -> None:
    answer = babelscope("reproduce", bundle, "--store", store, "--encoder", f"{name}={encoder_folder}")
    assert answer.status == 2 and "has the very results of the bundle: give an empty --store" in answer.errors


def test_an_encoder_that_is_not_here_is_asked_for(bundle: Path, tmp_path: Path, name: str) -> None:
    answer = babelscope("reproduce", bundle, "--steps", 9, "--store", tmp_path / "new")
    assert answer.status == 2 and f"the encoder {name} is not here: give its folder, --encoder {name}=" in answer.errors
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / "config.json").write_text("{}")
    answer = babelscope(
        "reproduce", bundle, "--steps", 9, "--store", tmp_path / "new", "--encoder", f"{name}={tmp_path / 'another'}"
    )
    assert answer.status == 2 and f"not the encoder {name} of the bundle" in answer.errors
    answer = babelscope("reproduce", bundle, "--store", tmp_path / "new", "--encoder", f"{name}s={tmp_path}")
    assert (
        answer.status == 2 and f"--encoder {name}s=...: the bundle has {name} (did you mean {name}?)" in answer.errors
    )
    with pytest.raises(InputError, match="x is given twice"):
        encoders_of([f"x={tmp_path}", f"x={tmp_path.parent}"])
    for given in ("name", "=folder", f"{name}={tmp_path / 'nowhere'}"):
        with pytest.raises(InputError, match="expected NAME=FOLDER"):
            encoders_of([given])


def test_a_folder_of_an_encoder_that_cannot_be_is_refused_in_words() -> None:
    for given, problem in (("x" * 300, "File name too long"), ("a\0b", "it holds a NUL")):
        with pytest.raises(InputError, match=problem):
            encoders_of([f"name={given}"])


def test_a_bundle_has_no_folder_of_the_machine_that_wrote_it(bundle: Path, encoder_folder: Path) -> None:
    with unpacked(bundle) as kept:
        manifests = [path.read_text(encoding="utf-8") for path in kept.store.folder.rglob("manifest.json")]
        assert len(manifests) == 3 and not any(str(encoder_folder) in text for text in manifests)
        assert not any(str(encoder_folder) in str(step) for step in kept.plan.steps.values())


Files = dict[str, bytes | tarfile.TarInfo]
"""Contents by names, or what an archive has in the place of a file."""


def entry(name: str, **settings: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for key, value in settings.items():
        setattr(info, key, value)
    return info


def read_again(archive: Path) -> Files:
    with tarfile.open(archive) as opened:
        return {info.name: part.read() for info in opened if (part := opened.extractfile(info))}


def write_anew(files: Files, archive: Path) -> Path:
    with tarfile.open(archive, "w:xz", preset=0) as opened:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                opened.addfile(content, io.BytesIO(b"0" * content.size))
            else:
                opened.addfile(entry(name, size=len(content)), io.BytesIO(content))
    return archive


def steps(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[bytes], bytes]:
    """about.json with other steps."""

    def changed(content: bytes) -> bytes:
        about = json.loads(content)
        about["steps"] = change(about["steps"])
        return json.dumps(about).encode()

    return changed


ABOUTS: dict[str, Callable[[bytes], bytes]] = {
    "steps": steps(lambda all_steps: None),
    "of a plan": steps(lambda all_steps: []),
    "not describe": steps(lambda all_steps: [None, *all_steps]),
    "describe the": steps(lambda all_steps: [{**all_steps[0], "key": 5}]),
    "describe the steps": steps(lambda all_steps: [{**all_steps[0], "fields": [1]}]),
    "is another one now": steps(lambda all_steps: [{**all_steps[0], "fields": {"encoder": {"step": "Load"}}}]),
    "another one now": steps(lambda all_steps: all_steps[::-1]),
    "which is of none of its steps": steps(lambda all_steps: all_steps[:1]),
    "not JSON": lambda content: b"",
    "nested too deep": lambda content: b"[" * 50_000,
    "4300 digits": lambda content: content.replace(b'"seed": 0', b'"seed": ' + b"9" * 6000),
    "not UTF-8": lambda content: content.decode().encode("utf-16"),
    "describe": lambda content: b"[]",
}


@pytest.mark.parametrize("words", ABOUTS)
def test_what_does_not_say_of_what_it_is_is_refused(words: str, bundle: Path, tmp_path: Path) -> None:
    files = read_again(bundle)
    content = files["about.json"]
    assert isinstance(content, bytes)
    answer = babelscope(
        "reproduce",
        write_anew({**files, "about.json": ABOUTS[words](content)}, tmp_path / "edited.tar"),
        "--store",
        tmp_path / "new",
    )
    assert answer.status == 2 and words in answer.errors and f"error {tmp_path / 'edited.tar'}: " in answer.errors


ENTRIES = {
    "outside": entry("../rows.jsonl", size=3),
    "link": entry("about.json", type=tarfile.SYMTYPE, linkname="/etc/hostname"),
    "pipe": entry(f"results/aa/{'a' * 64}/rows.jsonl", type=tarfile.FIFOTYPE),
    "of no bundle": entry(f"results/aa/{'a' * 64}/other.json"),
    "larger than anything that is written": entry("about.json", size=(1 << 26) + 1),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_what_no_bundle_holds_is_not_unpacked(kind: str, bundle: Path, tmp_path: Path) -> None:
    """Links, pipes and paths that lead elsewhere, and what would fill the memory."""
    edited = write_anew({**read_again(bundle), kind: ENTRIES[kind]}, tmp_path / "edited.tar")
    with pytest.raises(InputError, match="is no file of a bundle"), unpacked(edited):
        pass


@pytest.mark.parametrize("kind", ["a long name", "many files"])
def test_what_becomes_far_larger_when_it_is_unpacked_is_refused(kind: str, tmp_path: Path) -> None:
    """Names are read before anything can be said of them, and files until the disk is full."""
    zeros = bytes(1 << 20)
    with lzma.open(tmp_path / "bomb.tar.xz", "w", preset=0) as packed:
        for place in range(1 if kind == "a long name" else 3):
            described, size = tarfile.TarInfo(f"environments/{place:x}.json"), 1 << 26
            if kind == "a long name":
                described, size = tarfile.TarInfo("././@LongLink"), 150 << 20
                described.type = tarfile.GNUTYPE_LONGNAME
            described.size = size
            packed.write(described.tobuf(tarfile.GNU_FORMAT))
            for _ in range(size >> 20):
                packed.write(zeros)
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 100 times as large"), unpacked(tmp_path / "bomb.tar.xz"):
        pass
    assert tracemalloc.get_traced_memory()[1] < 1 << 28
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["rows.jsonl", "manifest.json", "sentences.json"])
def test_what_was_changed_in_a_bundle_is_said_of_the_bundle(name: str, bundle: Path, tmp_path: Path) -> None:
    """And not of a folder that is gone when it is read."""
    files = read_again(bundle)
    path = next(path for path in files if path.endswith(name))
    edited = write_anew({**files, path: b"[" * 9}, tmp_path / "edited.tar")
    words = f"edited.tar: {path}: does not match its recorded checksum; fetch"
    with pytest.raises(InputError, match=words), unpacked(edited):
        pass


def test_a_bundle_without_results_has_nothing_to_compute_again(bundle: Path, tmp_path: Path) -> None:
    files = {name: content for name, content in read_again(bundle).items() if not name.startswith("results/")}
    answer = babelscope("reproduce", write_anew(files, tmp_path / "edited.tar"), "--store", tmp_path / "new")
    assert answer.status == 2 and "has no results to compute again" in answer.errors


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


@pytest.mark.parametrize("given", ["one.zip", "one.tar.gz", "one.tar"])
def test_another_kind_of_archive_is_refused(study: Path, store: Path, tmp_path: Path, given: str) -> None:
    """An archive of the usual kind had that name."""
    answer = babelscope("bundle", study, "-o", tmp_path / given, "--store", store)
    assert answer.status == 2 and "name it one.tar.xz" in answer.errors
    assert not (tmp_path / given).exists()


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
