"""What befalls a step's worker is not the step's fault: it is tried again, then alone, and only then fails."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.core.step import Needs, Step
from babelscope.engine import events as all_events
from babelscope.engine.agenda import Agenda
from babelscope.engine.child import ENVIRONMENT, Child
from babelscope.engine.events import Event, Failed, Finished, Lost, Progressed, Started, as_record, event_of
from babelscope.engine.local import LocalCrew
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.face.session import Engine
from babelscope.steps.plan import Plan
from command_line import babelscope, declaration, write_study
from toy_steps import Gated, Steady, Toy, Unlucky, journal, runs, value


@pytest.mark.parametrize(("times", "is_computed"), [(1, True), (3, True), (4, False)])
def test_a_lost_step_is_tried_three_times_and_then_alone(
    store: Store, outside: Path, times: int, is_computed: bool
) -> None:
    unlucky = Unlucky(name="unlucky", outside=str(outside), times=times)
    child = Toy(name="child", outside=str(outside), left=unlucky)
    others = [Toy(name=f"other{i}", outside=str(outside)) for i in range(6)]
    events: list[Event] = []
    outcome = run_plan(Plan.of([unlucky, child, *others]), store, jobs=2, observe=events.append)
    assert runs(outside)["unlucky"] == min(times + 1, 4)
    assert [event.key for event in events if isinstance(event, Lost)] == [unlucky.key] * min(times, 4)
    if times >= 3:  # the last attempt began when all others were done, and its reader was not there yet
        last = max(place for place, event in enumerate(events) if event == Started(unlucky.key))
        done = {event.key for event in events[:last] if isinstance(event, Finished)}
        assert done == {step.key for step in others}
    assert outcome.failed.keys() == (set() if is_computed else {unlucky.key})
    assert outcome.blocked.keys() == (set() if is_computed else {child.key})
    if is_computed:
        assert store.rows(child.key)[0].value == value(child)
    else:
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert store.logs.of(unlucky.key).read_text() == f"{failed.message}\n" and "SIGKILL" in failed.message


def test_a_worker_that_cannot_open_its_store_says_why(tmp_path: Path, outside: Path) -> None:
    """Its runner has opened it before, and somebody has put something else there since."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "babelscope-store.json").write_text("no mark")
    step, child = Toy(name="toy", outside=str(outside)), Child(str(tmp_path / "store"))
    for _ in range(2):
        child.give(step.key, bytes(ForkingPickler.dumps(step)))
        event = child.hear()
        assert isinstance(event, Failed) and "babelscope-store.json" in event.message and child.is_alive
    child.stop()


class Scripted:
    """A crew that says of each attempt at a step what the test has written down."""

    def __init__(self, script: list[list[Event]], store: Store):
        self.script, self.store, self.given = script, store, 0

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def has_room(self, step: Step) -> bool:
        return True

    def give(self, step: Step, place: int) -> None:
        self.given += 1

    def listen(self, seconds: float) -> Iterator[Event]:
        yield from self.script.pop(0)


def test_a_step_that_gets_further_each_time_is_never_given_up(store: Store, outside: Path) -> None:
    """As one does whose machine is taken away every few hours."""
    step = Toy(name="step", outside=str(outside))
    attempts = [[Started(step.key), Progressed(step.key, done, 99), Lost(step.key, "gone")] for done in range(1, 20)]
    crew = Scripted([*attempts, [Finished(step.key, 1.0)]], store)
    assert run_plan(Plan.of([step]), store, crew=crew).computed == (step.key,)
    assert crew.given == 20
    crew = Scripted([[Progressed(step.key, 5, 9), Lost(step.key, "gone")] for _ in range(9)], store)
    assert run_plan(Plan.of([step]), store, crew=crew).failed and crew.given == 4


def test_a_step_that_takes_too_long_is_begun_again_in_another_process(store: Store, outside: Path) -> None:
    """Its first attempt waits at a gate that nobody opens."""
    step, events = Gated(name="gated", outside=str(outside)), list[Event]()
    os.mkfifo(outside / "gate")
    beside = Toy(name="beside", outside=str(outside))
    crew = LocalCrew(store, 1, seconds=3.0)
    outcome = run_plan(Plan.of([beside, step]), store, observe=events.append, crew=crew)
    assert {*outcome.computed} == {step.key, beside.key}
    (lost,) = [event for event in events if isinstance(event, Lost)]
    assert "longer than the 3 seconds" in lost.message
    assert [line.split()[0] for line in journal(outside)] == ["beside", "gated", "gated", "gated"]
    assert len({line.split()[1] for line in journal(outside)[:3]}) == 2


def test_a_step_that_takes_too_long_is_heard_of_however_much_it_says(store: Store, outside: Path) -> None:
    """It reports its progress a hundred times a second, and saves nothing when it is killed."""
    step, events = Steady(name="steady", outside=str(outside)), list[Event]()
    outcome = run_plan(Plan.of([step]), store, observe=events.append, crew=LocalCrew(store, 1, seconds=0.5))
    assert "longer than the 0.5 seconds" in outcome.failed[step.key]
    assert sum(isinstance(event, Progressed) for event in events) > 4


RECORDED = [kind for kind in vars(all_events).values() if isinstance(kind, type) and issubclass(kind, Event)]


@given(st.data())
def test_an_event_is_a_dictionary_and_back(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([kind for kind in RECORDED if kind is not Event]))
    event = data.draw(st.builds(kind))
    record = as_record(event)
    assert event_of(record) == event
    assert set(map(type, record.values())) <= {str, int, float, dict, type(None)}


def test_a_plan_of_a_hundred_thousand_steps_is_taken_from_in_seconds() -> None:
    steps = {f"{i:064x}": Toy.model_construct(name=f"s{i}", outside="", left=None, right=None) for i in range(100_000)}
    agenda = Agenda(Plan(steps), lambda key: False)
    began, order = time.process_time(), []
    while agenda.has_ready:
        order.append(agenda.take())
        agenda.finish(order[-1])
    assert order == list(steps) and not agenda.unfinished
    assert time.process_time() - began < 10


def test_what_a_step_needs_is_not_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Toy(name="step", outside="").key
    monkeypatch.setattr(Toy, "needs", Needs(gpus=2, threads=8, memory=10**9))
    assert Toy(name="step", outside="").key == before


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (Engine("locl"), "--engine locl: give local, dask:FILE"),
        (Engine("tcp://127.0.0.1:9", jobs=2), "--jobs: is of this machine"),
        (Engine(jobs=0), "--jobs 0: give at least 1"),
        (Engine(jobs="a"), "--jobs 'a': give at least 1"),
        (Engine(jobs=1.5), "--jobs 1.5: give at least 1"),
    ],
)
def test_an_engine_that_is_none_is_refused(store: Store, engine: Engine, said: str) -> None:
    with pytest.raises(InputError, match=said):
        engine.crew(store)


def test_a_cluster_without_its_library_says_what_to_install(
    tmp_path: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "babelscope.engine.cluster", raising=False)
    monkeypatch.delitem(sys.modules, "babelscope.engine.cluster_worker", raising=False)
    study = write_study(tmp_path / "tiny.yaml", declaration(encoder_folder))
    answer = babelscope("run", study, "--store", tmp_path / "store", "--engine", "tcp://127.0.0.1:9")
    assert answer.status == 2 and "pip install 'babelscope[cluster]'" in answer.errors


FAULTS_OF_LARGE_BLOCKS = """
import resource
for _ in range(20):
    b"x" * (1 << 26)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries than GNU's have other settings")
def test_workers_get_large_blocks_of_memory_once():
    def page_faults(environment):
        command = [sys.executable, "-c", FAULTS_OF_LARGE_BLOCKS]
        return int(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)

    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    assert page_faults(plain | ENVIRONMENT) < page_faults(plain) / 5
