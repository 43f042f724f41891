"""Processes that share a store without locks, as machines do; some die or sleep, and the server of a bucket fails.

`python tests/machines.py schedules 20` and `python tests/machines.py bucket 500` (faults) are the long forms.
What is published is looked at all the time: nothing of it may change, nor be there in part.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from unittest.mock import patch

from babelscope.core.row import Row
from babelscope.engine.run import run_plan
from babelscope.engine.sharing.addresses import objects_at
from babelscope.engine.sharing.cache import Cache
from babelscope.engine.sharing.objects import BUCKET, Objects
from babelscope.engine.sharing.places import store_at
from babelscope.engine.sharing.remote import RemoteStore
from bucket_server import ADDRESS, FaultyWay, bucket, environment
from toy_runs import wide_plan
from toy_steps import Toy, journal, value

LAPSE, SOON = 1.5, 120
WIDTH = 3


def run_wide(outside: str, store: str, width: int) -> None:
    """`store` is an address. A bucket's server must answer within 3 seconds."""
    if store.startswith(BUCKET):
        from babelscope.engine.sharing import bucket

        bucket.ANSWER = timedelta(seconds=3)
    run_plan(wide_plan(outside, width), store_at(store), jobs=1)


def start(name: str, folder: Path, address: str, width: int = WIDTH, **settings: str) -> subprocess.Popen[str]:
    """A machine that runs the wide plan, in a process group of its own."""
    program = f"import machines; machines.run_wide({str(folder / 'outside')!r}, {address!r}, {width})"
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    own = {"BABELSCOPE_CACHE": str(folder / name), "BABELSCOPE_LAPSE": str(LAPSE), "PYTHONPATH": paths}
    return subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, **own, **settings}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


class Watch:
    """Looks at all objects again and again."""

    def __init__(self, objects: Objects):
        self._objects, self._seen, self.wrong = objects, dict[str, bytes](), list[str]()
        self.looks = 0

    @contextmanager
    def looking(self) -> Iterator[None]:
        done = threading.Event()

        def look_on() -> None:
            while not done.wait(0.05):
                self.look()

        thread = threading.Thread(target=look_on)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.look()

    def look(self) -> None:
        self.looks += 1
        for name in self._inside("results"):
            content = self._objects.read(name)
            assert content is not None
            if self._seen.setdefault(name, content) != content:
                self.wrong.append(f"{name} was published twice")
            manifest = json.loads(content)
            for file in manifest["files"].values():
                digest = file["sha256"]
                held = self._objects.read(f"files/{manifest['key'][:2]}/{manifest['key']}/{digest}")
                if held is None or sha256(held).hexdigest() != digest:
                    self.wrong.append(f"{name}: {digest} is not there, or in part")
        for name in self._inside("files"):
            if sha256(self._objects.read(name) or b"").hexdigest() != name.rpartition("/")[2]:
                self.wrong.append(f"{name} is there in part")

    def _inside(self, folder: str) -> list[str]:
        """All names in a folder, at any depth."""
        names = [f"{folder}/{name}" for name in self._objects.names(folder)]
        depth = {"results": 3, "files": 4}[folder.partition("/")[0]]
        return (
            names if names and names[0].count("/") + 1 == depth else [deep for n in names for deep in self._inside(n)]
        )


def check(address: str, folder: Path, width: int = WIDTH) -> Counter[str]:
    """All steps are published, and right; gives how often each was begun."""
    reader = RemoteStore(address, cache=Cache(folder / "reader" / "store"))
    for key, step in wide_plan(str(folder / "outside"), width).steps.items():
        assert isinstance(step, Toy)
        assert reader.rows(key) == [Row("value", value(step), task=step.name)], step.name
        assert (reader.result(key) / "value").read_text() == repr(value(step))
        reader.check(key)
    return Counter(line.rpartition(" ")[0] for line in journal(folder / "outside"))


def disturbed(seed: int, folder: Path, address: str) -> Counter[str]:
    """One schedule: of three machines two are killed, stopped for a while, or killed and begun again."""
    chance, befell = Random(seed), Counter[str]()
    (folder / "outside").mkdir(parents=True)
    watch = Watch(objects_at(address))
    machines = [start(f"machine {number}", folder, address) for number in range(3)]
    try:
        with watch.looking():
            moments = sorted((chance.uniform(0.5, 8), number) for number in (1, 2, 2))
            began = time.monotonic()
            for moment, number in moments:
                time.sleep(max(0.0, began + moment - time.monotonic()))
                befell[_disturb(machines, number, chance, lambda n: start(f"machine {n}", folder, address))] += 1
            for machine in machines:
                output, _ = machine.communicate(timeout=SOON)
                assert machine.returncode in (0, -signal.SIGKILL), output
    finally:
        for machine in machines:
            with suppress(ProcessLookupError):
                os.killpg(machine.pid, signal.SIGKILL)
    assert not watch.wrong, watch.wrong[:5]
    begun = check(address, folder)
    befell["steps begun again"] += sum(begun.values()) - len(begun)
    return befell


def _disturb(
    machines: list[subprocess.Popen[str]], number: int, chance: Random, again: Callable[[int], subprocess.Popen[str]]
) -> str:
    machine = machines[number]
    if machine.poll() is not None:
        return "was over"
    what = chance.choice(["killed", "killed and begun again", "stopped", "stopped"])
    with suppress(ProcessLookupError):
        if what == "stopped":
            os.killpg(machine.pid, signal.SIGSTOP)
            time.sleep(chance.uniform(0, 3 * LAPSE))
            os.killpg(machine.pid, signal.SIGCONT)
        else:
            os.killpg(machine.pid, signal.SIGKILL)
            machine.wait()
            if what != "killed":
                machines[number] = again(number)
    return what


def race(folder: Path, width: int, probability: float, closed: float) -> Counter[str]:
    """Two runners on a bucket whose server fails, and is gone for some seconds in the middle; gives what failed.

    No step may be begun twice.
    """
    with bucket() as port, FaultyWay(port, 1, probability) as way, patch.dict(os.environ, environment(port)):
        (folder / "outside").mkdir()
        watch = Watch(objects_at(ADDRESS))
        faulty = {**environment(way.port), "BABELSCOPE_LAPSE": "60"}
        runners = [start(name, folder, ADDRESS, width, **faulty) for name in ("first", "second")]
        with watch.looking():
            while not journal(folder / "outside"):
                assert all(runner.poll() is None for runner in runners)
                time.sleep(0.1)
            way.close()
            time.sleep(closed)
            way.open()
            for runner in runners:
                output, _ = runner.communicate(timeout=SOON * 5)
                assert runner.returncode == 0, output
        assert not watch.wrong, watch.wrong[:5]
        begun = check(ADDRESS, folder, width)
        assert set(begun.values()) == {1} and len(begun) == len(wide_plan("", width).steps)
        return way.faults


def schedules(count: int) -> None:
    """Print what befell the machines of so many schedules."""
    befell: Counter[str] = Counter()
    for seed in range(count):
        with tempfile.TemporaryDirectory() as folder:
            befell += disturbed(seed, Path(folder), f"file://{folder}/shared")
        print(seed, dict(befell), flush=True)


def races(count: int) -> None:
    """Print what failed in races, until that was so much."""
    faults: Counter[str] = Counter()
    while faults.total() < count:
        with tempfile.TemporaryDirectory() as folder:
            faults += race(Path(folder), 12, 0.3, 5.0)
        print(faults.total(), dict(faults), flush=True)


if __name__ == "__main__":
    {"schedules": schedules, "bucket": races}[sys.argv[1]](int(sys.argv[2]))
