"""A full disk: the first step that finds it so is the last that is tried, and its draft is kept."""

from collections import namedtuple
from pathlib import Path

import pytest

from babelscope.core.errors import StepError
from babelscope.engine.events import Blocked, Event, Failed, Full
from babelscope.engine.forecast import bytes_of, missing_bytes
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.face.session import require_success
from babelscope.steps import Load, Tune
from babelscope.steps.plan import Plan
from babelscope.tuning.settings import Tuning
from test_forecast import in_float32
from toy_runs import execute
from toy_steps import Filling, Toy, runs

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The room that the disk says to have."""
    room = {"bytes": 10**12}
    monkeypatch.setattr("babelscope.engine.forecast.disk_usage", lambda folder: Usage(0, 0, room["bytes"]))
    return room


def tuning(folder: Path, seed: int) -> Tune:
    encoder = Load(name="tiny", content="0", place=str(folder))
    return Tune(encoder=encoder, task="pos", train=(), dev=(), tuning=Tuning(), seed=seed)


@pytest.mark.parametrize("library", ["system", "quota", "safetensors", "wrapped"])
def test_the_first_step_that_finds_the_disk_full_is_the_last(store: Store, outside: Path, library: str) -> None:
    where, events = str(outside), list[Event]()
    first, filling = Toy(name="first", outside=where), Filling(name="filling", outside=where, library=library)
    others = [Filling(name=f"other{place}", outside=where) for place in range(6)]
    last = Toy(name="last", outside=where, left=others[0])
    plan = Plan.of([first, filling, last, *others])
    (outside / "full").touch()
    outcome = run_plan(plan, store, jobs=1, observe=events.append)
    assert runs(outside) == {"first": 1, "filling": 1}
    assert outcome.computed == (first.key,) and outcome.failed.keys() == {filling.key}
    assert outcome.blocked == dict.fromkeys((last.key, *(step.key for step in others)), filling.key)
    (told,) = [event for event in events if isinstance(event, Failed | Blocked)]
    assert isinstance(told, Full) and told.message == outcome.failed[filling.key]
    assert "free some space, then run again" in told.message
    with pytest.raises(StepError, match=f"1 step failed; {len(outcome.blocked)} more have not begun"):
        require_success(plan, outcome)
    assert (store.folder / "drafts" / filling.key / "mark").exists()
    (outside / "full").unlink()
    again = run_plan(plan, store, jobs=1)
    assert not again.failed and len(again.computed) == len(plan.steps) - 1


def test_what_has_no_room_is_not_begun_and_what_has_is(
    store: Store, outside: Path, encoder_folder: Path, free: dict[str, int]
) -> None:
    tunings = [tuning(encoder_folder, seed) for seed in range(3)]
    small = [Toy(name=f"small{place}", outside=str(outside)) for place in range(2)]
    needed = bytes_of(tunings[0])
    assert needed == in_float32(encoder_folder)
    free["bytes"] = needed - 1
    events: list[Event] = []
    outcome = run_plan(Plan.of([small[0], *tunings, small[1]]), store, jobs=1, observe=events.append)
    assert {*outcome.computed} == {step.key for step in small}
    assert outcome.failed.keys() == {tunings[0].key}
    assert outcome.blocked == {tunings[1].key: tunings[0].key, tunings[2].key: tunings[0].key}
    missing = 3 * needed + bytes_of(small[1]) - free["bytes"]
    assert f"about {missing / 1000:.1f} kB are missing for what is left" in outcome.failed[tunings[0].key]
    assert [event.key for event in events if isinstance(event, Failed)] == [tunings[0].key]
    assert not any((store.folder / "drafts" / step.key).exists() for step in tunings)


def test_what_a_draft_has_already_is_not_missing(store: Store, encoder_folder: Path, free: dict[str, int]) -> None:
    store.prepare()
    step = tuning(encoder_folder, 0)
    needed = bytes_of(step)
    free["bytes"] = needed - 100
    assert missing_bytes([step], store) == 100
    (store.draft(step.key) / "best.safetensors").write_bytes(bytes(60))
    assert missing_bytes([step], store) == 40
    (store.draft(step.key) / "encoder").mkdir()
    (store.draft(step.key) / "encoder" / "weights").write_bytes(bytes(5000))
    assert missing_bytes([step], store) == 0


def test_a_size_that_is_not_known_is_no_reason(store: Store, outside: Path, free: dict[str, int]) -> None:
    store.prepare()
    hub = Load(name="somewhere", content="0", place="on/the-hub")
    free["bytes"] = 0
    assert missing_bytes([tuning(outside, 0).model_copy(update={"encoder": hub})], store) == 0


def test_other_failures_stop_nothing(store: Store, outside: Path) -> None:
    store.prepare()
    failed = execute(Filling(name="filling", outside=str(outside / "nowhere")), store)
    assert type(failed) is Failed and "No such file" in failed.message
