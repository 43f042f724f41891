"""Machines that share a store, simulated: any of them may stop between two requests, for a while or for ever.

Each is a thread that waits for its turn before every request, so that a schedule is turns that are drawn at random.
Their clocks are their own: they may differ, and jump.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random

from babelscope.engine.sharing.objects import Objects


class Death(BaseException):
    """Of a machine."""


class Memory:
    """What all machines see."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.created: list[tuple[str, bytes]] = []
        """Names that were put where there was nothing, and what, in order."""


class SeenFrom(Objects):
    """The memory, as one machine sees it: before each request `wait` is called."""

    def __init__(self, memory: Memory, wait: Callable[[], None]):
        super().__init__("memory://")
        self._memory, self._wait = memory, wait

    def read(self, name: str) -> bytes | None:
        self._wait()
        return self._memory.contents.get(name)

    def has(self, name: str) -> bool:
        return self.read(name) is not None

    def names(self, folder: str) -> list[str]:
        self._wait()
        start = f"{folder}/" if folder else ""
        inside = [name.removeprefix(start) for name in self._memory.contents if name.startswith(start)]
        return sorted({name.partition("/")[0] for name in inside})

    def sizes(self) -> dict[str, int]:
        self._wait()
        return {name: len(content) for name, content in self._memory.contents.items()}

    def digest(self, name: str) -> str | None:
        content = self.read(name)
        return None if content is None else sha256(content).hexdigest()

    def write(self, name: str, content: bytes | Path) -> None:
        content = content.read_bytes() if isinstance(content, Path) else content
        self._wait()
        self._memory.contents[name] = content

    def fetch(self, name: str, path: Path) -> bool:
        content = self.read(name)
        if content is not None:
            path.write_bytes(content)
        return content is not None

    def remove(self, name: str) -> None:
        self._wait()
        self._memory.contents.pop(name, None)

    def _create(self, name: str, content: bytes) -> bool:
        self._wait()
        if name in self._memory.contents:
            return False
        self._memory.contents[name] = content
        self._memory.created.append((name, content))
        return True


class Machine:
    """A thread that does something by turns."""

    def __init__(self, work: Callable[[Machine], None]):
        self.time, self.asleep_until, self.is_dead, self.is_done = 0.0, 0.0, False, False
        self.error: BaseException | None = None
        self._turn, self._over = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=[work], daemon=True)
        self._thread.start()

    def clock(self) -> float:
        """Its own."""
        return self.time

    def wait(self) -> None:
        """Let others go on until it is this one's turn again. Raises Death if there will be none."""
        self._over.release()
        self._turn.acquire()
        if self.is_dead:
            raise Death

    def go_on(self) -> None:
        """Give it a turn, up to its next request or its end."""
        self._turn.release()
        self._over.acquire()

    def _run(self, work: Callable[[Machine], None]) -> None:
        self._turn.acquire()
        try:
            if not self.is_dead:
                work(self)
        except Death:
            pass
        except BaseException as error:
            self.error = error
        self.is_done = True
        self._over.release()


class World:
    """Machines, and the true time: seconds that pass with every turn."""

    def __init__(self, seed: int):
        self.chance, self.now, self.machines = Random(seed), 0.0, list[Machine]()

    def add(self, work: Callable[[Machine], None]) -> None:
        """A machine whose clock begins anywhere."""
        machine = Machine(work)
        machine.time = self.chance.uniform(0, 1e6)
        self.machines.append(machine)

    def turn(self, pauses: float, deaths: float, jumps: float) -> None:
        """One turn of a machine that is awake; probabilities are those of what may befall it before."""
        awake = [machine for machine in self.machines if not machine.is_done and machine.asleep_until <= self.now]
        self.pass_time(self.chance.expovariate(1 / 2))
        if not awake:
            return
        machine = self.chance.choice(awake)
        if self.chance.random() < deaths:
            machine.is_dead = True
        elif self.chance.random() < pauses:
            machine.asleep_until = self.now + self.chance.choice([5, 30, 90, 400])
            return
        elif self.chance.random() < jumps:
            machine.time += self.chance.choice([-3600, -50, 50, 3600])
        machine.go_on()

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for machine in self.machines:
            machine.time += seconds


@contextmanager
def ended(world: World) -> Iterator[World]:
    """Its threads end with it."""
    try:
        yield world
    finally:
        for machine in world.machines:
            machine.is_dead = True
            while not machine.is_done:
                machine.go_on()
