"""The optimizer and its learning rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from babelscope.tuning.freezing import Rule
from babelscope.tuning.settings import Tuning


def adamw(parameters: Sequence[nn.Parameter], rules: Sequence[Rule], tuning: Tuning) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, 2019), fused, over flat parameters with a rule each."""
    groups = []
    for parameter, rule in zip(parameters, rules, strict=True):
        decay = tuning.weight_decay if rule.decays else 0.0
        own = {"decay": decay, "factor": rule.factor, "first_step": rule.first_step}
        groups.append({"params": [parameter], "weight_decay": decay, **own})
    return torch.optim.AdamW(groups, lr=tuning.learning_rate, betas=tuning.betas, eps=tuning.epsilon, fused=True)


def learning_rate(step: int, total: int, tuning: Tuning) -> float:
    """Of step 1..total: up linearly over the warm-up, then down linearly, to reach 0 just after the last step."""
    warmup = math.ceil(tuning.warmup * total)
    share = step / warmup if step <= warmup else (total - step + 1) / (total - warmup)
    return tuning.learning_rate * share


def set_rate(optimizer: torch.optim.Optimizer, step: int, total: int, tuning: Tuning) -> None:
    """Set the learning rate of step 1..total, times each group's own factor."""
    rate = learning_rate(step, total, tuning)
    for group in optimizer.param_groups:
        group["lr"] = group["factor"] * rate
        if not tuning.bias_correction or tuning.epsilon_before_correction:
            _correct_otherwise(group, step - group["first_step"] + 1, tuning)


def _correct_otherwise(group: dict[str, Any], step: int, tuning: Tuning) -> None:
    """Have torch's AdamW add epsilon before the correction, or take the step of AdamW without bias correction.

    torch divides the running means of a group's step t by 1 - beta^t, and adds epsilon then. Epsilon, rate and decay
    are scaled so that these divisors cancel out. A group counts its own steps, since it may have joined late. (torch's
    own count may be on an accelerator, and to read it would be to wait for it.)
    """
    if step < 1:
        return
    first, root = 1 - tuning.betas[0] ** step, math.sqrt(1 - tuning.betas[1] ** step)
    group["eps"] = tuning.epsilon / root
    if not tuning.bias_correction:
        group["lr"] *= first / root
        group["weight_decay"] = group["decay"] * root / first
