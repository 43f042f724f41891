"""Drafts that are not as their step wrote them: broken, edited or of another step, they are not gone on from."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from babelscope.core.row import Row
from babelscope.engine.events import Finished
from babelscope.engine.store import Store
from toy_runs import execute
from toy_steps import Resuming, journal

ROWS = [Row("loss", 1 / 3, step=1), Row("loss", 1 / 7, step=2)]


@pytest.fixture(autouse=True)
def _prepared(store: Store) -> None:
    store.prepare()


BROKEN = {
    "zeros": b"\0" * 300 + b"\n",
    "no JSON": b'{"measure": \n',
    "no row": b'{"colour": "red"}\n',
    "nothing": b"null\n",
    "no number": b'{"measure": "loss", "value": "high"}\n',
    "not finite": b'{"measure": "loss", "value": NaN}\n',
    "other letters": b"\xff\xfe\n",
    "deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_a_broken_line_of_a_draft_is_read_up_to_and_not_gone_on_from(
    store: Store, outside: Path, line: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS[:1])
    with (store.draft(step.key) / "rows.jsonl").open("ab") as file:
        file.write(line)
    store.add_rows(step.key, ROWS[1:])
    assert store.rows_so_far(step.key) == ROWS[:1]
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 0"]
    assert "begun again" in capsys.readouterr().err


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "another digit": lambda content: content.replace(b"0.33", b"0.43"),
    "a line less": lambda content: content.splitlines(keepends=True)[0],
    "another order": lambda content: b"".join(reversed(content.splitlines(keepends=True))),
    "gone": lambda content: b"",
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_rows_of_a_draft_that_are_not_those_written_are_not_gone_on_from(
    store: Store, outside: Path, spoil: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them rows, so that none looks odd."""
    step = Resuming(name="step", outside=str(outside))
    store.write_rows(step.key, ROWS[:1])
    store.add_rows(step.key, ROWS[1:])
    file = store.draft(step.key) / "rows.jsonl"
    before = file.read_bytes()
    file.write_bytes(spoil(before))
    assert file.read_bytes() != before
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 0"]
    assert "begun again" in capsys.readouterr().err


def test_rows_without_a_digest_are_not_gone_on_from(store: Store, outside: Path) -> None:
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS)
    (store.draft(step.key) / "rows.digest").unlink()
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 0"]


def test_the_draft_of_another_step_is_not_gone_on_from(store: Store, outside: Path) -> None:
    step, other = (Resuming(name=name, outside=str(outside)) for name in ("step", "another"))
    store.add_rows(other.key, ROWS)
    store.draft(other.key).rename(store.folder / "drafts" / step.key)
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 0"]


@pytest.mark.parametrize("content", [b"", b"\0" * 90, b"[]", b'{"bytes": "all", "sha256": ""}'])
def test_a_digest_that_is_none_is_not_gone_on_from(store: Store, outside: Path, content: bytes) -> None:
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS)
    (store.draft(step.key) / "rows.digest").write_bytes(content)
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 0"]


@pytest.mark.parametrize("killed_at", ["rows.draft", "rows.digest", "rows.jsonl"])
def test_a_kill_while_rows_are_written_is_no_damage(
    store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    """At the moment that one of the files would be made, or moved to its place."""
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS[:1])
    with monkeypatch.context() as patch:
        for name in ("open", "replace"):
            patch.setattr(Path, name, killing(getattr(Path, name), killed_at))
        for write in (store.write_rows, store.add_rows):
            with suppress(KeyboardInterrupt):
                write(step.key, ROWS[1:])
    assert store.renew_draft(step.key) is None


def killing(method: Callable[..., object], name: str) -> Callable[..., object]:
    def killed(path: Path, *given: object, **more: object) -> object:
        if name in (path.name, *(target.name for target in given if isinstance(target, Path))):
            raise KeyboardInterrupt
        return method(path, *given, **more)

    return killed


@pytest.mark.parametrize("line", [b"", b'{"measure": "lo', b"\0\0\0"])
def test_a_last_line_that_was_cut_short_is_no_damage(
    store: Store, outside: Path, line: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS)
    with (store.draft(step.key) / "rows.jsonl").open("ab") as file:
        file.write(line)
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 2"]
    assert not capsys.readouterr().err


def test_what_another_run_has_left_in_a_draft_is_set_aside(
    store: Store, outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = Resuming(name="step", outside=str(outside))
    (store.draft(step.key) / "mark").touch()
    assert isinstance(execute(step, store), Finished)
    assert [line.split()[0] for line in journal(outside)] == ["step", "step", "rows"]
    assert "mark: of another run" in capsys.readouterr().err
    assert (store.folder / "damaged" / f"{step.key}-1" / "mark").exists()


def test_the_draft_of_another_step_is_set_aside(
    store: Store, outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS)
    (store.draft(step.key) / "seconds.json").write_text('{"key": "abcdabcdabcdef", "seconds": 1e9}')
    finished = execute(step, store)
    assert isinstance(finished, Finished) and finished.seconds < 1e6
    assert journal(outside)[1:] == ["rows 0"]
    assert "it is of result abcdabcdabcd" in capsys.readouterr().err


@pytest.mark.parametrize("edited", [False, True])
def test_a_publication_that_a_kill_ended_is_gone_on_from_unless_its_rows_were_edited(
    store: Store, outside: Path, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    """The digest of the rows is in the manifest by then, and no longer beside them."""

    def killed(*given: object) -> None:
        raise KeyboardInterrupt

    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(store, "place", killed)
        store.publish(step.key, {"step": "Resuming", "fields": {}, "seconds": 1.0})
    rows = store.draft(step.key) / "rows.jsonl"
    assert not rows.with_name("rows.digest").exists() and rows.with_name("manifest.json").exists()
    if edited:
        rows.write_bytes(rows.read_bytes().replace(b"0.33", b"0.43"))
    assert (store.renew_draft(step.key) is None) is not edited


@pytest.mark.parametrize("more", [lambda content: content, lambda content: b"{}\n"], ids=["twice", "another"])
def test_rows_that_nobody_announced_are_not_gone_on_from(
    store: Store, outside: Path, more: Callable[[bytes], bytes]
) -> None:
    """Whole lines behind those that the digest is of counted as what a kill had kept from being noted."""
    step = Resuming(name="step", outside=str(outside))
    store.add_rows(step.key, ROWS)
    path = store.draft(step.key) / "rows.jsonl"
    path.write_bytes(path.read_bytes() + more(path.read_bytes()))
    assert isinstance(execute(step, store), Finished)
    assert journal(outside)[1:] == ["rows 0"]
    assert list((store.folder / "damaged").iterdir())
