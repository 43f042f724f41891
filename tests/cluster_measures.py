"""What a cluster costs and brings, measured on this machine. Run by `make cluster`, or one of them:

    python tests/cluster_measures.py study        # two studies from nothing while workers and the client are killed
    python tests/cluster_measures.py workers      # two workers against one, on steps of 2 seconds
    python tests/cluster_measures.py overhead     # what a step costs beyond the local engine
    python tests/cluster_measures.py window       # memory for a plan of 100,000 steps, and what the scheduler has of it
    python tests/cluster_measures.py network      # a worker in another network namespace

`--tiny` makes each as small as it can be, to see that it works.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from distributed import Client

from babelscope.core.step import Step
from babelscope.engine.cluster import DaskCrew
from babelscope.engine.cluster_worker import TOPIC
from babelscope.engine.environment import this_environment
from babelscope.engine.events import Event, Finished
from babelscope.engine.local import LocalCrew
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from dask_cluster import ENVIRONMENT, Cluster, cluster, kill
from toy_steps import Busy

SPACES, HOSTS = ("babelscope-near", "babelscope-far"), ("10.213.77.1", "10.213.77.2")
KILLS = 6
SOON = 120


def busy(count: int, seconds: float = 0.0, name: str = "") -> list[Step]:
    return [Busy(name=f"{name} {number}", seconds=seconds) for number in range(count)]


def study(folder: Path, tiny: bool) -> None:
    """The rows of a local run and of a cluster's must be equal; what was begun again must have been killed."""
    for name in ("first-look",) if tiny else ("first-look", "underspecified"):
        changes = ("--with", "scale=small", *(("--with", "seeds=1") if tiny else ()))
        place = folder / name
        place.mkdir()
        _command("run", name, *changes, "--store", str(place / "local"))
        told, kills = _disturbed(name, changes, place, 1 if tiny else KILLS)
        written = [_rows(name, changes, place / store) for store in ("local", "cluster")]
        assert written[0] == written[1], f"{name}: other rows"
        begun = Counter(key for _, key, event in told if event == "Started")
        again = sum(begun.values()) - len(begun)
        print(
            f"{name}: {len(written[0].splitlines()) - 1} rows, the same bytes; "
            f"{len(begun)} steps begun, {again} of them again; {len(kills)} workers and 1 client killed; "
            f"{_needless(told, kills)} begun again while their holder lived",
            flush=True,
        )


def _disturbed(
    name: str, changes: tuple[str, ...], place: Path, times: int
) -> tuple[list[tuple[float, str, str]], list[float]]:
    """Run a study on three workers; kill one again and again, and the client once. Gives events, and times of kills."""
    told, kills, chance = list[tuple[float, str, str]](), list[float](), Random(0)
    with cluster(place, 3) as begun, _listening(begun, told):
        client = partial(_start, "run", name, *changes, "--store", str(place / "cluster"), "--engine", begun.engine)
        run = client()
        for number in range(times + 1):
            _wait(lambda: len(told) >= (number + 1) * (4 if times == 1 else 12) or run.poll() is not None)  # noqa: B023
            if run.poll() is not None:
                break
            if number == times // 2:
                run.kill()
                run.wait()
                run = client()
                continue
            worker = chance.choice([process for process in begun.processes[1:] if process.poll() is None])
            begun.end(worker.pid, signal.SIGKILL)
            kills.append(time.time())
        assert run.wait() == 0, run.stderr and run.stderr.read()
    return told, kills


def _needless(told: list[tuple[float, str, str]], kills: list[float]) -> int:
    """How often a step was begun though no worker was killed since it was begun before."""
    last, needless = dict[str, float](), 0
    for when, key, event in told:
        if event == "Started":
            needless += key in last and not any(last[key] <= kill <= when for kill in kills)
            last[key] = when
    return needless


def workers(folder: Path, tiny: bool) -> None:
    """Steps of 2 seconds on two workers that are warm, against one; the median of five ratios."""
    count, seconds, repeats = (4, 0.2, 1) if tiny else (60, 2.0, 5)
    ratios = []
    for repeat in range(repeats):
        took = [_on_workers(folder / f"{repeat}-{number}", number, count, seconds) for number in (1, 2)]
        ratios.append(took[0] / took[1])
        print(f"{count} steps: {took[0]:.1f} s on one worker, {took[1]:.1f} s on two: {ratios[-1]:.2f}", flush=True)
    print(f"two workers: {median(ratios):.2f} times as fast as one, the median of {repeats} (at least 1.8)")


def _on_workers(folder: Path, number: int, count: int, seconds: float) -> float:
    folder.mkdir()
    store = Store(folder / "store")
    with cluster(folder, number) as begun:
        _wait_for_workers(begun, number)
        run_plan(Plan.of(busy(4 * number, 0.2, "warm")), store, crew=DaskCrew(store, begun.engine))
        began = time.perf_counter()
        run_plan(Plan.of(busy(count, seconds)), store, crew=DaskCrew(store, begun.engine))
        return time.perf_counter() - began


def overhead(folder: Path, tiny: bool) -> None:
    """Steps that do nothing, one at a time: here, and on one worker; from the end of the first, when all is warm."""
    count, took = 50 if tiny else 5000, dict[str, float]()
    with cluster(folder, 1) as begun:
        for name in ("local", "Dask"):
            store, ends = Store(folder / name), list[float]()

            def observe(event: Event, ends: list[float] = ends) -> None:
                ends.extend([time.perf_counter()] if isinstance(event, Finished) else [])

            crew = LocalCrew(store, 1) if name == "local" else DaskCrew(store, begun.engine)
            run_plan(Plan.of(busy(count)), store, observe=observe, crew=crew)
            took[name] = 1e3 * (ends[-1] - ends[0]) / (count - 1)
    more = took["Dask"] - took["local"]
    print(f"{count} steps: {took['local']:.1f} ms a step here, {took['Dask']:.1f} ms on a worker: {more:.1f} ms more")


class Watched(DaskCrew):
    """Keeps how many steps were with the scheduler at once, at most."""

    most = 0

    def give(self, step: Step, place: int) -> None:
        super().give(step, place)
        self.most = max(self.most, len(self._futures))


def window(folder: Path, tiny: bool) -> None:
    """The plan is given up when some hundred of its steps are done."""
    count, enough = (1000, 20) if tiny else (100_000, 500)
    before, plan = _peak(), Plan.of(busy(count))
    planned, store, done = _peak(), Store(folder / "store"), list[str]()

    def observe(event: Event) -> None:
        done.extend([event.key] if isinstance(event, Finished) else [])
        if len(done) >= enough:
            raise KeyboardInterrupt

    with cluster(folder, 2) as begun:
        _wait_for_workers(begun, 2)
        crew = Watched(store, begun.engine)
        with suppress(KeyboardInterrupt):
            run_plan(plan, store, observe=observe, crew=crew)
    print(
        f"{count:,} steps: {planned - before:.0f} MB for the plan, {_peak() - planned:.0f} MB more at most to run it; "
        f"{crew.most} steps with the scheduler of 2 workers at once, at most"
    )


def _peak() -> float:
    """Megabytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def network(folder: Path, tiny: bool) -> None:
    """Scheduler and client on one side, a worker on the other, and a wire between them."""
    try:
        with _wire():
            near, far = (("ip", "netns", "exec", space) for space in SPACES)
            begun = Cluster(folder, HOSTS[0], near)
            try:
                begun.add_worker(host=HOSTS[1], inside=far)
                count = 5 if tiny else 200
                command = [*near, sys.executable, __file__, "client", str(folder / "store"), begun.engine, str(count)]
                answer = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=SOON)
                assert answer.returncode == 0, answer.stderr
                print(f"two network namespaces: {answer.stdout.strip()}")
            finally:
                kill(begun)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or error
        print(f"two network namespaces: not allowed here ({said})")


@contextmanager
def _wire() -> Iterator[None]:
    """Two namespaces with a pair of devices between them."""
    pairs = list(zip(SPACES, HOSTS, ("bs-near", "bs-far"), strict=True))
    try:
        for space in SPACES:
            _ip("netns", "add", space)
        _ip("link", "add", "bs-near", "type", "veth", "peer", "name", "bs-far")
        for space, host, device in pairs:
            _ip("link", "set", device, "netns", space)
            _ip("-n", space, "address", "add", f"{host}/24", "dev", device)
            for name in (device, "lo"):
                _ip("-n", space, "link", "set", name, "up")
        yield
    finally:
        for space in SPACES:
            with suppress(OSError, subprocess.CalledProcessError):
                _ip("netns", "delete", space)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def client(store: str, engine: str, count: str) -> None:
    """What the near side runs."""
    plan = Plan.of(busy(int(count), 0.05))
    began, outcome = time.perf_counter(), run_plan(plan, Store(store), crew=DaskCrew(Store(store), engine))
    assert {*outcome.computed} == {*plan.steps}, outcome
    print(f"{len(outcome.computed)} steps in {time.perf_counter() - began:.1f} s")


@contextmanager
def _listening(begun: Cluster, told: list[tuple[float, str, str]]) -> Iterator[None]:
    """Note when workers say what: time, the step's key, the event's name."""

    def note(event: tuple[float, dict[str, Any]]) -> None:
        when, said = event[0], event[1]["said"]
        if said["event"] != "Progressed":
            told.append((when, said["key"], said["event"]))

    _wait(begun.file.exists)
    with Client(scheduler_file=str(begun.file), set_as_default=False) as listener:
        listener.subscribe_topic(TOPIC, note)
        yield


def _wait_for_workers(begun: Cluster, number: int) -> None:
    _wait(begun.file.exists)
    with Client(scheduler_file=str(begun.file), set_as_default=False) as asking:
        asking.wait_for_workers(number, timeout=SOON)


def _wait(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.05)


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "babelscope", *arguments]
    return subprocess.Popen(command, env=ENVIRONMENT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _command(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "babelscope", *arguments], env=ENVIRONMENT, check=True, capture_output=True)


def _rows(name: str, changes: tuple[str, ...], store: Path) -> bytes:
    written = store.with_suffix(".csv")
    _command("rows", name, *changes, "--store", str(store), "-o", str(written))
    return written.read_bytes()


MEASURES = {measure.__name__: measure for measure in (study, workers, overhead, window, network)}


def main() -> None:
    if sys.argv[1:2] == ["client"]:
        client(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", nargs="*", choices=[[], *MEASURES], help="default: all")
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args()
    here = this_environment()["processor"]
    print(f"{here['model']}, {here['cores']} cores; load {os.getloadavg()[0]:.1f}", flush=True)
    for name in given.measure or MEASURES:
        with tempfile.TemporaryDirectory() as folder:
            MEASURES[name](Path(folder), given.tiny)


if __name__ == "__main__":
    main()
