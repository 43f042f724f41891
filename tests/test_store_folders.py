"""Where a store may be, and where not: in a folder of another, in another format, or at an address of none."""

import json
import os
from pathlib import Path

import pytest

from babelscope.core.errors import InputError, StoreError
from babelscope.engine.mark import check_outside
from babelscope.engine.store import Store
from babelscope.face.session import address_of
from published import KEY


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.prepare()
    return store


def test_opening_writes_nothing(tmp_path: Path) -> None:
    assert not Store(tmp_path / "new").has(KEY)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StoreError, match="neither empty nor a store"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="not a folder"):
        Store(tmp_path / "thesis.tex")


def test_a_store_that_has_lost_its_mark_is_told_how_to_have_it_again(store: Store) -> None:
    (store.folder / "babelscope-store.json").unlink()
    with pytest.raises(StoreError, match=r"it has lost babelscope-store\.json: write (.*) into that file") as caught:
        Store(store.folder)
    (store.folder / "babelscope-store.json").write_text(str(caught.value).partition("write ")[2].partition(" into")[0])
    Store(store.folder)


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
