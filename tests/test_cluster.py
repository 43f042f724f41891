"""The same study on a Dask cluster: the rows are the same, whichever workers and clients come and go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import dask_cluster
import slurm
from babelscope.core.errors import InputError
from babelscope.core.step import Step
from babelscope.engine.events import Event, Lost, Progressed, Started, as_record
from babelscope.engine.run import Outcome, run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from command_line import babelscope, declaration, transfer, write_study
from dask_cluster import ENVIRONMENT, Cluster
from toy_runs import gated_plan, steady_plan
from toy_steps import SOON, Demanding, Gate, Steady, Talkative, Toy, journal, runs, value

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

from babelscope.engine import cluster, cluster_worker
from babelscope.engine.cluster import AHEAD, DaskCrew
from babelscope.engine.cluster_worker import Errand, Origin, installed, perform

SCRIPT = Path(__file__).parent.parent / "docs" / "slurm.sh"


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with dask_cluster.cluster(tmp_path_factory.mktemp("cluster")) as begun:
        begun.add_worker("GPU=1", TOY_MACHINE="gpu")
        begun.add_worker()
        begun.add_worker()
        with cluster._connect(begun.engine) as client:
            client.wait_for_workers(3, timeout=SOON)
        yield begun


def test_a_run_that_is_refused_leaves_the_cluster(dask: Cluster, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    crew = DaskCrew(store, dask.engine)
    monkeypatch.setattr(crew, "_origin", replace(crew._origin, store="/nowhere"))
    with pytest.raises(InputError, match="sees no store in /nowhere"), crew:
        pass
    assert crew._client.status == "closed"


def test_events_that_never_cease_are_heard_in_turns(store: Store) -> None:
    """So that steps are given in between."""
    crew = DaskCrew(store, "tcp://127.0.0.1:9")
    crew._futures["ab"], event = None, Progressed("ab", 1, 2)
    crew._inbox.put(as_record(event))
    for count, heard in enumerate(crew.listen(1.0)):
        assert heard == event and count < 3
        crew._inbox.put(as_record(event))


def test_children_of_other_stores_make_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has served many stores does not keep a process for each."""

    class Resting:
        is_alive = True

        def __init__(self, store: str, folder: str | None):
            self.store = store
            started.append(self)

        def stop(self) -> None:
            self.is_alive = False

    started = list[Resting]()
    monkeypatch.setattr(cluster_worker, "Child", Resting)
    monkeypatch.setattr(cluster_worker, "_idle", [])
    monkeypatch.setattr(cluster_worker, "_children", set())
    for store in "abcda":
        origin = Origin(store, "/nowhere", (), {})
        cluster_worker.rest(child := cluster_worker.child_of(origin), origin, 1)
        assert child.store == store and sum(child.is_alive for child in started) <= 2
    assert cluster_worker.child_of(origin) is child and len(started) == 5


def run_on(dask: Cluster, plan: Plan, store: Store, observe: Callable[[Event], None] = lambda event: None) -> Outcome:
    return run_plan(plan, Store(store.folder), observe=observe, crew=DaskCrew(store, dask.engine))


@pytest.mark.usefixtures("in_process")
def test_a_study_on_a_cluster_has_the_rows_of_a_local_one(dask: Cluster, tmp_path: Path, encoder_folder: Path) -> None:
    """A training, and what reads it."""
    tasks = {"pos": transfer(evaluate=["world:qab"], baselines=[])}
    declared = declaration(encoder_folder, tasks=tasks, surgeries=[None], seeds=[0], retrieval=None)
    study, written = write_study(tmp_path / "tiny.yaml", declared), {}
    for engine in (dask.engine, "local"):
        store, rows = tmp_path / f"store of {engine[:4]}", tmp_path / f"{engine[:4]}.csv"
        one_at_a_time = ("--jobs", 1) if engine == "local" else ()
        answer = babelscope("run", study, "--store", store, "--engine", engine, *one_at_a_time)
        assert answer.status == 0, answer.errors
        assert babelscope("rows", study, "--store", store, "-o", rows).status == 0
        written[engine] = rows.read_bytes()
    assert written["local"] == written[dask.engine] and written["local"].count(b"\n") > 2


def test_few_steps_are_with_the_scheduler_and_their_events_come_back(
    dask: Cluster, store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are ready."""
    at_hand, events, give = [], list[Event](), DaskCrew.give

    def noting(crew: DaskCrew, step: Step, place: int) -> None:
        give(crew, step, place)
        at_hand.append(len(crew._futures))

    monkeypatch.setattr(DaskCrew, "give", noting)
    talkative = Talkative(name="talkative", outside=str(outside))
    steps = [talkative, *(Toy(name=f"s{i}", outside=str(outside)) for i in range(40))]
    assert len(run_on(dask, Plan.of(steps), store, events.append).computed) == 41
    assert max(at_hand) <= AHEAD * 3 and max(runs(outside).values()) == 1
    assert all(store.rows(step.key)[0].value == value(step) for step in steps)
    told = [event for event in events if event.key == talkative.key]
    assert told[0] == Started(talkative.key) and told[-2] == Progressed(talkative.key, 1000, 1000, {"loss": 0.001})


def test_a_step_that_needs_a_gpu_goes_where_there_is_one(dask: Cluster, store: Store, outside: Path) -> None:
    steps = [Demanding(name=f"s{i}", outside=str(outside)) for i in range(3)]
    assert not run_on(dask, Plan.of(steps), store).failed
    assert [line for line in journal(outside) if line.startswith("on")] == ["on gpu"] * 3


def worker_of(child: int) -> int:
    return psutil.Process(child).ppid()


def test_a_killed_workers_step_goes_on_elsewhere(
    dask: Cluster, store: Store, outside: Path, gate: Gate, tmp_path: Path
) -> None:
    """While another worker joins."""
    plan = gated_plan(str(outside))
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_on, dask, plan, store)
        dask.end(worker_of(gate.wait()), signal.SIGKILL)
        outcome = run.result(SOON)
    assert not outcome.failed and {*outcome.computed} == {*plan.steps}
    assert runs(outside) == {"first": 1, "gated": 3, "last": 1, "beside": 1}  # begun, begun again, "resumed"
    calm = tmp_path / "calm"
    calm.mkdir()
    Gate(calm).open()
    reference = Store(tmp_path / "reference")
    run_plan(gated_plan(str(calm)), reference, jobs=1)
    assert {key: store.rows(key) for key in plan.steps} == {key: reference.rows(key) for key in plan.steps}


def test_a_worker_that_is_told_to_end_saves_where_its_step_is(
    dask: Cluster, store: Store, outside: Path, gate: Gate
) -> None:
    """As when a job is pre-empted."""
    step = Steady(name="steady", outside=str(outside))
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_on, dask, Plan.of([step]), store)
        dask.end(worker_of(gate.wait()), signal.SIGTERM)
        assert run.result(SOON).computed == (step.key,)
    assert [line.split()[1] for line in journal(outside)[1::2]] == ["saved", "resumed"]


def test_a_dead_child_is_a_lost_step_and_not_a_lost_worker(
    dask: Cluster, store: Store, outside: Path, gate: Gate
) -> None:
    step, events = Steady(name="steady", outside=str(outside)), list[Event]()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_on, dask, Plan.of([step]), store, events.append)
        os.kill(gate.wait(), signal.SIGTERM)
        assert run.result(SOON).computed == (step.key,)
    (lost,) = [event for event in events if isinstance(event, Lost)]
    assert lost.message.startswith("the step's process was told to end, on tcp://127.0.0.1:")


def test_a_killed_client_loses_nothing(dask: Cluster, store: Store, outside: Path, gate: Gate) -> None:
    """What ran goes on, and the next client does not compute it again."""
    code = "import sys, toy_runs; toy_runs.run_gated(*sys.argv[1:])"
    command = [sys.executable, "-c", code, str(outside), str(store.folder), dask.engine]
    with subprocess.Popen(command, env=ENVIRONMENT) as client:
        gate.wait()
        client.kill()
    plan = gated_plan(str(outside))
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_on, dask, plan, store)
        while runs(outside)["beside"] == 0:  # the second client's, or what the first had submitted
            time.sleep(0.05)
        gate.open()
        outcome = run.result(SOON)
    assert not outcome.failed and all(store.has(key) for key in plan.steps)
    assert runs(outside) == {"first": 1, "gated": 1, "last": 1, "beside": 1}


def test_other_versions_are_an_error_with_both(
    dask: Cluster, store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "installed", lambda: {**installed(), "torch": "1.0", "jobs": "3"})
    with pytest.raises(InputError, match=r"jobs None there, 3 here; torch 2\S+ there, 1\.0 here: install"):
        run_on(dask, Plan.of([Toy(name="step", outside=str(outside))]), store)
    assert runs(outside) == {}


def test_what_workers_do_not_see_is_said_before_anything_is_computed(
    dask: Cluster, store: Store, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files may be named from the folder that the run is begun in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mt.tsv").touch()
    plan = Plan.of([Toy(name="step", outside=str(outside))])

    def run(*paths: str) -> Outcome:
        return run_plan(plan, store, crew=DaskCrew(store, dask.engine, paths=paths))

    with pytest.raises(InputError, match=r"the worker tcp://\S+ sees no it.tsv \(in .*\): files .* copy them there"):
        run("mt.tsv", "it.tsv")
    assert runs(outside) == {} and len(run("mt.tsv", str(tmp_path / "mt.tsv")).computed) == 1


def test_a_worker_that_joins_late_and_does_not_see_the_store_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Here:
        address = "tcp://there"

    monkeypatch.setattr("distributed.get_worker", Here)
    origin = Origin(str(tmp_path / "nowhere"), str(tmp_path), (), installed())
    with pytest.raises(InputError, match=r"the worker tcp://there sees no store in .*nowhere"):
        perform(Errand("ab", b"", None, origin))


@pytest.mark.parametrize("engine", ["tcp://127.0.0.1:9", "dask:nowhere.json"])
def test_where_no_scheduler_is_a_run_says_how_to_start_one(
    store: Store, outside: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECTING", 0.5)
    with pytest.raises(InputError, match=r"no scheduler there .*: start one with dask scheduler"):
        run_plan(Plan.of([Toy(name="step", outside=str(outside))]), store, crew=DaskCrew(store, engine))


@pytest.mark.parametrize("content", ["no JSON", "[]", '{"address": 3}'])
def test_a_file_that_no_scheduler_wrote_is_refused(
    tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECTING", 0.5)  # within which one may still be written
    (tmp_path / "scheduler.json").write_text(content)
    with pytest.raises(InputError, match=r"no scheduler there \((not JSON|the file is not what a scheduler writes)"):
        cluster._connect(f"dask:{tmp_path}/scheduler.json")


def test_the_script_for_slurm_runs_as_it_stands(tmp_path: Path, outside: Path, store: Store) -> None:
    """Its time is up while a long step runs; every task saves where it is, queues again, and goes on."""
    commands = tmp_path / "commands"
    commands.mkdir()
    slurm.install(commands)
    own = {"PATH": f"{commands}:{os.environ['PATH']}", "SLURM_ARRAY": "0-1", "SLURM_UNTIL": str(outside / "started")}
    answer = subprocess.run(
        ["sbatch", str(SCRIPT), str(outside), str(store.folder)],
        cwd=tmp_path, env={**ENVIRONMENT, **own}, capture_output=True, text=True, timeout=4 * SOON,
    )  # fmt: skip
    log = (tmp_path / "task-0.log").read_text()
    assert sorted(answer.stdout.splitlines()) == [f"task {task}: 2 runs, status 0" for task in (0, 1)], log
    assert [line.split()[1] for line in journal(outside) if line.startswith("steady")][1::2] == ["saved", "resumed"]
    assert runs(outside)["first"] == runs(outside)["last"] == 1
    for step in steady_plan(str(outside)).steps.values():
        assert isinstance(step, Toy) and store.rows(step.key)[0].value == value(step)
