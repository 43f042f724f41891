"""The store: results come back whole and exact, or an error says what is wrong."""

import errno
import hashlib
import json
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

from babelscope.core.errors import DamagedResult, InputError, StepError, StoreError
from babelscope.core.hashing import digest
from babelscope.core.row import Row
from babelscope.engine.mark import check_outside
from babelscope.engine.sharing.exchange import copy
from babelscope.engine.store import Store
from babelscope.face.session import address_of
from toy_steps import flip_a_bit

KEY, OTHER = "ab" * 32, "cd" * 32
ROWS = [Row("accuracy", 0.1 + 0.2, "share", language="qab", seed=3), Row("loss", 1e-300, step=7)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.prepare()
    return store


def publish(store: Store, key: str = KEY) -> Path:
    draft = store.draft(key)
    (draft / "encoder").mkdir()
    (draft / "encoder" / "weights").write_bytes(bytes(range(256)))
    (draft / "notes").write_text("zażółć")
    store.write_rows(key, ROWS)
    return store.publish(key, {"step": "Toy", "seconds": 1.5})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


@pytest.mark.parametrize("name", ["encoder/weights", "notes", "rows.jsonl", "manifest.json"])
def test_one_wrong_bit_is_noticed(store: Store, name: str) -> None:
    path = publish(store) / name
    flip_a_bit(path)
    with pytest.raises(DamagedResult, match=f"{name}.*run the study again"):
        Store(store.folder).result(KEY)


@pytest.mark.parametrize("name", ["encoder/weights", "rows.jsonl", "manifest.json"])
def test_a_lost_file_is_noticed(store: Store, name: str) -> None:
    (publish(store) / name).unlink()
    with pytest.raises(DamagedResult, match=name):
        Store(store.folder).result(KEY)


@pytest.mark.parametrize("name", ["encoder/adapter_config.json", "sentences.json"])
def test_an_added_file_is_noticed(store: Store, name: str) -> None:
    (publish(store) / name).touch()
    with pytest.raises(DamagedResult, match=f"{name}: was not published"):
        Store(store.folder).result(KEY)
    assert store.quarantine(KEY)


def test_a_link_to_a_folder_is_noticed(store: Store) -> None:
    folder = publish(store)
    (folder / "encoder" / "languages").symlink_to(store.folder / "logs")
    with pytest.raises(DamagedResult, match="languages: was not published"):
        Store(store.folder).result(KEY)


def test_what_is_published_is_read_by_whoever_may_read_other_files(store: Store) -> None:
    draft = store.draft(KEY)
    (draft / "weights").touch(mode=0o600)  # as libraries leave it that write to a temporary file first
    (draft / "notes").touch()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.publish(KEY, {}).iterdir()}
    assert modes["weights"] == modes["notes"] == modes["manifest.json"]


def test_what_systems_hide_in_folders_is_no_damage(store: Store) -> None:
    (publish(store) / "encoder" / ".DS_Store").touch()
    assert Store(store.folder).result(KEY)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"digest": "", "seconds": NaN}', "[]", "{}"])
def test_a_manifest_that_is_none_is_noticed(store: Store, content: str) -> None:
    (publish(store) / "manifest.json").write_text(content)
    with pytest.raises(DamagedResult, match=r"manifest\.json"):
        store.rows(KEY)


def reseal(folder: Path, manifest: dict[str, object]) -> None:
    """Make the digest of a changed manifest match, as somebody would who hides the change."""
    manifest.pop("digest")
    (folder / "manifest.json").write_text(json.dumps({**manifest, "digest": digest(manifest)}))


@pytest.mark.parametrize(
    "change",
    [
        {"key": 5},
        {"files": None},
        {"files": {"rows.jsonl": 5}},
        {"files": {"rows.jsonl": {"sha256": 5, "bytes": 1}}},
        {"files": {"../../outside": {"sha256": "0" * 64, "bytes": 1}}},
        {"seconds": "long"},
    ],
)
def test_a_manifest_whose_digest_was_made_to_match_is_read_in_words(store: Store, change: dict[str, object]) -> None:
    folder = publish(store)
    reseal(folder, json.loads((folder / "manifest.json").read_text()) | change)
    for read in (store.rows, Store(store.folder).result):
        with pytest.raises(DamagedResult, match=r"manifest\.json: is no manifest|leads out of its folder"):
            read(KEY)
    assert store.quarantine(KEY)


@pytest.mark.parametrize(
    "line",
    [
        '{"measure": "accuracy", "value": "high"}',
        '{"measure": "accuracy", "value": NaN}',
        f'{{"measure": "accuracy", "value": 1{"0" * 400}}}',
        '{"measure": "accuracy", "value": 0.5, "language": ["qaa"]}',
        '{"measure": "accuracy", "value": 0.5, "seed": "one"}',
        '{"measure": "accuracy", "value": 0.5, "more": 1}',
        '{"value": 0.5}',
        "[1]",
        "",
    ],
)
def test_rows_whose_digest_was_made_to_match_are_read_in_words(store: Store, line: str) -> None:
    folder = publish(store)
    manifest = json.loads((folder / "manifest.json").read_text())
    content = f"{line}\n".encode()
    (folder / "rows.jsonl").write_bytes(content)
    manifest["files"]["rows.jsonl"] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    reseal(folder, manifest)
    with pytest.raises(DamagedResult, match=r"rows\.jsonl: holds what is no row.*remove the folder, then run"):
        store.rows(KEY)


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


def test_quarantine_takes_only_what_is_damaged(store: Store) -> None:
    publish(store)
    assert store.quarantine(KEY) is None and store.has(KEY)
    for _ in range(2):
        flip_a_bit(store.result(KEY) / "notes")
        moved = store.quarantine(KEY)
        assert moved is not None and (moved / "notes").exists() and not store.has(KEY)
        publish(store)
    assert store.rows(KEY) == ROWS
    assert len(list((store.folder / "damaged").iterdir())) == 2


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


def test_opening_writes_nothing(tmp_path: Path) -> None:
    assert not Store(tmp_path / "new").has(KEY)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StoreError, match="neither empty nor a store"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="not a folder"):
        Store(tmp_path / "thesis.tex")


@pytest.mark.parametrize("name", ["results/in", "results/ab/in", "drafts/in"])
def test_no_store_is_made_in_a_folder_of_another(store: Store, tmp_path: Path, name: str) -> None:
    """Which would take its folders for results."""
    (tmp_path / "link").symlink_to(store.folder)
    for outer in (store.folder, tmp_path / "link"):
        with pytest.raises(StoreError, match=f"in the folder {name.split('/')[0]} of the store .*give --store"):
            Store(outer / name)
    assert not (store.folder / name).exists()
    Store(store.folder / "other").prepare()
    Store(tmp_path / "results").prepare()


@pytest.mark.parametrize(
    ("content", "message"), [('{"format": 99}', "format 99"), ("{", "unreadable"), ("[]", "unread")]
)
def test_another_format_is_refused(store: Store, content: str, message: str) -> None:
    (store.folder / "babelscope-store.json").write_text(content)
    with pytest.raises(StoreError, match=message):
        Store(store.folder)


def test_the_format_file_is_json(store: Store) -> None:
    assert json.loads((store.folder / "babelscope-store.json").read_text()) == {"format": 1}
    store.prepare()
    assert Store(store.folder).folder == store.folder


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


@pytest.mark.parametrize("name", ["manifest.json", "rows.jsonl", "notes"])
def test_a_pipe_in_place_of_a_published_file_is_damage_and_not_waited_for(store: Store, name: str) -> None:
    folder = publish(store)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(DamagedResult, match=name):
        Store(store.folder).result(KEY)


def test_a_pipe_in_place_of_the_mark_is_not_waited_for(store: Store) -> None:
    mark = store.folder / "babelscope-store.json"
    mark.unlink()
    os.mkfifo(mark)
    with pytest.raises(StoreError, match="unreadable"):
        Store(store.folder)


@pytest.mark.parametrize("address", ["https://u:secret@host/x", "ftp://u:secret@host", "s3://u:secret@bucket/x"])
def test_an_address_of_no_store_is_refused_and_its_password_not_repeated(address: str) -> None:
    with pytest.raises(InputError, match="://: ") as refused:
        address_of(address)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("address", ["file:/net/results", "file:results", "s3:/bucket/folder", "s3:bucket"])
def test_an_address_without_its_slashes_is_no_folder_here(address: str) -> None:
    """Whose results nobody would find."""
    with pytest.raises(InputError, match="an address has two slashes, file://FOLDER"):
        address_of(address)
    assert address_of(f"./{address}").endswith(address)


@pytest.mark.parametrize("name", [".", "results", "results/ab/in", "logs/page.html"])
def test_nothing_else_is_written_where_a_store_has_its_own(store: Store, tmp_path: Path, name: str) -> None:
    store.prepare()
    (tmp_path / "link").symlink_to(store.folder)
    for outer in (store.folder, tmp_path / "link"):
        with pytest.raises(InputError, match="choose a place outside of it"):
            check_outside(outer / name)
    check_outside(store.folder / "rows.csv")
    check_outside(tmp_path / "results" / "paper")
