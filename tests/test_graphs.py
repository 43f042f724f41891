"""Batches padded to shapes that come again, for passes that a GPU computes as graphs of kernels."""

from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babelscope.tuning.graphs import Passes, can_be_captured, fill, graphed, padded, rounded
from every_task import bilstm_tasks
from taggers import FAMILIES, family_encoder


@given(st.integers(1, 2000), st.sampled_from([1, 8]))
def test_sizes_are_rounded_up_to_few(size, least):
    up = rounded(size, least)
    assert size <= up < 1.25 * size + least and up % least == 0
    assert rounded(up, least) == up
    if least == 1:
        assert len(f"{up:b}".rstrip("0")) <= 3


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


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_padding_to_a_shape_changes_last_digits_alone(tokenizer, family, whole):
    """Of states and of gradients, in every family, where something was padded before and where nothing was."""
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


def test_a_family_that_copies_in_its_passes_is_not_captured(tokenizer):
    """To fail in a capture leaves a device's memory in disorder."""
    backbones = [family_encoder(family, tokenizer).backbone for family in FAMILIES]
    assert not any(map(can_be_captured, backbones))
    on_cuda = [SimpleNamespace(device=torch.device("cuda"), config=backbone.config) for backbone in backbones]
    assert [family for family, each in zip(FAMILIES, on_cuda, strict=True) if not can_be_captured(each)] == [
        "deberta-v2"
    ]


def test_a_batch_lies_in_the_upper_left_and_nothing_stays_of_the_one_before():
    ids, real = batch(3, 5)
    types = torch.ones_like(ids)
    inputs = padded({"input_ids": ids, "attention_mask": real, "token_type_ids": types}, (4, 8))
    assert {name: tuple(tensor.shape) for name, tensor in inputs.items()} == dict.fromkeys(inputs, (4, 8))
    assert torch.equal(inputs["input_ids"][:3, :5], ids) and inputs["input_ids"].sum() == ids.sum()
    assert torch.equal(inputs["attention_mask"][:3, :5], real)
    assert inputs["attention_mask"].sum() == real.sum() + 1 and inputs["attention_mask"][3, 0]
    fill(inputs, {"input_ids": ids[:1, :2], "token_type_ids": types[:1, :2]})
    assert inputs["input_ids"].sum() == ids[0, :2].sum() and inputs["token_type_ids"].sum() == 2
    assert inputs["attention_mask"].sum() == 2 + 3


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
    backbone = deepcopy(encoder).backbone.train()
    for width in (23, 24):
        ids = torch.full((2, width), 7)
        assert Passes(backbone)(input_ids=ids).last_hidden_state.shape[1] == width


def test_a_backbone_is_its_own_again(encoder, tagged):
    backbone = deepcopy(encoder).backbone
    for model in (type("Model", (torch.nn.Module,), {})(), next(bilstm_tasks(tagged))[0]):
        if not hasattr(model, "backbone"):
            model.backbone = backbone
        with graphed(model):
            assert ("forward" in vars(backbone)) == (model.backbone is backbone)
        assert "forward" not in vars(backbone)
