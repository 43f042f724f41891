"""The optimizer and its learning rate: each step against the formula, and which weights decay."""

import copy

import torch
from torch import nn

from babelscope.tuning.flat import flattened
from babelscope.tuning.freezing import Rule, trained_part
from babelscope.tuning.optimizer import adamw, learning_rate, set_rate
from babelscope.tuning.settings import Tuning


def test_learning_rate_rises_and_falls_linearly():
    tuning = Tuning(learning_rate=1.0, warmup=0.25)
    assert [round(learning_rate(step, 8, tuning), 4) for step in range(1, 9)] == [
        0.5, 1.0, 1.0, 0.8333, 0.6667, 0.5, 0.3333, 0.1667,
    ]  # fmt: skip
    assert learning_rate(1, 8, Tuning(learning_rate=1.0, warmup=0)) == 1.0


def test_optimizer_step_equals_the_formula_of_adamw():
    """One step by hand: moments, bias correction, decoupled decay on matrices only."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    tuning = Tuning(learning_rate=0.1, weight_decay=0.5, betas=(0.9, 0.99), epsilon=1e-6)
    before = {name: tensor.clone() for name, tensor in layer.named_parameters()}
    optimizer = adamw([layer.weight, layer.bias], [Rule(decays=True), Rule(decays=False)], tuning)
    layer(torch.ones(1, 3)).square().sum().backward()
    gradients = {name: tensor.grad.clone() for name, tensor in layer.named_parameters()}
    optimizer.step()
    for name, tensor in layer.named_parameters():
        decay = 0.5 if name == "weight" else 0.0
        first = 0.1 * gradients[name] / (1 - 0.9)
        second = 0.01 * gradients[name] ** 2 / (1 - 0.99)
        expected = before[name] * (1 - 0.1 * decay) - 0.1 * first / (second.sqrt() + 1e-6)
        torch.testing.assert_close(tensor.detach(), expected)


def test_steps_without_bias_correction_equal_the_formula():
    """By hand: running means from 0 as they are, decoupled decay on matrices only; a changing rate."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    tuning = Tuning(learning_rate=0.1, weight_decay=0.5, betas=(0.9, 0.99), epsilon=1e-3, bias_correction=False)
    joins_late = Rule(first_step=2, decays=False)
    optimizer = adamw([layer.weight, layer.bias], [Rule(decays=True, factor=0.5), joins_late], tuning)
    expected = {name: tensor.detach().clone() for name, tensor in layer.named_parameters()}
    means = {name: (torch.zeros_like(tensor), torch.zeros_like(tensor)) for name, tensor in expected.items()}
    for step in (1, 2, 3):
        rate = learning_rate(step, 3, tuning)
        layer.bias.requires_grad_(step >= 2)
        layer(torch.ones(1, 3)).square().sum().backward()
        for name, tensor in layer.named_parameters():
            if tensor.grad is None:
                continue
            own_rate, decay = (0.5 * rate, 0.5) if name == "weight" else (rate, 0.0)
            first, second = means[name]
            means[name] = first, second = 0.9 * first + 0.1 * tensor.grad, 0.99 * second + 0.01 * tensor.grad**2
            expected[name] *= 1 - own_rate * decay
            expected[name] -= own_rate * first / (second.sqrt() + 1e-3)
        set_rate(optimizer, step, 3, tuning)
        optimizer.step()
        optimizer.zero_grad()
        for name, tensor in layer.named_parameters():
            torch.testing.assert_close(tensor.detach(), expected[name])


def test_epsilon_before_the_correction_is_as_transformers_adamw_had_it():
    """By hand: the root of the mean of squares and epsilon, then the correction of both means; one group joins late."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    tuning = Tuning(learning_rate=0.1, weight_decay=0.0, betas=(0.9, 0.99), epsilon=0.5, epsilon_before_correction=True)
    rules = [Rule(decays=True), Rule(decays=False, first_step=2)]
    optimizer = adamw([layer.weight, layer.bias], rules, tuning)
    expected = {name: tensor.detach().clone() for name, tensor in layer.named_parameters()}
    means = {name: (torch.zeros_like(tensor), torch.zeros_like(tensor)) for name, tensor in expected.items()}
    for step in (1, 2, 3):
        layer.bias.requires_grad_(step >= 2)
        layer(torch.ones(1, 3)).square().sum().backward()
        for (name, tensor), own in zip(layer.named_parameters(), (step, step - 1), strict=True):
            if tensor.grad is None:
                continue
            first, second = means[name]
            means[name] = first, second = 0.9 * first + 0.1 * tensor.grad, 0.99 * second + 0.01 * tensor.grad**2
            size = learning_rate(step, 3, tuning) * (1 - 0.99**own) ** 0.5 / (1 - 0.9**own)
            expected[name] -= size * first / (second.sqrt() + 0.5)
        set_rate(optimizer, step, 3, tuning)
        optimizer.step()
        optimizer.zero_grad()
        for name, tensor in layer.named_parameters():
            torch.testing.assert_close(tensor.detach(), expected[name])


def test_matrices_decay_and_vectors_do_not(encoder):
    model, shapes = copy.deepcopy(encoder.model), {}
    for name, parameter in model.named_parameters():
        parameter.data.fill_(name.endswith("bias") or "LayerNorm" in name)
        shapes[name] = parameter.shape
    with trained_part(model, None, [1], 0) as part:
        assert [rule.decays for rule in part.rules] == [True, False]
        assert not part.flats[0].any()
        assert part.flats[1].all()
        assert sum(flat.numel() for flat in part.flats) == sum(shape.numel() for shape in shapes.values())
    assert {name: parameter.shape for name, parameter in model.named_parameters()} == shapes


def test_flattened_parameters_are_views_while_it_lasts():
    layer = nn.Linear(3, 2)
    weight, before = layer.weight, layer.weight.detach().clone()
    with flattened([[layer.weight], [layer.bias]]) as (flat, _):
        layer(torch.ones(1, 3)).sum().backward()
        assert torch.equal(flat.grad, torch.ones(6))
        flat.data.add_(1)
    assert layer.weight is weight
    assert torch.equal(weight, before + 1)
    assert weight.grad is None
    flat.data.zero_()
    assert torch.equal(weight, before + 1)
