"""Real processes that share a store without locks: they die, sleep, race, and meet a server that fails."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

import pytest

import bucket_server
import machines
from babelscope.engine.sharing.objects import objects_at
from toy_steps import journal, wide_plan


@pytest.mark.parametrize("seed", [0, 3])
def test_machines_die_and_sleep(seed: int, tmp_path: Path) -> None:
    """Short of `python tests/machines.py 20`."""
    machines.disturbed(seed, tmp_path, f"file://{tmp_path / 'shared'}")


def race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, probability: float, closed: float) -> int:
    """Two runners on a bucket behind a faulty way, closed for some seconds; gives how many faults there were."""
    with bucket_server.bucket() as port, bucket_server.FaultyWay(port, 1, probability) as way:
        for name, setting in bucket_server.environment(port).items():
            monkeypatch.setenv(name, setting)
        (tmp_path / "outside").mkdir()
        watch = machines.Watch(objects_at(bucket_server.ADDRESS))
        faulty = {**bucket_server.environment(way.port), "BABELSCOPE_LAPSE": "60"}
        runners = [
            machines.start(name, tmp_path, bucket_server.ADDRESS, width, **faulty) for name in ("first", "second")
        ]
        with watch.looking():
            while not journal(tmp_path / "outside"):
                assert all(runner.poll() is None for runner in runners)
                time.sleep(0.1)
            way.close()
            time.sleep(closed)
            way.open()
            for runner in runners:
                output, _ = runner.communicate(timeout=machines.SOON * 5)
                assert runner.returncode == 0, output
        assert not watch.wrong, watch.wrong[:5]
        begun = machines.check(bucket_server.ADDRESS, tmp_path, width)
        assert set(begun.values()) == {1} and len(begun) == len(wide_plan("", width).steps)
        print(f"faults: {dict(way.faults)}, requests: {dict(way.requests)}, looks: {watch.looks}")
        return way.faults.total()


@pytest.mark.skipif(not (find_spec("moto") and find_spec("obstore")), reason="needs obstore, and moto with its server")
def test_two_runners_race_on_a_bucket_whose_server_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step is computed twice, no object is there in part, and the rows are right."""
    assert race(tmp_path, monkeypatch, 2, 0.15, 1.0) > 5
