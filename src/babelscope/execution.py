"""What the steps compute. Only running steps import this module, so that declarations stay free of torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from babelscope.corpora.treebanks import Treebank
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.places import verify
from babelscope.encoders.tap import sentence_states
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.errors import EncoderError
from babelscope.measures.retrieval import retrieval_accuracy
from babelscope.rows import Row
from babelscope.seeds import derive_seed
from babelscope.statistics import bca_interval
from babelscope.step import Workspace
from babelscope.steps import Baseline, Evaluate, Load, Operate, Pretrain, Retrieve, Tune
from babelscope.surgery.reinit import reinit
from babelscope.tasks import baselines
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.tag import Tagger, Tagging, TagScores, evaluate_tagger
from babelscope.text import UPOS, Sentence, Tagged
from babelscope.tuning import loop
from babelscope.tuning.checkpoint import Point, read_weights, set_weights
from babelscope.tuning.pretrain import pretrain as pretrain_encoder
from babelscope.tuning.settings import Tuning
from babelscope.world import World

ENCODER_FOLDER = "encoder"
SURGERIES = {"reinit": reinit}
BASELINES = {"most-frequent-tag": baselines.most_frequent_tag, "word-majority": baselines.word_majority}


def load(step: Load) -> Encoder:
    """The encoder at the step's place, which must still hold what the step was planned with."""
    if not Path(step.place).is_dir():
        return load_encoder(step.place, revision=step.content)
    verify(step.place, step.content)
    return load_encoder(step.place)


def pretrain(step: Pretrain, workspace: Workspace) -> None:
    """Write the encoder's folder and the curve of its training loss."""
    natural = [text.natural() for text in step.texts]
    lines = [line for text in natural for line in text.read()]
    tokenizer = train_wordpiece(lines, step.vocabulary_size)
    if natural != list(step.texts):
        lines = [line for text in step.texts for line in text.read()]
    encoder, history = pretrain_encoder(
        lines, tokenizer, workspace.folder, shape=step.shape, tuning=step.tuning, masking=step.masking,
        seed=step.seed, name=step.name, progress=workspace.progress,
    )  # fmt: skip
    save_encoder(encoder, workspace.folder / ENCODER_FOLDER)
    workspace.write_rows(_curve(history.points, step.labels | {"task": "mlm", "seed": step.seed}))


def load_pretrained(step: Pretrain, workspace: Workspace) -> Encoder:
    """The encoder that `pretrain` wrote."""
    return load_encoder(workspace.result(step) / ENCODER_FOLDER)


def operate(step: Operate, workspace: Workspace) -> Encoder:
    """The operated encoder."""
    return SURGERIES[step.surgery](step.encoder.build(workspace), step.seed)


def tune(step: Tune, workspace: Workspace) -> None:
    """Write the best and the last weights, and the learning curves."""
    untuned = _untuned(step, workspace)
    train = [sentence for treebank in step.train for sentence in treebank.read()]
    dev = {treebank.name: list(treebank.read()) for treebank in step.dev}
    task = untuned.training(train, dev)
    history = loop.tune(untuned.model, task, step.tuning, step.seed, workspace.folder, workspace.progress)
    summary = {"best_step": history.best_step, "last_step": history.last_step, "planned_steps": history.planned_steps}
    (workspace.folder / "history.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    workspace.write_rows(_curve(history.points, step.labels))


def evaluate(step: Evaluate, workspace: Workspace) -> None:
    """Write the scores of a tuned model on one treebank."""
    torch.set_num_threads(step.model.tuning.threads)
    rows = _tuned(step.model, workspace).rows(step.treebank.read())
    workspace.write_rows(row.labelled(**step.model.labels, **_of(step.treebank)) for row in rows)


def evaluate_baseline(step: Baseline, workspace: Workspace) -> None:
    """Write the scores of a baseline on one treebank."""
    train = _tagged(sentence for treebank in step.train for sentence in treebank.read())
    test = _tagged(step.treebank.read())
    scores = baselines.score_predictions(BASELINES[step.baseline](train), test)
    languages = "+".join(dict.fromkeys(treebank.language for treebank in step.train))
    labels = {"encoder": step.baseline, "task": "pos", "train_languages": languages}
    workspace.write_rows(row.labelled(**labels, **_of(step.treebank)) for row in _accuracy_rows(scores))


def retrieve(step: Retrieve, workspace: Workspace) -> None:
    """Write the share of sentences whose translation is found, for every layer (0: the embeddings)."""
    torch.set_num_threads(1)
    encoder = step.encoder.build(workspace)
    parallel = World(step.world_seed).parallel([step.source, step.target], step.sentences)
    source, target = (
        sentence_states(encoder, _lines(one.sentences[code] for one in parallel)) for code in (step.source, step.target)
    )
    pair = f"world:{step.source}-{step.target}"
    labels = step.encoder.labels | {"task": "retrieval", "language": step.target, "treebank": pair}
    workspace.write_rows(
        Row("retrieval", float(share), "share", layer=layer, **labels)
        for layer, share in enumerate(retrieval_accuracy(source, target))
    )


class PosTask:
    """Part-of-speech tagging with the universal tags."""

    def __init__(self, encoder: Encoder, tuning: Tuning):
        self.model = Tagger(encoder, UPOS, tuning.dropout, tuning.max_length)

    def training(self, train: list[Sentence], dev: dict[str, list[Sentence]]) -> Tagging:
        """What the loop trains on."""
        return Tagging(self.model, _tagged(train), {name: _tagged(part) for name, part in dev.items()})

    def rows(self, sentences: Sequence[Sentence]) -> list[Row]:
        """The model's scores."""
        return _accuracy_rows(evaluate_tagger(self.model, _tagged(sentences)))


class MlmTask:
    """Masked language modelling on the words of the treebanks."""

    def __init__(self, encoder: Encoder, tuning: Tuning):
        if not encoder.has_mlm_head:
            raise EncoderError(f"{encoder.name} has no masked language model head, so task mlm cannot use it")
        self.model, self.tokenizer = encoder.model, encoder.tokenizer
        self.max_length = min(encoder.max_length, tuning.max_length or encoder.max_length)

    def training(self, train: list[Sentence], dev: dict[str, list[Sentence]]) -> MaskedLanguageModelling:
        """What the loop trains on."""
        held_out = {name: self._held_out(part) for name, part in dev.items()}
        return MaskedLanguageModelling(self.tokenizer, _lines(train), self.max_length, dev=held_out)

    def rows(self, sentences: Sequence[Sentence]) -> list[Row]:
        """The model's perplexity, with fixed masks."""
        return [Row("perplexity", self._held_out(sentences).perplexity(self.model))]

    def _held_out(self, sentences: Iterable[Sentence]) -> HeldOut:
        return HeldOut.of(self.tokenizer, _lines(sentences), self.max_length)


TASKS: dict[str, Callable[[Encoder, Tuning], PosTask | MlmTask]] = {"pos": PosTask, "mlm": MlmTask}
"""Task -> the model that it makes of an encoder, what that is trained on, and which rows score it."""

_latest: dict[str, PosTask | MlmTask] = {}
"""The model evaluated last, by the key of its tuning: a worker evaluates it on one language after another."""


def _untuned(step: Tune, workspace: Workspace) -> PosTask | MlmTask:
    """The model that the tuning starts from; its head is drawn from the step's seed."""
    encoder = step.encoder.build(workspace)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(step.seed, "head"))
        return TASKS[step.task](encoder, step.tuning)


def _tuned(step: Tune, workspace: Workspace) -> PosTask | MlmTask:
    """The best model of a tuning, on its device."""
    if step.key not in _latest:
        weights = read_weights(workspace.result(step) / "best.safetensors")
        tuned = _untuned(step, workspace)
        model: nn.Module = tuned.model
        set_weights(model, weights)
        model.to(step.tuning.device).eval()
        _latest.clear()
        _latest[step.key] = tuned
    return _latest[step.key]


def _tagged(sentences: Iterable[Sentence]) -> list[Tagged]:
    return [Tagged(sentence.forms, sentence.upos) for sentence in sentences]


def _lines(sentences: Iterable[Sentence]) -> list[str]:
    return [" ".join(sentence.forms) for sentence in sentences]


def _of(treebank: Treebank) -> dict[str, str]:
    return {"language": treebank.language, "treebank": treebank.name, "split": treebank.split}


def _curve(points: Iterable[Point], labels: dict[str, Any]) -> list[Row]:
    """Learning curves as rows; a dev point's split is "dev" and its treebank the dev set."""
    rows = []
    for point in points:
        split, _, treebank = point.split.partition(" ")
        unit = "share" if point.measure == "accuracy" else ""
        row = Row(point.measure, point.value, unit, split=split, treebank=treebank or None, step=point.step)
        rows.append(row.labelled(**labels))
    return rows


def _accuracy_rows(scores: TagScores) -> list[Row]:
    interval = bca_interval(scores.correct, scores.total)
    rows = [Row("accuracy", scores.accuracy, "share")]
    rows += [Row("accuracy.low", interval.low, "share")] if interval.low is not None else []
    rows += [Row("accuracy.high", interval.high, "share")] if interval.high is not None else []
    return [
        *rows,
        Row("coverage", scores.coverage, "share"),
        Row("unknown", scores.unknown, "share"),
        Row("words", int(scores.total.sum()), "words"),
    ]
