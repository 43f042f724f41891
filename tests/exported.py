"""A model to export, whose predictions differ."""

import torch

from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model


def made(encoder, task, seed=0, **choices):
    """A model whose predictions differ, as if it were trained."""
    torch.manual_seed(seed)
    model = task_model(encoder, Design(task, **choices))
    with torch.no_grad():
        for name, weight in model.module.named_parameters():
            if not name.startswith("backbone"):
                weight.normal_(std=0.5)
    model.module.eval()
    return model
