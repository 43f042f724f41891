"""Which GPU has room for a step, by a table of GPUs that are made up."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.core.step import Needs
from babelscope.engine.slots import (
    FULL,
    MPS_PIPES,
    SHARED_BY,
    SHARED_WITH_MPS,
    VISIBLE,
    Gpu,
    Taken,
    free_gpu,
    gpus_here,
    visible_names,
)

GIB = 2**30
TWO = [Gpu("0", 40 * GIB), Gpu("2", 80 * GIB)]


def needs(gibibytes):
    return Needs.on("cuda", 1, gibibytes * GIB)


def test_a_step_goes_where_most_memory_is_left():
    assert free_gpu(needs(10), TWO, []) == "2"
    assert free_gpu(needs(10), TWO, [Taken("2", needs(50))]) == "0"
    assert free_gpu(needs(10), TWO, [Taken("2", needs(30))]) == "2"


def test_what_is_not_known_or_does_not_fit_has_a_gpu_to_itself():
    assert free_gpu(needs(0), TWO, [Taken("2", needs(1))]) == "0"
    assert free_gpu(needs(1), TWO, [Taken("2", needs(0))]) == "0"
    assert free_gpu(needs(0), TWO, [Taken("2", needs(1)), Taken("0", needs(1))]) is None
    assert free_gpu(needs(500), TWO, []) == "2"
    assert free_gpu(needs(1), [], []) is None


@given(st.lists(st.integers(0, 30), max_size=40), st.lists(st.integers(8, 80), min_size=1, max_size=4))
def test_no_gpu_is_given_more_than_it_holds(sizes, memories):
    """Whatever is asked for in whatever order; and while a GPU is idle, nothing waits."""
    gpus = [Gpu(str(place), memory * GIB) for place, memory in enumerate(memories)]
    taken: list[Taken] = []
    for size in sizes:
        name = free_gpu(needs(size), gpus, taken)
        idle = {gpu.name for gpu in gpus} - {other.gpu for other in taken}
        assert name is not None or not idle
        taken += [Taken(name, needs(size))] if name else []
    for gpu in gpus:
        on_it = [other.needs.gpu_memory for other in taken if other.gpu == gpu.name]
        assert len(on_it) <= SHARED_BY
        assert len(on_it) < 2 or (all(on_it) and sum(on_it) <= FULL * gpu.memory)


@pytest.mark.parametrize(("runs", "expected"), [(False, SHARED_BY), (True, SHARED_WITH_MPS)])
def test_more_steps_share_a_gpu_where_mps_runs(tmp_path, monkeypatch, runs, expected):
    monkeypatch.setenv(MPS_PIPES, str(tmp_path))
    if runs:
        (tmp_path / "control").touch()
    taken: list[Taken] = []
    while name := free_gpu(needs(1), TWO[1:], taken):
        taken.append(Taken(name, needs(1)))
    assert len(taken) == expected


@pytest.fixture
def machine(monkeypatch):
    """Three GPUs of 10, 20 and 30 GiB."""
    monkeypatch.delenv(VISIBLE, raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda place: SimpleNamespace(total_memory=(place + 1) * 10 * GIB)
    )


def test_gpus_are_those_that_are_visible_or_chosen(machine, monkeypatch):
    assert gpus_here() == [Gpu("0", 10 * GIB), Gpu("1", 20 * GIB), Gpu("2", 30 * GIB)]
    assert gpus_here(["2", "0", "2"]) == [Gpu("2", 30 * GIB), Gpu("0", 10 * GIB)]
    with pytest.raises(InputError, match="--gpus 3: there is no such CUDA device here; there are 0, 1, 2"):
        gpus_here(["3"])
    monkeypatch.setenv(VISIBLE, "4, GPU-8932f937,7")
    assert [gpu.name for gpu in gpus_here()] == ["4", "GPU-8932f937", "7"]
    assert gpus_here(["7"]) == [Gpu("7", 30 * GIB)]


def test_names_beyond_those_that_torch_counts_are_none(monkeypatch):
    monkeypatch.setenv(VISIBLE, "1,-1,2")
    assert visible_names(1) == ["1"]
