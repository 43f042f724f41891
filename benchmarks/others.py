"""What is not training: reading sentences, comparing states, decoding trees, frozen layers, starting."""

from __future__ import annotations

import copy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset
from torch_cka import CKA
from transformers import pipeline

from babelscope.core.examples import UPOS, Tagged
from babelscope.encoders.cka import linear_cka
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.tasks.design import Design
from babelscope.tasks.export import save_model
from babelscope.tasks.models import task_model
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tasks.trees import single_root_trees
from babelscope.tuning.loop import tune
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.schedule import parse_schedule
from babelscope.tuning.settings import Tuning
from babelscope.world import World
from benchmarks.machine import timed
from benchmarks.table import OURS, Benchmark, Run

SENTENCES, WIDTH, WORDS, TREES, LAYERS = 1000, 768, 25, 500, 6


def benchmarks() -> Iterator[Benchmark]:
    """In the order of the table."""
    yield _reading()
    yield _comparing()
    yield _decoding()
    yield _freezing()
    yield _starting()


def _reading() -> Benchmark:
    """Tagging sentences, as an evaluation does, and as a pipeline of transformers does."""
    model: Any = task_model(load_encoder(SHIPPED / "world-natural"), Design("pos"))
    sentences = [sentence.forms for sentence in World().treebank("qaa", "test", SENTENCES)]
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "tagger")
        tag = pipeline("token-classification", model=str(Path(folder) / "tagger"), ignore_labels=[])
    texts = [" ".join(words) for words in sentences]
    sides = {
        OURS: lambda seed: Run(timed(lambda: model.module.predict(sentences))),
        "pipeline, a sentence at a time": lambda seed: Run(timed(lambda: tag(texts))),
        "pipeline, 32 sentences": lambda seed: Run(timed(lambda: tag(texts, batch_size=32))),
    }
    return Benchmark("Tagging sentences, 6 x 64", "sentences/s", SENTENCES, sides)


def _comparing() -> Benchmark:
    """Linear CKA of one layer, without Gram matrices and by them; torch_cka estimates it, by those of parts."""
    x, y = torch.randn(2, 4 * SENTENCES, WIDTH)
    sides = {
        OURS: lambda seed: Run(timed(lambda: linear_cka(x, y))),
        "Gram matrices": lambda seed: Run(timed(lambda: _by_gram(x, y))),
        "torch_cka, an estimate by 256 sentences": lambda seed: Run(timed(lambda: _by_torch_cka(x, y, 256))),
    }
    return Benchmark(f"Linear CKA, {WIDTH} wide", "sentences/s", len(x), sides)


def _by_gram(x: Tensor, y: Tensor) -> Tensor:
    k, l = (side @ side.T for side in (x - x.mean(0), y - y.mean(0)))  # noqa: E741
    return (k * l).sum() / (k.norm() * l.norm())


def _by_torch_cka(x: Tensor, y: Tensor, at_once: int) -> Tensor:
    first, second = (nn.Sequential(nn.Identity()) for _ in range(2))
    compared = CKA(first, second, "x", "y", ["0"], ["0"])
    compared.compare(*(DataLoader(TensorDataset(states), batch_size=at_once, drop_last=True) for states in (x, y)))
    return compared.export()["CKA"]


def _decoding() -> Benchmark:
    """The best tree of sentences with random scores; the peer finds it without the condition of one root."""
    scores = np.random.default_rng(0).normal(size=(TREES, WORDS + 1, WORDS + 1))
    sides = {
        OURS: lambda seed: Run(timed(lambda: single_root_trees(scores, np.full(TREES, WORDS)))),
        "networkx": lambda seed: Run(timed(lambda: [_arborescence(each) for each in scores])),
    }
    return Benchmark(f"Decoding trees of {WORDS} words", "sentences/s", TREES, sides)


def _arborescence(scores: NDArray[np.float64]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (head, word, scores[word, head])
        for word in range(1, len(scores))
        for head in range(len(scores))
        if head != word
    )
    return nx.maximum_spanning_arborescence(graph)


def _freezing() -> Benchmark:
    """Runs with 0 to 5 of six layers frozen, with a memo of what these give, and without."""
    world = World()
    train = [Tagged(sentence.forms, sentence.upos) for sentence in world.treebank("qaa", "train", SENTENCES // 2)]

    def sweep(remembers: bool, seed: int) -> Run:
        memo = StateMemo() if remembers else None
        return Run(sum(timed(partial(_frozen, train, frozen, memo)) for frozen in range(LAYERS)))

    sides = {OURS: partial(sweep, True), "the same without a memo": partial(sweep, False)}
    return Benchmark("Freezing 0 to 5 layers, 6 x 64", "sweeps/s", 1, sides)


def _frozen(train: list[Tagged], frozen: int, memo: StateMemo | None) -> None:
    encoder = load_encoder(SHIPPED / "world-natural")
    tagger = Tagger(replace(encoder, model=copy.deepcopy(encoder.model)), UPOS)
    with tempfile.TemporaryDirectory() as folder:
        schedule = parse_schedule(f"freeze:{frozen}")
        tune(tagger, Tagging(tagger, train), Tuning(epochs=4), 0, Path(folder), schedule=schedule, memo=memo)


def _starting() -> Benchmark:
    """`babelscope --help`, and an import of transformers' models alone."""
    commands = {
        OURS: "import sys; sys.argv = ['babelscope', 'list', '--help']; from babelscope.face.cli import main; main()",
        "from transformers import BertModel": "from transformers import BertModel",
    }
    sides = {
        name: lambda seed, code=code: Run(
            timed(lambda: subprocess.run([sys.executable, "-c", code], capture_output=True, check=True))
        )
        for name, code in commands.items()
    }
    return Benchmark("Starting", "starts/s", 1, sides)
