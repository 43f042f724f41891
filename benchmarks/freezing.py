"""A sweep over the number of frozen layers, with and without a memo of what they give. Run by `make bench`.

BERT of 12 layers of 256 with random weights, part-of-speech tagging. For each number of layers, from -1 to 11, one run
without the memo and one with it; the memo is shared by the sweep. Processor time is compared, and the scores.

    python benchmarks/freezing.py --sentences 200 --epochs 3
"""

from __future__ import annotations

import argparse
import copy
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

from babelscope.core.examples import UPOS, Tagged
from babelscope.encoders.load import Encoder
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tuning.loop import tune
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.schedule import parse_schedule
from babelscope.tuning.settings import Tuning
from babelscope.world import World

LAYERS = 12
SHAPE = Shape(hidden=256, layers=LAYERS, heads=4, feed_forward=1024, positions=64)


def main(sentences: int, epochs: int) -> None:
    """Print seconds and scores of each pair of runs, and the ratios."""
    world = World()
    train, dev = (
        [Tagged(one.forms, one.upos) for one in world.treebank("qaa", split, count)]
        for split, count in (("train", sentences), ("dev", sentences // 4))
    )
    tokenizer = train_wordpiece([" ".join(one.words) for one in train], 1000)
    encoder, memo = new_encoder(SHAPE, tokenizer, seed=0, name="random"), StateMemo()
    seconds: dict[int, tuple[float, float]] = {}
    for frozen in range(-1, LAYERS):
        (plain, score), (recalled, again) = (_run(encoder, train, dev, frozen, epochs, given) for given in (None, memo))
        seconds[frozen] = plain, recalled
        print(f"freeze:{frozen:<3} {plain:7.2f} s, with the memo {recalled:7.2f} s; accuracy {score:.4f}, {again:.4f}")
    plain, recalled = (sum(column) for column in zip(*seconds.values(), strict=True))
    top = seconds[LAYERS - 1]
    print(f"all: {recalled / plain:.2f} of the time (at most 0.85); the last: {top[1] / top[0]:.2f} (at most 0.30)")


def _run(
    encoder: Encoder, train: list[Tagged], dev: list[Tagged], frozen: int, epochs: int, memo: StateMemo | None
) -> tuple[float, float]:
    """Seconds of processor time, and the accuracy on the dev set."""
    torch.manual_seed(0)
    tagger = Tagger(replace(encoder, model=copy.deepcopy(encoder.model)), UPOS)
    task = Tagging(tagger, train, {"dev": dev})
    _ = task.lengths, task.held_out  # encodes the sentences, before the clock starts
    tuning, schedule = Tuning(epochs=epochs), parse_schedule(f"freeze:{frozen}")
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        history = tune(tagger, task, tuning, 0, Path(folder), schedule=schedule, memo=memo)
        seconds = time.process_time() - began
    return seconds, max(point.value for point in history.points if point.split == "dev dev")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args()
    main(given.sentences, given.epochs)
