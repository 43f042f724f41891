"""The optimizer and its learning rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from babelscope.tuning.freezing import Rule
from babelscope.tuning.settings import Tuning


def adamw(parameters: Sequence[nn.Parameter], rules: Sequence[Rule], tuning: Tuning) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, 2019), fused, over flat parameters with a rule each."""
    groups = [
        {"params": [parameter], "weight_decay": tuning.weight_decay if rule.decays else 0.0, "factor": rule.factor}
        for parameter, rule in zip(parameters, rules, strict=True)
    ]
    return torch.optim.AdamW(groups, lr=tuning.learning_rate, betas=tuning.betas, eps=tuning.epsilon, fused=True)


def learning_rate(step: int, total: int, tuning: Tuning) -> float:
    """Of step 1..total: up linearly over the warm-up, then down linearly, to reach 0 just after the last step."""
    warmup = math.ceil(tuning.warmup * total)
    share = step / warmup if step <= warmup else (total - step + 1) / (total - warmup)
    return tuning.learning_rate * share


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate, times each group's own factor."""
    for group in optimizer.param_groups:
        group["lr"] = group["factor"] * rate
