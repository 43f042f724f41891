"""Cost of a model between two tuned ones, against a bare forward pass and against the obvious script.

Run it on a machine that does nothing else. A cell is what a `Surface` step does at one point: it moves the weights and
measures scores and loss. The bare pass runs the model over the same batches, made before the clock starts, and decodes
and scores as the cell does, without a loss. The script loads both checkpoints, mixes their weights, makes a model of
them, and tokenises, predicts and scores, as many sentences at a time as `--batch` says: one, as a pipeline of
transformers does unless told otherwise. One thread; sides alternate, and the ratios are
medians over rounds of processor time.

    python benchmarks/surface.py --rounds 15
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import BertConfig

from babelscope.core.examples import Sentence, Tagged
from babelscope.core.tasks import TaskName
from babelscope.encoders.blend import Blend, moved, random_direction
from babelscope.encoders.load import Encoder, load_encoder, save_encoder, untrained_model
from babelscope.encoders.pieces import by_length, evaluation_tokens
from babelscope.encoders.places import SHIPPED
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.measures.formulas.survey import survey
from babelscope.tasks.attachment import count_attachments
from babelscope.tasks.design import Design, TaskModel
from babelscope.tasks.measured import measured
from babelscope.tasks.models import task_model
from babelscope.tasks.parse import EncodedSentences, Parser
from babelscope.tasks.tag import TaggedWindows, Tagger, first_pieces
from babelscope.tuning.checkpoint import module_weights, write_weights
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from babelscope.world import World

ALPHAS = (0.3, 0.4, 0.6, 0.7)
TOKENS = evaluation_tokens(torch.device("cpu"))
MEASURE: dict[TaskName, str] = {"pos": "accuracy", "parsing": "las"}


@dataclass(frozen=True)
class Case:
    """Two models of one task, what they are made of, and the sentences that they are scored on."""

    name: str
    task: TaskName
    folder: Path
    """The encoder's."""
    corners: tuple[Path, Path]
    """The models' weights."""
    sentences: Sequence[Sentence]
    bars: tuple[float, float]
    """The most that a cell may cost in bare passes, and the least that the script must cost in cells."""


def main(rounds: int, batch: int, sizes: Sequence[str]) -> None:
    """Print each case's median times, and the medians of the rounds' ratios."""
    torch.set_num_threads(1)
    print(f"{'':18} {'bare pass':>10} {'cell':>10} {'script':>11}    cell / pass   script / cell")
    with tempfile.TemporaryDirectory() as folder:
        for case in chain.from_iterable(CASES[size](Path(folder)) for size in sizes):
            seconds = list(compare(case, rounds, batch))
            bare, cell, script = (1000 * median(column) for column in zip(*seconds, strict=True))
            over, under = (median(one[k + 1] / one[k] for one in seconds) for k in (0, 1))
            most, least = case.bars
            ratios = f"{over:4.2f} (<= {most:.2f})  {under:4.1f} (>= {least:.1f})"
            print(f"{case.name:18} {bare:7.1f} ms {cell:7.1f} ms {script:8.1f} ms   {ratios}", flush=True)


def small(folder: Path) -> Iterator[Case]:
    """The shipped encoder, tuned on two languages."""
    world, shipped = World(), SHIPPED / "world-natural"
    for task in MEASURE:
        corners = tuple(_tuned(folder / f"{task}-{code}", shipped, task, code) for code in ("qaa", "qab"))
        sentences = world.treebank("qab", "dev", 300)
        yield Case(f"world, {task}", task, shipped, (corners[0], corners[1]), sentences, (1.10, 5.0))


def base(folder: Path) -> Iterator[Case]:
    """A BERT of full size with random weights, and another in its neighbourhood."""
    world, large = World(), folder / "bert"
    texts = [" ".join(one.forms) for one in world.treebank("qab", "train", 2000)]
    config = BertConfig(vocab_size=30_000)
    save_encoder(Encoder(untrained_model(config), train_wordpiece(texts, 4000), "bert"), large)
    origin = module_weights(task_model(load_encoder(large), Design("pos")).module)
    write_weights(folder / "0.safetensors", origin)
    write_weights(folder / "1.safetensors", moved(origin, random_direction(origin, 0), 0.1))
    files = folder / "0.safetensors", folder / "1.safetensors"
    for count in (32, 64):
        sentences = world.treebank("qab", "dev", count)
        yield Case(f"BERT-base, pos, {count}", "pos", large, files, sentences, (1.10, 1.5))


def near(folder: Path) -> Case:
    """The shipped encoder with a tagger's head, and another in its neighbourhood."""
    shipped = SHIPPED / "world-natural"
    folder.mkdir()
    origin = module_weights(task_model(load_encoder(shipped), Design("pos")).module)
    files = folder / "0.safetensors", folder / "1.safetensors"
    for file, distance in zip(files, (0.0, 0.1), strict=True):
        write_weights(file, moved(origin, random_direction(origin, 0), distance))
    return Case("near", "pos", shipped, files, World().treebank("qab", "dev", 300), (1.10, 5.0))


def _tuned(folder: Path, encoder: Path, task: TaskName, code: str) -> Path:
    """The weights of a model tuned for a few seconds."""
    torch.manual_seed(0)
    model, world = task_model(load_encoder(encoder), Design(task)), World()
    train, dev = (world.treebank(code, split, count) for split, count in (("train", 1000), ("dev", 100)))
    tune(model.module, model.training(train, {"dev": dev}), Tuning(epochs=4), 0, folder)
    return folder / "best.safetensors"


def compare(case: Case, rounds: int, batch: int) -> Iterator[tuple[float, float, float]]:
    """Seconds of the bare pass, of a cell and of the script, round by round; each begins with another side."""
    sides = bare_pass(case), cell(case), script(case, batch)
    for number in range(rounds + 1):
        alpha, seconds, scores = ALPHAS[number % len(ALPHAS)], [0.0] * 3, [0.0] * 3
        for place in range(number, number + 3):
            began = time.process_time()
            scores[place % 3] = sides[place % 3](alpha)
            seconds[place % 3] = time.process_time() - began
        if abs(scores[1] - scores[2]) > 0.002:
            raise SystemExit(f"{case.name}, alpha {alpha}: the cell scores {scores[1]}, the script {scores[2]}")
        if number:  # the first round warms up
            yield seconds[0], seconds[1], seconds[2]


def cell(case: Case) -> Callable[[float], float]:
    """The score of a blend, as `surfaces` measures it."""
    model = _model(case)
    corners = [load_file(path) for path in case.corners]
    blend, measure = Blend(model.module, corners), {"": measured(model, case.sentences)}

    def run(alpha: float) -> float:
        [(_, found)] = survey(blend, (0, 1), [(alpha,)], measure)
        return found[""][MEASURE[case.task]]

    return run


def script(case: Case, batch: int) -> Callable[[float], float]:
    """The score of a model that is made for it, and reads so many sentences at a time."""
    sentences = [one.forms for one in case.sentences]

    def run(alpha: float) -> float:
        first, second = (load_file(path) for path in case.corners)
        model = task_model(load_encoder(case.folder), Design(case.task)).module
        names = [name for name, weight in first.items() if weight.is_floating_point()]
        mixed = {name: (1 - alpha) * first[name] + alpha * second[name] for name in names}
        model.load_state_dict(mixed, strict=False)  # what is left are numbers of positions and the like
        model.eval()
        parts = (model.predict(sentences[start : start + batch]) for start in range(0, len(sentences), batch))
        return _score(case, [found for part in parts for found in part])

    return run


def _score(case: Case, predicted: list[Any]) -> float:
    if case.task == "parsing":
        counted = count_attachments([one.words for one in case.sentences], predicted)
        return float(counted.labelled.sum() / counted.words.sum())
    gold, found = [tag for one in case.sentences for tag in one.upos], [tag for tags in predicted for tag in tags]
    return sum(one == other for one, other in zip(gold, found, strict=True)) / len(gold)


def bare_pass(case: Case) -> Callable[[float], float]:
    """The score of one model, whose batches are there."""
    model = _model(case)
    match model.module:
        case Tagger() as tagger:
            return _tag(tagger, case.sentences)
        case Parser() as parser:
            return _parse(parser, case.sentences)
    raise TypeError(case.task)


def _model(case: Case) -> TaskModel:
    model = task_model(load_encoder(case.folder), Design(case.task))
    model.module.load_state_dict(load_file(case.corners[0]), strict=False)
    model.module.eval()
    return model


def _tag(tagger: Tagger, sentences: Sequence[Sentence]) -> Callable[[float], float]:
    words = TaggedWindows.of(tagger, [Tagged(one.forms, one.upos) for one in sentences])
    windows, prepared = words.windows, []
    for indices in by_length(windows.pieces.lengths, TOKENS):
        batch = windows.pieces.batch(indices)
        gold = torch.cat([torch.from_numpy(words.gold[windows.owned[index]]) for index in indices])
        prepared.append((batch, first_pieces(windows, indices, batch.ids.shape[1]), gold))

    @torch.no_grad()
    def run(alpha: float) -> float:
        right = sum(int((tagger(batch, firsts).argmax(1) == gold).sum()) for batch, firsts, gold in prepared)
        return right / len(words.gold)

    return run


def _parse(parser: Parser, sentences: Sequence[Sentence]) -> Callable[[float], float]:
    encoded = EncodedSentences.of(parser, [one.forms for one in sentences])
    prepared = [(indices, encoded.batch(indices)) for indices in by_length(encoded.lengths, TOKENS)]
    order = [index for indices, _ in prepared for index in indices.tolist()]
    gold = [sentences[index].words for index in order]

    @torch.no_grad()
    def run(alpha: float) -> float:
        trees = [tree for _, batch in prepared for tree in parser.biaffine.trees(parser(batch), batch.real)]
        counted = count_attachments(gold, trees)
        return float(counted.labelled.sum() / counted.words.sum())

    return run


CASES = {"small": small, "base": base}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--batch", type=int, default=1, help="sentences that the script reads at a time")
    given = parser.parse_args()
    main(given.rounds, given.batch, given.sizes)
