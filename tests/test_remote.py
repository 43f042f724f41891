"""Stores that machines share without locks: in a folder, and in a bucket where the server of one is installed."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.core.hashing import digest
from babelscope.core.row import Row
from babelscope.engine.events import Finished, Found, Waiting
from babelscope.engine.run import run_plan
from babelscope.engine.sharing import cache, remote
from babelscope.engine.sharing.cache import Cache
from babelscope.engine.sharing.places import store_at
from babelscope.engine.sharing.remote import RemoteStore
from babelscope.steps.plan import Plan
from remote_machines import KEY, Machine, prepared, shared_files
from toy_runs import execute, wide_plan
from toy_steps import Toy, flip_a_bit, journal, runs, value


def test_what_one_machine_computes_others_have(machine: Machine, outside: Path) -> None:
    first, second = prepared(machine("first")), machine("second")
    step = Toy(name="step", outside=str(outside))
    assert not second.has(step.key)
    assert isinstance(execute(step, first), Finished)
    assert isinstance(execute(step, prepared(second)), Found)
    third = machine("third")
    assert third.has(step.key) and third.published([step.key, KEY]) == {step.key} and third.keys() == [step.key]
    assert third.rows(step.key) == first.rows(step.key) == [Row("value", value(step), task="step")]
    assert (third.result(step.key) / "value").read_text() == repr(value(step))
    assert third.manifest(step.key) == first.manifest(step.key)
    assert machine("fourth").environment(third.manifest(step.key)) == first.environment(first.manifest(step.key))
    assert runs(outside) == {"step": 1}


def test_a_store_is_there_for_a_machine_that_has_read_nothing_of_it(machine: Machine) -> None:
    assert not machine("first").is_there
    prepared(machine("first"))
    second = machine("second")
    assert second.is_there and not second.folder.exists()


def test_a_step_that_is_computed_elsewhere_is_waited_for(machine: Machine, outside: Path) -> None:
    step, (first, second) = Toy(name="step", outside=str(outside)), map(prepared, map(machine, ("first", "second")))
    with first.claim(step.key) as mine:
        assert mine and second.claimed(step.key) and second.running([step.key, KEY]) == {step.key}
        assert isinstance(execute(step, second), Waiting)
    assert not second.claimed(step.key) and isinstance(execute(step, second), Finished)


def test_who_publishes_late_changes_nothing(machine: Machine) -> None:
    """Both have computed the step, since one counted as dead."""
    stores = [prepared(machine(name)) for name in ("first", "second")]
    for number, store in enumerate(stores):
        store.write_rows(KEY, [Row("seconds", float(number))])
        (store.draft(KEY) / "weights").write_text(f"of attempt {number}")
        store.publish(KEY, {"step": "Cost", "seconds": float(number)})
    for store in (*stores, machine("third")):
        assert store.rows(KEY) == [Row("seconds", 0.0)] and store.manifest(KEY)["seconds"] == 0
        assert (store.result(KEY) / "weights").read_text() == "of attempt 0"
        store.check(KEY)


@pytest.mark.parametrize("ask", ["rows", "result", "manifest", "published", "damaged"])
def test_a_copy_of_a_result_that_another_has_taken_the_place_of_is_not_read(machine: Machine, ask: str) -> None:
    """It counted as soon as its key was there again: two machines read other numbers from one store."""

    def publish(store: RemoteStore, number: int) -> None:
        store.write_rows(KEY, [Row("seconds", float(number))])
        (store.draft(KEY) / "weights").write_text(f"of machine {number}")
        store.publish(KEY, {"step": "Cost", "seconds": float(number)})

    first, second = prepared(machine("first")), prepared(machine("second"))
    publish(first, 1)
    second.results.remove(KEY)
    assert first.place_of(KEY).is_dir() and not machine("first").has(KEY)
    publish(second, 2)
    later = machine("first")
    {"published": later.published, "damaged": later.damaged}.get(ask, lambda keys: getattr(later, ask)(KEY))([KEY])
    assert later.manifest(KEY) == second.manifest(KEY) and later.rows(KEY) == [Row("seconds", 2.0)]
    assert (later.result(KEY) / "weights").read_text() == "of machine 2"
    assert not later.damaged([KEY]) and machine("third").rows(KEY) == [Row("seconds", 2.0)]


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_damage_is_found_and_healed_by_who_has_the_result(address: str, machine: Machine, outside: Path) -> None:
    first, second = prepared(machine("first")), prepared(machine("second"))
    step = Toy(name="step", outside=str(outside))
    execute(step, first)
    flip_a_bit(shared_files(address)[0])
    for attempt in (second.check, second.result):
        with pytest.raises(DamagedResult, match=r"files/.*does not match"):
            attempt(step.key)
    first.quarantine(step.key)
    second.check(step.key)
    next(Path(address.removeprefix("file://")).glob("results/*/*")).unlink()
    first.quarantine(step.key)
    second.check(step.key)
    flip_a_bit(shared_files(address)[0])
    second.quarantine(step.key)  # which has no copy, so that it is published no more
    assert not machine("third").has(step.key) and isinstance(execute(step, second), Finished)
    machine("third").check(step.key)


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_names_that_lead_out_of_a_folder_are_refused(machine: Machine, tmp_path: Path) -> None:
    """Of files that others have published, or saved."""
    first, second = (prepared(machine(name)) for name in ("first", "second"))
    (first.draft(KEY) / "weights").write_text("of a lab")
    first.publish(KEY, {"step": "Toy"})
    name = f"results/{KEY[:2]}/{KEY}"
    manifest = json.loads(first.objects.read(name) or b"")
    manifest["files"] = {f"../../../{path}": recorded for path, recorded in manifest["files"].items()}
    del manifest["digest"]
    first.objects.write(name, json.dumps({**manifest, "digest": digest(manifest)}).encode())
    with pytest.raises(DamagedResult, match="leads out of its folder"):
        second.result(KEY)
    other = "cd" * 32
    for path, content in (("draft", json.dumps({"../../../weights": sha256(b"x").hexdigest()})), ("x", "x")):
        first.objects.write(f"drafts/{other}/{path}", content.encode())
    with second.claim(other) as mine:
        assert mine and not list(second.draft(other).iterdir())
    assert not list(tmp_path.rglob("second/weights"))


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_a_damaged_copy_is_fetched_again(address: str, machine: Machine, outside: Path) -> None:
    """Damaged rows, which a run sees at once, and another file, which the step that reads it sees."""
    first, step = prepared(machine("first")), Toy(name="step", outside=str(outside))
    execute(step, first)
    here = store_at(address)
    for number, name in enumerate(("rows.jsonl", "value")):
        flip_a_bit(here.result(step.key) / name)
        last = Toy(name=f"last{number}", outside=str(outside), left=step)
        assert run_plan(Plan.of([last]), store_at(address), jobs=1).computed == (last.key,)
        here = store_at(address)
        assert here.rows(step.key) == first.rows(step.key)
    assert runs(outside) == {"step": 1, "last0": 1, "last1": 2}  # which had begun before it read


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_of_a_large_result_only_the_rows_come(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = prepared(machine("first")), machine("second")
    first.write_rows(KEY, [Row("loss", 0.5)])
    (first.draft(KEY) / "weights").write_bytes(bytes(remote.SMALL))
    first.publish(KEY, {"step": "Tune"})
    assert second.rows(KEY) == [Row("loss", 0.5)] and not (second.folder / "results").exists()
    assert second.result(KEY).is_relative_to(second.folder) and second.rows(KEY) == [Row("loss", 0.5)]


def test_files_are_verified_in_pieces(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be larger than memory."""
    first, second = prepared(machine("first")), machine("second")
    (first.draft(KEY) / "weights").write_bytes(bytes(3 * remote.SMALL))
    first.publish(KEY, {"step": "Tune"})
    read = second.objects.read
    monkeypatch.setattr(second.objects, "read", lambda name: pytest.fail(name) if "files/" in name else read(name))
    second.check(KEY)
    (name,) = first.results.files(KEY)
    first.objects.write(name, bytes(3 * remote.SMALL - 1))
    with pytest.raises(DamagedResult, match=r"files/.*does not match"):
        second.check(KEY)


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_the_folder_here_keeps_to_its_limit(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = prepared(RemoteStore(address, cache=Cache(tmp_path / "small" / "store", 25_000)))
    keys = [digit * 64 for digit in "abcdef"]
    for key in keys:
        (store.draft(key) / "weights").write_bytes(bytes(10_000))
        store.publish(key, {})
    reader = RemoteStore(address, cache=Cache(tmp_path / "reader" / "store", 25_000))
    for age, key in enumerate(keys):
        os.utime(reader.result(key), (age, age))
    here = {path.name for path in (reader.folder / "results").glob("*/*")}
    assert keys[-1] in here and len(here) == 2 and reader.published(keys) == {*keys}
    monkeypatch.setattr(cache, "RESTED", 1e12)
    reader.result(keys[0])
    assert len(list((reader.folder / "results").glob("*/*"))) == 3  # a step may still read them


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_what_is_computed_here_keeps_to_the_limit_too(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In many processes, none of which adds much."""
    monkeypatch.setattr(cache, "RESTED", 0.0)
    keys = [digit * 64 for digit in "abcdef"]
    for key in keys:
        store = prepared(RemoteStore(address, cache=Cache(tmp_path / "small" / "store", 2_000_000)))
        (store.draft(key) / "weights").write_bytes(bytes(500_000))
        store.publish(key, {})
    here = {path.name for path in (store.folder / "results").glob("*/*")}
    assert keys[-1] in here and len(here) == 3 and store.published(keys) == {*keys}


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_two_processes_make_room_at_once(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one has removed is gone when the other looks at it."""
    store = prepared(RemoteStore(address, cache=Cache(tmp_path / "small" / "store", 1)))
    for key in ("ab" * 32, "cd" * 32):
        store.draft(key)
        store.publish(key, {})

    def overtaken(path: Path) -> int:
        for result in store.folder.glob("results/*/*"):
            shutil.rmtree(result)
        return 10**6

    monkeypatch.setattr(cache, "bytes_in", overtaken)
    store._cache.make_room(10**6)
    assert not list(store.folder.glob("results/*/*")) and store.keys() == ["ab" * 32, "cd" * 32]


def test_what_was_removed_for_all_is_not_there(machine: Machine, outside: Path) -> None:
    """Though a machine has a copy; what it computes again is shared again, and replaces the copy."""
    step, first = Toy(name="step", outside=str(outside)), prepared(machine("first"))
    execute(step, first)
    prepared(machine("second")).results.remove(step.key)
    again = prepared(machine("first"))
    assert not again.has(step.key) and again.published([step.key]) == set()
    (again.folder / "results" / step.key[:2] / step.key / "value").write_text("of before")
    assert isinstance(execute(step, again), Finished)
    for store in (again, machine("third")):
        assert (store.result(step.key) / "value").read_text() == repr(value(step))
    assert not list((again.folder / "damaged").iterdir())


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_many_are_asked_for_by_listing_folders(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    store = prepared(machine("first"))
    there = [f"{number:064x}"[::-1] for number in range(20)]
    for key in there:
        store.draft(key)
        store.publish(key, {})
    asked = machine("second")
    monkeypatch.setattr(asked.objects, "has", lambda name: pytest.fail("asked for one"))
    wanted = [*there, *(f"{number:064x}"[::-1] for number in range(1000, 1100))]
    assert asked.published(wanted) == {*there}


def test_a_run_on_two_machines_computes_every_step_once(
    address: str, machine: Machine, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As users have it: an address, which workers open themselves."""
    monkeypatch.setattr(remote, "LOOKING", 0.1)
    plan = wide_plan(str(outside))
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "here"))
    first = store_at(address)
    first.prepare()
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "there"))
    second = store_at(address)
    assert first.folder != second.folder
    with ThreadPoolExecutor(2) as pool:
        outcomes = [each.result() for each in [pool.submit(run_plan, plan, store, 1) for store in (first, second)]]
    computed = [key for outcome in outcomes for key in outcome.computed]
    assert sorted(computed) == sorted(plan.steps) and len(journal(outside)) == len(plan.steps)
    for key, step in plan.steps.items():
        assert isinstance(step, Toy)
        assert machine("third").rows(key) == [Row("value", value(step), task=step.name)]


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_what_is_no_store_is_refused(address: str, machine: Machine) -> None:
    folder = Path(address.removeprefix("file://"))
    folder.mkdir()
    (folder / "holiday.jpg").touch()
    with pytest.raises(StoreError, match="neither empty nor a store"):
        machine("first")
    (folder / "babelscope-remote.json").write_text('{"format": 7}')
    with pytest.raises(StoreError, match="of another format"):
        machine("first")
