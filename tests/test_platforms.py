"""What other systems lack or refuse, made up on this one: nothing was run on them."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.engine import disk
from babelscope.engine.child import Child

IMPORTED = "babelscope.face.cli, babelscope.face.job, babelscope.engine.worker, babelscope.engine.sharing.remote"
LACKING = """
import asyncio, filelock, os, pooch, psutil, signal, subprocess, tempfile, multiprocessing.connection
for module, names in {
    signal: ("SIGKILL", "SIGALRM", "SIGHUP", "pthread_sigmask"),
    os: ("O_NOFOLLOW", "sched_getaffinity", "geteuid", "getuid", "killpg", "fork", "mkfifo", "statvfs"),
}.items():
    for name in names:
        delattr(module, name)
"""


@pytest.fixture
def windows(monkeypatch):
    """Folders that cannot be opened, no flushing of what was opened to be read, no moves onto what is there."""
    opens, flushes, renames = os.open, os.fsync, Path.rename

    def open_file(path, flags, *mode, **more):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opens(path, flags, *mode, **more)

    def flush(descriptor):
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flushes(descriptor)

    def rename(path, target):
        if Path(target).exists():
            raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", str(target))
        return renames(path, target)

    monkeypatch.setattr(disk, "WINDOWS", True)
    monkeypatch.setattr(os, "open", open_file)
    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(Path, "rename", rename)
    monkeypatch.delattr(os, "O_NOFOLLOW")


def folder_with(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "file").write_text(text, encoding="utf-8")
    return path


def test_files_are_flushed_where_folders_cannot_be_opened(tmp_path, windows):
    disk.write_json(tmp_path / "value.json", {"a": 1})
    disk.append_text(tmp_path / "journal", "one\n")
    disk.append_text(tmp_path / "journal", "two\n")
    assert (tmp_path / "value.json").read_bytes() == disk.as_json({"a": 1}).encode()
    assert (tmp_path / "journal").read_bytes() == b"one\ntwo\n"


def test_a_folder_is_moved_where_an_empty_one_cannot_be_moved_onto(tmp_path, windows):
    (tmp_path / "target").mkdir()
    disk.move_folder(folder_with(tmp_path / "whole", "whole"), tmp_path / "target")
    assert (tmp_path / "target" / "file").read_text(encoding="utf-8") == "whole"


def test_what_was_published_meanwhile_stays(tmp_path, windows):
    target = folder_with(tmp_path / "target", "first")
    disk.move_folder(folder_with(tmp_path / "whole", "second"), target)
    assert (target / "file").read_text(encoding="utf-8") == "first"


def test_a_claim_ends_where_an_open_file_cannot_be_removed(store, monkeypatch):
    unlink = Path.unlink

    def refuse(path, missing_ok=False):
        if path.suffix == ".lock":
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(path))
        unlink(path, missing_ok)

    store.prepare()
    monkeypatch.setattr(Path, "unlink", refuse)
    for _ in range(2):
        with store.claim("a" * 64) as mine:
            assert mine and store.claimed("a" * 64)
    assert not store.claimed("a" * 64)


def test_a_system_whose_processes_are_started_in_another_way_is_said(store, monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask")
    with pytest.raises(InputError, match="on Windows, run this in WSL"):
        Child(store.address)


def test_what_windows_lacks_is_not_asked_for_at_import():
    subprocess.run([sys.executable, "-c", f"{LACKING}\nimport {IMPORTED}"], check=True)
