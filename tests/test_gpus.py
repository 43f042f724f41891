"""Steps on GPUs that are made up: where they go, what they see, and what becomes of one without memory."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.engine import local
from babelscope.engine.events import Event, Failed, Finished, Lost, Started
from babelscope.engine.run import run_plan
from babelscope.engine.slots import NO_GPU, Gpu
from babelscope.engine.store import Store
from babelscope.face.session import Engine
from babelscope.steps.plan import Plan
from toy_steps import Crowded, OnGpu, Overcrowded, Seeing, Toy, runs

GIB = 2**30


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "usable_cores", lambda: 8)
    monkeypatch.setattr(local, "gpus_here", lambda chosen: [Gpu(name, 16 * GIB) for name in chosen or ("0", "GPU-7")])


def given(store: Store, steps: list[OnGpu], gpus: list[str] | None = None) -> list[str | None]:
    """The GPUs that steps are on which a crew takes at once."""
    with local.LocalCrew(store, gpus=gpus) as crew:
        left = deque(steps)
        while left and crew.has_room(left[0]):
            crew.give(left.popleft(), 0)
        return [child.gpu for child in crew._children]


def test_small_steps_share_gpus_and_large_ones_have_one_each(store: Store, outside: Path, two_gpus: None) -> None:
    def steps(*sizes: int) -> list[OnGpu]:
        return [OnGpu(name=f"s{n}", outside=str(outside), gibibytes=size) for n, size in enumerate(sizes)]

    store.prepare()
    assert given(store, steps(4, 4, 4, 4, 4, 4, 4)) == ["0", "GPU-7", "0", "GPU-7", "0", "GPU-7"]
    assert given(store, steps(15, 2, 2, 2)) == ["0", "GPU-7", "GPU-7", "GPU-7"]
    assert given(store, steps(0, 0, 0)) == ["0", "GPU-7"]
    assert given(store, steps(4, 4), ["GPU-7"]) == ["GPU-7", "GPU-7"]


def test_a_gpu_that_is_not_there_is_refused_whether_or_not_a_step_needs_one(store: Store, outside: Path) -> None:
    step = Toy(name="step", outside=str(outside))
    with pytest.raises(InputError, match="--gpus none-such: there is no such CUDA device here"):
        run_plan(Plan.of([step]), store, crew=local.LocalCrew(store, gpus=["none-such"]))
    assert not store.has(step.key)


def test_a_step_sees_its_own_gpu_alone(store: Store, outside: Path, two_gpus: None) -> None:
    steps = [OnGpu(name=f"step{n}", outside=str(outside)) for n in range(4)]
    outcome = run_plan(Plan.of([*steps, Toy(name="beside", outside=str(outside))]), store)
    assert len(outcome.computed) == 5 and not outcome.failed
    seen = {store.logs.of(step.key).read_text().strip() for step in steps}
    assert seen <= {"0", "GPU-7"} and len(runs(outside)) == 5


def test_a_step_that_is_alone_finds_no_idle_process_on_its_gpu(store: Store, outside: Path, two_gpus: None) -> None:
    """Each keeps some of its memory."""
    store.prepare()
    small = [OnGpu(name=f"small{n}", outside=str(outside), gibibytes=1) for n in range(4)]
    with local.LocalCrew(store) as crew:
        for step in small:
            crew.give(step, 0)
        while any(child.key for child in crew._children):
            list(crew.listen(10.0))
        assert sorted(child.gpu or "" for child in crew._children) == ["0", "0", "GPU-7", "GPU-7"]
        crew.give(OnGpu(name="alone", outside=str(outside), gibibytes=15), 0)
        assert sorted(child.gpu or "" for child in crew._children) == ["0", "GPU-7", "GPU-7"]


def test_a_step_of_a_processor_sees_no_gpu(store: Store, outside: Path, two_gpus: None) -> None:
    """Where there is one, batches that nothing is learnt from are larger, and last digits others."""
    steps = [OnGpu(name="step", outside=str(outside)), Seeing(name="beside", outside=str(outside))]
    outcome = run_plan(Plan.of(steps), store, jobs=2)
    assert len(outcome.computed) == 2
    seen = [store.logs.of(step.key).read_text().strip() for step in steps]
    assert seen == ["0", f"{NO_GPU!r}"]


@pytest.mark.parametrize(
    ("kind", "said"), [(Crowded, "declare micro_tokens: 256"), (Overcrowded, "too little memory for it: CUDA out of")]
)
@pytest.mark.parametrize("always", [False, True])
def test_a_step_without_memory_is_tried_once_more_alone_and_then_fails(
    store: Store, outside: Path, always: bool, kind: type[Crowded], said: str
) -> None:
    """Once it has found no memory and the others are done, which is before it is alone, it is crowded no more."""
    Path(outside, "crowd").touch()
    crowded = kind(name="crowded", outside=str(outside), always=always)
    others = [Toy(name=f"other{n}", outside=str(outside)) for n in range(3)]
    events: list[Event] = []

    def observe(event: Event) -> None:
        events.append(event)
        done = {other.key for other in others} <= {each.key for each in events if isinstance(each, Finished)}
        if done and any(isinstance(each, Lost) for each in events):
            Path(outside, "crowd").unlink(missing_ok=True)

    outcome = run_plan(Plan.of([crowded, *others]), store, jobs=2, observe=observe)
    assert runs(outside)["crowded"] == 2
    first, *_ = [event for event in events if isinstance(event, Lost)]
    assert said in first.message
    last = max(place for place, event in enumerate(events) if event == Started(crowded.key))
    assert {other.key for other in others} <= {each.key for each in events[:last] if isinstance(each, Finished)}
    assert (crowded.key in outcome.failed) == always
    if always:
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert said in failed.message


def test_gpus_are_of_this_machine_alone(store: Store) -> None:
    with pytest.raises(InputError, match="--gpus: is of this machine; start a cluster's workers with"):
        Engine("dask:scheduler.json", gpus=("0",)).crew(store)
