"""Speed of fine-tuning: Babelscope's loop against transformers.Trainer, on the same encoder and data.

Run by `make bench`, on a machine that does nothing else. The encoder and the data are those of `first-look`. All start
from the same weights, see every sentence equally often with the same schedule, and use all cores. Runs alternate, and
their medians are compared. The Trainer runs with its default batch of 8 sentences, and once more with batches as
large as ours. The learning rate grows with the batch, since a speed-up counts only at equal loss: the held-out loss is
printed beside it.
"""

from __future__ import annotations

import argparse
import copy
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import (
    BertForTokenClassification,
    DataCollatorForTokenClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)
from transformers.utils import logging

from babelscope.core.examples import UPOS, Tagged
from babelscope.encoders.load import Encoder, load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.engine.local import usable_cores
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from babelscope.world import World

ENCODER, LANGUAGE = "world-natural", "qaa"
TOKENS_PER_BATCH, LEARNING_RATE = 1024, 4e-3
"""Of Babelscope's loop."""
TRAINER_LEARNING_RATES = {8: 5e-4, 54: 4e-3}
"""By sentences in a batch; 54 sentences of the world have about 1,024 pieces."""
HEAD_DROPOUT = 0.1


@dataclass(frozen=True)
class Setting:
    """What both sides are given."""

    encoder: Encoder
    train: list[Tagged]
    held_out: list[Tagged]
    tuning: Tuning


def setting(sentences: int, epochs: int) -> Setting:
    """The shipped encoder, six layers of 64, and tagged sentences of the artificial world."""
    world = World(0)
    train, held_out = (
        [Tagged(one.forms, one.upos) for one in world.treebank(LANGUAGE, split, count)]
        for split, count in (("train", sentences), ("test", 500))
    )
    tuning = Tuning(
        learning_rate=LEARNING_RATE,
        epochs=epochs,
        tokens_per_batch=TOKENS_PER_BATCH,
        dropout=HEAD_DROPOUT,
        threads=usable_cores(),
    )
    return Setting(load_encoder(SHIPPED / ENCODER), train, held_out, tuning)


def run_babelscope(given: Setting, seed: int) -> tuple[float, float]:
    """Seconds of training, and the held-out loss."""
    torch.manual_seed(seed)
    tagger = Tagger(copy.deepcopy(given.encoder), UPOS, HEAD_DROPOUT)
    task = Tagging(tagger, given.train)
    _ = task.lengths  # encodes the sentences, as is done for the other side
    with tempfile.TemporaryDirectory() as folder:
        seconds = timed(lambda: tune(tagger, task, given.tuning, seed, Path(folder)))
    return seconds, held_out_loss(tagger, given)


def run_trainer(given: Setting, seed: int, batch: int) -> tuple[float, float]:
    """The same with `transformers.Trainer`: random batches of sentences, padded to the longest."""
    set_seed(seed)
    model = token_classifier(given.encoder)
    examples = [as_features(given.encoder, one) for one in given.train]
    with tempfile.TemporaryDirectory() as folder:
        collator = DataCollatorForTokenClassification(given.encoder.tokenizer)  # pads to the longest of a batch
        trainer = Trainer(model, trainer_arguments(given.tuning, seed, batch, folder), collator, examples)
        trainer.remove_callback(PrinterCallback)
        seconds = timed(trainer.train)
    tagger = Tagger(given.encoder, UPOS, HEAD_DROPOUT)
    tagger.backbone, tagger.classifier = model.bert, model.classifier
    return seconds, held_out_loss(tagger, given)


def trainer_arguments(tuning: Tuning, seed: int, batch: int, folder: str) -> TrainingArguments:
    """The same schedule; everything else as the library has it."""
    return TrainingArguments(
        folder,
        per_device_train_batch_size=batch,
        learning_rate=TRAINER_LEARNING_RATES[batch],
        num_train_epochs=tuning.epochs or 1,
        warmup_steps=tuning.warmup,
        weight_decay=tuning.weight_decay,
        seed=seed,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )


def token_classifier(encoder: Encoder) -> BertForTokenClassification:
    """The encoder with the library's own head."""
    config = copy.deepcopy(encoder.model.config)
    config.num_labels, config.classifier_dropout = len(UPOS), HEAD_DROPOUT
    model = BertForTokenClassification(config)
    model.bert.load_state_dict(encoder.backbone.state_dict())
    return model


def as_features(encoder: Encoder, sentence: Tagged) -> dict[str, Any]:
    """Pieces, with the label at the first piece of each word."""
    encoded = encoder.tokenizer(list(sentence.words), is_split_into_words=True)
    words = encoded.word_ids()
    first = [word is not None and word != before for before, word in zip([None, *words], words, strict=False)]
    labels = [UPOS.index(sentence.labels[word]) if new else -100 for word, new in zip(words, first, strict=True)]
    return {"input_ids": encoded["input_ids"], "attention_mask": encoded["attention_mask"], "labels": labels}


@torch.no_grad()
def held_out_loss(tagger: Tagger, given: Setting) -> float:
    """Mean cross-entropy in nats over the held-out words."""
    tagger.eval()
    task, total, words = Tagging(tagger, given.held_out), 0.0, 0
    for start in range(0, len(task.lengths), 64):
        indices = torch.arange(start, min(start + 64, len(task.lengths))).numpy()
        batch = task.batch(indices, torch.Generator())
        total += float(cross_entropy(tagger(batch.batch, batch.firsts), batch.labels, reduction="sum"))
        words += len(batch.labels)
    return total / words


def timed(work: Callable[[], Any]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def matrix_ceiling(size: int = 1024, repeats: int = 20) -> float:
    """GFLOP/s of a float32 matrix product on all cores, the best of several."""
    first, second = torch.randn(size, size), torch.randn(size, size)
    return 2 * size**3 / min(timed(lambda: first @ second) for _ in range(repeats)) / 1e9


def flops_per_token(encoder: Encoder) -> int:
    """Of the layers' matrices in a forward and a backward pass: six a weight. Attention itself is left out."""
    return 6 * sum(p.numel() for p in encoder.backbone.encoder.parameters() if p.ndim > 1)


def main() -> None:
    """Run both sides alternately and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    torch.set_num_threads(usable_cores())
    logging.set_verbosity_error()
    given = setting(options.sentences, options.epochs)
    pieces = options.epochs * int(Tagging(Tagger(given.encoder, UPOS), given.train).lengths.sum())
    sides: dict[str, Callable[[Setting, int], tuple[float, float]]] = {
        f"Trainer, batches of {batch}": partial(run_trainer, batch=batch) for batch in TRAINER_LEARNING_RATES
    }
    sides["babelscope"] = run_babelscope
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for seed in range(options.runs):
        for name, run in sides.items():
            results[name].append(run(given, seed))
    report(results, pieces, flops_per_token(given.encoder), options.runs)


def report(results: dict[str, list[tuple[float, float]]], pieces: int, flops: int, runs: int) -> None:
    """Print medians over runs."""
    machine = f"{usable_cores()} threads, {platform.machine()}, torch {torch.__version__}"
    print(f"POS fine-tuning, 6 layers of 64, float32, {machine}")
    print(f"{runs} alternating runs of {pieces} pieces (padding not counted); medians")
    print(f"matrix-product ceiling: {matrix_ceiling():.0f} GFLOP/s")
    ours = median_speed(results["babelscope"], pieces)
    for name, values in results.items():
        speed, losses = median_speed(values, pieces), [loss for _, loss in values]
        print(
            f"{name:22s} {speed:7.0f} tokens/s  {speed * flops / 1e9:5.1f} GFLOP/s  held-out loss "
            f"{statistics.median(losses):.4f} ({min(losses):.4f} to {max(losses):.4f})  "
            f"babelscope is {ours / speed:.2f} times as fast"
        )


def median_speed(values: list[tuple[float, float]], pieces: int) -> float:
    """Pieces a second."""
    return statistics.median(pieces / seconds for seconds, _ in values)


if __name__ == "__main__":
    main()
