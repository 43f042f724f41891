"""Places for objects: put where there is none, listed, refused in words."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from babelscope.core.errors import InputError, StoreError
from babelscope.engine.sharing.addresses import objects_at
from babelscope.engine.sharing.objects import Objects
from babelscope.engine.sharing.places import store_at


def test_objects_are_put_where_there_are_none_or_in_place_of_others(address: str, tmp_path: Path) -> None:
    objects = objects_at(address)
    assert (objects.read("a/b"), objects.has("a/b"), objects.names("a"), objects.names("")) == (None, False, [], [])
    assert objects.create("a/b", b"one") and not objects.create("a/b", b"two")
    assert objects.create("a/b", b"one")  # a request that is repeated, since its answer was lost
    objects.write("a/c/d", b"three")
    assert (objects.read("a/b"), objects.has("a/b"), objects.has("a/c")) == (b"one", True, False)
    assert objects.names("a") == ["b", "c"] and "a" in objects.names("")
    (tmp_path / "file").write_bytes(b"four")
    objects.write("a/b", tmp_path / "file")
    assert objects.fetch("a/b", tmp_path / "copy") and (tmp_path / "copy").read_bytes() == b"four"
    assert not objects.fetch("a/e", tmp_path / "none")
    for name in ("a/b", "a/b", "a/c/d"):
        objects.remove(name)
    assert objects.names("a") == []


@pytest.mark.parametrize("address", ["bucket"], indirect=True)
def test_what_cannot_be_put_is_an_error(address: str, tmp_path: Path) -> None:
    """It is neither done nor somebody else's doing that the bucket, or the file, is gone."""
    objects = objects_at("s3://gone/lab")
    for put in (lambda: objects.write("a", b"one"), lambda: objects.create("a", b"one")):
        with pytest.raises(StoreError, match=r"s3://gone/lab: .*see that the bucket is there"):
            put()
    with pytest.raises(StoreError, match="No such file"):
        objects_at(address).write("a", tmp_path / "nowhere")


@pytest.mark.parametrize("address", ["bucket"], indirect=True)
@pytest.mark.parametrize(("seconds", "times"), [(1.0, 5), (400.0, 1)])
def test_a_request_that_fails_is_not_repeated_for_ever(
    address: str, seconds: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that has repeated it for so long already is not asked again."""
    import obstore

    from babelscope.engine.sharing import bucket

    now, asked = [0.0], list[str]()

    def fail(store: object, name: str) -> None:
        asked.append(name)
        now[0] += seconds
        raise obstore.exceptions.GenericError("no network")

    monkeypatch.setattr(bucket, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda pause: None))
    monkeypatch.setattr(obstore, "head", fail)
    with pytest.raises(StoreError, match="no network"):
        objects_at(address).has("a")
    assert asked == ["a"] * times


def test_of_many_who_put_at_once_one_is_first(address: str) -> None:
    objects = objects_at(address)
    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            first = list(pool.map(lambda who, name=f"race/{number}": objects.create(name, b"%d" % who), range(8)))
            assert first.count(True) == 1 and objects.read(f"race/{number}") == b"%d" % first.index(True)


def test_settings_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BABELSCOPE_CACHE_LIMIT", "BABELSCOPE_LAPSE"):
        for given in ("much", "inf", "nan", "-1", "0"):
            with monkeypatch.context() as changed:
                changed.setenv("BABELSCOPE_CACHE", str(tmp_path))
                changed.setenv(name, given)
                with pytest.raises(InputError, match=f"{name}={given}: give a number"):
                    store_at(f"file://{tmp_path / 'shared'}")


def test_a_folder_has_one_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is written, so that no two stores have one folder here, nor one store two."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    usual = store_at(f"file://{tmp_path / 'shared'}")
    monkeypatch.chdir(tmp_path)
    for address in (f"file://{tmp_path}/shared/", "file://shared"):
        assert (store_at(address).address, store_at(address).folder) == (usual.address, usual.folder)


def test_without_obstore_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    monkeypatch.delitem(__import__("sys").modules, "babelscope.engine.sharing.bucket", raising=False)
    with pytest.raises(StoreError, match=r"pip install 'babelscope\[s3\]'"):
        objects_at("s3://results")


def test_an_upload_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk."""
    folder = tmp_path / "shared"
    objects = objects_at(f"file://{folder}")

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("babelscope.engine.sharing.folder.sync", full)
    for put in (lambda: objects.write("a", b"one"), lambda: objects.create("a", b"one")):
        with pytest.raises(StoreError, match="the disk is full"):
            put()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_what_a_file_system_hides_is_no_object(tmp_path: Path) -> None:
    objects = objects_at(f"file://{tmp_path}")
    objects.write("results/ab/one", b"1")
    (tmp_path / "results" / "ab" / ".nfs0001").touch()
    assert objects.names("results/ab") == ["one"] and objects.names("") == ["results"]


def test_a_file_system_without_hard_links_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with pytest.raises(StoreError, match=r"has no hard links, .*: give --store a folder on another one"):
        objects_at(f"file://{tmp_path}").create("a", b"one")


def test_what_cannot_be_looked_at_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that there is nothing."""
    objects = objects_at(f"file://{tmp_path}")

    def refuse(path: Path, **how: object) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(StoreError, match="Stale file handle"):
        objects.has("a")


def test_objects_say_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    objects: Objects = objects_at(f"file://{tmp_path / 'file'}")
    with pytest.raises(StoreError, match="file"):
        objects.write("a", b"")
