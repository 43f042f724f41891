"""The index of a store saves a run from reading what has not changed. No number rests on what it says."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelscope.core.errors import DamagedResult
from babelscope.core.row import Row
from babelscope.engine import expected, index
from babelscope.engine.expected import SAMPLED
from babelscope.engine.progress import progress_by_kind
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from store_index import exchanged, index_of, place, replaced
from toy_steps import Toy, flip_a_bit, runs

KEYS = [digit * 64 for digit in "abcd"]
AGES = 10**18
"""Nanoseconds."""


@pytest.fixture(autouse=True)
def _at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled as soon as they are written."""
    monkeypatch.setattr(index, "SETTLED", -AGES)


@pytest.fixture
def filled(store: Store) -> Store:
    """Results of which the last has no rows, none verified yet."""
    store.prepare()
    for key in KEYS:
        if key != KEYS[-1]:
            store.write_rows(key, [Row("value", ord(key[0]) / 7)])
        store.publish(key, {"step": "Toy", "seconds": float(ord(key[0]))})
    return store


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys whose manifests are read from here on."""
    keys: list[str] = []
    reading = Store.manifest

    def noting(store: Store, key: str) -> dict[str, Any]:
        keys.append(key)
        return reading(store, key)

    monkeypatch.setattr(Store, "manifest", noting)
    return keys


def truth(store: Store) -> set[str]:
    """What is damaged, without an index."""
    damaged = set()
    for key in KEYS:
        try:
            if store.has(key):
                store.rows(key)
        except DamagedResult:
            damaged.add(key)
    return damaged


def test_what_rests_is_verified_once(filled: Store, read: list[str]) -> None:
    assert filled.damaged(KEYS) == {} and read == KEYS
    assert filled.damaged(KEYS) == Store(filled.folder).damaged(KEYS) == {} and read == KEYS


def test_files_that_have_just_changed_are_verified_again(
    filled: Store, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one tick of the clock that stamps files another change would not be seen."""
    monkeypatch.setattr(index, "SETTLED", 2 * 10**9)
    for _ in range(2):
        assert filled.damaged(KEYS) == {} and not index_of(filled).exists()
    assert read == KEYS * 2
    assert [path.name for path in filled.folder.iterdir() if "index" in path.name] == []


def flip_and_restore_the_time(store: Store) -> None:
    rows = place(store, KEYS[0], "rows.jsonl")
    before = rows.stat()
    flip_a_bit(rows)
    os.utime(rows, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, tuple[Callable[[Store], object], set[str]]] = {
    "a bit of the rows, at the old time": (flip_and_restore_the_time, {KEYS[0]}),
    "a bit of the manifest": (lambda store: flip_a_bit(place(store, KEYS[0], "manifest.json")), {KEYS[0]}),
    "no rows": (lambda store: place(store, KEYS[0], "rows.jsonl").unlink(), {KEYS[0]}),
    "no manifest": (lambda store: place(store, KEYS[0], "manifest.json").unlink(), {KEYS[0]}),
    "no result": (lambda store: shutil.rmtree(place(store, KEYS[0])), set()),
    "two exchanged": (lambda store: exchanged(place(store, KEYS[0]), place(store, KEYS[1])), set(KEYS[:2])),
    "rows exchanged": (
        lambda store: exchanged(place(store, KEYS[0], "rows.jsonl"), place(store, KEYS[1], "rows.jsonl")), set(KEYS[:2])
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_at_once_and_alone(filled: Store, read: list[str], change: str) -> None:
    act, damaged = CHANGES[change]
    filled.damaged(KEYS)
    read.clear()
    act(filled)
    assert set(Store(filled.folder).damaged(KEYS)) == damaged
    assert set(read) == damaged


def test_a_new_result_is_verified_alone(filled: Store, read: list[str]) -> None:
    filled.damaged(KEYS)
    shutil.rmtree(place(filled, KEYS[1]))
    filled.publish(KEYS[1], {"step": "Toy", "seconds": 1.0})
    read.clear()
    assert filled.damaged(KEYS) == {} and read == [KEYS[1]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(data=st.data())
def test_whatever_happens_it_hides_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    store.prepare()
    for key in KEYS:
        store.write_rows(key, [Row("value", ord(key[0]) / 7)])
        store.publish(key, {"step": "Toy"})
    for _ in range(data.draw(st.integers(1, 5))):
        assert store.damaged(KEYS).keys() == truth(store)
        first, second = (place(store, data.draw(st.sampled_from(KEYS))) for _ in range(2))
        name = data.draw(st.sampled_from(["", "manifest.json", "rows.jsonl"]))
        if not (first / name).exists() or not (second / name).exists():
            continue
        match data.draw(st.sampled_from(["exchange", "remove", "change"])):
            case "exchange" if first != second:
                exchanged(first / name, second / name)
            case "remove":
                shutil.rmtree(first) if not name else (first / name).unlink()
            case "change" if name:
                content = bytearray((first / name).read_bytes())
                content[data.draw(st.integers(0, len(content) - 1))] ^= 1
                replaced(first / name, bytes(content))
    assert store.damaged(KEYS).keys() == truth(store)


def forge(store: Store) -> None:
    """Write an index that says that everything was verified as it is now."""
    verified = {key: index.look_at(place(store, key)).stamp for key in KEYS}
    index_of(store).write_text(json.dumps({"format": index.FORMAT, "verified": verified}))


def test_results_that_have_gone_are_forgotten(filled: Store) -> None:
    """When the index is written next: it would grow for ever."""
    filled.damaged(KEYS[:-1])
    shutil.rmtree(place(filled, KEYS[0]))
    filled.damaged(KEYS)
    assert json.loads(index_of(filled).read_text())["verified"].keys() == {*KEYS[1:]}


def test_what_is_no_stamp_is_not_kept(filled: Store) -> None:
    """It might be nested so deep that it can be read, and not be written again."""
    index_of(filled).write_text(json.dumps({"format": index.FORMAT, "verified": {KEYS[0]: [[]], KEYS[1]: "s"}}))
    assert filled.damaged(KEYS[2:]) == {}
    assert set(json.loads(index_of(filled).read_text())["verified"]) == {*KEYS[1:]}


def test_a_forged_index_changes_no_number_and_goes_when_it_is_found_out(filled: Store) -> None:
    flip_a_bit(place(filled, KEYS[0], "rows.jsonl"))
    forge(filled)
    assert filled.damaged(KEYS) == {}
    with pytest.raises(DamagedResult, match=r"rows\.jsonl"):
        filled.rows(KEYS[0])
    assert not index_of(filled).exists()
    assert set(filled.damaged(KEYS)) == {KEYS[0]}


def test_a_reader_of_all_files_finds_a_forged_index_out(filled: Store) -> None:
    flip_a_bit(place(filled, KEYS[0], "manifest.json"))
    forge(filled)
    with pytest.raises(DamagedResult, match=r"manifest\.json"):
        filled.result(KEYS[0])
    assert not index_of(filled).exists()


def test_a_run_repairs_what_a_forged_index_had_hidden(store: Store, outside: Path) -> None:
    step = Toy(name="step", outside=str(outside))
    run_plan(Plan.of([step]), store)
    kept = store.rows(step.key)
    flip_a_bit(place(store, step.key, "rows.jsonl"))
    forged = {step.key: index.look_at(place(store, step.key)).stamp}
    index_of(store).write_text(json.dumps({"format": index.FORMAT, "verified": forged}))
    assert run_plan(Plan.of([step]), store).cached == (step.key,)
    with pytest.raises(DamagedResult, match="run the study again"):
        store.rows(step.key)
    assert run_plan(Plan.of([step]), store).computed == (step.key,)
    assert store.rows(step.key) == kept and runs(outside) == {"step": 2}


def test_an_index_with_stamps_exchanged_is_of_no_use_and_no_harm(filled: Store, read: list[str]) -> None:
    filled.damaged(KEYS)
    written = json.loads(index_of(filled).read_bytes())
    first, second = KEYS[:2]
    verified = written["verified"]
    verified[first], verified[second] = verified[second], verified[first]
    index_of(filled).write_text(json.dumps(written))
    read.clear()
    assert filled.damaged(KEYS) == {} and read == KEYS[:2]


def test_an_index_of_another_store_is_of_no_use_and_no_harm(filled: Store, tmp_path: Path, read: list[str]) -> None:
    filled.damaged(KEYS)
    copied = Store(shutil.copytree(filled.folder, tmp_path / "copy"))
    flip_a_bit(place(copied, KEYS[2], "rows.jsonl"))
    read.clear()
    assert set(copied.damaged(KEYS)) == {KEYS[2]} and read == KEYS


def test_an_old_index_hides_nothing(filled: Store) -> None:
    filled.damaged(KEYS)
    old = index_of(filled).read_bytes()
    flip_a_bit(place(filled, KEYS[0], "rows.jsonl"))
    assert set(filled.damaged(KEYS)) == {KEYS[0]}
    index_of(filled).write_bytes(old)
    assert set(filled.damaged(KEYS)) == {KEYS[0]}


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"format": 2, "verified": {}}', b'{"format": 1, "verified": [1]}',
     b'{"format": 1, "verified": {"%s": 1}}' % KEYS[0].encode()],
)  # fmt: skip
def test_an_index_that_is_none_is_written_anew(filled: Store, read: list[str], content: bytes) -> None:
    index_of(filled).write_bytes(content)
    assert filled.damaged(KEYS) == {} and read == KEYS
    assert filled.damaged(KEYS) == {} and read == KEYS


def test_a_link_in_its_place_is_not_followed_in_writing(filled: Store, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis"
    thesis.write_text("years of work")
    for name in (index_of(filled).name, f"{index_of(filled).name}.{os.getpid()}"):
        (filled.folder / name).symlink_to(thesis)
    assert filled.damaged(KEYS) == {}
    assert thesis.read_text() == "years of work" and not index_of(filled).is_symlink()


def test_where_none_can_be_written_all_is_verified(
    filled: Store, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, text: str) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(index, "write_text", refuse)
        assert filled.damaged(KEYS) == {} and read == KEYS
    index_of(filled).mkdir()
    for times in (2, 3):
        assert filled.damaged(KEYS) == {} and read == KEYS * times
    assert [path.name for path in filled.folder.iterdir() if "index" in path.name] == [index_of(filled).name]


def test_a_listing_looks_at_folders_and_at_no_result(
    filled: Store, outside: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [Toy(name=f"s{number}", outside=str(outside)) for number in range(3 * SAMPLED)]
    for step in steps:
        shutil.copytree(place(filled, KEYS[0]), place(filled, step.key))
    looks: list[str] = []
    listing = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: looks.append(str(folder)) or listing(folder))
    monkeypatch.setattr(Store, "has", lambda store, key: pytest.fail("a look at one result"))
    assert progress_by_kind(Plan.of(steps), filled) == {"Toy": {"done": len(steps)}}
    shelves = {str(place(filled, step.key).parent) for step in steps}
    assert sorted(looks) == sorted([*shelves, str(filled.folder / "claims"), str(filled.folder / "logs")])
    assert read == []


def test_expected_seconds_are_those_of_a_sample(store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Toy(name=f"s{number}", outside=str(outside)) for number in range(5 * SAMPLED // 2)]
    seconds = {step.key: float(number % 7) for number, step in enumerate(steps)}
    asked: list[str] = []
    monkeypatch.setattr(Store, "published", lambda store, keys: set(keys) & set(seconds))
    monkeypatch.setattr(Store, "manifest", lambda store, key: asked.append(key) or {"seconds": seconds[key]})
    missing = Toy(name="missing", outside=str(outside))
    estimate = expected.estimates(Plan.of([*steps, missing]), store)[missing.key]
    assert len(asked) == len(set(asked)) == SAMPLED
    assert estimate.seconds == pytest.approx(fmean(seconds[key] for key in asked[-expected.NEWEST :]))
    assert 2.5 < estimate.seconds < 3.5  # all take 3 on average
    few = expected.estimates(Plan.of([*steps[:7], missing]), store)
    assert list(few) == [missing.key] and few[missing.key].seconds == 3.0
