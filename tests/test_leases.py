"""Claims where locks do not reach: whatever dies, sleeps or has another time, each result is published once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from babelscope.core.errors import StoreError
from babelscope.core.row import Row
from babelscope.engine.sharing.cache import Cache
from babelscope.engine.sharing.leases import LAPSE, SHARE, Lease, Leases
from babelscope.engine.sharing.remote import RemoteStore
from simulated_machines import Machine, Memory, SeenFrom, World, ended

STEPS = [digit * 64 for digit in "abc"]
WORK = 6
"""Turns that a step's computing takes, between which its holder gives signs of life."""


@contextmanager
def released(lease: Lease, seconds: float) -> Iterator[None]:
    """In place of `beating`, which has a thread of its own."""
    try:
        yield
    finally:
        lease.release()


class Runner:
    """What a machine does: it computes what is not published and claimed by nobody alive."""

    def __init__(self, name: str, memory: Memory, folder: Path, attempts: Counter[str]):
        self._name, self._memory, self._folder, self._attempts = name, memory, folder, attempts

    def __call__(self, machine: Machine) -> None:
        objects = SeenFrom(self._memory, machine.wait)
        store = RemoteStore("memory://", objects, Cache(self._folder / self._name / "store"))
        store._leases = Leases(objects, self._name, machine.clock)
        store.make_folders()
        while missing := [key for key in STEPS if not store.has(key)]:
            for key in missing:
                with store.claim(key) as mine:
                    if mine and not store.has(key):
                        self._compute(key, store, machine)

    def _compute(self, key: str, store: RemoteStore, machine: Machine) -> None:
        """Rows and files of every attempt differ, so that a mixture would be seen."""
        self._attempts[key] += 1
        number, last = self._attempts[key], machine.clock()
        for part in range(WORK):
            machine.wait()
            if machine.clock() - last >= LAPSE / SHARE:
                store._held[key].beat()
                last = machine.clock()
            if not store.may_go_on(key):
                return
            (store.draft(key) / f"part {part}").write_text(f"{self._name} {number}")
        store.write_rows(key, [Row("attempt", number, encoder=self._name)])
        store.publish(key, {"step": "Toy", "seconds": 1.0})


def simulate(seed: int, folder: Path) -> tuple[Memory, Counter[str], World]:
    memory, attempts = Memory(), Counter[str]()
    RemoteStore("memory://", SeenFrom(memory, lambda: None), Cache(folder / "first")).prepare()
    with ended(World(seed)) as world:
        for number in range(3):
            world.add(Runner(f"machine {number}", memory, folder, attempts))
        for turns in range(20_000):
            if all(machine.is_done for machine in world.machines):
                return memory, attempts, world
            calm = turns > 400
            living = sum(not machine.is_done for machine in world.machines)
            world.turn(pauses=0 if calm else 0.03, deaths=0.01 if living > 1 and not calm else 0, jumps=0.01)
    raise AssertionError("no end")


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_of_200_schedules_none_loses_a_step_or_publishes_another_result(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines die, sleep longer than a claim lasts, and have clocks that jump; one at least lives on."""
    monkeypatch.setattr(Lease, "beating", released)
    befell: Counter[str] = Counter()
    for seed in range(first, first + 25):
        memory, attempts, world = simulate(seed, tmp_path / str(seed))
        assert [machine.error for machine in world.machines if machine.error] == []
        published = Counter(name for name, _ in memory.created if name.startswith("results/"))
        assert published == Counter({f"results/{key[:2]}/{key}": 1 for key in STEPS})
        reader = RemoteStore("memory://", SeenFrom(memory, lambda: None), Cache(tmp_path / f"reader {seed}"))
        for key in STEPS:
            (row,) = reader.rows(key)
            parts = {(reader.result(key) / f"part {part}").read_text() for part in range(WORK)}
            assert parts == {f"{row.encoder} {row.value:.0f}"}
        befell["computed again"] += sum(attempts.values()) - len(STEPS)
        befell["died"] += sum(machine.is_dead for machine in world.machines)
    assert befell["computed again"] and befell["died"], befell  # so that schedules are of the kind that is meant


def test_a_holder_that_lives_keeps_its_claim() -> None:
    memory, now = Memory(), [0.0]
    objects = SeenFrom(memory, lambda: None)
    first, second = (Leases(objects, name, lambda: now[0]) for name in ("a", "b"))
    lease = first.take("key")
    assert lease
    for _ in range(20):
        assert second.take("key") is None and second.is_held("key")
        now[0] += LAPSE / 2
        lease.beat()
    assert not lease.is_lost


def test_a_dead_holders_claim_is_taken_over_once_and_the_late_one_is_told() -> None:
    memory, now = Memory(), [0.0]
    objects = SeenFrom(memory, lambda: None)
    first, *others = (Leases(objects, name, lambda: now[0]) for name in ("a", "b", "c"))
    late = first.take("key")
    assert late and [each.take("key") for each in others] == [None, None]
    now[0] += LAPSE
    taken = [each.take("key") for each in others]
    assert [bool(lease) for lease in taken] == [True, False]
    late.beat()
    assert late.is_lost
    late.release()
    assert others[1].is_held("key")
    taken[0].release()
    assert not others[1].is_held("key") and memory.contents == {}


@pytest.mark.parametrize("content", [b"{}", b"[" * 100_000, b"[]", b"\xff"])
@pytest.mark.parametrize("name", ["999999999", "9" * 30, "²", "٣", "-1", "notes"])
def test_claims_that_nobody_wrote_so_keep_nobody_waiting_longer_than_others(name: str, content: bytes) -> None:
    memory, now = Memory(), [0.0]
    objects = SeenFrom(memory, lambda: None)
    assert objects.create(f"claims/key/{name}", content)
    leases = Leases(objects, "a", lambda: now[0])
    if name.isascii() and name.isdecimal():
        assert leases.take("key") is None
        now[0] += LAPSE
    lease = leases.take("key")
    assert lease and leases.take("other key") is not None
    lease.release()
    assert not leases.is_held("key")


def test_what_dies_on_a_machine_is_taken_over_there_at_once() -> None:
    """Whoever asks holds the lock of the system, so that the holder's process cannot be there any more."""
    objects = SeenFrom(Memory(), lambda: None)
    assert Leases(objects, "here").take("key")
    assert Leases(objects, "elsewhere").take("key") is None
    again = Leases(objects, "here").take("key")
    assert again
    again.beat()
    assert not again.is_lost


def test_a_sign_of_life_that_fails_is_followed_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    beats, done = list[int](), threading.Event()

    def beat(lease: Lease) -> None:
        beats.append(1)
        if len(beats) > 2:
            done.set()
        raise StoreError("no network")

    monkeypatch.setattr(Lease, "beat", beat)
    lease = Leases(SeenFrom(Memory(), lambda: None), "here").take("key")
    assert lease
    with lease.beating(0.001):
        assert done.wait(20)
