import copy
import dataclasses
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from torch import nn

from babelscope.core.errors import InputError
from babelscope.core.keyed import keyed_fields
from babelscope.encoders.load import Encoder
from babelscope.tasks.bilstm.backbone import BiLstmBackbone
from babelscope.tasks.bilstm.tag import BiLstmTagger, BiLstmTagging
from babelscope.tasks.bilstm.words import Vocabulary
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tuning.batches import Order
from babelscope.tuning.checkpoint import module_weights, read_weights
from babelscope.tuning.freezing import backbone_of, layers_of, trained_part
from babelscope.tuning.loop import tune
from babelscope.tuning.schedule import DeclaredSchedule, Schedule, parse_schedule
from babelscope.tuning.settings import Tuning
from families import DECODERS, family_model

LABELS = ("ADJ", "DET", "NOUN", "PUNCT", "VERB")
FAMILIES = ("bert", "roberta", "deberta-v2", "modernbert", "gpt2")
LAYERS = 3
QUICK = Tuning(learning_rate=3e-3, steps=6, tokens_per_batch=128)


class StoppedError(Exception):
    """What stops a run in a test."""


def stop_at(step):
    def progress(done, total, **numbers):
        if done == step:
            raise StoppedError

    return progress


def family_encoder(family, tokenizer, layers=LAYERS):
    torch.manual_seed(0)
    model = family_model(family, layers=layers, vocabulary=len(tokenizer), **DROPOUT.get(family, {}))
    model = model.base_model if family in DECODERS else model
    model.config.use_cache = False
    return Encoder(model, tokenizer, family)


DROPOUT = {"modernbert": {"embedding_dropout": 0.1, "mlp_dropout": 0.1}}


def a_tagger(encoder, dropout=0.1):
    torch.manual_seed(0)
    return Tagger(dataclasses.replace(encoder, model=copy.deepcopy(encoder.model)), LABELS, dropout)


def depths(model):
    """[depth of each parameter by name]: 0 embeddings, 1 ... layers, None the head; by name alone, family by family."""
    found = {}
    for name, _ in model.named_parameters():
        parts = name.split(".")
        numbers = [int(part) for part in parts if part.isdigit()]
        if any(part in ("classifier", "cls", "pooler", "head", "decoder", "lm_head") for part in parts):
            found[name] = None
        elif any(norm in name for norm in ("final_norm", "ln_f")):
            found[name] = LAYERS
        else:
            found[name] = numbers[0] + 1 if numbers else 0
    return found


def changed(before, model):
    return {name for name, tensor in module_weights(model).items() if not torch.equal(tensor, before[name])}


def copied(model):
    return {name: tensor.detach().clone() for name, tensor in module_weights(model).items()}


# --- the declaration


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
        ("frees:8", "schedule 'frees:8': no such schedule\nSchedules are freeze, gradual, layers, upper"),
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


# --- training


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["freeze:-1", "freeze:0", "freeze:2", "freeze:3", "layers:1-2", "upper:last"])
def test_what_is_frozen_keeps_its_bits_and_the_rest_changes(family, text, tokenizer, tagged, tmp_path):
    tagger = a_tagger(family_encoder(family, tokenizer))
    before, depth = copied(tagger), depths(tagger)
    flags = {name: parameter.requires_grad for name, parameter in tagger.named_parameters()}
    tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, schedule=parse_schedule(text))
    trained = parse_schedule(text).entry_stages(LAYERS)
    expected = {name for name, at in depth.items() if at is None or trained[at] is not None}
    moved = changed(before, tagger)
    assert moved <= expected
    # Softmax does not change with a bias on keys, nor the tagger with a position that no sentence reaches.
    assert {depth[name] for name in moved} == {depth[name] for name in expected}
    assert len(expected - moved) <= 0.2 * len(expected)
    assert {name: parameter.requires_grad for name, parameter in tagger.named_parameters()} == flags


@pytest.mark.parametrize("family", FAMILIES)
def test_lower_layers_wait_for_their_boundary(family, tokenizer, tagged, tmp_path):
    tagger = a_tagger(family_encoder(family, tokenizer))
    before, depth, seen = copied(tagger), depths(tagger), {}

    def progress(step, total, **numbers):
        seen[step] = {depth[name] for name in changed(before, tagger)}

    tuning = Tuning(learning_rate=3e-3, steps=8, tokens_per_batch=128, weight_decay=0.1)
    schedule = parse_schedule("gradual:groups=3,every=2")
    tune(tagger, Tagging(tagger, tagged), tuning, 0, tmp_path, progress, schedule=schedule)
    steps = [seen[step] for step in range(1, 9)]
    assert steps == [{None, 3}] * 2 + [{None, 2, 3}] * 2 + [{None, 1, 2, 3}] * 4


@pytest.mark.parametrize("stops", [(1,), (2,), (3, 5)])
def test_a_gradual_run_resumes_with_the_same_bits(stops, tokenizer, tagged, tmp_path):
    def run(folder, progress=lambda *_, **__: None):
        tagger = a_tagger(family_encoder("bert", tokenizer))
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        schedule = parse_schedule("gradual:groups=3,every=2,decay=0.8")
        history = tune(tagger, task, QUICK, 0, folder, progress, checkpoint_seconds=0.0, schedule=schedule)
        return module_weights(tagger), history

    for stop in stops:
        with pytest.raises(StoppedError):
            run(tmp_path / "stopped", stop_at(stop))
    resumed, whole = run(tmp_path / "stopped"), run(tmp_path / "whole")
    assert all(torch.equal(resumed[0][name], tensor) for name, tensor in whole[0].items())
    assert resumed[1] == whole[1]


def test_no_schedule_freeze_nothing_and_decay_of_one_are_the_same(tokenizer, tagged, tmp_path):
    results = []
    for run, text in enumerate([None, "freeze:-1", "freeze:-1,decay=1"]):
        tagger = a_tagger(family_encoder("bert", tokenizer))
        schedule = text and parse_schedule(text)
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path / str(run), schedule=schedule)
        results.append(copied(tagger))
    for other in results[1:]:
        assert all(torch.equal(results[0][name], tensor) for name, tensor in other.items())


def test_another_schedules_checkpoint_is_refused(tokenizer, tagged, tmp_path):
    def run(text):
        tagger = a_tagger(family_encoder("bert", tokenizer))
        task, schedule = Tagging(tagger, tagged), parse_schedule(text)
        tune(tagger, task, QUICK, 0, tmp_path, stop_at(2), checkpoint_seconds=0.0, schedule=schedule)

    with pytest.raises(StoppedError):
        run("freeze:1")
    with pytest.raises(InputError, match="a checkpoint of another training run"):
        run("freeze:2")


def test_decay_slows_lower_layers_down(tokenizer, tagged, tmp_path):
    """With a sign-like optimizer step (one step, no decay of weights) each weight moves by its own rate."""
    tagger = a_tagger(family_encoder("bert", tokenizer), dropout=0.0)
    before, depth = copied(tagger), depths(tagger)
    tuning = Tuning(learning_rate=1e-3, steps=1, warmup=0, weight_decay=0, epsilon=1e-12, clip=None)
    tune(tagger, Tagging(tagger, tagged), tuning, 0, tmp_path, schedule=parse_schedule("freeze:-1,decay=0.5"))
    for at, factor in {0: 0.125, 1: 0.25, 2: 0.5, 3: 1.0, None: 1.0}.items():
        moves = [(module_weights(tagger)[name] - before[name]).abs().max() for name in depth if depth[name] == at]
        assert max(moves).item() == pytest.approx(1e-3 * factor, rel=0.01)


def test_frozen_parts_have_no_dropout_unless_wanted(tokenizer):
    model = family_encoder("bert", tokenizer).model
    layers = layers_of(backbone_of(model))
    with trained_part(model, parse_schedule("layers:1-2"), [1], 0) as part:
        modes = [layer.attention.output.dropout.training for layer in layers]
        assert (modes, model.bert.embeddings.dropout.training) == ([False, True, False], False)
        model.eval()
        part.train()
        assert [layer.attention.output.dropout.training for layer in layers] == modes
    with trained_part(model, parse_schedule("layers:1-2,frozen_dropout=true"), [1], 0):
        assert all(module.training for module in model.modules())
    with trained_part(model, parse_schedule("gradual:groups=3"), [1, 3, 5], 0) as part:
        assert [layer.training for layer in layers] == [False, False, True]
        part.reach(4)
        assert [layer.training for layer in layers] == [False, True, True]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("text", "lowest"), [("freeze:2", 2), ("layers:1-2", 1), ("upper:last", 2), ("freeze:3", None)]
)
def test_backward_stops_at_the_lowest_trained_layer(family, text, lowest, tokenizer, tagged):
    tagger = a_tagger(family_encoder(family, tokenizer))
    task, reached = Tagging(tagger, tagged), set()
    for number, layer in enumerate(layers_of(tagger.backbone)):
        layer.register_forward_hook(lambda _module, _inputs, output, number=number: watch(number, output))

    def watch(number, output):
        states = output[0] if isinstance(output, tuple) else output
        if states.requires_grad:
            states.register_hook(lambda gradient: reached.add(number))

    with trained_part(tagger, parse_schedule(text), [1], 0):
        task.loss(tagger, task.batch(task.lengths.argsort()[:8], torch.Generator())).backward()
    assert reached == (set() if lowest is None else set(range(lowest, LAYERS)))


def test_a_decoder_tied_to_the_embeddings_is_frozen_with_them(tokenizer, sentences, tmp_path):
    model = family_encoder("bert", tokenizer).model
    before = copied(model)
    task = MaskedLanguageModelling(tokenizer, sentences, 24, dev={"qaa": HeldOut.of(tokenizer, sentences[:5], 24)})
    tune(model, task, QUICK, 0, tmp_path, schedule=parse_schedule("upper:last"))
    moved = changed(before, model)
    assert "cls.predictions.bias" in moved
    assert "cls.predictions.transform.dense.weight" in moved
    assert "bert.embeddings.word_embeddings.weight" not in moved
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_clipping_counts_only_what_is_trained(tokenizer, tagged):
    tagger = a_tagger(family_encoder("bert", tokenizer))
    task = Tagging(tagger, tagged)
    batch = task.batch(task.lengths.argsort()[:8], torch.Generator())
    with trained_part(tagger, parse_schedule("gradual:groups=3"), [1, 3, 5], 0) as part:
        for step in (1, 3):
            part.reach(step)
            task.loss(tagger, batch).backward()
            own = [one.grad.square().sum() for one in tagger.parameters() if one.requires_grad]
            norm = nn.utils.clip_grad_norm_(part.flats, 1e9)
            assert norm.item() == pytest.approx(sum(own).sqrt().item(), rel=1e-5)
            for flat in part.flats:
                if flat.grad is not None:
                    flat.grad.zero_()


def test_a_model_without_an_encoder_has_no_schedule(tagged, tmp_path):
    tagger = BiLstmTagger(BiLstmBackbone(Vocabulary.of([one.words for one in tagged])), LABELS)
    with pytest.raises(InputError, match="BiLstmTagger has none: train it without a schedule"):
        tune(tagger, BiLstmTagging(tagger, tagged), QUICK, 0, tmp_path, schedule=parse_schedule("freeze:0"))


def test_a_schedule_that_does_not_fit_changes_nothing(tokenizer, tagged, tmp_path):
    tagger = a_tagger(family_encoder("bert", tokenizer))
    before = copied(tagger)
    with pytest.raises(InputError, match="but the encoder has 3"):
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, schedule=parse_schedule("freeze:4"))
    assert not changed(before, tagger)
    assert all(parameter.requires_grad for parameter in tagger.parameters())


# --- adapters


@pytest.mark.parametrize("family", FAMILIES)
def test_adapters_are_merged_into_the_matrices(family, tokenizer, tagged, tmp_path):
    pytest.importorskip("peft")
    tagger = a_tagger(family_encoder(family, tokenizer))
    before, depth = copied(tagger), depths(tagger)
    task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
    history = tune(tagger, task, QUICK, 0, tmp_path, schedule=parse_schedule("freeze:1,lora=2"))
    after = module_weights(tagger)
    assert list(after) == list(before)
    moved = changed(before, tagger)
    assert {depth[name] for name in moved} == {None, 2, 3}
    for name in moved:
        if depth[name] is not None:
            assert after[name].ndim == 2
            assert torch.linalg.matrix_rank(after[name] - before[name], atol=1e-5) <= 2
    kept = read_weights(tmp_path / "best.safetensors")
    assert all(torch.equal(kept[name], tensor) for name, tensor in after.items())
    value = next(point.value for point in history.points if point.step == history.best_step and "dev" in point.split)
    assert task.evaluate(tagger)["qaa"] == value
    assert all(parameter.requires_grad for parameter in tagger.parameters())


def test_adapters_resume_with_the_same_bits(tokenizer, tagged, tmp_path):
    pytest.importorskip("peft")

    def run(folder, progress=lambda *_, **__: None):
        tagger = a_tagger(family_encoder("bert", tokenizer))
        schedule = parse_schedule("gradual:groups=3,every=2,lora=2")
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, folder, progress, checkpoint_seconds=0.0, schedule=schedule)
        return module_weights(tagger)

    with pytest.raises(StoppedError):
        run(tmp_path / "stopped", stop_at(3))
    resumed, whole = run(tmp_path / "stopped"), run(tmp_path / "whole")
    assert all(torch.equal(resumed[name], tensor) for name, tensor in whole.items())


def test_adapters_without_peft(tokenizer, tagged, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    tagger = a_tagger(family_encoder("bert", tokenizer))
    with pytest.raises(InputError, match=r"lora needs the library peft: pip install 'babelscope\[lora\]'"):
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, schedule=parse_schedule("freeze:1,lora=2"))


# --- the watch


class Notes:
    """A watch that does all it can to disturb."""

    def __init__(self, every):
        self.every, self.resumed, self.seen = every, [], []

    def resume(self, step):
        self.resumed.append(step)

    def due(self, step, total):
        return step % self.every == 0

    def observe(self, step, model):
        assert not model.training
        assert not torch.is_grad_enabled()
        torch.rand(step + 3)
        model.train()
        self.seen.append((step, {name: tensor.clone() for name, tensor in module_weights(model).items()}))


@pytest.mark.parametrize("text", [None, "gradual:groups=3,every=2"])
def test_a_watch_sees_the_steps_and_changes_nothing(text, tokenizer, tagged, tmp_path):
    def run(folder, watch=None, progress=lambda *_, **__: None):
        tagger = a_tagger(family_encoder("bert", tokenizer))
        given = {"checkpoint_seconds": 0.0, "schedule": text and parse_schedule(text), "watch": watch}
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, folder, progress, **given)
        return module_weights(tagger)

    notes, alone = Notes(2), run(tmp_path / "alone")
    start = copied(a_tagger(family_encoder("bert", tokenizer)))
    watched = run(tmp_path / "watched", notes)
    assert all(torch.equal(watched[name], tensor) for name, tensor in alone.items())
    assert (notes.resumed, [step for step, _ in notes.seen]) == ([0], [0, 2, 4, 6])
    assert all(torch.equal(start[name], tensor) for name, tensor in notes.seen[0][1].items())
    assert all(torch.equal(alone[name], tensor) for name, tensor in notes.seen[-1][1].items())

    first, second = Notes(2), Notes(2)
    with pytest.raises(StoppedError):
        run(tmp_path / "stopped", first, stop_at(3))
    run(tmp_path / "stopped", second)
    assert (first.resumed, [step for step, _ in first.seen]) == ([0], [0, 2])
    assert (second.resumed, [step for step, _ in second.seen]) == ([3], [4, 6])
