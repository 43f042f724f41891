"""How the doctor times settings, and what it says of a busy machine."""

from __future__ import annotations

from collections import Counter
from functools import partial
from unittest.mock import Mock

import torch

from babelscope.encoders.shape import Shape
from babelscope.face import compiling
from babelscope.face.compiling import PASSES, WARM_UP, Passed, compiling_line, timed_passes
from babelscope.face.doctor import SECONDS, Setting, load_in_words, take_turns

TINY = Shape(hidden=16, layers=2, heads=2, feed_forward=32)


def test_doctor_times_few_steps_and_fewer_of_what_is_slow():
    default, slow, fast = (Setting("cpu", name, 1) for name in ("float32", "bfloat16", "float16"))
    lasts, done, now = {default: 1.0, slow: 3.5, fast: 0.5}, Counter(), [0.0]

    def step(setting):
        done[setting] += 1
        now[0] += lasts[setting]
        return 0.0

    steps = {setting: partial(step, setting) for setting in lasts}
    times = take_turns(steps, passes=5, clock=lambda: now[0])
    assert times == {default: [1.0] * 5, slow: [3.5], fast: [0.5] * 5}
    assert done == {default: 6, slow: 2, fast: 6}


def test_doctor_says_when_the_machine_is_busy():
    assert load_in_words(0.4, 2) == "0.4, 2 cores: quiet"
    assert load_in_words(7.0, 2).startswith("7.0, 2 cores: busy, so the speeds below are too low")


def test_doctor_begins_no_turn_when_its_time_is_over():
    now = [0.0]
    setting = Setting("cpu", "float32", 1)

    def step():
        now[0] += SECONDS / 2.5
        return 0.0

    assert len(take_turns({setting: step}, passes=20, clock=lambda: now[0])[setting]) == 2


def test_doctor_says_from_how_many_steps_on_compiled_layers_pay(monkeypatch):
    passed = {False: Passed(1.0, 0.010), True: Passed(13.0, 0.007)}
    monkeypatch.setattr(compiling, "timed_passes", lambda shape, device, compiled: passed[compiled])
    assert compiling_line("small", Shape()) == ("small", "10.0 ms", "7.0 ms", "12 s", "4,000 steps")
    passed[True] = Passed(13.0, 0.010)
    assert compiling_line("small", Shape())[-1] == "never"


def test_doctor_goes_on_where_layers_cannot_be_compiled(monkeypatch):
    def broken(graph, examples):
        raise RuntimeError("no compiler")

    own = partial(torch.compile, backend=broken)
    monkeypatch.setattr(torch, "compile", lambda passed, dynamic, options: own(passed, dynamic=dynamic))
    name, *empty, said = compiling_line("tiny", TINY, "cpu")
    assert (name, empty) == ("tiny", ["", "", ""]) and "no compiler" in said


def test_doctor_goes_on_where_a_gpu_has_no_memory_left(monkeypatch):
    error = torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 20 GiB")
    monkeypatch.setattr(compiling, "timed_passes", Mock(side_effect=error))
    assert compiling_line("small", Shape()) == ("small", "", "", "", "CUDA out of memory.")


def test_doctor_times_passes_of_training_compiled_or_not(monkeypatch):
    """On a processor, by a clock that the passes turn on."""
    compiled, now = [], [0.0]

    def backend(graph, examples):
        compiled.append(graph)
        return graph.forward

    def clock():
        now[0] += 1.0 if now[0] < 2 * WARM_UP else 0.5
        return now[0]

    own = partial(torch.compile, backend=backend)
    monkeypatch.setattr(torch, "compile", lambda passed, dynamic, options: own(passed, dynamic=dynamic))
    assert timed_passes(TINY, "cpu", False, clock) == Passed(1.0, 0.5) and not compiled
    assert timed_passes(TINY, "cpu", True).later > 0 and len(compiled) == 1
    assert now[0] == 2 * WARM_UP + PASSES
