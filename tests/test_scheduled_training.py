"""Training by schedules: what is frozen keeps its bits, layers wait for their turn, adapters are merged."""

import sys

import pytest
import torch
from torch import nn

from babelscope.core.errors import InputError
from babelscope.tasks.bilstm.backbone import BiLstmBackbone
from babelscope.tasks.bilstm.tag import BiLstmTagger, BiLstmTagging
from babelscope.tasks.bilstm.words import Vocabulary
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.tag import Tagging
from babelscope.tuning.checkpoint import module_weights, read_weights
from babelscope.tuning.freezing import backbone_of, layers_of, trained_part
from babelscope.tuning.loop import tune
from babelscope.tuning.schedule import parse_schedule
from babelscope.tuning.settings import Tuning
from taggers import FAMILIES, LABELS, LAYERS, Notes, StoppedError, a_tagger, changed, copied, family_encoder, stop_at

QUICK = Tuning(learning_rate=3e-3, steps=6, tokens_per_batch=128)


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
    with pytest.raises(InputError, match="BiLstmTagger has no pre-trained encoder: train it without a schedule"):
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
