"""The store: results come back whole and exact, or an error says what is wrong."""

import errno
import hashlib
import os
import re
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelscope.core.errors import DamagedResult, StepError, StoreError
from babelscope.core.row import Row
from babelscope.engine.sharing.exchange import copy
from babelscope.engine.store import Store
from published import KEY, OTHER, ROWS, publish, tree
from toy_steps import flip_a_bit


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.prepare()
    return store


def test_a_result_comes_back_as_it_was(store: Store) -> None:
    assert not store.has(KEY)
    publish(store)
    fresh = Store(store.folder)
    assert fresh.has(KEY) and not fresh.has(OTHER)
    assert (fresh.result(KEY) / "encoder" / "weights").read_bytes() == bytes(range(256))
    assert fresh.rows(KEY) == ROWS
    assert not (store.folder / "drafts" / KEY).exists()


def test_the_manifest_records_every_file(store: Store) -> None:
    folder = publish(store)
    manifest = store.manifest(KEY)
    contents = {name: data for name, data in tree(folder).items() if name != "manifest.json"}
    expected = {n: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for n, data in contents.items()}
    assert manifest["files"] == expected and len(expected) == 3
    assert (manifest["key"], manifest["step"], manifest["seconds"]) == (KEY, "Toy", 1.5)
    assert {"python", "babelscope", "torch", "transformers", "numpy"} <= manifest["versions"].keys()


def test_a_result_without_rows_has_none(store: Store) -> None:
    store.draft(KEY)
    store.publish(KEY, {})
    assert store.rows(KEY) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.text()), max_size=5))
def test_rows_survive_exactly(store: Store, pairs: list[tuple[float, str]]) -> None:
    key = hashlib.sha256(repr(pairs).encode("utf-8", "surrogatepass")).hexdigest()
    store.write_rows(key, [Row("m", value, encoder=name) for value, name in pairs])
    store.publish(key, {})
    back = [(struct.pack("d", row.value), row.encoder) for row in store.rows(key)]
    assert back == [(struct.pack("d", value), name) for value, name in pairs]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_row_must_be_finite(store: Store, value: float) -> None:
    with pytest.raises(StepError, match=r"perplexity.*finite"):
        store.write_rows(KEY, [Row("perplexity", value)])
    with pytest.raises(StepError, match=r"perplexity: the low is .*finite"):
        store.write_rows(KEY, [Row("perplexity", 1.0, low=value)])


def test_what_is_published_is_read_by_whoever_may_read_other_files(store: Store) -> None:
    draft = store.draft(KEY)
    (draft / "weights").touch(mode=0o600)  # as libraries leave it that write to a temporary file first
    (draft / "notes").touch()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.publish(KEY, {}).iterdir()}
    assert modes["weights"] == modes["notes"] == modes["manifest.json"]


def test_what_systems_hide_in_folders_is_no_damage(store: Store) -> None:
    (publish(store) / "encoder" / ".DS_Store").touch()
    assert Store(store.folder).result(KEY)


def test_a_number_too_large_in_a_journal_is_no_row(store: Store) -> None:
    store.write_rows(KEY, ROWS)
    path = store.draft(KEY) / "rows.jsonl"
    path.write_text(f'{path.read_text()}{{"measure": "loss", "value": 1{"0" * 400}}}\n')
    assert store.rows_so_far(KEY) == ROWS and store.renew_draft(KEY)


def test_rows_are_added_one_by_one_and_a_torn_line_does_not_count(store: Store) -> None:
    assert store.rows_so_far(KEY) == []
    for row in ROWS:
        store.add_rows(KEY, [row])
    assert store.rows_so_far(KEY) == ROWS
    path = store.draft(KEY) / "rows.jsonl"
    path.write_text(path.read_text()[:-5])
    assert store.rows_so_far(KEY) == ROWS[:-1]


def test_rows_do_not_depend_on_the_other_files(store: Store) -> None:
    flip_a_bit(publish(store) / "encoder" / "weights")
    assert Store(store.folder).rows(KEY) == ROWS
    flip_a_bit(store.folder / "results" / "ab" / KEY / "rows.jsonl")
    with pytest.raises(DamagedResult, match=r"rows\.jsonl"):
        Store(store.folder).rows(KEY)


def test_a_missing_result_says_what_to_do(store: Store) -> None:
    for read in (store.result, store.rows, store.manifest):
        with pytest.raises(StoreError, match=f"no result {KEY}; run the study"):
            read(KEY)


def test_publishing_twice_is_harmless(store: Store) -> None:
    before = tree(publish(store))
    after = tree(publish(store))
    assert after == before
    assert list((store.folder / "drafts").iterdir()) == []


DIE_BEFORE_THE_MOVE = """
import os, signal, sys
from babelscope.engine import store
store.move_folder = lambda draft, target: os.kill(os.getpid(), signal.SIGKILL)
opened = store.Store(sys.argv[1])
(opened.draft(sys.argv[2]) / "notes").write_text("half")
opened.publish(sys.argv[2], {})
"""


def test_death_while_publishing_leaves_a_draft_and_no_result(store: Store) -> None:
    done = subprocess.run([sys.executable, "-c", DIE_BEFORE_THE_MOVE, str(store.folder), KEY], timeout=60)
    assert done.returncode == -9
    assert not store.has(KEY)
    assert (store.draft(KEY) / "notes").read_text() == "half"
    store.publish(KEY, {})
    assert (store.result(KEY) / "notes").read_text() == "half"
    assert list(store.manifest(KEY)["files"]) == ["notes"]


HOLD_A_CLAIM = """
import sys
from babelscope.engine.store import Store
with Store(sys.argv[1]).claim(sys.argv[2]) as mine:
    print(mine, flush=True)
    sys.stdin.read()
"""


def test_a_claim_is_exclusive_and_dies_with_its_holder(store: Store) -> None:
    command = [sys.executable, "-c", HOLD_A_CLAIM, str(store.folder), KEY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "True\n"
        with store.claim(KEY) as mine, store.claim(OTHER) as other:
            assert (mine, other) == (False, True)
        assert store.claimed(KEY) and not store.claimed(OTHER)
        holder.kill()
        holder.wait(timeout=60)
    with store.claim(KEY) as mine:
        assert mine
        with Store(store.folder).claim(KEY) as again:
            assert not again
    assert list((store.folder / "claims").iterdir()) == []


def test_what_is_computed_while_the_store_is_moved_is_not_published(store: Store, tmp_path: Path) -> None:
    with store.claim(KEY):
        store.add_rows(KEY, ROWS[:1])
        assert store.may_go_on(KEY)
        store.folder.rename(tmp_path / "moved")
        with pytest.raises(StoreError, match="moved"):
            store.may_go_on(KEY)
        with pytest.raises(StoreError, match="moved"):
            store.add_rows(KEY, ROWS[1:])
        with pytest.raises(StoreError, match="moved"):
            store.publish(KEY, {})
        with pytest.raises(StoreError, match="moved"), store.claim(OTHER):
            pass
        assert not store.folder.exists()
    assert Store(tmp_path / "moved").rows_so_far(KEY) == ROWS[:1]


def test_a_store_made_where_another_was_moved_away_is_left_alone(store: Store, tmp_path: Path) -> None:
    with store.claim(KEY):
        store.folder.rename(tmp_path / "moved")
        fresh = Store(store.folder)
        fresh.prepare()
        with fresh.claim(KEY) as mine:
            assert mine
            fresh.add_rows(KEY, ROWS[:1])
            for change in (lambda: store.publish(KEY, {}), lambda: store.add_rows(KEY, ROWS[1:])):
                with pytest.raises(StoreError, match="moved"):
                    change()
            assert not fresh.has(KEY) and fresh.rows_so_far(KEY) == ROWS[:1]
            assert fresh.may_go_on(KEY)
    with store.claim(OTHER), fresh.claim(OTHER) as also:
        assert not also


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_explained(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.draft(KEY)
    open_file = Path.open
    monkeypatch.setattr(Path, "open", lambda path, mode, **text: open_file(Path("/dev/full"), "w"))
    with pytest.raises(StoreError, match=r"rows\.jsonl.*free some space"):
        store.write_rows(KEY, ROWS)


def test_a_copy_that_finds_no_room_is_explained(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str, **how: object) -> None:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), source)

    publish(store)
    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(StoreError) as raised:
        copy([KEY], store, Store(tmp_path / "other"))
    assert re.fullmatch(r"/\S+\.copy/\S+: File too large; no file may be so large here: .*", str(raised.value))


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    store = Store(tmp_path / "later" / "store")
    (tmp_path / "later").touch()
    with pytest.raises(StoreError, match="--store"):
        store.prepare()


def test_the_store_is_light() -> None:
    code = "import sys, babelscope.engine.store, babelscope.engine.manifest as manifest; manifest.versions()\n"
    code += "print({'torch', 'pandas', 'numpy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"
