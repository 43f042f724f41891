"""Batches padded to shapes that come again, for passes that a GPU computes as graphs of kernels."""

from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, RobertaConfig

from babelscope.core.devices import is_out_of_memory
from babelscope.core.errors import InputError, NoMemoryError
from babelscope.encoders.masks import masks_unread
from babelscope.tasks.tag import Tagging
from babelscope.tuning import loop, packing
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.compiled_layers import CompiledLayers
from babelscope.tuning.freezing import layers_of
from babelscope.tuning.graphs import UNCAPTURED, Passes, _check_bfloat16, can_be_captured, graphed
from babelscope.tuning.loop import tune
from babelscope.tuning.packing import NARROWEST, Packed, Room, is_packed
from babelscope.tuning.padding import Padded, rounded
from babelscope.tuning.settings import Tuning
from every_task import bilstm_tasks
from taggers import FAMILIES, StoppedError, a_tagger, family_encoder, same_weights, stop_at


@given(st.integers(1, 2000), st.integers(2, 4), st.sampled_from([1, 8]))
def test_sizes_are_rounded_up_to_few(size, digits, least):
    up = rounded(size, digits, least)
    assert size <= up < (1 + 2 ** (1 - digits)) * size + least and up % least == 0
    assert rounded(up, digits, least) == up
    if least == 1:
        assert len(f"{up:b}".rstrip("0")) <= digits


def config_of(first):
    """Of a family whose sequences have that first position."""
    return RobertaConfig(pad_token_id=1) if first else BertConfig()


def batch(rows=3, width=11):
    ids = torch.randint(5, 60, (rows, width), generator=torch.Generator().manual_seed(0))
    real = torch.arange(width) < torch.tensor([[width], [width - 4], [width - 1]])[:rows]
    return ids, real


def result(backbone, ids, real, passes=None):
    """Last states of what is real, and the gradient of something of them with respect to all weights."""
    backbone.zero_grad()
    mask = None if real.all() else real
    states = (passes or backbone)(input_ids=ids, attention_mask=mask).last_hidden_state[real]
    states.sin().sum().backward()
    gradients = {
        name: weights.grad.clone() for name, weights in backbone.named_parameters() if weights.grad is not None
    }
    return states.detach(), gradients


@pytest.fixture(params=["packed", "padded"])
def shape(request, monkeypatch):
    """Has encoders that can be packed read batches so, or padded, however narrow they are."""
    monkeypatch.setattr(packing, "NARROWEST", 0 if request.param == "packed" else 10**6)
    return request.param


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_shape_changes_last_digits_alone(tokenizer, family, whole, shape):
    """Of states and of gradients, where something was padded before and where nothing was."""
    backbone = family_encoder(family, tokenizer).backbone.train()
    for module in backbone.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    ids, real = batch()
    real = torch.ones_like(real) if whole else real
    states, gradients = result(backbone, ids, real)
    padded_states, padded_gradients = result(backbone, ids, real, Passes(backbone))
    torch.testing.assert_close(padded_states, states, rtol=1e-4, atol=1e-5)
    assert padded_gradients.keys() == gradients.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(padded_gradients[name], gradient, rtol=1e-3, atol=1e-4, msg=name)


def compile_by(monkeypatch, backend, **settings):
    """Has torch compile by it, in place of what makes kernels."""
    own = torch.compile
    made = partial(own, backend=backend, **settings)
    monkeypatch.setattr(torch, "compile", lambda passed, dynamic, options: made(passed, dynamic=dynamic))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in UNCAPTURED])
def test_layers_are_compiled_once_for_all_shapes(tokenizer, family, monkeypatch, shape):
    """Without breaks, for passes of training alone; what is computed is the same."""
    backbone = family_encoder(family, tokenizer).backbone.train()
    for module in backbone.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    own = deepcopy(backbone)
    from torch._dynamo.testing import CompileCounterWithBackend  # takes a second to import

    compiled = CompileCounterWithBackend("eager")
    compile_by(monkeypatch, compiled, fullgraph=True)
    passes = Passes(backbone, CompiledLayers(layers_of(backbone)))
    for rows, width in ((3, 11), (2, 18), (3, 9)):
        ids, real = batch(rows, width)
        (states, gradients), (expected, theirs) = result(backbone, ids, real, passes), result(own, ids, real)
        torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-5)
        for name, gradient in theirs.items():
            torch.testing.assert_close(gradients[name], gradient, rtol=1e-3, atol=1e-4, msg=name)
    count = compiled.frame_count
    with torch.no_grad():
        passes(input_ids=ids)
    assert compiled.frame_count == count
    assert count == 1 or (family == "modernbert" and count <= 4)  # whose layers are of two kinds, with windows
    assert not any("forward" in vars(each) for each in backbone.modules())
    result(backbone, *batch(), Passes(backbone, CompiledLayers(layers_of(backbone))))
    assert compiled.frame_count > count  # another training compiles anew


@pytest.mark.parametrize(
    ("change", "packed"),
    [
        ({}, True),
        ({"hidden_size": NARROWEST - 64}, False),
        ({"num_attention_heads": NARROWEST // 4}, False),
        ({"attn_implementation": "eager"}, False),
        ({"is_decoder": True}, False),
    ],
)
def test_wide_encoders_whose_attention_has_kernels_for_it_are_packed(change, packed):
    config = BertConfig(**{"hidden_size": NARROWEST, "num_attention_heads": 8, "attn_implementation": "sdpa"} | change)
    assert is_packed(SimpleNamespace(config=config, device=torch.device("cpu"))) == packed
    assert not is_packed(SimpleNamespace(config=config, device=torch.device("mps")))


def test_one_compilation_serves_the_passes_of_a_graph_too(tokenizer, monkeypatch, shape):
    """Which are computed while autocast keeps nothing; a batch of one row, and one of more than a block."""
    from torch._dynamo.testing import CompileCounterWithBackend

    backbone, compiled = family_encoder("bert", tokenizer).backbone.train(), CompileCounterWithBackend("eager")
    compile_by(monkeypatch, compiled)
    passes = Passes(backbone, CompiledLayers(layers_of(backbone)))
    for rows, width, cached in ((3, 11, True), (3, 11, False), (1, 9, True), (20, 20, True)):
        ids = torch.randint(5, 60, (rows, width))
        with masks_unread(), torch.autocast("cpu", torch.bfloat16, cache_enabled=cached):
            states = passes(
                input_ids=ids, attention_mask=torch.arange(width) < width - 1 + ids[:, :1] % 2
            ).last_hidden_state
        states.float().sum().backward()
    assert compiled.frame_count == 1


def test_layers_are_compiled_by_a_batch_that_is_always_the_same(tokenizer, monkeypatch, shape):
    """Before the first one, so that a run that goes on has the same bits; it leaves no trace in what is computed."""
    backbone, read = family_encoder("bert", tokenizer).backbone.train(), []
    compile_by(monkeypatch, "eager")
    monkeypatch.setattr(
        Passes, "_read", lambda passes, *given, own=Passes._read: (read.append(given[0].shape), own(passes, *given))[1]
    )
    found = []
    for rows, width, compiled in (
        (3, 11, CompiledLayers(layers_of(backbone))),
        (3, 11, None),
        (2, 7, CompiledLayers(layers_of(backbone))),
    ):
        torch.manual_seed(1)
        found.append(result(backbone, *batch(rows, width), Passes(backbone, compiled)))
    assert read[0] == read[3] != read[1] == read[2] != read[4] and len(read) == 5
    torch.testing.assert_close(found[0], found[1])  # with dropout


@pytest.mark.parametrize("backward", [True, False])
def test_what_cannot_be_compiled_says_what_to_leave_out(encoder, monkeypatch, backward):
    from torch._dynamo.backends.common import aot_autograd

    def broken(graph, examples):
        raise RuntimeError("no compiler")

    backbone = deepcopy(encoder).backbone.train()
    compile_by(
        monkeypatch, aot_autograd(fw_compiler=lambda graph, _: graph, bw_compiler=broken) if backward else broken
    )
    with pytest.raises(InputError, match=r"compile: true: torch cannot compile .* no compiler.*; leave it out"):
        Passes(backbone, CompiledLayers(layers_of(backbone)))(input_ids=batch()[0])
    assert not any("forward" in vars(each) for each in backbone.modules())


def test_options_of_a_later_torch_are_left_out(monkeypatch):
    given = []
    monkeypatch.setattr(torch, "compile", lambda passed, dynamic, options: given.append(options))
    monkeypatch.setattr(torch._inductor, "list_options", lambda: ["fx_graph_cache", "other"])
    CompiledLayers([torch.nn.Linear(1, 1)])
    assert given == [{"fx_graph_cache": False}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"device": "cpu"}, "takes device: cuda and precision: bfloat16; they are cpu and bfloat16. Or leave"),
        ({"precision": "float32"}, "takes device: cuda and precision: bfloat16; they are cuda and float32. Or leave"),
        ({"micro_tokens": 100}, "compile and micro_tokens do not go together"),
        ({"recompute": True}, "compile and recompute do not go together"),
        ({"encoder_dropout": False}, "compile and encoder_dropout: false do not go together"),
    ],
)
def test_what_is_compiled_is_whole_batches_on_a_gpu(given, said):
    assert Tuning(compile=True, precision="bfloat16", device="cuda").compile
    with pytest.raises(ValueError, match=said):
        Tuning(compile=True, **{"precision": "bfloat16", "device": "cuda"} | given)


def test_a_family_that_copies_in_its_passes_is_not_captured(tokenizer):
    """To fail in a capture leaves a device's memory in disorder."""
    backbones = [family_encoder(family, tokenizer).backbone for family in FAMILIES]
    assert not any(map(can_be_captured, backbones))
    on_cuda = [SimpleNamespace(device=torch.device("cuda"), config=backbone.config) for backbone in backbones]
    assert [family for family, each in zip(FAMILIES, on_cuda, strict=True) if not can_be_captured(each)] == [
        "deberta-v2"
    ]


def test_a_padded_batch_lies_in_the_upper_left():
    ids, real = batch(3, 5)
    types = torch.ones_like(ids)
    padded = Padded({"input_ids": ids[:, :3], "attention_mask": real[:, :3], "token_type_ids": types[:, :3]}, 512)
    inputs = padded.inputs()
    assert {name: tuple(tensor.shape) for name, tensor in inputs.items()} == dict.fromkeys(inputs, (3, 8))
    assert torch.equal(inputs["input_ids"][:, :3], ids[:, :3]) and inputs["input_ids"].sum() == ids[:, :3].sum()
    assert torch.equal(inputs["attention_mask"][:, :3], real[:, :3]) and inputs["token_type_ids"].sum() == 9
    more = Padded({"input_ids": ids[:, :3].repeat(3, 1)}, 512).inputs()["attention_mask"]
    assert more.shape == (10, 8) and more[:9, :3].all() and more[9, 0] and more.sum() == 28


@st.composite
def lengths(draw):
    """Of sequences, the longest of which is the width of a batch."""
    return draw(st.lists(st.integers(1, draw(st.integers(1, 300))), min_size=1, max_size=40))


@given(lengths(), st.sampled_from([0, 2]))
def test_packed_sequences_lie_one_after_the_other(lengths, first):
    """Against a loop; every sequence has one piece or more, or the batch fills its room."""
    width = max(lengths)
    ids = torch.randint(5, 10**6, (len(lengths), width))
    real = torch.arange(width) < torch.tensor(lengths)[:, None]
    packed = Packed({"input_ids": ids, "attention_mask": real, "token_type_ids": ids + 1}, config_of(first))
    inputs, room, total = packed.inputs(), packed.shape, sum(lengths)
    assert inputs["input_ids"].shape == (1, room.pieces) and room == Room.of(len(lengths), width)
    assert inputs["input_ids"][0, :total].tolist() == [
        number for row, length in zip(ids.tolist(), lengths, strict=True) for number in row[:length]
    ]
    assert torch.equal(inputs["token_type_ids"], inputs["input_ids"] + 1)
    assert inputs["position_ids"][0, :total].tolist() == [
        first + place for length in lengths for place in range(length)
    ]
    offsets = inputs["offsets"].tolist()
    assert len(offsets) == room.sequences + 1 and offsets[-1] == room.pieces
    found = [end - start for start, end in pairwise(offsets)]
    assert found[: len(lengths)] == lengths and 0 <= min(found) <= max(found) <= room.longest
    states = torch.randn(1, room.pieces, 3, requires_grad=True)
    unpadded = packed.unpadded(states)
    assert torch.equal(unpadded[real], states[0, :total])
    gradient = torch.randn_like(unpadded)
    unpadded.backward(gradient)
    assert torch.equal(states.grad[0, :total], gradient[real]) and not states.grad[0, total:].any()


def test_what_is_no_pass_of_training_is_left_alone(encoder):
    backbone = deepcopy(encoder).backbone
    ids, real = batch()
    expected = backbone.eval()(input_ids=ids, attention_mask=real)
    passes = Passes(backbone)
    output = passes(input_ids=ids, attention_mask=real)
    assert torch.equal(output.last_hidden_state, expected.last_hidden_state) and type(output) is type(expected)
    states = passes(input_ids=ids, attention_mask=real, output_hidden_states=True).hidden_states
    assert len(states) == backbone.config.num_hidden_layers + 1
    backbone.train()
    with torch.no_grad():
        assert type(passes(input_ids=ids)) is type(expected)
    assert type(passes(input_ids=ids)) is not type(expected)
    backbone.requires_grad_(False)
    assert type(passes(input_ids=ids)) is type(expected)


def test_a_shape_is_no_wider_than_the_positions(encoder):
    """An encoder with 24 positions reads 23 pieces, which would be rounded up to 24, and 24."""
    for width in (23, 24):
        ids = torch.full((2, width), 7)
        assert Padded({"input_ids": ids}, 24).shape == (2, 24)


def test_a_backbone_is_its_own_again(encoder, tagged):
    backbone = deepcopy(encoder).backbone
    for model in (type("Model", (torch.nn.Module,), {})(), next(bilstm_tasks(tagged))[0]):
        if not hasattr(model, "backbone"):
            model.backbone = backbone
        with graphed(model):
            assert ("forward" in vars(backbone)) == (model.backbone is backbone)
        assert "forward" not in vars(backbone)


@pytest.mark.parametrize("fails", ["loss", "evaluate"])
def test_what_does_not_fit_beside_graphs_is_computed_without_them(encoder, tagged, tmp_path, monkeypatch, shape, fails):
    """With the same bits: what the first try added to the gradients is nowhere. Without graphs it fails."""

    class Tight(Tagging):
        left = 0

        def loss(self, model, batch):
            loss = super().loss(model, batch)
            if self.is_short("loss"):
                loss.backward()
                raise RuntimeError("CUDA error: out of memory")
            return loss

        def evaluate(self, model):
            if self.is_short("evaluate"):
                raise RuntimeError("CUDA error: out of memory")
            return super().evaluate(model)

        def is_short(self, where):
            self.left -= where == fails
            return self.left == 0 and where == fails

    def with_graphs(passes, *given):
        made(passes, *given)
        passes._graphs["a shape"] = "a graph"

    monkeypatch.setattr(loop, "_as_graphs", lambda tuning, schedule: True)
    short, ended, made = Tuning(steps=6, tokens_per_batch=128, validate_every=1), [], Passes.__init__
    for name, tight in (("usual", 0), ("tight", 4)):
        model = a_tagger(encoder)
        task = Tight(model, tagged)
        task.left = tight
        if tight:
            monkeypatch.setattr(Passes, "__init__", with_graphs)
        with pytest.warns(match="too little memory beside") if tight else nullcontext():
            tune(model, task, short, 1, tmp_path / name)
        ended.append(module_weights(model))
    assert same_weights(*ended)
    monkeypatch.setattr(Passes, "__init__", made)
    task.left = 4
    error, said = (NoMemoryError, "declare micro_tokens") if fails == "loss" else (RuntimeError, "out of memory")
    with pytest.raises(error, match=said):
        tune(model, task, short, 1, tmp_path / "alone")


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("Tried to allocate 20 GiB"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 17 GB)"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
    ],
)
def test_what_accelerators_say_where_memory_is_short(error, is_memory):
    assert is_out_of_memory(error) is is_memory


def test_a_gpu_without_bfloat16_compiles_nothing(monkeypatch):
    for native in (True, False):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", Mock(return_value=native))
        with nullcontext() if native else pytest.raises(InputError, match="no bfloat16 of its own; leave it out"):
            _check_bfloat16(torch.device("cuda"))
        _check_bfloat16(torch.device("cpu"))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_stopped_run_in_shapes_ends_with_the_same_bits(encoder, tagged, tmp_path, monkeypatch, shape, compiled):
    """On a processor, kernel by kernel, with dropout; and it learns what a run without them does."""
    if compiled:
        compile_by(monkeypatch, "eager")
    short = Tuning(learning_rate=1e-3, steps=12, tokens_per_batch=128, validate_every=6)
    in_shapes = short.model_copy(update={"compile": compiled})
    usual, whole, stopped, again = ((tagger, Tagging(tagger, tagged)) for tagger in (a_tagger(encoder) for _ in "1234"))
    expected = tune(*usual, short, 1, tmp_path / "usual").points
    monkeypatch.setattr(loop, "_as_graphs", lambda tuning, schedule: True)
    history = tune(*whole, in_shapes, 1, tmp_path / "whole" / "run")
    with pytest.raises(StoppedError):
        tune(*stopped, in_shapes, 1, tmp_path / "run", stop_at(7), checkpoint_seconds=0)
    assert tune(*again, in_shapes, 1, tmp_path / "run") == history
    assert same_weights(module_weights(whole[0]), module_weights(again[0]))
    assert [point.value for point in history.points] == pytest.approx([point.value for point in expected], rel=0.1)
