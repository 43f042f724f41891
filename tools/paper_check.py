"""Train what the profiles `@paper` declare, on a stand-in of mBERT's width and on little data: `make paper-check`.

One whole training for each study, kind of task and settings, on a CPU in float32, at the declared batch, optimizer,
validation and selection, with the data cut to ten batches an epoch; then five steps at mBERT's full shape. Data are
those of the folder BABELSCOPE_DATA where it has them, else written on the spot.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from published_settings import paper_study, studies_with_paper
from stand_in_data import provide

from babelscope.core.tasks import LINES, TASKS, Task
from babelscope.corpora.datasets import entity_types, find
from babelscope.encoders.load import Encoder
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.engine.environment import processor
from babelscope.study.declare import Study, Transfer
from babelscope.study.trainings import Training, trainings
from babelscope.study.transfer import declared_task
from babelscope.tasks.apart import Apart
from babelscope.tasks.design import Design, TaskModel
from babelscope.tasks.models import known_words, recurrent_model, task_model
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from babelscope.world import World

FULL_STEPS = 5
HELD_OUT = 64
"""Examples to select on, and to score."""
HEADER = ("study", "training", "task", "data", "steps", "batches", "validations", "best step", "score", "seconds")


@dataclass(frozen=True)
class Noting(Apart):
    """Training languages apart, with a note of how many examples each batch of the run held."""

    sizes: Counter[int] = field(default_factory=Counter)

    def batch(self, indices: Any, generator: torch.Generator) -> Any:
        """The batch, noted."""
        self.sizes[len(np.unique(self.owners[indices]))] += 1
        return super().batch(indices, generator)


class Check(NamedTuple):
    """A training that stands for all of its kind and settings in a study."""

    study: str
    training: Training
    task: Task
    transfer: Transfer | None
    """None: language modelling on text, to make or adapt an encoder."""
    train: tuple[str, ...]

    @property
    def recurrent(self) -> bool:
        """Whether it is a BiLSTM's."""
        return self.training.name.startswith("bilstm.")


def checks(study: str) -> Iterator[Check]:
    """The first training of each kind of task and settings that a study declares, and of several languages one."""
    declared = paper_study(study)
    seen: set[Any] = set()
    for training in trainings(declared):
        check = _check(study, declared, training)
        keys = {(check.task.kind, training.tuning, training.selection, check.recurrent), len(check.train)}
        if not keys <= seen:
            seen |= keys
            yield check


def _check(study: str, declared: Study, training: Training) -> Check:
    where, _, name = training.name.partition(".")
    if where == "encoders":
        return Check(study, training, TASKS["mlm"], None, ("text",))
    transfer = declared.tasks[name]
    task = declared_task(name, declared.tasks)
    train = ("text",) if task.reads == LINES else transfer.train
    return Check(study, training, task, transfer, train)


class Data(NamedTuple):
    """What a check trains on, by language, selects on and is scored on."""

    parts: list[list[Any]]
    dev: Mapping[str, Any]
    test: Any
    entity_types: tuple[str, ...]
    origin: str


def data_of(check: Check, batches: int, folder: Path, real: Path | None) -> Data:
    """So many batches' examples of each training set."""
    count = batches * (check.training.tuning.examples_per_batch or 1)
    if check.transfer and check.transfer.shots:
        count = min(count, check.transfer.shots)
    if check.task.reads == LINES:
        lines = World().text("qaa", count + 2 * HELD_OUT)
        held_out = {"text": lines[count : count + HELD_OUT]} if check.training.selection else {}
        return Data([lines[:count]], held_out, lines[count + HELD_OUT :], (), "written")
    names = [name.partition(">")[0] for name in check.train]
    # A tenth of a file may be set apart to select on.
    origins = [provide(check.task, name, folder, real, 2 * count + 2 * HELD_OUT) for name in names]
    train = [find(check.task, name, "train", count) for name in names]
    selecting = names if check.training.selection else []
    dev = {name: find(check.task, name, "dev", HELD_OUT).read() for name in selecting}
    types = entity_types(train) if check.task.kind == "entities" else ()
    test = find(check.task, names[0], "test", HELD_OUT).read()
    return Data([list(data.read()) for data in train], dev, test, types, "+".join(dict.fromkeys(origins)))


def stand_in(check: Check, data: Data, shape: Shape) -> Encoder:
    """An encoder with random weights and a vocabulary of the check's own texts."""
    tokenizer = train_wordpiece([_text(example) for part in data.parts for example in part], 3000)
    return new_encoder(shape, tokenizer, 0, "stand-in")


def _text(example: Any) -> str:
    if isinstance(example, str):
        return example
    if hasattr(example, "forms"):
        return " ".join(example.forms)
    return " ".join(example.words) if hasattr(example, "words") else f"{example.first} {example.second or ''}"


def model_of(check: Check, data: Data, encoder: Encoder) -> TaskModel:
    """The model that the training starts from, its head drawn with a fixed seed."""
    tuning = check.training.tuning
    head = check.transfer.head if check.transfer and not check.recurrent else None
    design = Design(
        check.task, head=head, entity_types=data.entity_types, dropout=tuning.dropout, max_length=tuning.max_length,
        quirks=check.training.quirks,
    )  # fmt: skip
    torch.manual_seed(0)
    if check.recurrent:
        return recurrent_model(design, known_words([example for part in data.parts for example in part]))
    return task_model(encoder, design)


def run(check: Check, data: Data, encoder: Encoder, **changes: Any) -> tuple[str, ...]:
    """Train, select and score; a line under `HEADER`.

    Raises:
        SystemExit: it took another number of steps than its settings say.
    """
    model = model_of(check, data, encoder)
    plain = {"device": "cpu", "precision": "float32", "threads": torch.get_num_threads()}
    tuning = check.training.tuning.model_copy(update=plain | changes)
    parts = data.parts if tuning.batches != "mixed" else [[example for part in data.parts for example in part]]
    task = Noting([model.training(part, {} if k else data.dev) for k, part in enumerate(parts)])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        history = tune(model.module, task, tuning, 0, Path(folder))
    score = model.scores(data.test)[0]
    seconds = time.monotonic() - began
    _demand(check, tuning, [len(part) for part in parts], history.planned_steps)
    validations = len({point.step for point in history.points if point.split.startswith("dev ")})
    batches = ", ".join(f"{times} x {size}" for size, times in sorted(task.sizes.items(), reverse=True))
    steps = f"{history.last_step} of {history.planned_steps}"
    found = (f"{validations}", f"{history.best_step}", f"{score.measure} {score.value:.3g}", f"{seconds:.0f}")
    return check.study, check.training.name, check.task.name, data.origin, steps, batches, *found


def _demand(check: Check, tuning: Tuning, sizes: Sequence[int], steps: int) -> None:
    expected = tuning.steps_of(sizes)
    if expected is not None and steps != expected:
        raise SystemExit(f"{check.study}, {check.training.name}: {steps} steps, but its settings say {expected}")


def main() -> None:
    """All checks, as a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", nargs="*", default=studies_with_paper())
    parser.add_argument("--batches", type=int, default=10, help="an epoch, and of each language")
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--full-layers", type=int, default=12, help="of the encoder that takes a few steps only")
    options = parser.parse_args()
    real = Path(os.environ["BABELSCOPE_DATA"]) if os.environ.get("BABELSCOPE_DATA") else None
    print(f"{_processor()}, {torch.get_num_threads()} threads, float32\n")
    print(f"| {' | '.join(HEADER)} |\n|{' --- |' * len(HEADER)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BABELSCOPE_DATA"] = folder
        for study in options.studies:
            for number, check in enumerate(checks(study)):
                data = data_of(check, options.batches, Path(folder), real)
                encoder = stand_in(check, data, _shape(options.hidden, options.layers))
                print(f"| {' | '.join(run(check, data, encoder))} |", flush=True)
                if number == 0:
                    whole = stand_in(check, data, _shape(options.hidden, options.full_layers))
                    line = run(check, data, whole, steps=FULL_STEPS, epochs=None)
                    print(
                        f"| {' | '.join([line[0], f'{line[1]}, {options.full_layers} layers', *line[2:]])} |",
                        flush=True,
                    )


def _processor() -> str:
    return f"{processor()}, {torch.backends.cpu.get_cpu_capability()}"


def _shape(hidden: int, layers: int) -> Shape:
    """mBERT's, but for its layers, or a narrower one with as wide heads."""
    return Shape(
        hidden=hidden, layers=layers, heads=max(1, hidden // 64), feed_forward=4 * hidden, positions=512, dropout=0.1
    )


if __name__ == "__main__":
    main()
