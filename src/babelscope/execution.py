"""What the steps compute. Only running steps import this module, so that declarations stay free of torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from babelscope.corpora.datasets import Dataset, FileData, data_labels
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.extend import extend_vocabulary
from babelscope.encoders.load import Encoder, load_encoder, save_encoder, with_mlm_head
from babelscope.encoders.places import verify
from babelscope.encoders.shape import new_encoder
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.rows import Row
from babelscope.seeds import derive_seed
from babelscope.step import Results, Workspace
from babelscope.steps import (
    SENTENCES,
    Adapt,
    Baseline,
    Evaluate,
    Load,
    Operate,
    Pretrain,
    Recurrent,
    Tune,
)  # fmt: skip
from babelscope.surgery.declare import donors_of
from babelscope.surgery.operate import operate as perform
from babelscope.task_table import TASKS, TaskName
from babelscope.tasks.models import (
    Design,
    TaskModel,
    fit_baseline,
    known_words,
    recurrent_model,
    score_baseline,
    task_model,
    training_task,
)
from babelscope.tasks.task import Score
from babelscope.tuning import loop
from babelscope.tuning.checkpoint import Point, read_weights, set_weights
from babelscope.tuning.language import learn_language
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.observer import Observer

ENCODER_FOLDER = "encoder"


def load(step: Load) -> Encoder:
    """The encoder at the step's place, which must still hold what the step was planned with."""
    if not Path(step.place).is_dir():
        return load_encoder(step.place, revision=step.content)
    verify(step.place, step.content)
    return load_encoder(step.place)


def pretrain(step: Pretrain, workspace: Workspace) -> None:
    """Write the encoder's folder and the curve of its training loss."""
    natural = [text.natural() if isinstance(text, WorldText) else text for text in step.texts]
    lines = _lines(natural)
    tokenizer = train_wordpiece(lines, step.vocabulary_size)
    if natural != list(step.texts):
        lines = _lines(step.texts)
    _learn(step, new_encoder(step.shape, tokenizer, derive_seed(step.seed, "weights"), step.name), lines, workspace)


def adapt(step: Adapt, workspace: Workspace) -> None:
    """Likewise of an encoder that exists."""
    encoder = step.encoder.build(workspace)
    lines, pairs = _lines(step.texts), [pair for text in step.parallel for pair in text.read()]
    if step.new_pieces:
        encoder = extend_vocabulary(encoder, [*lines, *chain.from_iterable(pairs)], step.new_pieces)
    _learn(step, with_mlm_head(encoder, derive_seed(step.seed, "head")), lines, workspace, pairs)


def load_written(step: Pretrain | Adapt, results: Results) -> Encoder:
    """The encoder that the step wrote."""
    return replace(load_encoder(results.result(step) / ENCODER_FOLDER), name=step.name)


def _lines(texts: Iterable[WorldText | FileData]) -> list[str]:
    return [line for text in texts for line in text.read()]


def _learn(
    step: Pretrain | Adapt,
    encoder: Encoder,
    lines: list[str],
    workspace: Workspace,
    pairs: Sequence[tuple[str, str]] = (),
) -> None:
    history = learn_language(
        encoder, lines, workspace.folder, tuning=step.tuning, masking=step.masking, seed=step.seed,
        progress=workspace.progress, pairs=pairs,
    )  # fmt: skip
    save_encoder(encoder, workspace.folder / ENCODER_FOLDER)
    for weights in workspace.folder.glob("*.safetensors"):  # what the training went on from; the encoder is saved
        weights.unlink()
    workspace.write_rows(_curve(history.points, step.labels | {"task": "mlm", "seed": step.seed}))


def operate(step: Operate, results: Results) -> Encoder:
    """The operated encoder."""
    return perform(step.encoder.build(results), step.operations, step.seed, donors(step, results))


def donors(step: Operate, results: Results) -> dict[str, Encoder]:
    """The encoders that operations take something from, by the names that these have for them."""
    names = donors_of(step.operations)
    return {name: donor.build(results) for name, donor in zip(names, step.donors, strict=True)}


def tune(step: Tune, workspace: Workspace) -> None:
    """Write the best and the last weights, the learning curves, and the probes."""
    encoder = _encoder_of(step, workspace)
    untuned = _untuned(step, encoder)
    dev = {data.name: data.read() for data in step.dev}
    task = training_task(untuned, _training_parts(step), dev)
    watch = None
    if step.probes and encoder:
        references = {one.labels["encoder"]: one.build(workspace) for one in step.references}
        watch = Observer(step.probes, untuned, encoder, references, workspace, step.labels)
    history = loop.tune(
        untuned.module, task, step.tuning, step.seed, workspace.folder, workspace.progress,
        schedule=step.schedule, memo=_memo if TASKS[step.task].kind != "language model" else None, watch=watch,
    )  # fmt: skip
    summary = {"best_step": history.best_step, "last_step": history.last_step, "planned_steps": history.planned_steps}
    (workspace.folder / "history.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    probed = workspace.rows_so_far() if step.probes else []
    workspace.write_rows([*_curve(history.points, step.labels), *probed])


def evaluate(step: Evaluate, workspace: Workspace) -> None:
    """Write the scores of a tuned model on one data set, and what their ratios are made of."""
    torch.set_num_threads(step.model.tuning.threads)
    scores = _tuned(step.model, workspace).scores(step.data.read())
    workspace.write_rows(_score_rows(scores, step.labels))
    counts = {score.measure: [score.numerators, score.denominators] for score in scores if score.numerators}
    (workspace.folder / SENTENCES).write_text(json.dumps(counts) + "\n", encoding="utf-8")


def evaluate_baseline(step: Baseline, workspace: Workspace) -> None:
    """Write the scores of a baseline on one data set."""
    scores = score_baseline(_fitted(step.baseline, step.task, step.train), step.task, step.data.read())
    languages = "+".join(dict.fromkeys(data.code for data in step.train))
    labels = {"encoder": step.baseline, "task": step.task, "train_languages": languages}
    workspace.write_rows(_score_rows(scores, labels | data_labels(step.data)))


@lru_cache(maxsize=4)
def _fitted(baseline: str, task: TaskName, train: tuple[Dataset, ...]) -> Callable[..., Any]:
    """A baseline, fitted once in a process for all the data sets that it is scored on."""
    return fit_baseline(baseline, task, [example for data in train for example in data.read()])


_memo = StateMemo()
"""What frozen layers give for the training sentences, kept from one tuning of a sweep to the next."""
_latest: dict[str, TaskModel] = {}
"""The model evaluated last, by the key of its tuning: a worker evaluates it on one language after another."""


def _encoder_of(step: Tune, results: Results) -> Encoder | None:
    return None if isinstance(step.encoder, Recurrent) else step.encoder.build(results)


def _untuned(step: Tune, encoder: Encoder | None) -> TaskModel:
    """The model that the tuning starts from, without an encoder a BiLSTM; its head is drawn from the step's seed."""
    design = Design(step.task, step.head, step.entity_types, step.tuning.dropout, step.tuning.max_length)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(step.seed, "head"))
        if encoder is None:
            return recurrent_model(design, known_words([example for data in step.train for example in data.read()]))
        return task_model(encoder, design)


def _training_parts(step: Tune) -> list[list[Any]]:
    """The training examples: by language where batches are to be of one language, else all together."""
    parts: dict[str, list[Any]] = {}
    for data in step.train:
        parts.setdefault(data.code if step.tuning.batches == "one-language" else "", []).extend(data.read())
    return list(parts.values())


def load_tuned(step: Tune, results: Results) -> TaskModel:
    """The best model of a tuning, in evaluation mode."""
    return _with_best_weights(step, results, _encoder_of(step, results))


def load_tuned_encoder(step: Tune, results: Results) -> Encoder:
    """The encoder of the best model of a tuning, in evaluation mode; not for a BiLSTM, which has none."""
    encoder = step.encoder.build(results)
    _with_best_weights(step, results, encoder)  # a task model has the encoder's own weights, not copies
    return encoder


def _with_best_weights(step: Tune, results: Results, encoder: Encoder | None) -> TaskModel:
    weights = read_weights(results.result(step) / "best.safetensors")
    tuned = _untuned(step, encoder)
    set_weights(tuned.module, weights)
    tuned.module.eval()
    return tuned


def _tuned(step: Tune, workspace: Workspace) -> TaskModel:
    """The best model of a tuning, on its device."""
    if step.key not in _latest:
        tuned = load_tuned(step, workspace)
        tuned.module.to(step.tuning.device)
        _latest.clear()
        _latest[step.key] = tuned
    return _latest[step.key]


def _curve(points: Iterable[Point], labels: dict[str, Any]) -> list[Row]:
    """Learning curves as rows; a dev point's split is "dev" and its data set the dev set."""
    shares = {measure for info in TASKS.values() for measure in info.measures} - {"perplexity"}
    rows = []
    for point in points:
        split, _, dataset = point.split.partition(" ")
        unit = "share" if point.measure in shares else ""
        row = Row(point.measure, point.value, unit, split=split, dataset=dataset or None, step=point.step)
        rows.append(row.labelled(**labels))
    return rows


def _score_rows(scores: Iterable[Score], labels: dict[str, Any]) -> list[Row]:
    """Scores as rows, the bounds of their intervals beside them."""
    rows = []
    for score in scores:
        bounds = {"": score.value, ".low": score.low, ".high": score.high}
        numbers = {score.measure + end: value for end, value in bounds.items() if value is not None}
        rows += [Row(measure, value, score.unit).labelled(**labels) for measure, value in numbers.items()]
    return rows
