"""The local engine: each step once, and a failure stops only what needs it."""

import io
import json
import os
import shutil
import signal
from collections import Counter, deque
from pathlib import Path
from typing import Any

import psutil
import pytest

from babelscope.core.errors import DamagedResult, InputError, StoreError
from babelscope.core.hashing import digest
from babelscope.core.row import Row
from babelscope.engine import index, local
from babelscope.engine.events import Blocked, Damaged, Event, Failed, Finished, Progressed
from babelscope.engine.progress import progress_by_kind
from babelscope.engine.run import _Run, run_plan
from babelscope.engine.slots import Gpu
from babelscope.engine.store import Store
from babelscope.steps import Load, Tune
from babelscope.steps.plan import Plan
from babelscope.tuning.settings import Tuning
from toy_steps import (
    SOON,
    Environed,
    Faulty,
    Killed,
    Leaving,
    Refused,
    Talkative,
    Toy,
    flip_a_bit,
    journal,
    runs,
    value,
)

AGES = 10**18
"""Nanoseconds."""


def test_a_diamond_is_computed_once_and_then_found(store: Store, outside: Path) -> None:
    top = Toy(name="top", outside=str(outside))
    left, right = (Toy(name=name, outside=str(outside), left=top) for name in ("left", "rightmost"))
    last = Toy(name="last", outside=str(outside), left=left, right=right)
    plan = Plan.of([last, Toy(name="last", outside=str(outside), left=left, right=right)])
    outcome = run_plan(plan, store, jobs=2)
    assert set(outcome.computed) == {step.key for step in (top, left, right, last)}
    assert [row.value for row in store.rows(last.key)] == [value(last)]
    again = run_plan(plan, Store(store.folder), jobs=2)
    assert (again.computed, set(again.cached), again.failed, again.blocked) == ((), set(plan.steps), {}, {})
    assert runs(outside) == {"top": 1, "left": 1, "rightmost": 1, "last": 1}


def test_workers_stay_warm(store: Store, outside: Path) -> None:
    run_plan(Plan.of([Toy(name=f"s{i}", outside=str(outside)) for i in range(20)]), store, jobs=1)
    processes = {line.split()[1] for line in journal(outside)}
    assert len(processes) == 1 and str(os.getpid()) not in processes


def test_what_a_stored_target_needed_is_not_computed(store: Store, outside: Path) -> None:
    first = Toy(name="first", outside=str(outside))
    second = Toy(name="second", outside=str(outside), left=first)
    run_plan(Plan.of([second]), store, jobs=1)
    store.result(first.key).rename(outside / "gone")
    outcome = run_plan(Plan.of([second]), store, jobs=1)
    assert (outcome.computed, outcome.cached) == ((), (second.key,))
    third = Toy(name="third", outside=str(outside), left=second, right=first)
    assert run_plan(Plan.of([third]), store, jobs=1).computed == (first.key, third.key)


def test_a_failure_stops_only_what_needs_it(store: Store, outside: Path) -> None:
    where = str(outside)
    refused, faulty = Refused(name="refused", outside=where), Faulty(name="faulty", outside=where)
    killed, leaving = Killed(name="killed", outside=where), Leaving(name="leaving", outside=where)
    child = Toy(name="child", outside=where, left=killed, right=Toy(name="sound", outside=where))
    grandchild = Toy(name="grandchild", outside=where, left=child)
    others = [Toy(name=f"other{i}", outside=where) for i in range(6)]
    events: list[Event] = []
    plan = Plan.of([refused, faulty, killed, leaving, grandchild, *others])
    outcome = run_plan(plan, store, jobs=2, observe=events.append)
    assert outcome.failed.keys() == {step.key for step in (refused, faulty, killed, leaving)}
    assert outcome.failed[refused.key] == "refused.conllu:3: nine columns instead of ten"
    log = store.folder / "logs" / f"{faulty.key}.txt"
    assert outcome.failed[faulty.key] == f"ZeroDivisionError: seven by naught; the traceback is in {log}"
    assert "Traceback" in log.read_text() and "in act" in log.read_text()
    assert progress_by_kind(plan, store) == {
        **{kind: {"failed": 1} for kind in ("Refused", "Faulty", "Killed", "Leaving")},
        "Toy": {"done": 7, "pending": 2},
    }
    for key in (refused.key, killed.key, leaving.key):
        assert store.logs.of(key).read_text().splitlines()[-1] == outcome.failed[key]
    assert "SIGKILL" in outcome.failed[killed.key] and "memory" in outcome.failed[killed.key]
    assert "exit status 7" in outcome.failed[leaving.key]
    assert outcome.blocked == {child.key: killed.key, grandchild.key: killed.key}
    assert [event.key for event in events if isinstance(event, Blocked)] == [child.key, grandchild.key]
    assert {event.key: event.message for event in events if isinstance(event, Failed)} == outcome.failed
    assert len(outcome.computed) == 7 and runs(outside)["sound"] == 1
    assert all(store.rows(other.key)[0].value == value(other) for other in others)


def test_progress_arrives_and_is_throttled(store: Store, outside: Path) -> None:
    step = Talkative(name="talkative", outside=str(outside))
    events: list[Event] = []
    run_plan(Plan.of([step]), store, jobs=1, observe=events.append)
    told = [event for event in events if isinstance(event, Progressed)]
    assert told[0] == Progressed(step.key, 1, 1000, {"loss": 1.0})
    assert told[-1] == Progressed(step.key, 1000, 1000, {"loss": 0.001})
    seconds = next(event.seconds for event in events if isinstance(event, Finished))
    assert len(told) <= 2 + seconds / 0.1
    assert (store.folder / "logs" / f"{step.key}.txt").read_text() == "hello from talkative\n"


def test_a_damaged_input_is_computed_again(store: Store, outside: Path) -> None:
    first, (second, _) = damaged(store, outside)
    events: list[Event] = []
    outcome = run_plan(Plan.of([second]), store, jobs=1, observe=events.append)
    assert outcome.computed == (first.key, second.key) and not outcome.failed
    assert [(event.key, event.reader) for event in events if isinstance(event, Damaged)] == [(first.key, second.key)]
    assert store.rows(second.key)[0].value == value(second)
    assert runs(outside)["first"] == 2


def damaged(store: Store, outside: Path) -> tuple[Toy, list[Toy]]:
    """A step with a damaged result, and two that read it."""
    first = Toy(name="first", outside=str(outside))
    run_plan(Plan.of([first]), store, jobs=1)
    flip_a_bit(store.result(first.key) / "value")
    return first, [Toy(name=name, outside=str(outside), left=first) for name in ("one", "another")]


def test_a_damaged_input_is_computed_again_once_for_all_its_readers(store: Store, outside: Path) -> None:
    first, readers = damaged(store, outside)
    outcome = run_plan(Plan.of(readers), store, jobs=2)
    assert not outcome.failed and {*outcome.computed} == {step.key for step in (first, *readers)}
    assert runs(outside)["first"] == 2


def test_several_readers_find_the_same_damage_before_it_is_mended(store: Store, outside: Path) -> None:
    first, readers = damaged(store, outside)
    run = _Run(Plan.of(readers), store, lambda event: None)
    for reader in readers:
        run.agenda.take()
        run.repair(first.key, "damaged", reader.key)
    assert not run.failed and run.agenda.readers(first.key) == {reader.key for reader in readers}
    run.repair(first.key, "damaged again", readers[0].key)
    assert run.failed == {readers[0].key: "damaged again"}


def test_exchanged_results_are_computed_again(store: Store, outside: Path) -> None:
    steps = [Toy(name=name, outside=str(outside)) for name in ("one", "another")]
    plan = Plan.of([Toy(name="last", outside=str(outside), left=steps[0], right=steps[1])])
    run_plan(plan, store, jobs=1)
    right = {key: store.rows(key) for key in plan.steps}
    exchange(*(store.result(step.key) for step in steps))
    for step in steps:
        with pytest.raises(DamagedResult, match=f"is of result .*, and not of {step.key[:12]}"):
            store.rows(step.key)
    outcome = run_plan(plan, Store(store.folder), jobs=1)
    assert {*outcome.computed} == {step.key for step in steps} and not outcome.failed
    assert {key: store.rows(key) for key in plan.steps} == right
    assert len(list((store.folder / "damaged").iterdir())) == 2


def exchange(first: Path, second: Path) -> None:
    spare = first.with_name("spare")
    for path, name in ((first, spare), (second, first), (spare, second)):
        path.rename(name)


def test_damage_that_comes_back_is_a_failure(store: Store, outside: Path) -> None:
    first = Toy(name="first", outside=str(outside))
    second = Toy(name="second", outside=str(outside), left=first)

    def spoil(event: Event) -> None:
        if isinstance(event, Finished):
            flip_a_bit(store.folder / "results" / event.key[:2] / event.key / "value")

    outcome = run_plan(Plan.of([second]), store, jobs=1, observe=spoil)
    assert outcome.failed.keys() == {second.key} and "checksum" in outcome.failed[second.key]
    assert runs(outside)["first"] == 2


def test_damaged_rows_are_computed_again(store: Store, outside: Path) -> None:
    step = Toy(name="step", outside=str(outside))
    plan = Plan.of([step])
    run_plan(plan, store, jobs=1)
    flip_a_bit(store.result(step.key) / "rows.jsonl")
    events: list[Event] = []
    outcome = run_plan(plan, Store(store.folder), jobs=1, observe=events.append)
    assert outcome.computed == (step.key,) and isinstance(events[0], Damaged)
    assert Store(store.folder).rows(step.key)[0].value == value(step)


def test_an_idle_worker_may_die(store: Store, outside: Path) -> None:
    first = Toy(name="first", outside=str(outside))
    second = Toy(name="second", outside=str(outside), left=first)

    def kill_the_idle(event: Event) -> None:
        if event == Finished(first.key, getattr(event, "seconds", 0)):
            worker = int(journal(outside)[0].split()[1])
            os.kill(worker, signal.SIGKILL)
            psutil.Process(worker).wait(SOON)

    outcome = run_plan(Plan.of([second]), store, jobs=1, observe=kill_the_idle)
    assert outcome.computed == (first.key, second.key) and not outcome.failed


def test_workers_are_told_how_to_compute(store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)  # a training in this process may have set it
    step = Environed(name="environed", outside=str(outside))
    run_plan(Plan.of([step]), store, jobs=1)
    assert store.logs.of(step.key).read_text() == ":4096:8 PASSIVE\n"


class Silent:
    """A child that never says anything."""

    is_alive = True

    def __init__(self, folder: Path, gpu: str | None = None):
        self.key: str | None = None
        self.gpu = gpu

    def give(self, key: str, pickled: bytes, seconds: float | None) -> None:
        self.key = key

    def stop(self) -> None:
        pass


PLAIN, WIDE, HUGE, GPU = Tuning(), Tuning(threads=3), Tuning(threads=20), Tuning(device="cuda")


@pytest.mark.parametrize(
    ("jobs", "tunings", "begun"),
    [
        (None, [PLAIN] * 10, 8),
        (None, [WIDE] * 4, 2),
        (None, [WIDE, *[PLAIN] * 9], 6),
        (None, [HUGE, PLAIN], 1),
        (None, [PLAIN, HUGE], 1),
        (None, [GPU, PLAIN, PLAIN], 3),
        (None, [PLAIN, GPU, GPU], 2),
        (2, [HUGE] * 4, 2),
    ],
)
def test_steps_at_once_have_a_core_for_each_thread(
    monkeypatch: pytest.MonkeyPatch, store: Store, jobs: int | None, tunings: list[Tuning], begun: int
) -> None:
    monkeypatch.setattr(local, "usable_cores", lambda: 8)
    monkeypatch.setattr(local, "Child", Silent)
    monkeypatch.setattr(local, "gpus_here", lambda chosen: [Gpu("0", 10**10)])
    monkeypatch.setattr(local, "dismiss", lambda children: None)
    encoder = Load(name="one", content="0", place="one")
    steps = [
        Tune(encoder=encoder, task="pos", train=(), dev=(), tuning=tuning, seed=seed)
        for seed, tuning in enumerate(tunings)
    ]
    with local.LocalCrew(store, jobs) as crew:
        left = deque(steps)
        while left and crew.has_room(left[0]):
            crew.give(left.popleft(), 0)
    assert len(steps) - len(left) == begun


@pytest.mark.parametrize("jobs", [0, -1, True])
def test_there_is_at_least_one_job(store: Store, outside: Path, jobs: int) -> None:
    with pytest.raises(InputError, match=f"--jobs {jobs}"):
        run_plan(Plan.of([Toy(name="step", outside=str(outside))]), store, jobs=jobs)


def test_a_store_that_cannot_be_written_is_said_at_once(tmp_path: Path, outside: Path) -> None:
    store = Store(tmp_path / "later" / "store")
    (tmp_path / "later").touch()
    with pytest.raises(StoreError, match="--store"):
        run_plan(Plan.of([Toy(name="step", outside=str(outside))]), store, jobs=1)
    assert runs(outside) == {}


def test_a_finished_plan_is_recognised_by_its_manifests_and_rows(
    store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is opened once; larger files are verified by the steps that read them. What rests is not opened again."""
    store.prepare()
    steps = [Toy(name=f"s{i}", outside=str(outside)) for i in range(100)]
    store.write_rows(steps[0].key, [Row("value", j / 7, language=f"qa{j}") for j in range(9)])
    (store.draft(steps[0].key) / "weights").write_bytes(b"large")
    published = store.publish(steps[0].key, {"step": "Toy"})
    for step in steps[1:]:  # copied, since publishing flushes every file to the disk
        copy = shutil.copytree(published, store.folder / "results" / step.key[:2] / step.key)
        manifest = store.manifest(steps[0].key) | {"key": step.key}
        (copy / "manifest.json").write_text(json.dumps({**manifest, "digest": digest(manifest)}))
    opened, looked_at = Counter[tuple[str, str]](), Counter[str]()
    open_file, has = io.open, Store.has

    def noting_open(file: Path, *given: Any, **more: Any) -> Any:
        opened[Path(file).parent.name, Path(file).name] += 1
        return open_file(file, *given, **more)

    def noting_has(fresh: Store, key: str) -> bool:
        looked_at[key] += 1
        return has(fresh, key)

    fresh = Store(store.folder)
    monkeypatch.setattr(index, "SETTLED", -AGES)
    monkeypatch.setattr(io, "open", noting_open)
    monkeypatch.setattr(Store, "has", noting_has)
    outcome = run_plan(Plan.of(steps), fresh)
    assert len(outcome.cached) == 100
    of_results = Counter({file: times for file, times in opened.items() if file[0] != fresh.folder.name})
    assert of_results == Counter((step.key, name) for step in steps for name in ("manifest.json", "rows.jsonl"))
    assert not looked_at  # one by one; folders are listed
    opened.clear()
    assert run_plan(Plan.of(steps), fresh) == outcome
    assert opened == {(fresh.folder.name, "babelscope-index.json"): 1}
