"""On a GPU, where there is one: what tests elsewhere look at with accelerators that are made up."""

import random
import warnings
from copy import deepcopy
from itertools import chain
from pathlib import Path

import pytest
import torch

import babelscope as bs
from babelscope.core.errors import NoMemoryError
from babelscope.core.examples import Tagged
from babelscope.encoders.cka import linear_cka
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.encoders.tap import sentence_states
from babelscope.tasks.tag import Tagging
from babelscope.tuning import packing
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.descent import Descent
from babelscope.tuning.graphs import Passes
from babelscope.tuning.loop import tune
from babelscope.tuning.packing import NARROWEST, has_kernels, is_packed
from babelscope.tuning.settings import Tuning
from every_task import bilstm_tasks, tasks
from taggers import StoppedError, a_tagger, same_weights, stop_at

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")

KINDS = ("tagging", "parsing", "classification", "masked language modelling", "BiLSTM tagging", "BiLSTM parsing")
PRECISIONS = ("float32", "bfloat16")
SHORT = Tuning(learning_rate=3e-3, steps=12, tokens_per_batch=128, validate_every=6, device="cuda")


@pytest.fixture
def made(encoder, tagged, sentences):
    """Makes a model of a kind, and its task, anew."""

    def make(kind):
        return list(chain(tasks(encoder, tagged, sentences), bilstm_tasks(tagged)))[KINDS.index(kind)]

    return make


def need_kernels():
    if not has_kernels(torch.device("cuda")):
        pytest.skip("this GPU has no kernels for packed batches")


@pytest.fixture(params=["packed", "padded"])
def shape(request, monkeypatch):
    """Has batches packed where an encoder can read them so, or padded."""
    if request.param == "packed":
        need_kernels()
    monkeypatch.setattr(packing, "NARROWEST", 0 if request.param == "packed" else 10**6)


@pytest.fixture
def captured(monkeypatch):
    """The graphs that are made; that none can be is an error."""
    graphs, capture = [], Passes._capture

    def noted(*given):
        graphs.append(capture(*given))
        return graphs[-1]

    monkeypatch.setattr(Passes, "_capture", noted)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "passes are computed kernel by kernel")
        yield graphs


def curve(history):
    return [point.value for point in history.points if point.split == "train"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_two_runs_end_with_the_same_bits(made, tmp_path, kind, precision, shape):
    """Dropout, dev sets and their curves included."""
    ended = []
    for name in ("first", "second"):
        model, task = made(kind)
        history = tune(model, task, SHORT.model_copy(update={"precision": precision}), 1, tmp_path / name)
        ended.append((history, {name: tensor.cpu() for name, tensor in module_weights(model).items()}))
    assert ended[0][0] == ended[1][0]
    assert same_weights(ended[0][1], ended[1][1])


@pytest.mark.parametrize("kind", ["tagging", "BiLSTM tagging", "BiLSTM parsing"])
def test_it_learns_as_a_processor_does(made, tmp_path, kind):
    """Without dropout, whose random numbers are others."""
    curves = []
    for device in ("cpu", "cuda"):
        model, task = made(kind)
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        steady = SHORT.model_copy(update={"device": device, "learning_rate": 1e-4})
        curves.append(curve(tune(model, task, steady, 1, tmp_path / device)))
    assert curves[0] == pytest.approx(curves[1], rel=1e-3)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", KINDS[:4])
def test_graphs_change_no_bit(made, tmp_path, monkeypatch, kind, precision, shape, captured):
    """Against the same kernels one by one; and that there are graphs."""
    longer = SHORT.model_copy(update={"precision": precision, "steps": 40})
    ended = []
    for name in ("graphs", "kernels"):
        model, task = made(kind)
        history = tune(model, task, longer, 1, tmp_path / name)
        ended.append((history, {name: tensor.cpu() for name, tensor in module_weights(model).items()}))
        monkeypatch.setattr(Passes, "_graph", lambda *given: None)
    assert captured
    assert ended[0][0] == ended[1][0]
    assert same_weights(ended[0][1], ended[1][1])


@pytest.mark.parametrize("kind", KINDS[:4])
def test_compiled_layers_change_last_digits_alone(made, tmp_path, kind, shape, captured):
    """Without dropout, whose random numbers are others; two runs end with the same bits."""
    from torch._dynamo.utils import counters  # takes a second to import

    curves, ended = [], []
    for name, compile in {"kernels": False, "once": True, "twice": True}.items():
        counters.clear()
        captured.clear()
        model, task = made(kind)
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        steady = SHORT.model_copy(
            update={"learning_rate": 1e-4, "compile": compile, "precision": "bfloat16", "steps": 40}
        )
        curves.append(curve(tune(model, task, steady, 1, tmp_path / name)))
        ended.append({name: tensor.cpu() for name, tensor in module_weights(model).items()})
        assert captured and (counters["stats"]["unique_graphs"] > 0) is compile
    assert curves[0] == pytest.approx(curves[1], rel=1e-2)
    assert curves[1] == curves[2] and same_weights(ended[1], ended[2])


def test_two_compiled_runs_end_with_the_same_bits(made, tmp_path, shape, captured):
    """With dropout, and each compiled anew."""
    from torch._inductor.utils import fresh_inductor_cache  # takes a second to import

    ended = []
    for name in ("first", "second"):
        model, task = made("tagging")
        with fresh_inductor_cache():
            longer = SHORT.model_copy(update={"precision": "bfloat16", "compile": True, "steps": 40})
            tune(model, task, longer, 1, tmp_path / name)
        ended.append({name: tensor.cpu() for name, tensor in module_weights(model).items()})
    assert same_weights(*ended) and captured


@pytest.mark.parametrize("kind", KINDS[:4])
def test_no_step_waits_for_the_device(made, tmp_path, monkeypatch, kind, shape, captured):
    """torch raises an error where one does; in a capture it would be a warning, which is an error here."""
    step = Descent.step

    def watched(*given):
        torch.cuda.set_sync_debug_mode("error")
        try:
            return step(*given)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    monkeypatch.setattr(Descent, "step", watched)
    tune(*made(kind), SHORT, 1, tmp_path)


@pytest.mark.parametrize("settings", [{}, {"compile": True, "precision": "bfloat16"}], ids=["kernels", "compiled"])
def test_a_run_that_was_stopped_ends_with_the_same_bits(made, tmp_path, shape, settings, captured):
    whole, stopped, again = (made("tagging") for _ in range(3))
    short = SHORT.model_copy(update=settings)
    history = tune(*whole, short, 1, tmp_path / "whole" / "run")
    with pytest.raises(StoppedError):
        tune(*stopped, short, 1, tmp_path / "run", stop_at(7), checkpoint_seconds=0)
    assert tune(*again, short, 1, tmp_path / "run") == history
    assert same_weights(module_weights(whole[0]), module_weights(again[0])) and captured


@pytest.mark.parametrize("settings", [{}, {"compile": True}], ids=["kernels", "compiled"])
def test_two_runs_of_a_wide_encoder_end_with_the_same_bits(
    tagged, tokenizer, tmp_path, monkeypatch, settings, captured
):
    """With heads, sequences and batches as large as users have them, packed; the second run has no graphs."""
    need_kernels()
    shape = Shape(hidden=NARROWEST, layers=2, heads=8, feed_forward=4 * NARROWEST, positions=512)
    chance, ended = random.Random(0), []
    long = [joined(chance.choices(tagged, k=chance.randint(1, 30))) for _ in range(400)]
    wide = SHORT.model_copy(update={"precision": "bfloat16", "tokens_per_batch": 4096, "steps": 30} | settings)
    for name in ("first", "second"):
        tagger = a_tagger(new_encoder(shape, tokenizer, 0, "wide"))
        tune(tagger, Tagging(tagger, long), wide, 1, tmp_path / name)
        assert is_packed(tagger.backbone)
        ended.append({name: tensor.cpu() for name, tensor in module_weights(tagger).items()})
        monkeypatch.setattr(Passes, "_graph", lambda *given: None)
    assert same_weights(*ended) and captured


def joined(sentences):
    return Tagged(*(list(chain.from_iterable(each)) for each in zip(*sentences, strict=True)))


@pytest.mark.parametrize("kind", KINDS[:4])
def test_portions_and_states_computed_twice_change_last_digits_alone(made, tmp_path, kind):
    smooth = SHORT.model_copy(update={"tokens_per_batch": 256, "learning_rate": 0.1, "epsilon": 0.1, "steps": 4})
    ended = []
    for name, settings in {"whole": {}, "portions": {"micro_tokens": 60}, "again": {"recompute": True}}.items():
        model, task = made(kind)
        tune(model, task, smooth.model_copy(update={"micro_tokens": 10**6} | settings), 1, tmp_path / name)
        ended.append(module_weights(model))
    for name, weights in ended[0].items():
        torch.testing.assert_close(ended[1][name], weights, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(ended[2][name], weights, rtol=1e-4, atol=1e-4)


def test_a_batch_that_does_not_fit_says_what_to_set(encoder, tagged, tmp_path, monkeypatch):
    tagger, within = a_tagger(encoder), Descent._within_memory

    def short_of_memory(*given):
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(1e-5)
        return within(*given)

    monkeypatch.setattr(Descent, "_within_memory", short_of_memory)
    try:
        with pytest.raises(NoMemoryError, match="declare micro_tokens: 2048 to compute it in portions, or recompute"):
            tune(tagger, Tagging(tagger, tagged * 20), Tuning(tokens_per_batch=4096, device="cuda"), 1, tmp_path)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_encoders_are_as_alike_as_on_a_processor(encoder, sentences):
    other = [sentence[::-1] for sentence in sentences]
    alike = []
    for device in ("cpu", "cuda"):
        moved = deepcopy(encoder)
        moved.model.to(device)
        alike.append(linear_cka(*(sentence_states(moved, texts)[-1] for texts in (sentences, other))))
    torch.testing.assert_close(*alike, rtol=1e-3, atol=1e-4)


def test_two_runs_of_a_study_have_the_same_rows(tmp_path):
    """Adaptation, tasks, frozen layers, probes, similarities and interpolations; steps share the GPU in one of them."""
    study = bs.read_study(Path(__file__).parent / "data" / "gpu.yaml")
    tables = [study.run(store=tmp_path / str(jobs), jobs=jobs).frame() for jobs in (1, 6)]
    assert len(tables[0]) > 300
    same = [column for column in tables[0].columns if "seconds" not in column]
    assert tables[0][same].equals(tables[1][same])
