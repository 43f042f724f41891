"""Results that are not as they were published: every change is noticed, and said in words."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from babelscope.core.errors import DamagedResult
from babelscope.core.hashing import digest
from babelscope.engine.store import Store
from published import KEY, ROWS, publish
from toy_steps import flip_a_bit


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.prepare()
    return store


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


@pytest.mark.parametrize("name", ["manifest.json", "rows.jsonl", "notes"])
def test_a_pipe_in_place_of_a_published_file_is_damage_and_not_waited_for(store: Store, name: str) -> None:
    folder = publish(store)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(DamagedResult, match=name):
        Store(store.folder).result(KEY)
