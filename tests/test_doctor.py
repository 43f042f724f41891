"""How the doctor times settings, and what it says of a busy machine."""

from __future__ import annotations

from collections import Counter
from functools import partial

from babelscope.face.doctor import SECONDS, Setting, load_in_words, take_turns


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
