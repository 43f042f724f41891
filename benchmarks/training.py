"""Fine-tuning a tagger, and learning language: Babelscope's loop against `transformers.Trainer`.

Both start from the same weights and see every sentence equally often with the same schedule, on all cores. The Trainer
runs with its usual settings (8 sentences a batch, float32), and with the flags that make it fastest: batches as large
as ours, of sentences of like lengths, a fused optimizer, and our precision. Its learning rate grows with the batch. A
speed counts only at equal loss, which is in the table.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForTokenClassification,
    BertConfig,
    DataCollatorForTokenClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)
from transformers import logging as transformers_logging

from babelscope.core.examples import UPOS, Tagged
from babelscope.encoders.load import Encoder, load_encoder, untrained_model
from babelscope.encoders.on_device import each_tensor
from babelscope.encoders.places import SHIPPED
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.engine.local import usable_cores
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tuning.loop import Progress, tune
from babelscope.tuning.settings import Tuning
from babelscope.world import World
from benchmarks.machine import timed
from benchmarks.table import OURS, Benchmark, Run

HEAD_DROPOUT, USUAL_BATCH = 0.1, 8
BEST = {"optim": "adamw_torch_fused", "train_sampling_strategy": "group_by_length"}
"""The Trainer's flags that make it fastest, in float32."""


@dataclass(frozen=True)
class Size:
    """An encoder, and how much of the world's text it is tuned on."""

    title: str
    sentences: int
    epochs: int
    rate: float
    """The learning rate of our batches, of about 1,024 pieces; the Trainer's small ones take an eighth of it."""
    config: dict[str, Any] | None
    """None: the shipped encoder."""


SIZES = {
    "world": Size("6 x 64", 1500, 6, 4e-3, None),
    "small": Size("6 x 384", 600, 2, 1e-3, {
        "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
        "vocab_size": 30_522,
    }),
    "base": Size("BERT-base", 410, 1, 2e-4, {"vocab_size": 30_522}),
    "xlmr": Size("XLM-R-base", 410, 1, 2e-4, {"vocab_size": 250_002}),
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """What both sides are given."""

    encoder: Encoder
    train: list[Tagged]
    held_out: list[Tagged]
    tuning: Tuning


def benchmarks(names: list[str], precision: str) -> Iterator[Benchmark]:
    """Tagging, by size of the encoder."""
    transformers_logging.set_verbosity_error()
    torch.set_num_threads(usable_cores())
    for name in names:
        size, given = SIZES[name], setting(SIZES[name], precision)
        task = Tagging(Tagger(given.encoder, UPOS), given.train)
        pieces = size.epochs * int(task.lengths.sum())
        best, flags = batch_of(1024, task), {**BEST, "bf16": precision == "bfloat16"}
        sides = {
            OURS: partial(babelscope_run, given),
            "Trainer, as it is": partial(trainer_run, given, {}, USUAL_BATCH, size.rate / 8),
            "Trainer, best flags": partial(trainer_run, given, flags, best, size.rate),
        }
        flops = products(given.encoder) * pieces
        yield Benchmark(f"Tagging, {size.title}, {precision}", "tokens/s", pieces, sides, flops, precision)


def batch_of(tokens: int, task: Tagging) -> int:
    """How many sentences have so many pieces, on average."""
    return max(1, round(tokens * len(task.lengths) / int(task.lengths.sum())))


def products(encoder: Encoder) -> float:
    """Floating-point operations of a piece's matrix products, forward and backward; without those of attention."""
    return 6.0 * sum(weight.numel() for weight in encoder.backbone.encoder.parameters() if weight.ndim > 1)


def setting(size: Size, precision: str) -> Given:
    """An encoder of that size, and tagged sentences of the artificial world."""
    world = World(0)
    train, held_out = (
        [Tagged(sentence.forms, sentence.upos) for sentence in world.treebank("qaa", split, count)]
        for split, count in (("train", size.sentences), ("test", min(500, size.sentences)))
    )
    encoder = load_encoder(SHIPPED / "world-natural")
    if size.config is not None:
        torch.manual_seed(0)
        tokenizer = train_wordpiece([" ".join(sentence.words) for sentence in train], 4000)
        encoder = Encoder(untrained_model(BertConfig(**size.config)), tokenizer, size.title)
    tuning = Tuning(
        learning_rate=size.rate, epochs=size.epochs, tokens_per_batch=1024, dropout=HEAD_DROPOUT,
        threads=usable_cores(), precision=precision,
    )  # fmt: skip
    return Given(encoder, train, held_out, tuning)


def babelscope_run(given: Given, seed: int, progress: Progress = lambda done, total, **numbers: None) -> Run:
    """Tunes a tagger by our loop."""
    torch.manual_seed(seed)
    tagger = Tagger(copy.deepcopy(given.encoder), UPOS, HEAD_DROPOUT, given.tuning.max_length)
    task = Tagging(tagger, given.train)
    _ = task.lengths  # encodes the sentences, as is done for the other side
    with tempfile.TemporaryDirectory() as folder:
        seconds = timed(lambda: tune(tagger, task, given.tuning, seed, Path(folder), progress))
    return Run(seconds, _held_out_loss(tagger, given))


def trainer_run(given: Given, flags: dict[str, Any], batch: int, rate: float, seed: int) -> Run:
    """Tunes a tagger by `transformers.Trainer`."""
    set_seed(seed)
    config = copy.deepcopy(given.encoder.model.config)
    config.num_labels, config.classifier_dropout = len(UPOS), HEAD_DROPOUT
    model = AutoModelForTokenClassification.from_config(config)
    model.base_model.load_state_dict(given.encoder.backbone.state_dict(), strict=False)
    examples = [_features(given.encoder, sentence, given.tuning.max_length) for sentence in given.train]
    collator = DataCollatorForTokenClassification(given.encoder.tokenizer)
    asked = {"per_device_train_batch_size": batch, "learning_rate": rate, "seed": seed, **flags}
    seconds = seconds_of_trainer(model, examples, collator, given.tuning, asked)
    tagger = Tagger(given.encoder, UPOS, HEAD_DROPOUT)
    tagger.backbone, tagger.classifier = model.base_model, model.classifier
    return Run(seconds, _held_out_loss(tagger, given))


def seconds_of_trainer(model: Any, examples: Any, collator: Any, tuning: Tuning, asked: dict[str, Any]) -> float:
    """What `transformers.Trainer` takes with these arguments, and as many epochs as our tuning."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, num_train_epochs=tuning.epochs or 1, warmup_steps=tuning.warmup, weight_decay=tuning.weight_decay,
            use_cpu=tuning.device == "cpu", report_to=[], save_strategy="no", disable_tqdm=True, **asked,
        )  # fmt: skip
        trainer = Trainer(model, arguments, collator, examples)
        trainer.remove_callback(PrinterCallback)
        return timed(trainer.train)


def _features(encoder: Encoder, sentence: Tagged, longest: int | None) -> dict[str, Any]:
    """Pieces, with the label at the first piece of each word."""
    encoded = encoder.tokenizer(list(sentence.words), is_split_into_words=True)
    words = encoded.word_ids()
    first = [word is not None and word != before for before, word in zip([None, *words], words, strict=False)]
    labels = [UPOS.index(sentence.labels[word]) if new else -100 for word, new in zip(words, first, strict=True)]
    whole = {"input_ids": encoded["input_ids"], "attention_mask": encoded["attention_mask"], "labels": labels}
    return {name: values[:longest] for name, values in whole.items()}


@torch.no_grad()
def _held_out_loss(tagger: Tagger, given: Given) -> float:
    """Mean cross-entropy in nats over the held-out words."""
    tagger.eval()
    task, total, words = Tagging(tagger, given.held_out), 0.0, 0
    device = tagger.classifier.weight.device
    for start in range(0, len(task.lengths), 64):
        indices = torch.arange(start, min(start + 64, len(task.lengths))).numpy()
        batch = each_tensor(lambda tensor: tensor.to(device), task.batch(indices, torch.Generator()))
        total += float(cross_entropy(tagger(batch.batch, batch.firsts), batch.labels, reduction="sum"))
        words += len(batch.labels)
    return total / words
