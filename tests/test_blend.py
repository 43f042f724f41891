"""Models between models: the ends are the ends, the plane holds the path, and nothing that goes in is changed."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.encoders.blend import Blend, moved, random_direction
from babelscope.encoders.load import Encoder
from babelscope.measures.formulas.survey import coefficients
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tuning.checkpoint import read_weights, write_weights
from families import DECODERS, FAMILIES, family_model


def parameters(model):
    return {name: weight.detach() for name, weight in model.named_parameters()}


def drawn(model, seed):
    """Weights of the model's shapes; some are negative zeros, which sums with zero would turn positive."""
    generator = torch.Generator().manual_seed(seed)
    corner = {name: torch.randn(weight.shape, generator=generator) for name, weight in model.named_parameters()}
    for weight in corner.values():
        weight.flatten()[0] = -0.0
    return corner


def tagger(tokenizer, family="bert"):
    encoder = Encoder(family_model(family, vocabulary=len(tokenizer)), tokenizer, family)
    return task_model(encoder, Design("pos")).module


def same_bits(one, other):
    return all(np.array_equal(one[name].numpy().view(np.int32), other[name].numpy().view(np.int32)) for name in one)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_corner_has_its_bits(family, tokenizer):
    model = tagger(tokenizer, family)
    corners = [drawn(model, seed) for seed in range(3)]
    blend = Blend(model, corners)
    for place, corner in enumerate(corners):
        blend.move([0.3, 0.3, 0.4])
        blend.move([float(place == k) for k in range(3)])
        assert same_bits(parameters(model), corner)


@settings(deadline=None)
@given(parts=st.lists(st.floats(-2, 2), min_size=1, max_size=4))
def test_a_combination_is_the_sum_of_the_corners(parts):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))
    coefficients = [*parts, 1 - sum(parts)]
    corners = [drawn(model, seed) for seed in range(len(coefficients))]
    blend = Blend(model, corners)
    blend.move(coefficients)
    for name, weight in parameters(model).items():
        terms = zip(coefficients, corners, strict=True)
        wanted = sum(part * corner[name].double().numpy() for part, corner in terms)
        np.testing.assert_allclose(weight.numpy(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("alpha", [-0.5, 0.025, 0.3, 0.7, 1.5])
def test_the_plane_holds_the_path(alpha, tokenizer):
    corners = [drawn(tagger(tokenizer), seed) for seed in range(3)]
    on_path, on_plane = tagger(tokenizer), tagger(tokenizer)
    Blend(on_path, corners[:2]).move([1 - alpha, alpha])
    Blend(on_plane, corners).move([1 - alpha - 0.0, alpha, 0.0])
    assert same_bits(parameters(on_path), parameters(on_plane))


def test_corners_are_not_changed_and_the_model_still_computes(tokenizer, tagged):
    model = tagger(tokenizer)
    corners = [drawn(model, seed) for seed in range(2)]
    before = copy.deepcopy(corners)
    blend = Blend(model, corners)
    blend.move([0.5, 0.5])
    alone = tagger(tokenizer)
    with torch.no_grad():
        for name, weight in alone.named_parameters():
            weight.copy_(parameters(model)[name])
    words = [sentence.words for sentence in tagged]
    assert model.predict(words) == alone.predict(words)
    assert all(same_bits(one, other) for one, other in zip(corners, before, strict=True))


def test_blending_commutes_with_saving_and_loading(tokenizer, tmp_path):
    corners = [drawn(tagger(tokenizer), seed) for seed in range(2)]
    for number, corner in enumerate(corners):
        write_weights(tmp_path / f"{number}.safetensors", corner)
    direct, loaded = tagger(tokenizer), tagger(tokenizer)
    Blend(direct, corners).move([0.3, 0.7])
    Blend(loaded, [read_weights(tmp_path / f"{number}.safetensors") for number in range(2)]).move([0.3, 0.7])
    assert same_bits(parameters(direct), parameters(loaded))


def test_only_named_weights_move(tokenizer):
    model = tagger(tokenizer)
    corners = [drawn(model, seed) for seed in range(2)]
    before = {name: weight.clone() for name, weight in parameters(model).items()}
    names = [name for name in corners[0] if name.startswith("backbone.")]
    Blend(model, corners, names).move([0.0, 1.0])
    for name, weight in parameters(model).items():
        assert torch.equal(weight, (corners[1] if name in names else before)[name]), name


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in DECODERS])
def test_tied_weights_move_together(family, tokenizer):
    model = family_model(family, vocabulary=len(tokenizer))
    embeddings, decoder = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    assert embeddings is decoder
    Blend(model, [drawn(model, seed) for seed in range(2)]).move([0.5, 0.5])
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_what_cannot_be_combined_is_refused(tokenizer):
    model = tagger(tokenizer)
    corner = drawn(model, 0)
    with pytest.raises(InputError, match="1 models to combine"):
        Blend(model, [corner])
    name = next(iter(corner))
    with pytest.raises(InputError, match=rf"model 2 to combine: {name} is missing; the working model"):
        Blend(model, [corner, {key: weight for key, weight in corner.items() if key != name}])
    with pytest.raises(InputError, match=rf"model 2 to combine: {name} is \(1,\); the working model"):
        Blend(model, [corner, corner | {name: torch.zeros(1)}])
    with pytest.raises(InputError, match="nonsense: the model has no such weight"):
        Blend(model, [corner, corner], ["nonsense"])
    blend = Blend(model, [corner, corner])
    for wrong in ([1.0], [0.5, 0.6], [0.2, 0.3, 0.5], [float("nan"), 1.0], [float("inf"), -float("inf")]):
        with pytest.raises(InputError, match="give 2 that add up to 1"):
            blend.move(wrong)


@pytest.mark.parametrize("count", [2, 3, 48, 999])
def test_the_mean_of_any_number_of_models_can_be_taken(count):
    """Each share is rounded to ten digits, and the sum of 48 of them was too far from 1."""
    model = torch.nn.Linear(1, 1)
    corners = [{"weight": torch.full((1, 1), float(k)), "bias": torch.ones(1)} for k in range(count)]
    Blend(model, corners).move(coefficients((1 / count,) * (count - 1)))
    assert model.weight.item() == pytest.approx((count - 1) / 2, rel=1e-5) and model.bias.item() == pytest.approx(1)


def test_a_random_direction_is_as_long_as_the_weights_row_by_row(tokenizer):
    weights = parameters(tagger(tokenizer))
    direction, again, other = (random_direction(weights, seed) for seed in (1, 1, 2))
    assert same_bits(direction, again) and not same_bits(direction, other)
    for name, weight in weights.items():
        if weight.dim() < 2:
            assert not direction[name].any()
            continue
        for own, row in zip(weight.flatten(1), direction[name].flatten(1), strict=True):
            assert float(own.double().norm()) == pytest.approx(float(row.double().norm()), rel=1e-5)
    there = moved(weights, direction, 0.5)
    name = next(name for name, weight in weights.items() if weight.dim() == 2)
    np.testing.assert_allclose(there[name], weights[name] + 0.5 * direction[name], rtol=1e-6)
