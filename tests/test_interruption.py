"""Runners that share a store, are interrupted, or die: the work goes on and the rows are the same."""

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event as Flag

import psutil
import pytest

from babelscope.engine.clock import Clock
from babelscope.engine.events import Event, Lost, Waiting
from babelscope.engine.progress import progress_by_kind
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from command_line import HEED_CTRL_C
from toy_runs import gated_plan
from toy_steps import SOON, Gate, Gated, Steady, journal, runs


def test_two_runners_share_the_work(store: Store, outside: Path, gate: Gate) -> None:
    plan, waiting = gated_plan(str(outside)), Flag()

    def watch(event: Event) -> None:
        if isinstance(event, Waiting):
            waiting.set()

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(run_plan, plan, Store(store.folder), 2)
        gate.wait()
        other = pool.submit(run_plan, plan, Store(store.folder), 2, watch)
        assert waiting.wait(SOON)
        gate.open()
        outcomes = [one.result(SOON), other.result(SOON)]
    assert runs(outside) == {"first": 1, "gated": 1, "last": 1, "beside": 1}
    assert sorted(key for outcome in outcomes for key in outcome.computed) == sorted(plan.steps)
    assert all({*outcome.computed, *outcome.cached} == set(plan.steps) for outcome in outcomes)


def start_runner(outside: Path, store: Store, what: str = "gated") -> subprocess.Popen[bytes]:
    code = f"{HEED_CTRL_C}import sys, toy_runs; toy_runs.run_{what}(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, str(outside), str(store.folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def handles(runner: subprocess.Popen[bytes]) -> list[int]:
    """A descriptor for each of the runner's processes; it becomes readable when the process ends."""
    workers = psutil.Process(runner.pid).children(recursive=True)
    assert workers
    return [os.pidfd_open(worker.pid) for worker in workers]


def assert_all_end(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], SOON)[0], "a worker outlived its runner"
        os.close(descriptor)


def finish_and_compare(store: Store, outside: Path, tmp_path: Path) -> None:
    """Nothing has failed. Run what was interrupted; its rows are those of a run that nothing interrupted."""
    plan = gated_plan(str(outside))
    assert progress_by_kind(plan, store)["Gated"] == {"pending": 1}
    assert not all(store.has(key) for key in plan.steps)
    outcome = run_plan(plan, store, jobs=2)
    assert not outcome.failed and "gated resumed" in journal(outside)
    assert runs(outside)["first"] == 1
    calm = tmp_path / "calm"
    calm.mkdir()
    gate = Gate(calm)
    gate.open()
    reference = Store(tmp_path / "reference")
    run_plan(gated_plan(str(calm)), reference, jobs=1)
    assert {key: store.rows(key) for key in plan.steps} == {key: reference.rows(key) for key in plan.steps}


def test_killing_the_runner_leaves_nothing_behind(store: Store, outside: Path, gate: Gate, tmp_path: Path) -> None:
    with start_runner(outside, store) as runner:
        gate.wait()
        processes = handles(runner)
        runner.kill()
        runner.wait(SOON)
        assert_all_end(processes)
    finish_and_compare(store, outside, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on(
    store: Store, outside: Path, gate: Gate, tmp_path: Path, number: signal.Signals
) -> None:
    with start_runner(outside, store) as runner:
        gate.wait()
        processes = handles(runner)
        if number == signal.SIGINT:  # a terminal sends it to the whole group, workers too
            os.killpg(runner.pid, number)
        else:
            runner.send_signal(number)
        _, errors = runner.communicate(timeout=SOON)
        assert (runner.returncode, errors) == (130, b"")
        assert_all_end(processes)
    finish_and_compare(store, outside, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_step_that_reports_progress_saves_where_it_is(
    store: Store, outside: Path, gate: Gate, number: signal.Signals
) -> None:
    """Whatever ends the runner: a terminal, a scheduler of jobs, or the system."""
    with start_runner(outside, store, "steady") as runner:
        gate.wait()
        processes = handles(runner)
        runner.send_signal(number)
        runner.wait(SOON)
        assert_all_end(processes)
    assert journal(outside)[1:] == ["steady saved"]
    assert not list((store.folder / "logs").glob("*.txt"))  # it has not failed
    run_plan(Plan.of([Steady(name="steady", outside=str(outside))]), store, jobs=1)
    assert journal(outside)[3:] == ["steady resumed"]


def test_a_worker_that_is_told_to_end_saves_where_it_is(store: Store, outside: Path, gate: Gate) -> None:
    step, events = Steady(name="steady", outside=str(outside)), list[Event]()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_plan, Plan.of([step]), store, 1, events.append)
        os.kill(gate.wait(), signal.SIGTERM)
        assert run.result(SOON).computed == (step.key,)
    assert [line.split()[1] for line in journal(outside)[1::2]] == ["saved", "resumed"]
    assert [event.message for event in events if isinstance(event, Lost)] == ["the step's process was told to end"]


def test_a_runner_takes_over_from_one_that_died(store: Store, outside: Path, gate: Gate) -> None:
    plan, waiting = gated_plan(str(outside)), Flag()

    def watch(event: Event) -> None:
        if isinstance(event, Waiting):
            waiting.set()

    with start_runner(outside, store) as runner, ThreadPoolExecutor(1) as pool:
        gate.wait()
        other = pool.submit(run_plan, plan, store, 1, watch)
        assert waiting.wait(SOON)
        runner.kill()
        outcome = other.result(SOON)
    assert not outcome.failed and "gated resumed" in journal(outside)
    assert all(store.has(key) for key in plan.steps)


def test_an_error_of_the_observer_stops_the_workers(store: Store, outside: Path, gate: Gate) -> None:
    started = psutil.Process().children()

    def object_to(event: Event) -> None:
        if event.key == step.key:
            gate.wait()
            raise LookupError("no such bar")

    step = Gated(name="gated", outside=str(outside))
    with pytest.raises(LookupError):
        run_plan(Plan.of([step]), store, jobs=1, observe=object_to)
    assert psutil.Process().children() == started


def test_the_seconds_of_all_attempts_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that the test moves: 100 seconds, a kill unnoticed for half a second, then 20 seconds."""
    now = 1000.0
    monkeypatch.setattr("babelscope.engine.worker.time.monotonic", lambda: now)
    first = Clock(tmp_path / "seconds.json", "ab")
    now += 100
    first.save()
    now += 0.5
    first.save()
    second = Clock(tmp_path / "seconds.json", "ab")
    now += 20
    assert second.stop() == 120
    assert not list(tmp_path.iterdir())
    (tmp_path / "seconds.json").write_text("")  # killed while it wrote
    third = Clock(tmp_path / "seconds.json", "ab")
    now += 3
    assert third.stop() == 3
    (tmp_path / "seconds.json").write_text("7.5")  # as older versions wrote it
    assert Clock(tmp_path / "seconds.json", "ab").stop() == 7.5
