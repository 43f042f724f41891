"""Steps for tests of the engine. Each appends a line to a journal when it runs, so that runs can be counted."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import ClassVar

from safetensors import SafetensorError

from babelscope.core.errors import InputError, NoMemoryError, OtherRunError
from babelscope.core.row import Row
from babelscope.core.step import Interrupted, Needs, Step, Workspace

SOON = 60
"""Seconds after which a test gives up; none of them waits that long unless something is wrong."""


def note(folder: str, word: str) -> None:
    """Append a line in one write, which the system does not interleave with that of another process."""
    descriptor = os.open(Path(folder, "journal"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{word}\n".encode())
    os.close(descriptor)


class Toy(Step):
    """Its value is a sum over its inputs' values. `outside` is a folder that steps and tests both see."""

    unkeyed: ClassVar[frozenset[str]] = frozenset({"outside"})

    name: str
    outside: str
    left: Step | None = None
    right: Step | None = None

    def value(self, workspace: Workspace) -> float:
        total = len(self.name) / 3
        for step in self.inputs:
            total += float(Path(workspace.result(step), "value").read_text()) / 7
        return total

    def execute(self, workspace: Workspace) -> None:
        note(self.outside, f"{self.name} {os.getpid()}")
        self.act(workspace)
        value = self.value(workspace)
        Path(workspace.folder, "value").write_text(repr(value))
        workspace.write_rows([Row("value", value, task=self.name)])

    def act(self, workspace: Workspace) -> None:
        """What a kind of toy does besides."""


class Talkative(Toy):
    def act(self, workspace: Workspace) -> None:
        print("hello from", self.name)
        for done in range(1, 1001):
            workspace.progress(done, 1000, loss=1 / done)


class Heavy(Toy):
    """Its value can be dropped; where there is a file that says so, it is computed with other bits."""

    droppable: ClassVar[tuple[str, ...]] = ("value",)

    def execute(self, workspace: Workspace) -> None:
        super().execute(workspace)
        if Path(self.outside, "elsewhere").exists():
            Path(workspace.folder, "value").write_text(repr(self.value(workspace) + 1e-9))


class Environed(Toy):
    def act(self, workspace: Workspace) -> None:
        print(os.environ.get("CUBLAS_WORKSPACE_CONFIG"), os.environ.get("OMP_WAIT_POLICY"))


class Refused(Toy):
    def act(self, workspace: Workspace) -> None:
        raise InputError(f"{self.name}.conllu:3: nine columns instead of ten")


class Crowded(Toy):
    """Finds no memory on an accelerator while there is a file that says so, or always."""

    always: bool = False

    def act(self, workspace: Workspace) -> None:
        if self.always or Path(self.outside, "crowd").exists():
            raise NoMemoryError("a batch does not fit into the memory of the cuda device: declare micro_tokens: 256")


class OutOfMemoryError(RuntimeError):
    """Is called as torch's is."""


class Overcrowded(Crowded):
    """What torch says where nothing of ours was waiting for it."""

    def act(self, workspace: Workspace) -> None:
        try:
            super().act(workspace)
        except NoMemoryError:
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB") from None


class Seeing(Toy):
    """Says which devices it sees, of a processor."""

    def act(self, workspace: Workspace) -> None:
        print(repr(os.environ.get("CUDA_VISIBLE_DEVICES")))


class OnGpu(Toy):
    """Says which devices it sees."""

    gibibytes: int = 0

    @property
    def needs(self) -> Needs:
        return Needs.on("cuda", 1, self.gibibytes << 30)

    def act(self, workspace: Workspace) -> None:
        print(os.environ.get("CUDA_VISIBLE_DEVICES"))


class Faulty(Toy):
    def act(self, workspace: Workspace) -> None:
        raise ZeroDivisionError("seven by naught")


class Killed(Toy):
    """Dies as a process does that the system kills for its memory."""

    def act(self, workspace: Workspace) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Leaving(Toy):
    def act(self, workspace: Workspace) -> None:
        sys.exit(7)


class Filling(Toy):
    """Finds the disk full while there is a file that says so, and says it as `library` does."""

    library: str = "system"

    def act(self, workspace: Workspace) -> None:
        Path(workspace.folder, "mark").touch()
        if not Path(self.outside, "full").exists():
            return
        if self.library == "safetensors":
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        try:
            raise OSError(errno.EDQUOT if self.library == "quota" else errno.ENOSPC, "No space left on device")
        except OSError as error:
            if self.library == "wrapped":
                raise RuntimeError("the model could not be saved") from error
            raise


class Resuming(Toy):
    """Goes on from rows that it finds; refuses a mark that another run has left."""

    def act(self, workspace: Workspace) -> None:
        if Path(workspace.folder, "mark").exists():
            raise OtherRunError(f"{workspace.folder / 'mark'}: of another run")
        workspace.progress(1, 1)
        note(self.outside, f"rows {len(workspace.rows_so_far())}")


class Unlucky(Toy):
    """Dies in its first attempts."""

    times: int = 1

    def act(self, workspace: Workspace) -> None:
        before = runs(Path(self.outside))[self.name] - 1
        if before < self.times:
            os.kill(os.getpid(), signal.SIGKILL)


class Steady(Toy):
    """Reports progress until it is to end, and saves that it was; the second attempt finds its mark."""

    def act(self, workspace: Workspace) -> None:
        mark = Path(workspace.folder, "mark")
        if mark.exists():
            note(self.outside, f"{self.name} resumed")
            return
        workspace.progress(1, 10**6)
        Path(self.outside, "started").write_text(f"{os.getpid()}\n")
        try:
            for done in range(2, 10**6):
                time.sleep(0.01)
                workspace.progress(done, 10**6)
        except Interrupted:
            mark.touch()
            note(self.outside, f"{self.name} saved")
            raise


class Slow(Toy):
    """Takes a second, and reports that it goes on."""

    def act(self, workspace: Workspace) -> None:
        for done in range(10):
            time.sleep(0.1)
            workspace.progress(done, 10)


class Busy(Step):
    """Takes so many seconds of a processor, and leaves no trace outside."""

    name: str
    seconds: float = 0.0

    def execute(self, workspace: Workspace) -> None:
        began = time.process_time()
        while time.process_time() - began < self.seconds:
            sum(range(10_000))
        workspace.write_rows([Row("seconds", self.seconds, task=self.name)])


class Demanding(Toy):
    """Needs a GPU, and says on which machine it runs, as far as its environment tells."""

    @property
    def needs(self) -> Needs:
        return Needs(gpus=1)

    def act(self, workspace: Workspace) -> None:
        note(self.outside, f"on {os.environ.get('TOY_MACHINE')}")


class Gated(Toy):
    """Says in one pipe that it runs, and goes on when the other lets it; a second attempt finds its mark."""

    def act(self, workspace: Workspace) -> None:
        mark = Path(workspace.folder, "mark")
        if mark.exists():
            note(self.outside, f"{self.name} resumed")
            return
        mark.touch()
        print("a warning, say", flush=True)
        Path(self.outside, "started").write_text(f"{os.getpid()}\n")
        with Path(self.outside, "gate").open() as gate:
            gate.readline()


def journal(outside: Path) -> list[str]:
    path = outside / "journal"
    return path.read_text().splitlines() if path.exists() else []


def runs(outside: Path) -> Counter[str]:
    return Counter(line.split()[0] for line in journal(outside))


def value(step: Toy) -> float:
    """What the step's one row should say, computed here and now."""
    total = len(step.name) / 3
    for needed in step.inputs:
        assert isinstance(needed, Toy)
        total += value(needed) / 7
    return total


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


class Gate:
    """The test's side of `Gated` steps: hear that one runs, and let it go on."""

    def __init__(self, outside: Path):
        for name in ("started", "gate"):
            os.mkfifo(outside / name)
        # Opened for both directions, a FIFO neither blocks nor closes when the other side does.
        self.started = os.open(outside / "started", os.O_RDWR | os.O_NONBLOCK)
        self.gate = os.open(outside / "gate", os.O_RDWR | os.O_NONBLOCK)

    def wait(self) -> int:
        """The process of the step that has started."""
        assert select.select([self.started], [], [], SOON)[0], "the gated step did not start"
        return int(os.read(self.started, 100))

    def open(self) -> None:
        os.write(self.gate, b"go\n")
