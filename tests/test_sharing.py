"""Results between stores: copied whole, verified, compared, and removed only where nothing needs them."""

from __future__ import annotations

import io
import re
import tarfile
import time
from pathlib import Path
from shutil import copytree

import pytest

from babelscope.core.errors import DamagedResult, InputError, StoreError
from babelscope.core.row import Row
from babelscope.engine.run import run_plan
from babelscope.engine.sharing import exchange
from babelscope.engine.sharing.apart import apart
from babelscope.engine.sharing.archive import pack, unpacked
from babelscope.engine.sharing.exchange import copy, damaged_in, strays_in
from babelscope.engine.sharing.garbage import garbage, remove
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from command_line import babelscope
from toy_runs import execute
from toy_steps import Faulty, Toy, flip_a_bit

KEY, OTHER = "ab" * 32, "cd" * 32


def filled(folder: Path, *keys: str, value: float = 0.5) -> Store:
    store = Store(folder)
    store.prepare()
    for key in keys:
        (store.draft(key) / "encoder").mkdir()
        (store.draft(key) / "encoder" / "weights").write_text(f"{value}")
        store.write_rows(key, [Row("loss", value), Row("accuracy", 0.25)])
        store.publish(key, {"step": "Toy", "seconds": 1.0})
    return store


def tree(store: Store, folder: str = "results") -> dict[str, bytes]:
    files = (path for path in (store.folder / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(store.folder)): path.read_bytes() for path in files}


def test_a_copy_has_the_same_bytes_and_what_is_there_stays(tmp_path: Path) -> None:
    source, target = filled(tmp_path / "a", KEY, OTHER), filled(tmp_path / "b", OTHER, value=0.75)
    before = tree(target)
    copied = copy([KEY, OTHER], source, target)
    assert (copied.copied, copied.there, copied.damaged) == ((KEY,), (OTHER,), {})
    only = {name: content for name, content in tree(source).items() if KEY in name}
    assert tree(target) == before | only and Store(target.folder).rows(KEY) == source.rows(KEY)
    assert target.environment(target.manifest(KEY)) == source.environment(source.manifest(KEY)) is not None
    assert copy([KEY, OTHER], source, target).there == (KEY, OTHER)
    assert not any(target.folder.glob("drafts/*"))


@pytest.mark.parametrize("name", ["rows.jsonl", "encoder/weights", "manifest.json"])
def test_what_is_damaged_is_named_and_not_copied(tmp_path: Path, name: str) -> None:
    source, target = filled(tmp_path / "a", KEY, OTHER), Store(tmp_path / "b")
    flip_a_bit(source.folder / "results" / KEY[:2] / KEY / name)
    told: list[tuple[int, int]] = []
    copied = copy([KEY, OTHER], source, target, lambda done, count: told.append((done, count)))
    assert copied.copied == (OTHER,) and name in copied.damaged[KEY] and target.keys() == [OTHER]
    assert told == [(1, 2), (2, 2)] and {*damaged_in(source, [KEY, OTHER])} == {KEY}


def test_many_results_are_copied_in_time_that_grows_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_adopt", lambda key, source, target: True)
    keys = [f"{number:064x}" for number in range(20_000)]
    began = time.process_time()
    assert len(copy(keys, filled(tmp_path / "a"), Store(tmp_path / "b")).copied) == len(keys)
    assert time.process_time() - began < 10


def test_what_another_process_computes_now_is_not_copied(tmp_path: Path) -> None:
    source, target = filled(tmp_path / "a", KEY), filled(tmp_path / "b")
    with target.claim(KEY):
        assert copy([KEY], source, Store(target.folder)).there == (KEY,)
    assert not target.has(KEY)


def test_results_are_compared_by_bytes_and_by_numbers(tmp_path: Path) -> None:
    first, same = filled(tmp_path / "a", KEY), filled(tmp_path / "b", KEY)
    assert apart(KEY, first, same) == (2, (), None, 0.0, True) and apart(KEY, first, same).is_equal
    other = apart(KEY, first, filled(tmp_path / "c", KEY, value=0.5 + 2**-10))
    assert (other.other_files, other.difference) == (("encoder/weights", "rows.jsonl"), 2**-10)
    assert other.largest == Row("loss", 0.5) and not other.is_equal
    shorter = Store(tmp_path / "d")
    shorter.write_rows(KEY, [Row("loss", 0.5)])
    shorter.publish(KEY, {"step": "Toy"})
    assert not apart(KEY, first, shorter).are_comparable


def test_what_lies_among_results_and_is_none_is_named_and_not_counted(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", KEY, OTHER)
    (store.folder / "results" / KEY[:2] / "notes").mkdir()
    copytree(store.place_of(KEY), store.folder / "results" / OTHER[:2] / KEY)
    there = Store(store.folder)
    assert there.keys() == [KEY, OTHER] == sorted(there.published([KEY, OTHER])) and there.keys(KEY[:4]) == [KEY]
    strays = [f"results/{KEY[:2]}/notes", f"results/{OTHER[:2]}/{KEY}"]
    assert strays_in(there) == strays
    verified = babelscope("store", "verify", "--store", store.folder)
    assert verified.status == 1 and all(f"stray {stray}: no result" in verified.errors for stray in strays)
    assert verified.output == "2 of 2 results are as they were published\n"
    assert babelscope("store", "push", tmp_path / "b", "--store", store.folder).output.startswith("2 results copied")
    assert re.search(r"^all +2 ", babelscope("store", "sizes", "--store", store.folder).output, re.MULTILINE)
    assert {piece.name for piece in garbage(there)} == {*strays}
    remove(garbage(there), there)
    assert (
        strays_in(there) == [] and there.has(KEY) and babelscope("store", "verify", "--store", store.folder).status == 0
    )


def test_a_result_in_the_place_of_others_is_none(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", KEY, OTHER)
    store.place_of(KEY).rename(store.folder / "results" / OTHER[:2] / KEY)
    there = Store(store.folder)
    assert there.published([KEY, OTHER]) == {OTHER} and there.keys() == [OTHER] and not there.has(KEY)


def test_leftovers_go_and_nothing_else(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", KEY, OTHER)
    results = tree(store)
    leftovers = [
        store.folder / "damaged" / f"{KEY}-1" / "rows.jsonl", store.folder / "drafts" / KEY / "checkpoint",
        store.folder / "drafts" / f"{'ef' * 32}.copy" / "weights", store.folder / "logs" / f"{KEY}.txt",
    ]  # fmt: skip
    kept = [store.folder / "drafts" / ("ef" * 32) / "checkpoint", store.folder / "logs" / f"{'ef' * 32}.txt"]
    for path in leftovers + kept:
        path.parent.mkdir(exist_ok=True)
        path.write_text("x" * 100)
    with store.claim(OTHER):
        (store.folder / "drafts" / OTHER).mkdir()
        pieces = garbage(Store(store.folder))
    assert {store.folder / piece.name for piece in pieces} == {
        path if path.parent.name == "logs" else path.parent for path in leftovers
    }  # fmt: skip
    assert all(path.exists() for path in leftovers)
    assert remove(pieces, store) == sum(piece.size for piece in pieces) == 400
    assert not any(path.exists() for path in leftovers) and all(path.exists() for path in kept)
    assert tree(store) == results and not list((store.folder / "damaged").iterdir())


def test_results_go_that_no_study_needs_but_never_what_an_unfinished_run_needs(tmp_path: Path, outside: Path) -> None:
    store, first = Store(tmp_path / "a"), Toy(name="first", outside=str(outside))
    old, faulty = Toy(name="old", outside=str(outside)), Faulty(name="faulty", outside=str(outside), left=first)
    run_plan(Plan.of([old]), store, jobs=1)
    assert not list(store.plans.unfinished())
    assert run_plan(Plan.of([faulty]), store, jobs=1).failed
    (plan,) = store.plans.unfinished()
    assert plan.keys == {first.key, faulty.key}
    pieces = garbage(store, kept=[])
    assert {piece.key for piece in pieces if piece.name.startswith("results/")} == {old.key}
    assert garbage(store, kept=[old.key]) == [piece for piece in pieces if piece.key != old.key or "log" in piece.why]
    remove(pieces, store)
    assert store.keys() == [first.key]
    Path(plan.place).unlink()
    assert first.key in {piece.key for piece in garbage(store, kept=[])}


def test_a_plan_that_others_have_finished_is_forgotten(tmp_path: Path, outside: Path) -> None:
    """Its own run was killed, or has found all there."""
    store, step = Store(tmp_path / "a"), Toy(name="first", outside=str(outside))
    run_plan(Plan.of([step]), store, jobs=1)
    store.plans.note([OTHER])
    store.plans.note([step.key])
    assert run_plan(Plan.of([step]), store, jobs=1).cached == (step.key,)
    assert [plan.keys for plan in store.plans.unfinished()] == [{OTHER}]


def test_no_results_go_while_a_step_runs_of_which_no_plan_is_known(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", KEY)
    with store.claim(OTHER):
        with pytest.raises(StoreError, match="1 steps are being computed by runs that do not say what they need"):
            garbage(Store(store.folder), kept=[])
        store.plans.note([OTHER, KEY])
        assert garbage(Store(store.folder), kept=[]) == []


def test_what_has_been_claimed_since_stays(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", KEY)
    pieces = garbage(store, kept=[])
    with store.claim(KEY):
        assert remove(pieces, Store(store.folder)) == 0
    assert store.has(KEY)


def test_a_damaged_note_of_a_plan_is_none(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", KEY)
    for content in ("", "[]", "{}", '{"began": 1, "keys": 7}', "\xff"):
        store.plans.note([KEY])
        (plan,) = store.plans.unfinished()
        Path(plan.place).write_text(content, encoding="latin-1")
        assert not list(store.plans.unfinished())


def archive_of(**files: str) -> bytes:
    """With a mark of a store, and a link to nothing if a file has no content."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:xz") as archive:
        for name, content in {"babelscope-store.json": '{"format": 1}', **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            if not content:
                entry.type, entry.linkname = tarfile.SYMTYPE, "nowhere"
            archive.addfile(entry, io.BytesIO(content.encode()))
    return written.getvalue()


ABOUT = "about.json"


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", b"\xfd7zXZ\x00 cut short", archive_of(link=""), archive_of(**{"../../thesis": "years"}),
     *(archive_of(**{ABOUT: about}) for about in ("{", "[]", "{}", '{"steps": [7]}', '{"steps": [{"step": "Tune"}]}',
                                                  '{"steps": [{"step": "Tune", "key": "", "fields": 7}]}'))],
)  # fmt: skip
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bundle.tar.xz"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"bundle\.tar\.xz: .*; fetch"), unpacked(file):
        pass


def test_an_error_leaves_no_bundle_in_part(tmp_path: Path, outside: Path) -> None:
    """The one that was there stays."""
    store, step, file = Store(tmp_path / "a"), Toy(name="step", outside=str(outside)), tmp_path / "toys.tar.xz"
    store.prepare()
    execute(step, store)
    pack({}, Plan.of([step]), store, file)
    before = file.read_bytes()
    flip_a_bit(store.result(step.key) / "rows.jsonl")
    with pytest.raises(DamagedResult):
        pack({}, Plan.of([step]), store, file)
    assert file.read_bytes() == before and not list(tmp_path.glob(".*"))


def test_a_bundle_has_what_results_were_computed_with_and_on(tmp_path: Path, outside: Path) -> None:
    store, step = Store(tmp_path / "a"), Toy(name="step", outside=str(outside))
    store.prepare()
    execute(step, store)
    file = pack({"name": "toys"}, Plan.of([step]), store, tmp_path / "toys.tar.xz")
    with unpacked(file) as kept:
        assert kept.about == {"name": "toys"} and list(kept.plan.steps) == [step.key]
        assert kept.store.rows(step.key) == store.rows(step.key)
        assert kept.store.environment(kept.store.manifest(step.key)) == store.environment(store.manifest(step.key))
