"""Speed of training each task against `pos`, and of decoding trees. Run by `make bench`.

All tasks train the same encoder on the same sentences, so that lengths are equal; sentence tasks get a label that does
not matter. Runs alternate, and medians of processor time are compared.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from babelscope.core.examples import SentencePair
from babelscope.core.tasks import TASKS
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tasks.trees import single_root_trees
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from babelscope.world import World

NAMES = ("pos", "ner", "parsing", "sentiment", "inference", "similarity")
ROUNDS, STEPS = 5, 100
TUNING = Tuning(steps=STEPS)


def main() -> None:
    """Print tokens per second of processor time by task, and the seconds that decoding takes."""
    spent: dict[str, list[float]] = {name: [] for name in NAMES}
    for _ in range(ROUNDS):
        for name in NAMES:
            spent[name].append(_tokens_per_second(name))
    usual = statistics.median(spent["pos"])
    for name, speeds in spent.items():
        speed = statistics.median(speeds)
        print(f"{name:12} {speed:8,.0f} tokens/s of one thread, {speed / usual:.2f} of pos")
    _decode()


def _tokens_per_second(name: str) -> float:
    encoder = load_encoder(SHIPPED / "world-natural")
    sentences = World().treebank("qaa", "train", 1000)
    examples: list[object] = list(sentences)
    if name == "ner":
        examples = list(World().entities("qaa", "train", 1000))
    elif TASKS[name].kind in ("classes", "degrees"):
        label = TASKS[name].labels[0] if TASKS[name].labels else 1.0
        examples = [SentencePair(" ".join(one.forms), None, label) for one in sentences]
    task = task_model(encoder, Design(name, entity_types=("LOC", "ORG", "PER")))
    training = task.training(examples, {})
    _ = training.lengths  # encodes the sentences, before the clock starts
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        tune(task.module, training, TUNING, 0, Path(folder))
        return STEPS * TUNING.tokens_per_batch / (time.process_time() - began)


def _decode() -> None:
    scores = np.random.default_rng(0).normal(size=(10_000, 26, 26))
    began = time.perf_counter()
    single_root_trees(scores, np.full(10_000, 25))
    print(f"decoding 10,000 sentences of 25 words, random scores: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
