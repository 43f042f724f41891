"""Learning to fill in hidden pieces: Babelscope's loop against `transformers.Trainer`, as in `benchmarks.training`.

Both start from the same weights, hide 15 in a hundred pieces, and see every sentence equally often. Ours computes the
vocabulary's logits where a piece is hidden alone. Rates are a quarter of a tagger's, since the encoder has learned this
language before.
"""

from __future__ import annotations

import copy
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from transformers import DataCollatorForLanguageModeling, set_seed

from babelscope.encoders.load import Encoder
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tuning.loop import tune
from benchmarks.machine import timed
from benchmarks.table import OURS, Benchmark, Run
from benchmarks.training import BEST, SIZES, USUAL_BATCH, Given, seconds_of_trainer, setting


def benchmark(size: str) -> Benchmark:
    """Of an encoder of that size, in float32."""
    chosen = replace(SIZES[size], rate=SIZES[size].rate / 4)
    given = setting(chosen, "float32")
    lines = [" ".join(sentence.words) for sentence in given.train]
    task = MaskedLanguageModelling(given.encoder.tokenizer, lines, given.encoder.max_length)
    pieces = chosen.epochs * int(task.lengths.sum())
    best = max(1, round(1024 * len(lines) * chosen.epochs / pieces))
    sides = {
        OURS: partial(_babelscope, given, task),
        "Trainer, as it is": partial(_trainer, given, lines, {}, USUAL_BATCH, chosen.rate / 8),
        "Trainer, best flags": partial(_trainer, given, lines, BEST, best, chosen.rate),
    }
    return Benchmark(f"Masked language modelling, {chosen.title}, float32", "tokens/s", pieces, sides)


def _babelscope(given: Given, task: MaskedLanguageModelling, seed: int) -> Run:
    encoder = _copied(given.encoder)
    with tempfile.TemporaryDirectory() as folder:
        seconds = timed(lambda: tune(encoder.model, task, given.tuning, seed, Path(folder)))
    return Run(seconds, _loss(encoder, given))


def _trainer(given: Given, lines: list[str], flags: dict[str, Any], batch: int, rate: float, seed: int) -> Run:
    set_seed(seed)
    encoder = _copied(given.encoder)
    examples: Any = [{"input_ids": encoder.tokenizer(line)["input_ids"]} for line in lines]
    collator = DataCollatorForLanguageModeling(encoder.tokenizer)
    asked = {"per_device_train_batch_size": batch, "learning_rate": rate, "seed": seed, **flags}
    seconds = seconds_of_trainer(encoder.model, examples, collator, given.tuning, asked)
    return Run(seconds, _loss(encoder, given))


def _copied(encoder: Encoder) -> Encoder:
    return Encoder(copy.deepcopy(encoder.model), encoder.tokenizer, encoder.name)


def _loss(encoder: Encoder, given: Given) -> float:
    """Mean loss in nats over hidden pieces of the held-out sentences, the same for all sides."""
    encoder.model.eval()
    lines = [" ".join(sentence.words) for sentence in given.held_out]
    total, count = HeldOut.of(encoder.tokenizer, lines, encoder.max_length).losses(encoder.model).sum(axis=0)
    return float(total / count)
