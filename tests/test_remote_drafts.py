"""Drafts in a store that machines share without locks: saved, gone on from elsewhere, left where they are not whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from babelscope.core.errors import StoreError
from babelscope.core.row import Row
from babelscope.core.step import Interrupted
from babelscope.engine.events import Finished
from babelscope.engine.journal import Journal
from babelscope.engine.sharing import remote
from babelscope.engine.worker import END
from remote_machines import KEY, Machine, prepared, saved, when_started
from toy_runs import execute
from toy_steps import Resuming, Steady, journal, value


def test_another_machine_goes_on_from_a_draft_that_was_saved(machine: Machine, outside: Path) -> None:
    first, second, third = (prepared(machine(name)) for name in ("first", "second", "third"))
    with first.claim(KEY):
        (first.draft(KEY) / "encoder").mkdir()
        for content in ("old", "new"):
            (first.draft(KEY) / "encoder" / "checkpoint").write_text(content)
            assert first.may_go_on(KEY)  # and the draft was saved lately
            assert first._drafts.files(KEY).keys() == (set() if content == "old" else {"encoder/checkpoint"})
            saved(first)
    with second.claim(KEY):
        assert (second.draft(KEY) / "encoder" / "checkpoint").read_text() == "new"
        second.publish(KEY, {})
    with third.claim(KEY):
        assert not list(third.draft(KEY).iterdir())
    assert first.objects.names("drafts") == []


def test_a_saved_draft_that_is_not_whole_is_left(address: str, machine: Machine) -> None:
    first, second = (prepared(machine(name)) for name in ("first", "second"))
    with first.claim(KEY):
        (first.draft(KEY) / "checkpoint").write_text("half a day")
        saved(first)
    (name,) = set(first.objects.names(f"drafts/{KEY}")) - {"draft"}
    first.objects.write(f"drafts/{KEY}/{name}", b"half a d")
    with second.claim(KEY) as mine:
        assert mine and not list(second.draft(KEY).iterdir())
        assert [path.name for path in (second.folder / "drafts").iterdir()] == [KEY]


def test_an_interrupted_step_is_saved_for_other_machines(
    machine: Machine, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its claim was taken over, or the machine is to end: the checkpoint is the last thing that it writes."""
    step, (first, second) = Steady(name="steady", outside=str(outside)), map(prepared, map(machine, ("a", "b")))
    with when_started(outside, lambda: monkeypatch.setattr(END, "is_asked", True)), pytest.raises(Interrupted):
        execute(step, first)
    monkeypatch.setattr(END, "is_asked", False)
    assert isinstance(execute(step, second), Finished)
    assert "steady resumed" in (outside / "journal").read_text()


@pytest.mark.parametrize("leave", [lambda draft: (draft / "mark").touch(), lambda draft: spoil_rows(draft)])
def test_a_saved_draft_that_no_step_can_go_on_from_is_left_for_good(
    machine: Machine, outside: Path, leave: Callable[[Path], None]
) -> None:
    """It is of another run, or its rows are not as they were written."""
    step, (first, second) = Resuming(name="step", outside=str(outside)), map(prepared, map(machine, ("a", "b")))
    with suppress(Interrupted), first.claim(step.key):
        leave(first.draft(step.key))
        raise Interrupted
    assert first.objects.names(f"drafts/{step.key}")
    assert isinstance(execute(step, second), Finished)
    assert "rows 0" in journal(outside) and second.rows(step.key)[0].value == value(step)
    assert second.objects.names("drafts") == []


def spoil_rows(draft: Path) -> None:
    Journal(draft).add([Row("loss", 0.5)])
    written = draft / "rows.jsonl"
    written.write_text(written.read_text().replace("0.5", "0.75"))


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_a_draft_that_cannot_be_saved_costs_no_step(
    machine: Machine, outside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said in the log, and the step goes on, or ends as it was told to."""
    store, step = prepared(machine("first")), Resuming(name="step", outside=str(outside))
    steady = Steady(name="steady", outside=str(outside))
    monkeypatch.setattr(remote, "SAVING", 0.0)
    write = store.objects.write

    def refuse(name: str, content: bytes | Path) -> None:
        if name.startswith("drafts/"):
            raise StoreError("no network")
        write(name, content)

    monkeypatch.setattr(store.objects, "write", refuse)
    assert isinstance(execute(step, store), Finished)
    assert "the draft is not saved for other machines: no network" in capsys.readouterr().err
    with when_started(outside, lambda: monkeypatch.setattr(END, "is_asked", True)), pytest.raises(Interrupted):
        execute(steady, store)
    assert not store.claimed(steady.key)


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_who_has_lost_a_claim_leaves_the_next_ones_draft_alone(machine: Machine) -> None:
    first, second = (prepared(machine(name)) for name in ("first", "second"))
    with suppress(Interrupted), first.claim(KEY):
        (first.draft(KEY) / "checkpoint").write_text("old")
        first.objects.write(f"claims/{KEY}/2", b"{}")
        first._held[KEY].beat()
        second._drafts.save(KEY, second.draft(KEY))
        first._saved[KEY] -= remote.SAVING
        assert not first.may_go_on(KEY)
        raise Interrupted
    assert second._drafts.files(KEY) == {}


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_a_claim_that_was_lost_interrupts_its_step(machine: Machine, outside: Path) -> None:
    store, step = prepared(machine("first")), Steady(name="steady", outside=str(outside))

    def lose() -> None:
        store.objects.write(f"claims/{step.key}/2", b"{}")
        store._held[step.key].beat()

    with when_started(outside, lose), pytest.raises(Interrupted):
        execute(step, store)
    assert store.objects.names(f"claims/{step.key}") == ["1", "2"]


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_the_list_of_a_draft_leads_nowhere_else(machine: Machine, tmp_path: Path) -> None:
    """Who saves a draft removes what the list before it names."""
    store, thesis = prepared(machine("first")), tmp_path / "thesis"
    thesis.write_text("years of work")
    for told in ("../../../thesis", ["a list"], 7):
        store.objects.write(f"drafts/{KEY}/draft", json.dumps({"checkpoint": told}).encode())
        with store.claim(KEY):
            assert not list(store.draft(KEY).iterdir())
            saved(store)
    assert thesis.read_text() == "years of work"
