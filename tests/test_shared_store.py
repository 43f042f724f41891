"""What lies in a store that the store has not put there: it is not followed, it is repaired, or it is named."""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from babelscope.core.errors import StoreError
from babelscope.engine import disk
from babelscope.engine.events import Finished
from babelscope.engine.run import run_plan
from babelscope.engine.sharing.addresses import objects_at
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from toy_runs import execute
from toy_steps import Resuming, Toy, journal, value


@pytest.fixture(autouse=True)
def _prepared(store: Store) -> None:
    store.prepare()


@pytest.mark.parametrize(
    "place",
    ["logs/KEY.running", "logs/KEY.txt", "claims/KEY.lock", "drafts/KEY/rows.draft", "drafts/KEY/rows.jsonl",
     "drafts/KEY/rows.digest", "drafts/KEY/seconds.json", "drafts/KEY/value", "drafts/KEY/manifest.json"],
)  # fmt: skip
def test_a_link_is_not_followed_in_writing(store: Store, outside: Path, place: str) -> None:
    step = Resuming(name="step", outside=str(outside))
    link, target = store.folder / place.replace("KEY", step.key), outside / "thesis"
    target.write_text("years of work")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    assert isinstance(execute(step, store), Finished)
    assert target.read_text() == "years of work"
    assert store.rows(step.key)[0].value == value(step)
    assert {path.name for path in store.result(step.key).iterdir()} == {"manifest.json", "rows.jsonl", "value"}


def test_a_link_to_a_folder_is_no_draft(store: Store, outside: Path) -> None:
    step = Toy(name="step", outside=str(outside))
    (store.folder / "drafts" / step.key).symlink_to(outside)
    assert isinstance(execute(step, store), Finished)
    assert [path.name for path in outside.iterdir()] == ["journal"]


def test_two_processes_of_one_number_write_a_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of containers have that share a folder: each of them is the first process."""
    mark, sync = tmp_path / "mark", disk.sync

    def overtaken(path: Path) -> None:
        monkeypatch.setattr(disk, "sync", sync)
        disk.replace_text(mark, "theirs")
        sync(path)

    monkeypatch.setattr(disk, "sync", overtaken)
    disk.replace_text(mark, "ours")
    assert mark.read_text() == "ours" and list(tmp_path.glob("mark*")) == [mark]


def test_folders_are_measured_while_others_remove_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders, lstat = [tmp_path / "shared" / name for name in "abc"], Path.lstat
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "file").write_text("12345")

    def overtaken(path: Path) -> os.stat_result:
        if path.name == "file":
            for folder in folders:
                if folder != path.parent:
                    shutil.rmtree(folder, ignore_errors=True)
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", overtaken)
    assert disk.bytes_in(tmp_path / "shared") == 5
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / "file").write_text("12345")
    assert [*objects_at(f"file://{tmp_path / 'shared'}").sizes().values()] == [5]


def a_folder(path: Path) -> None:
    """With something in it, so that it cannot be replaced in passing."""
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    (path / "holiday.jpg").touch()


def a_file(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("holiday")


MISPLACED: dict[str, Callable[[Path], None]] = {
    "results/AB/KEY/manifest.json": a_folder,
    "results/AB/KEY/rows.jsonl": a_folder,
    "results/AB/KEY": a_file,
    "results/AB": a_file,
    "drafts/KEY": a_file,
    "drafts/KEY/rows.jsonl": a_folder,
    "drafts/KEY/rows.draft": a_folder,
    "drafts/KEY/rows.digest": a_folder,
    "drafts/KEY/rows.digest.draft": a_folder,
    "drafts/KEY/seconds.json": a_folder,
    "drafts/KEY/value": a_folder,
    "drafts/KEY/manifest.json": a_folder,
    "claims/KEY.lock": a_folder,
    "logs/KEY.running": a_folder,
    "logs/KEY.txt": a_folder,
}


def test_a_run_repairs_what_is_misplaced(store: Store, outside: Path) -> None:
    """One step for each place, all in one run."""
    steps = [Resuming(name=f"step {place}", outside=str(outside)) for place in MISPLACED]
    assert len({step.key[:2] for step in steps}) == len(steps)  # so that they do not share a folder of results
    run_plan(Plan.of(steps[:2]), store, jobs=1)
    for step, (place, put) in zip(steps, MISPLACED.items(), strict=True):
        put(store.folder / place.replace("KEY", step.key).replace("AB", step.key[:2]))
    outcome = run_plan(Plan.of(steps), store, jobs=1)
    assert not outcome.failed and {*outcome.computed} == {step.key for step in steps}
    for step in steps:
        assert store.result(step.key) and store.rows(step.key)[0].value == value(step)
    assert [*(store.folder / "drafts").iterdir(), *(store.folder / "claims").iterdir()] == []


@pytest.mark.parametrize("name", ["results", "drafts", "claims", "damaged", "logs", "environments"])
def test_a_file_in_place_of_one_of_the_stores_folders_is_named(store: Store, outside: Path, name: str) -> None:
    a_file(store.folder / name)
    with pytest.raises(StoreError, match=f"{name}: the store needs a folder there: move that away"):
        run_plan(Plan.of([Toy(name="step", outside=str(outside))]), store, jobs=1)


def test_a_link_to_nowhere_in_place_of_one_of_the_stores_folders_is_named(store: Store, outside: Path) -> None:
    shutil.rmtree(store.folder / "logs", ignore_errors=True)
    (store.folder / "logs").symlink_to(store.folder / "nowhere")
    with pytest.raises(StoreError, match="logs: the store needs a folder there: move that away"):
        store.make_folders()


def test_a_store_that_another_process_makes_meanwhile_is_no_foreign_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look for the mark and that for what else is there."""
    folder, iterdir = tmp_path / "another", Path.iterdir
    folder.mkdir()

    def made_meanwhile(path: Path) -> Iterator[Path]:
        monkeypatch.setattr(Path, "iterdir", iterdir)
        Store(folder).make_folders()
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", made_meanwhile)
    assert Store(folder).keys() == []


def test_a_folder_in_place_of_the_stores_mark_is_named(store: Store) -> None:
    a_folder(store.folder / "babelscope-store.json")
    with pytest.raises(StoreError, match=r"babelscope-store\.json: unreadable"):
        Store(store.folder)


def test_two_do_not_hold_a_claim_whose_file_is_removed_before_it_is_locked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        store.folder.joinpath("claims", "a.lock").unlink()
        flock(descriptor, operation)

    store.prepare()
    monkeypatch.setattr(fcntl, "flock", late)
    with store.claim("a") as first, Store(store.folder).claim("a") as second:
        assert fcntl.flock is flock and not (first and second)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said_at_once(
    store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="no locks: give --store a folder on a local disk"):
        run_plan(Plan.of([Toy(name="step", outside=str(outside))]), store, jobs=1)
    assert journal(outside) == []
