"""What a study costs beside its computing: data prepared again, steps that do nothing, models in a plane."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import conllu
import joblib
import torch

from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora import parsed
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.lines import content_digest
from babelscope.encoders.encoded import encoded_words
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.engine.events import Event, Finished
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from babelscope.world import World
from benchmarks import surface
from benchmarks.machine import timed
from benchmarks.table import OURS, Benchmark, Run

SENTENCES, STEPS, CELLS = 4000, 50, 5


class Nothing(Step):
    """A step whose row is its number."""

    number: int

    def execute(self, workspace: Workspace) -> None:
        """Write the row."""
        workspace.write_rows([Row("number", self.number)])


def benchmarks(folder: Path) -> Iterator[Benchmark]:
    """In the order of the table; what they need is written into a folder."""
    yield _preparing(folder)
    yield _overhead()
    yield _moving(folder)


def _preparing(folder: Path) -> Benchmark:
    """Sentences of a treebank, read and cut into pieces, a second time; the peer has no cache."""
    file, tokenizer = folder / "treebank.conllu", load_encoder(SHIPPED / "world-natural").tokenizer
    write_conllu(file, World().treebank("qaa", "train", SENTENCES))
    sha256 = content_digest(file)

    def ours() -> None:
        parsed.forget()
        sentences = parsed.parsed_sentences(file, sha256=sha256)
        encoded_words(tokenizer, [sentence.forms for sentence in sentences], 512)

    def peer() -> None:
        sentences = conllu.parse(file.read_text(encoding="utf-8"))
        tokenizer([[word["form"] for word in sentence] for sentence in sentences], is_split_into_words=True)

    sides = {OURS: lambda seed: Run(timed(ours)), "conllu and the tokenizer": lambda seed: Run(timed(peer))}
    return Benchmark("Preparing a treebank again", "sentences/s", SENTENCES, sides)


def _overhead() -> Benchmark:
    """Steps that do nothing, in a worker that has finished a first one. The peer keeps results, too."""

    def ours(seed: int) -> Run:
        finished: list[float] = []
        plan = Plan.of([Nothing(number=number) for number in range(STEPS + 1)])
        with tempfile.TemporaryDirectory() as folder:
            run_plan(plan, Store(Path(folder)), jobs=1, observe=lambda event: _note(event, finished))
        return Run(finished[-1] - finished[0])

    def peer(seed: int) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            kept = joblib.Memory(folder, verbose=0).cache(_number)
            return Run(timed(lambda: [kept(number) for number in range(STEPS)]))

    return Benchmark("Steps that do nothing", "steps/s", STEPS, {OURS: ours, "joblib.Memory, no worker": peer})


def _note(event: Event, finished: list[float]) -> None:
    if isinstance(event, Finished):
        finished.append(time.perf_counter())


def _number(number: int) -> int:
    return number


def _moving(folder: Path) -> Benchmark:
    """Models between two others, scored; the peer loads, mixes, tokenises and predicts for each of them."""
    torch.manual_seed(0)
    case = surface.near(folder / "plane")
    cell, script = surface.cell(case), surface.script(case, 32)
    alphas = [0.1 + 0.8 * place / CELLS for place in range(CELLS)]
    sides = {
        OURS: lambda seed: Run(timed(lambda: [cell(alpha) for alpha in alphas])),
        "a script, 32 sentences at a time": lambda seed: Run(timed(lambda: [script(alpha) for alpha in alphas])),
    }
    return Benchmark("Models in a plane, 6 x 64", "models/s", CELLS, sides)
