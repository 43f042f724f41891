"""A study's results as one file, and the check of them in another folder."""

from __future__ import annotations

import gc
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

import babelscope as bs
from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.engine.sharing.archive import unpacked
from babelscope.engine.store import Store
from babelscope.face.bundle import encoders_of, reproduce
from command_line import babelscope, declaration, transfer, write_study
from computed_study import computed, small_study

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def study(encoder_folder: Path) -> Path:
    return small_study(encoder_folder)


@pytest.fixture(scope="module")
def store(study: Path) -> Path:
    return computed(study)


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


def test_speeds_are_not_compared(tmp_path: Path, encoder_folder: Path, name: str) -> None:
    """Those of peers and of operated encoders, which another run measures anew."""
    costs = {"measure": "cost", "surgeries": ["drop:last=half"], "peers": [name], "reference": name}
    declared = declaration(
        encoder_folder, tasks={"pos": transfer()}, seeds=[0], retrieval=None, surgeries=[None, "drop:last=half"],
        measures=[costs],
    )  # fmt: skip
    study, bundle = write_study(tmp_path / "timed.yaml", declared), tmp_path / "timed.tar.xz"
    assert babelscope("run", study, "--store", tmp_path / "old", "--jobs", 1).status == 0
    assert babelscope("bundle", study, "--store", tmp_path / "old", "-o", bundle).status == 0
    reproduced = reproduce(bundle, Store(tmp_path / "new"), 99, 0, {name: encoder_folder})
    assert all(apart.is_equal for apart in reproduced.apart.values())
    compared = {reproduced.steps[key].row_kind for key in reproduced.apart}
    assert "score" in compared and "cost" not in compared


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


def test_rows_and_report_of_a_bundle_are_those_of_the_store(
    bundle: Path, study: Path, store: Path, tmp_path: Path
) -> None:
    """The encoder is not where the bundle says that it was; nothing of it is read."""
    for suffix in ("csv", "md"):
        command = "rows" if suffix == "csv" else "report"
        ours, theirs = (tmp_path / f"{name}.{suffix}" for name in ("ours", "theirs"))
        assert babelscope(command, study, "--store", store, "-o", ours).status == 0
        answer = babelscope(command, bundle, "--store", tmp_path / "none", "-o", theirs)
        assert answer.status == 0 and "theirs" in answer.output, answer.errors
        assert theirs.read_text(encoding="utf-8") == ours.read_text(encoding="utf-8")
    found = bs.read_bundle(bundle)
    assert isinstance(found, bs.Result) and [*found] == [*bs.read_study(study).rows(store)]
    (page,) = found.report(tmp_path / "page.html")
    unpacked_to = found.job.store.folder
    del found
    gc.collect()
    assert not unpacked_to.exists()
    assert "encoders0/tiny" in page.read_text(encoding="utf-8")


def test_results_of_a_bundle_are_gone_on_from(bundle: Path, study: Path, store: Path, tmp_path: Path) -> None:
    """Another seed is all that is computed; weights are computed again where another evaluation reads them."""
    mine = tmp_path / "mine"
    answer = babelscope("store", "pull", bundle, "--store", mine)
    assert answer.status == 0 and answer.output == "3 results copied, 0 were there, 0 damaged\n", answer
    answer = babelscope("store", "verify", "--store", mine)
    assert "3 of 3 results are as they were published, 1 of them without weights" in answer.output
    assert "0 steps computed, 3 cached" in babelscope("run", study, "--store", mine).output
    assert [*bs.read_study(study).rows(mine)] == [*bs.read_study(study).rows(store)]
    answer = babelscope("run", study, "--with", "seeds=[0, 1]", "--store", mine, "--jobs", 1)
    assert "2 steps computed, 3 cached, 0 failed" in answer.output, answer
    (tuned,) = (key for key in sorted(Store(store).keys()) if Store(store).manifest(key)["step"] == "Tune")
    answer = babelscope(
        "run", study, "--with", "tasks.pos.evaluate=[world:qab, world:qac]", "--store", mine, "--jobs", 1
    )
    assert "3 steps computed, 2 cached" in answer.output, answer
    assert Store(mine).is_whole(tuned) and Store(mine).manifest(tuned)["files"] == Store(store).manifest(tuned)["files"]
    again = babelscope("store", "pull", bundle, "--store", mine)
    assert again.output == "0 results copied, 3 were there, 0 damaged\n" and Store(mine).is_whole(tuned)


def test_a_bundle_is_told_as_it_is(bundle: Path, tmp_path: Path) -> None:
    answer = babelscope("report", bundle, "--with", "seeds=9", "-o", tmp_path / "page.html")
    assert (
        answer.status == 2
        and "--with seeds=9: changes a study, and results of a bundle are as they are" in answer.errors
    )
    answer = babelscope("rows", tmp_path / "nowhere.tar.xz", "-o", tmp_path / "rows.csv")
    assert answer.status == 2 and "nowhere.tar.xz: cannot be read: No such file" in answer.errors
    copy = shutil.copy(bundle, tmp_path / "copy.tar.xz")
    answer = babelscope("report", copy, "-o", copy)
    assert answer.status == 2 and "copy.tar.xz: the study itself, which would be lost" in answer.errors
    for command in ("plan", "run", "status", "serve"):
        answer = babelscope(command, bundle)
        assert answer.status == 2 and "tiny.tar.xz: a bundle, which report and rows read" in answer.errors, command


STUDIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "does not hold a study": lambda about: about.pop("study"),
    "seedz: unknown key (did you mean seeds?)": lambda about: about["study"].update(seedz=[0]),
    "name: missing": lambda about: about["study"].pop("name"),
    "keys with values": lambda about: about.update(study=[]),
}


@pytest.mark.parametrize("words", STUDIES)
def test_a_bundle_of_another_study_is_refused(words: str, bundle: Path, tmp_path: Path) -> None:
    files = read_again(bundle)
    content = files["about.json"]
    assert isinstance(content, bytes)
    about = json.loads(content)
    STUDIES[words](about)
    edited = write_anew({**files, "about.json": json.dumps(about).encode()}, tmp_path / "edited.tar.xz")
    answer = babelscope("report", edited, "-o", tmp_path / "page.html")
    assert answer.status == 2 and words in answer.errors and str(edited) in answer.errors, answer.errors


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
    "sparse": entry(f"results/aa/{'a' * 64}/rows.jsonl", type=tarfile.GNUTYPE_SPARSE),
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


@pytest.mark.parametrize("given", ["one.zip", "one.tar.gz", "one.tar", "one", "one.xz"])
def test_a_name_that_is_no_bundles_is_refused(study: Path, store: Path, tmp_path: Path, given: str) -> None:
    """`report` would not know it."""
    answer = babelscope("bundle", study, "-o", tmp_path / given, "--store", store)
    assert answer.status == 2 and "call it one.tar.xz" in answer.errors
    assert not (tmp_path / given).exists()
