"""Scores of models between tuned ones, and angles between these, the slow way."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from babelscope.core.tasks import TASKS
from babelscope.corpora.datasets import find
from babelscope.encoders.load import load_encoder
from babelscope.tasks.design import Design
from babelscope.tasks.measured import measured
from babelscope.tasks.models import task_model
from babelscope.world.meaning import NAME_CLASS


def slow_scores(
    encoder: Path, task: str, first: dict, second: dict, alpha: float, part: str = "all"
) -> tuple[dict[str, float], dict[str, float]]:
    """Scores of a model that is made of weights mixed in float64, as an evaluation has them; and with its loss."""
    moving = {"all": ("",), "encoder": ("backbone.", "bert."), "head": ("classifier.", "biaffine.", "cls.")}[part]
    mixed = {
        name: ((1 - alpha) * first[name].astype(np.float64) + alpha * second[name]).astype(np.float32)
        if name.startswith(moving)
        else first[name]
        for name in first
    }
    types = tuple(sorted(set(NAME_CLASS.values()))) if task == "ner" else ()
    model = task_model(load_encoder(encoder), Design(task, entity_types=types))
    for name, weight in model.module.named_parameters():
        weight.data = weight.data.new_tensor(mixed[name])
    data = find(task, "world:qab", "test", 10).read()
    scores = {score.measure: score.value for score in model.scores(data)}
    return {name: scores[name] for name in TASKS[task].measures}, measured(model, data)()


COMPONENTS = {
    "attention.output.LayerNorm": "norms", "output.LayerNorm": "norms", "attention": "attention",
    "intermediate": "feed-forward", "output": "feed-forward",
}  # fmt: skip
OUTSIDE = {
    "embeddings.word_embeddings": "word-embeddings", "embeddings.position_embeddings": "positions",
    "embeddings.LayerNorm": "norms", "embeddings.token_type_embeddings": "other",
}  # fmt: skip


def groups_of(name: str) -> list[str]:
    """The groups of a weight of a BERT's model, by rules of the test's own."""
    for prefix in ("backbone.", "bert."):
        if name.startswith(prefix):
            inner = name.removeprefix(prefix)
            break
    else:
        return ["all", "head"]
    if inner.startswith("encoder.layer."):
        number, _, inside = inner.removeprefix("encoder.layer.").partition(".")
        return [
            "all",
            f"layer {int(number) + 1}",
            next(COMPONENTS[key] for key in COMPONENTS if inside.startswith(key)),
        ]
    return ["all", next(OUTSIDE[key] for key in OUTSIDE if inner.startswith(key))]


def expected_angles(origin: dict, first: dict, second: dict) -> dict[tuple[str, str], float]:
    """By group and measure, from the differences of all parameters in one long vector of float64."""
    differences: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    parameters = {name: weight for name, weight in origin.items() if weight.dtype == np.float32}
    for name, start in parameters.items():
        pair = tuple((side[name].astype(np.float64) - start).ravel() for side in (first, second))
        for group in groups_of(name):
            differences.setdefault(group, []).append(pair)
    found = {}
    for group, pairs in differences.items():
        one, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
        if not one.any() or not other.any():
            continue
        norms = np.linalg.norm(one), np.linalg.norm(other)
        found |= {(group, "norm to first"): norms[0], (group, "norm to second"): norms[1]}
        found[group, "norm ratio"] = norms[0] / norms[1]
        found[group, "angle"] = np.degrees(np.arccos(one @ other / (norms[0] * norms[1])))
    return found
