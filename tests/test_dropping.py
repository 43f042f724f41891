"""Weights are dropped when nothing reads them any more, and computed again when something does: rows are the same."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from faults.warm import Fork
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelscope.core import crash
from babelscope.core.crash import VARIABLE
from babelscope.core.errors import DroppedError, InputError
from babelscope.core.hashing import file_digest
from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.engine.dropping import drop, whole
from babelscope.engine.events import Event, Finished, Found, Waiting
from babelscope.engine.progress import computed_again
from babelscope.engine.put_back import dropped
from babelscope.engine.recall import describe
from babelscope.engine.run import run_plan
from babelscope.engine.sharing.exchange import copy, damaged_in
from babelscope.engine.sharing.garbage import garbage
from babelscope.engine.sizes import Taken, sizes
from babelscope.engine.store import Store
from babelscope.face.session import complete, with_weights
from babelscope.steps.plan import Plan
from dropped import Here, run, there, tuned
from toy_runs import execute
from toy_steps import Heavy, Refused, Toy, runs, value

POINTS = ("drop-noted", "dropped", "put-back", "return-noted")


def test_weights_go_when_nothing_reads_them_any_more_and_rows_stay(store: Store, outside: Path, tmp_path: Path) -> None:
    plan, heavy = tuned(outside, "a", "b")
    kept = Store(tmp_path / "kept")
    run(plan, kept, drop=False)
    recorded = kept.manifest(heavy.key)["files"]["value"]
    run(plan, store)
    assert there(kept, heavy) and not there(store, heavy)
    assert store.manifest(heavy.key)["files"]["value"] == {**recorded, "dropped": True}
    assert {key: store.rows(key) for key in plan.steps} == {key: kept.rows(key) for key in plan.steps}
    rows = [file.read_bytes() for place in (kept, store) for file in [place.place_of(heavy.key) / "rows.jsonl"]]
    assert rows[0] == rows[1]
    assert not damaged_in(store, plan.steps) and not store.damaged(plan.steps)
    again = run(plan, store)
    assert not again.computed and len(again.cached) == 3 and runs(outside)["heavy"] == 2


def test_what_was_kept_before_goes_too(store: Store, outside: Path) -> None:
    """A study that ran with `keep: best`, and then with `keep: rows`."""
    plan, heavy = tuned(outside, "a")
    run(plan, store, drop=False)
    assert there(store, heavy)
    assert not run(plan, store).computed and not there(store, heavy)


def test_who_reads_it_later_has_it_computed_again(store: Store, outside: Path) -> None:
    plan, heavy = tuned(outside, "a")
    run(plan, store)
    before = store.manifest(heavy.key)
    more, _ = tuned(outside, "a", "later")
    assert computed_again(plan, store) == set() and computed_again(more, store) == {heavy.key}
    outcome = run(more, store, drop=False)
    assert len(outcome.computed) == 2 and runs(outside) == {"heavy": 2, "a": 1, "later": 1}
    assert all(store.rows(key)[0].value == value(step) for key, step in more.steps.items())
    manifest, recorded = store.manifest(heavy.key), dict(before["files"]["value"])
    del recorded["dropped"]
    assert manifest == {**before, "files": before["files"] | {"value": recorded}}
    store.check(heavy.key)
    assert not list((store.folder / "drafts").iterdir())


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[type[Toy], int | None, int | None]]:
    """For every step what it is, and which earlier ones it reads."""
    kinds, places = st.sampled_from([Heavy, Heavy, Toy, Toy, Refused]), st.none() | st.integers(0, 7)
    return [
        (draw(kinds) if number else Heavy, *(place if place is not None and place < number else None for place in pair))
        for number, pair in enumerate(draw(st.lists(st.tuples(places, places), min_size=1, max_size=8)))
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), slots=st.integers(1, 3), seed=st.integers(0, 99))
def test_nothing_that_a_step_reads_is_ever_gone(
    tmp_path_factory: pytest.TempPathFactory, graph: list, slots: int, seed: int
) -> None:
    outside = tmp_path_factory.mktemp("graph")
    steps = list[Toy]()
    for number, (kind, *inputs) in enumerate(graph):
        left, right = (None if place is None else steps[place] for place in inputs)
        steps.append(kind(name=f"s{number}", outside=str(outside), left=left, right=right))
    store, plan = Store(outside / "store"), Plan.of(steps)
    crew = Here(store, slots, random.Random(seed).randrange)
    outcome = run(plan, store, crew=crew)
    assert not crew.unread and all(count == 1 for count in runs(outside).values())
    off = outcome.failed.keys() | outcome.blocked.keys()
    for step in steps:
        waited = any(step in reader.inputs and reader.key in off for reader in steps)
        assert (step.key in off) == (not store.has(step.key))
        if step.key not in off:
            assert store.rows(step.key)[0].value == value(step)
            assert there(store, step) == (waited or not step.droppable)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_loses_nothing(store: Store, outside: Path, point: crash.Point) -> None:
    """Killed when weights are dropped, and when they are put back for a step that reads them."""
    assert set(POINTS) <= set(get_args(crash.Point))
    first, heavy = tuned(outside, "a")
    more, _ = tuned(outside, "a", "later")
    if point in POINTS[2:]:
        run(first, store)
    killed, plan = (first, first) if point in POINTS[:2] else (more, more)

    def begin() -> None:
        os.environ[VARIABLE] = f"{point}:1"
        run(killed, store)

    assert Fork(begin).wait() == -signal.SIGKILL
    assert not damaged_in(store, store.keys())
    for key in store.keys():  # noqa: SIM118
        assert store.rows(key)[0].value == value(plan.steps[key])
    if store.is_whole(heavy.key):
        assert there(store, heavy)
    outcome = run(plan, store)
    assert not outcome.failed and not there(store, heavy) and not store.is_whole(heavy.key)
    assert all(store.rows(key)[0].value == value(step) for key, step in plan.steps.items())
    assert not list((store.folder / "drafts").iterdir()) and not list((store.folder / "damaged").iterdir())
    assert not damaged_in(store, plan.steps)


def test_what_a_step_does_not_write_any_more_is_forgotten(store: Store, outside: Path) -> None:
    """As the last weights, which results of older versions have."""
    plan, heavy = tuned(outside, "a")
    store.prepare()
    for name in ("value", "last"):
        (store.draft(heavy.key) / name).write_text(repr(value(heavy)))
    store.write_rows(heavy.key, [Row("value", value(heavy), task="heavy")])
    store.publish(heavy.key, {**describe(heavy), "seconds": 0.0})
    drop(store, heavy.key, ("value", "last"))
    assert dropped(store.manifest(heavy.key)).keys() == {"value", "last"}
    run(plan, store, drop=False)
    assert store.manifest(heavy.key)["files"].keys() == {"value", "rows.jsonl"}
    assert store.is_whole(heavy.key) and runs(outside)["heavy"] == 1
    store.check(heavy.key)


def test_other_bits_are_noted(store: Store, outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the manifest, in the step's log, and where the run is watched."""
    plan, heavy = tuned(outside, "a")
    run(plan, store)
    before = store.manifest(heavy.key)
    (outside / "elsewhere").touch()
    more, _ = tuned(outside, "a", "later")
    complete(more.steps.values(), store, jobs=1)
    manifest = store.manifest(heavy.key)
    (note,) = manifest["notes"]
    now, then = (about["files"]["value"]["sha256"] for about in (manifest, before))
    assert now == file_digest(store.place_of(heavy.key) / "value") != then
    assert f"SHA-256 {now}, before {then}" in note and "value was dropped, and computed again with other bits" in note
    assert store.logs.of(heavy.key).read_text().strip() == note
    assert note.replace(" ", "") in capsys.readouterr().err.replace("\n", "").replace(" ", "")
    assert store.rows(heavy.key)[0].value == value(heavy)  # those of the weights before
    assert manifest["files"]["rows.jsonl"] == before["files"]["rows.jsonl"]
    store.check(heavy.key)
    run(more, store)  # drops them
    latest, _ = tuned(outside, "latest")
    run(latest, store, drop=False)  # the same bits as the last time
    assert store.manifest(heavy.key)["notes"] == [note]


def test_what_another_unfinished_run_may_read_stays(store: Store, outside: Path) -> None:
    plan, heavy = tuned(outside, "a")
    others, _ = tuned(outside, "b")
    store.prepare()
    store.plans.note(others.steps)
    run(plan, store)
    assert there(store, heavy)
    run(others, store)  # which this one has nothing unknown to
    assert not there(store, heavy)


def test_a_run_of_fewer_steps_that_was_interrupted_keeps_nothing(store: Store, outside: Path) -> None:
    """As one has left that was begun before the study was extended."""
    fewer, heavy = tuned(outside, "a")
    store.prepare()
    store.plans.note(fewer.steps)
    more, _ = tuned(outside, "a", "later")
    run(more, store)
    assert not there(store, heavy)


def test_a_run_that_was_overtaken_computes_nothing_again(store: Store, outside: Path) -> None:
    """Another run of the same plan has computed all of it, and dropped the weights, before this one begins a step."""
    plan, _ = tuned(outside, "a", "b")
    crew, events = Here(store), list[Event]()
    crew.first = lambda: run(plan, Store(store.folder))
    outcome = run(plan, store, crew=crew, observe=events.append)
    assert not outcome.computed and runs(outside)["heavy"] == 1
    assert all(isinstance(event, Found) for event in events)


def test_a_run_waits_for_weights_that_another_one_computes_again(store: Store, outside: Path) -> None:
    """And takes over where that one has died, and takes nothing that was dropped for what it waits for."""
    plan, _ = tuned(outside, "a")
    run(plan, store)
    more, _ = tuned(outside, "a", "later")
    crew, events = Here(store), list[Event]()

    def wait(step: Step) -> Event:
        crew.execute = execute
        return Waiting(step.key)

    crew.execute = lambda step, store: wait(step)
    outcome = run(more, store, drop=False, crew=crew, observe=events.append)
    assert [type(event) for event in events] == [Waiting, Finished, Finished] and len(outcome.computed) == 2
    assert runs(outside) == {"heavy": 2, "a": 1, "later": 1}


def test_weights_that_another_run_drops_too_early_are_computed_again(store: Store, outside: Path) -> None:
    plan, heavy = tuned(outside, "a")
    run(Plan.of([heavy]), store, drop=False)
    crew = Here(store)
    crew.first = lambda: drop(Store(store.folder), heavy.key, heavy.droppable)
    outcome = run(plan, store, drop=False, crew=crew)
    assert not outcome.failed and len(outcome.computed) == 2 and runs(outside) == {"heavy": 2, "a": 2}
    assert store.rows(outcome.computed[-1])[0].value == value(plan.steps[outcome.computed[-1]])


def test_who_asks_for_weights_is_told_and_has_them(
    store: Store, outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, heavy = tuned(outside, "a")
    run(plan, store)
    with pytest.raises(DroppedError, match=rf"bytes\) of result {heavy.key[:12]} was dropped .*`babelscope export"):
        whole(store, heavy.key)
    folder = with_weights(lambda: whole(store, heavy.key), store)
    assert float((folder / "value").read_text()) == value(heavy)
    told = " ".join(capsys.readouterr().err.split())
    assert f"of result {heavy.key[:12]} was dropped (keep: rows): it is computed again now, which took 0 s" in told
    assert runs(outside)["heavy"] == 2


def test_a_store_that_machines_share_keeps_weights(store: Store, outside: Path, machine: Callable) -> None:
    plan, heavy = tuned(outside, "a")
    shared = machine("one")
    with pytest.raises(InputError, match=r"keep: rows: .* keeps all weights"):
        run_plan(plan, shared, drop=True)
    run(plan, store)
    copied = copy(plan.steps, store, shared)
    assert copied.dropped == (heavy.key,) and len(copied.copied) == 1


def test_what_was_dropped_is_copied_as_such(store: Store, outside: Path, tmp_path: Path) -> None:
    plan, heavy = tuned(outside, "a")
    run(plan, store)
    other = Store(tmp_path / "other")
    assert len(copy(plan.steps, store, other).copied) == 2
    assert dropped(other.manifest(heavy.key)).keys() == {"value"} and not damaged_in(other, plan.steps)
    more, _ = tuned(outside, "later")
    run(more, other, drop=False)
    assert there(other, heavy) and not there(store, heavy)


def test_the_draft_of_weights_that_are_computed_again_is_no_garbage(store: Store, outside: Path) -> None:
    plan, heavy = tuned(outside, "a")
    run(plan, store)
    (store.draft(heavy.key) / "checkpoint").write_text("half")
    assert not garbage(store)
    assert [piece.key for piece in garbage(store, kept=())].count(heavy.key) == 2  # the draft and the result


def test_what_results_take(store: Store, outside: Path) -> None:
    plan, heavy = tuned(outside, "a", "b")
    run(plan, store)
    files = [file for key in plan.steps for file in store.place_of(key).iterdir() if file.name != "manifest.json"]
    taken = sizes(store, plan.steps)
    assert taken[("Heavy", "heavy")].dropped == len(repr(value(heavy))) and taken[("Heavy", "heavy")].droppable == 0
    assert sum(line.weights + line.rest for line in taken.values()) == sum(file.stat().st_size for file in files)
    assert taken[("Toy", "a")] == Taken(1, 0, taken[("Toy", "a")].rest)
