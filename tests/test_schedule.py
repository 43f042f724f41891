"""Schedules as they are declared: text, keys, the turns of layers and their rates."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from babelscope.core.errors import InputError
from babelscope.core.keyed import keyed_fields
from babelscope.study.declare import Study
from babelscope.tasks.tag import Tagging
from babelscope.tuning.batches import Order
from babelscope.tuning.schedule import DeclaredSchedule, Schedule, parse_schedule
from babelscope.tuning.settings import Tuning
from taggers import a_tagger

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("freeze:-1", {"freeze": -1}),
        ("freeze:8", {"freeze": 8}),
        ("upper:half", {"upper": "half"}),
        ("layers:6-12", {"layers": (6, 12)}),
        ("gradual:groups=3", {"gradual": 3}),
        ("gradual:groups=3,every=200", {"gradual": 3, "every": 200}),
        ("gradual:groups=3,every=epoch", {"gradual": 3}),
        ("freeze:8,decay=0.9,lora=8", {"freeze": 8, "decay": 0.9, "lora": 8}),
        ("upper:last,frozen_dropout=true", {"upper": "last", "frozen_dropout": True}),
        ("upper:last,frozen_dropout", {"upper": "last", "frozen_dropout": True}),
        ("freeze:4,frozen_dropout,lora=8", {"freeze": 4, "frozen_dropout": True, "lora": 8}),
        ("freeze:freeze=4", {"freeze": 4}),
    ],
)
def test_text_is_read(text, fields):
    assert parse_schedule(text) == Schedule(name=text, **fields)
    adapter = TypeAdapter(DeclaredSchedule)
    assert adapter.validate_python(text) == adapter.validate_python({"name": text} | fields)


def test_what_counts_in_keys_and_checkpoints_is_what_did_before_there_were_strategies():
    counted = dict(keyed_fields(parse_schedule("freeze:1")))
    assert counted == {
        "name": "freeze:1", "freeze": 1, "upper": None, "layers": None, "gradual": None, "every": "epoch",
        "decay": 1.0, "lora": None, "frozen_dropout": False,
    }  # fmt: skip


def test_the_same_schedule_is_given_once():
    """However it is written, and under whatever name."""
    given = {"name": "s", "encoders": ["a"], "tasks": {"pos": {"train": ["world:qaa"], "evaluate": ["world:qaa"]}}}
    for second in ("freeze:08", {"name": "lower", "freeze": 8}, {"name": "lower", "strategy": "freeze:8"}):
        with pytest.raises(ValidationError, match=r"'freeze:8' and '(freeze:08|lower)' are the same schedule; leave"):
            Study.model_validate(given | {"schedules": [None, "freeze:8", second]})
    apart = ["freeze:8", "freeze:8,decay=0.9", "freeze:8,lora=8", "freeze:8,frozen_dropout=true", "freeze:7"]
    assert len(Study.model_validate(given | {"schedules": apart}).schedules) == len(apart)


def test_spaces_around_signs_do_not_count_in_a_name():
    assert parse_schedule(" freeze : 2 , decay = 0.5 ").name == "freeze:2,decay=0.5"


@pytest.mark.parametrize("text", ["freeze:2", "upper:half", "layers:1-3", "gradual:groups=3,every=200"])
def test_a_strategy_by_its_name_trains_the_same(text):
    by_name, by_key = Schedule(name=text, strategy=text), parse_schedule(text)
    assert by_name.chosen == by_key.chosen
    with pytest.raises(ValidationError, match="and strategy given: give one of freeze, upper, layers, gradual"):
        Schedule.model_validate({**by_key.model_dump(), "strategy": text})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "frees:8",
            "schedule 'frees:8': no such schedule (did you mean freeze?)\nSchedules are freeze, gradual, layers, upper",
        ),
        ("freeze", "freeze is missing\nArguments of freeze: freeze, decay=1.0, lora, frozen_dropout=false"),
        ("gradual:3", "'3' is not an argument; expected NAME=VALUE\nArguments of gradual: groups, every=epoch"),
        ("layers:6", "layers: should be a first layer and the one after the last, such as 6-12, not '6'"),
        ("gradual:groups=2,every=epochs", "every: should be 'epoch' or a whole number, not 'epochs'"),
        ("freeze:many", "freeze: should be a whole number, not 'many'"),
        ("freeze:4,frozen_dropot", "freeze: should be a whole number, not '4,frozen_dropot'"),
        ("freeze:4,frozen_dropout=maybe", "frozen_dropout: should be true or false, not 'maybe'"),
        ("freeze:4,frozen_dropout,frozen_dropout=true", "frozen_dropout is given twice"),
        ("freeze:-2", "freeze: should be greater than or equal to -1"),
        ("upper:third", "upper: should be 'half', 'quarter' or 'last'"),
        ("layers:6-6", "layers: 6-6: the end, which is not included, must be greater"),
        ("gradual:groups=0", "groups: should be greater than 0"),
        ("gradual:groups=2,every=0", "every: should be 'epoch' or greater than 0"),
        ("gradual:every=epoch", "groups is missing"),
        ("freeze:2,upper=half", "freeze and upper given: give one of freeze, upper, layers, gradual"),
        ("freeze:2,every=3", "every is for gradual schedules only"),
        ("freeze:2,decay=1.5", "decay: should be less than or equal to 1"),
        ("freeze:2,speed=2", "no argument 'speed'"),
        ("freeze:2,lora=2,lora=3", "lora is given twice"),
    ],
)
def test_faults_in_text_are_named(text, message):
    with pytest.raises(InputError) as error:
        parse_schedule(text)
    assert message in str(error.value)
    assert repr(text) in str(error.value)
    with pytest.raises(ValidationError):
        TypeAdapter(DeclaredSchedule).validate_python(text)


@pytest.mark.parametrize(
    ("text", "layers", "message"),
    [
        ("freeze:14", 12, "freezes the first 14 layers, but the encoder has 12; give at most 12 for freeze"),
        ("layers:6-13", 12, "trains layers that are not there, but the encoder has 12; give at most 12 for layers"),
        ("gradual:groups=3", 2, "has 3 groups of layers, but the encoder has 2; give at most 2 for groups"),
        ("freeze:2,lora=4", 2, "all 2 layers are frozen, so lora has none to adapt"),
    ],
)
def test_schedules_that_do_not_fit(text, layers, message):
    with pytest.raises(InputError, match=message):
        parse_schedule(text).check(layers)
    if not text.endswith("lora=4"):
        parse_schedule(text).check(24)


@pytest.mark.parametrize(
    ("text", "epochs", "steps", "fits"),
    [
        ("gradual:groups=3", 3, None, True),
        ("gradual:groups=3", 2, None, False),
        ("gradual:groups=3", None, 5, True),  # how many epochs that is, the data decide
        ("gradual:groups=3,every=4", None, 9, True),
        ("gradual:groups=3,every=4", None, 8, False),
        ("gradual:groups=1", 1, None, True),
        ("freeze:3", 1, None, True),
    ],
)
def test_all_groups_get_their_turn(text, epochs, steps, fits):
    schedule = parse_schedule(text)
    if fits:
        schedule.check_duration(epochs, steps)
        return
    with pytest.raises(InputError, match=r"3 groups, one more after every .*train for longer or give fewer groups"):
        schedule.check_duration(epochs, steps)


def test_declaring_needs_no_torch():
    code = "import sys, babelscope.tuning.schedule; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def stages(text, layers=12):
    return parse_schedule(text).entry_stages(layers)


def test_stages_of_the_published_schedules():
    assert stages("freeze:-1") == (0,) * 13
    assert stages("freeze:0") == (None,) + (0,) * 12
    assert stages("freeze:12") == (None,) * 13
    assert stages("freeze:6") == stages("upper:half") == stages("layers:6-12") == (None,) * 7 + (0,) * 6
    assert stages("upper:quarter") == stages("layers:9-12")
    assert stages("upper:last") == stages("layers:11-12") == stages("freeze:11")
    assert stages("upper:quarter", 6) == stages("freeze:4", 6)  # rounded up
    assert stages("layers:3-5") == (None,) * 4 + (0,) * 2 + (None,) * 7
    assert stages("gradual:groups=3") == (None,) + (2,) * 4 + (1,) * 4 + (0,) * 4


@given(st.integers(1, 40).flatmap(lambda layers: st.tuples(st.just(layers), st.integers(1, layers))))
def test_gradual_groups_are_even_and_come_from_the_top(sizes):
    layers, groups = sizes
    embeddings, *rest = Schedule(name="g", gradual=groups).entry_stages(layers)
    counts = [rest.count(stage) for stage in range(groups)]
    assert embeddings is None
    assert rest == sorted(rest, reverse=True)
    assert sum(counts) == layers
    assert max(counts) - min(counts) <= 1


def test_rates_by_depth():
    factors = parse_schedule("freeze:-1,decay=0.5").rate_factors(3)
    assert factors == (0.125, 0.25, 0.5, 1.0)
    assert parse_schedule("freeze:1").rate_factors(3) == (1.0,) * 4


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("freeze:-1", 0), ("freeze:0", 0), ("freeze:5", 5), ("freeze:12", 12), ("upper:half", 6), ("layers:3-5", 3),
        ("gradual:groups=3", 0), ("freeze:5,frozen_dropout=true", 0), ("freeze:5,lora=2", 5),
    ],
)  # fmt: skip
def test_layers_that_stay_constant(text, layers):
    assert parse_schedule(text).constant_layers(12) == layers


def test_stages_begin_after_epochs_or_steps(encoder, tagged):
    lengths = Tagging(a_tagger(encoder), tagged).lengths
    tuning = Tuning(epochs=3, tokens_per_batch=128)
    order = Order(lengths, tuning, 0)
    ends = [step for step, turn in enumerate(order.turns(), 1) if turn.ends_epoch]
    by_epoch = order.stage_starts(parse_schedule("gradual:groups=2"))
    assert by_epoch == [1, ends[0] + 1]
    assert order.stage_starts(parse_schedule("gradual:groups=3,every=4")) == [1, 5, 9]
    with pytest.raises(InputError, match=rf"ends after {ends[-1]} steps, when 1 of 2 groups are trained"):
        order.stage_starts(parse_schedule(f"gradual:groups=2,every={ends[-1]}"))
    with pytest.raises(InputError, match=rf"ends after {ends[-1]} steps, when 3 of 4 groups are trained"):
        order.stage_starts(parse_schedule("gradual:groups=4"))
    assert order.stage_starts(parse_schedule("freeze:1")) == order.stage_starts(None) == [1]
