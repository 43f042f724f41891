"""What a GPU makes of training: `python -m benchmarks.gpu [PART ...]`, each printed when it is known.

Parts: `ceiling` (of matrix products and of copies), `bert` (BERT-base in bfloat16 on sentences of up to 128 pieces,
against `transformers.Trainer` with its best flags), `profile` (where the time of that goes), `graphs` (a tuning of a
small encoder kernel by kernel, and as graphs of kernels), `sharing` (small tunings, by how many share the GPU; to be
asked for again while NVIDIA's MPS runs), `study` (a tenth of what `align-then-predict@paper` does with English, with
random weights of mBERT's shape; needs treebanks in `BABELSCOPE_DATA`).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import cycle, product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from transformers import BertConfig
from transformers import logging as transformers_logging

from babelscope.core.examples import UPOS, Tagged
from babelscope.corpora.conllu import read_conllu
from babelscope.encoders.load import Encoder, load_encoder, save_encoder, untrained_model
from babelscope.encoders.places import SHIPPED
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.engine.events import Event, Finished
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tuning.graphs import Passes
from babelscope.tuning.settings import Tuning
from babelscope.world import World
from benchmarks.machine import timed
from benchmarks.table import OURS, Run, Side
from benchmarks.training import HEAD_DROPOUT, Given, babelscope_run, batch_of, products, trainer_run

LONGEST, EPOCHS, SEEN = 128, 4, 40
"""Pieces of a sentence; passes over the sentences; steps that are profiled, just before the last one of a run."""
BEST = {"optim": "adamw_torch_fused", "train_sampling_strategy": "group_by_length", "bf16": True}
"""The Trainer's flags that make it fastest, but for its own compile, which takes longer than all of this."""
SHARED = {"epochs": 6, "device": "cuda"}


def main() -> None:
    """Measure what is asked for, by default all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", default=list(PARTS))
    parser.add_argument("--jobs", nargs="*", type=int, default=[1, 8])
    parser.add_argument("--steps", type=int, default=1000, help="of BERT-base")
    parser.add_argument("--tokens", nargs="*", type=int, default=[4096, 16384])
    parser.add_argument("--rounds", type=int, default=3, help="of BERT-base")
    given = parser.parse_args()
    transformers_logging.set_verbosity_error()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {os.cpu_count()} cores", flush=True)
    for part in given.parts:
        began = time.perf_counter()
        PARTS[part](given)
        print(f"({part}: {time.perf_counter() - began:.0f} s)", flush=True)


def ceiling(precision: str, size: int = 8192) -> float:
    """Floating-point operations a second of a large matrix product."""
    first, second = (torch.randn(size, size, device="cuda", dtype=getattr(torch, precision)) for _ in range(2))
    return 2 * size**3 / sorted(timed(lambda: first @ second) for _ in range(12))[6]


def ceilings(_: argparse.Namespace) -> None:
    """By precision, and of copies, read and written bytes together."""
    source = torch.randn(1 << 28, device="cuda")
    copied = torch.empty_like(source)
    seconds = sorted(timed(lambda: copied.copy_(source)) for _ in range(12))[6]
    speeds = ", ".join(f"{ceiling(name) / 1e12:,.0f} TFLOP/s in {name}" for name in ("float32", "bfloat16"))
    print(f"matrix products: {speeds}; copies: {2 * source.nbytes / seconds / 1e12:.2f} TB/s", flush=True)


# --- BERT-base


def long_sentences(count: int) -> list[Tagged]:
    """Sentences of the world one after the other, of 8 to 100 words, at most 128 pieces."""
    lengths = np.random.default_rng(0).integers(8, 101, count)
    sentences = World(0).treebank("qaa", "train", 3000)
    words = cycle([pair for each in sentences for pair in zip(each.forms, each.upos, strict=True)])
    pairs = [[next(words) for _ in range(length)] for length in lengths]
    return [Tagged(*zip(*pair, strict=True)) for pair in pairs]


def bert_base(tokens: int, steps: int, compiled: bool = False) -> Given:
    """BERT-base with random weights, and enough sentences for so many steps of so many pieces."""
    sentences = long_sentences(steps // EPOCHS * tokens // 64 + 100)
    torch.manual_seed(0)
    tokenizer = load_encoder(SHIPPED / "world-natural").tokenizer
    encoder = Encoder(untrained_model(BertConfig(vocab_size=30_522)), tokenizer, "BERT-base")
    tuning = Tuning(
        learning_rate=1e-4, epochs=EPOCHS, tokens_per_batch=tokens, dropout=HEAD_DROPOUT, max_length=LONGEST,
        precision="bfloat16", device="cuda", compile=compiled,
    )  # fmt: skip
    return Given(encoder, sentences[100:], sentences[:100], tuning)


def bert(given: argparse.Namespace) -> None:
    """All sides in turns, after a short run that warms up."""
    top = ceiling("bfloat16")
    print(f"matrix products: {top / 1e12:.0f} TFLOP/s in bfloat16", flush=True)
    small = bert_base(4096, 8)
    babelscope_run(small, 0)
    trainer_run(small, BEST, 32, small.tuning.learning_rate, 0)
    for tokens in given.tokens:
        one, compiled = bert_base(tokens, given.steps), bert_base(tokens, given.steps, compiled=True)
        task = Tagging(Tagger(one.encoder, UPOS, HEAD_DROPOUT, LONGEST), one.train)
        pieces, batch = EPOCHS * int(task.lengths.sum()), batch_of(tokens, task)
        sides: dict[str, Side] = {
            OURS: partial(ours, one), f"{OURS}, compiled": partial(ours, compiled),
            "Trainer, best flags": partial(trainer_run, one, BEST, batch, one.tuning.learning_rate),
        }  # fmt: skip
        runs: dict[str, list[Run]] = {name: [] for name in sides}
        for seed in range(given.rounds):
            for name, side in sides.items():
                runs[name].append(side(seed))
        for name, run in runs.items():
            seconds = median(each.seconds for each in run)
            share = products(one.encoder) * pieces / seconds / top
            print(
                f"BERT-base, bfloat16, {tokens} pieces a batch, {pieces} in all, {name}: "
                f"{', '.join(f'{each.seconds:.2f}' for each in run)} s, {pieces / seconds:,.0f} pieces/s, "
                f"{share:.2f} of the ceiling, held-out loss {run[0].loss:.4f}",
                flush=True,
            )


def ours(one: Given, seed: int) -> Run:
    """A run of ours; prints what its steps take once it has begun, too."""
    noted: list[tuple[int, float]] = []

    def note(done: int, total: int, **_: float) -> None:
        if done in (total // 2, total - 1):
            torch.cuda.synchronize()
            noted.append((done, time.perf_counter()))

    run = babelscope_run(one, seed, note)
    (first, began), (last, ended) = noted
    milliseconds = 1e3 * (ended - began) / (last - first)
    print(f"  {run.seconds:.2f} s, {milliseconds:.2f} ms a step in the second half of {last + 1}", flush=True)
    return run


def profile(given: argparse.Namespace) -> None:
    """Of the last steps of a run, which kernels take the GPU's time, and how much of the time it is busy."""
    for tokens, compiled in product(given.tokens, (False, True)):
        seen, seconds = last_steps(bert_base(tokens, 5 * SEEN, compiled))
        kernels = sorted(seen.key_averages(), key=lambda each: -each.self_device_time_total)
        busy = sum(each.self_device_time_total for each in kernels) / 1e6
        count = sum(each.count for each in kernels) / SEEN
        steps = f"{tokens} pieces a batch, {SEEN} steps{', compiled' * compiled}"
        print(f"{steps}: {seconds:.2f} s, {busy:.2f} of them in {count:.0f} kernels a step", flush=True)
        for each in kernels[:30]:
            milliseconds = each.self_device_time_total / 1e3 / SEEN
            print(f"  {milliseconds:6.3f} ms a step, {each.count / SEEN:4.0f} times: {each.key[:100]}")


def last_steps(one: Given) -> tuple[Any, float]:
    """The profile of a run's last steps, and their seconds."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    seen, began = profiled(activities=[ProfilerActivity.CUDA]), list[float]()

    def note(done: int, total: int, **_: float) -> None:
        if done in (total - 1 - SEEN, total - 1):
            torch.cuda.synchronize()
            began.append(time.perf_counter())
            (seen.start if len(began) == 1 else seen.stop)()

    babelscope_run(one, 0, note)
    return seen, began[1] - began[0]


# --- small encoders


def shared_study(seeds: int) -> Study:
    """Tunings of the shipped encoder, 6 x 64, alike but for their seeds."""
    return Study.model_validate(
        {
            "name": "shared", "encoders": ["world-natural"], "seeds": list(range(seeds)),
            "tasks": {"pos": {"train": ["world:qaa"], "evaluate": ["world:qaa"],
                              "sizes": {"train": 1500, "dev": 50, "test": 50}, "tuning": SHARED}},
        }
    )  # fmt: skip


def graphs(_: argparse.Namespace) -> None:
    """Seconds of one tuning of 6 x 64, kernel by kernel and as graphs."""
    world = World(0)
    encoder = load_encoder(SHIPPED / "world-natural")
    train = [Tagged(each.forms, each.upos) for each in world.treebank("qaa", "train", 1500)]
    given = Given(encoder, train, train[:50], Tuning(dropout=HEAD_DROPOUT, device="cuda"))
    graph = Passes._graph
    for seed in range(3):
        for name, used in (("kernel by kernel", lambda *_: None), ("as graphs", graph)):
            Passes._graph = used  # type: ignore[method-assign]
            run = babelscope_run(given, seed)
            about = f"6 x 64, 1,500 sentences, 6 epochs, {name}"
            print(f"{about}: {run.seconds:.2f} s, held-out loss {run.loss:.5f}", flush=True)


def sharing(given: argparse.Namespace) -> None:
    """Tunings a minute, by how many are computed at once; the first of each process are left out."""
    from babelscope.engine import slots

    slots.SHARED_BY = slots.SHARED_WITH_MPS = max(given.jobs)
    for jobs in given.jobs:
        plan, finished = compile_study(shared_study(3 * jobs + 1)), list[float]()

        def note(event: Event, finished: list[float] = finished) -> None:
            if isinstance(event, Finished):
                finished.append(time.perf_counter())

        with tempfile.TemporaryDirectory() as folder:
            run_plan(plan, Store(Path(folder)), jobs=jobs, observe=note)
        counted = finished[2 * jobs :]
        rate = (len(counted) - 1) / (counted[-1] - counted[0])
        print(f"{jobs} at once: {60 * rate:.1f} steps a minute, {len(finished)} in all", flush=True)


def study(given: argparse.Namespace) -> None:
    """Seconds of a tenth of the steps, with everything that is measured afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        declared = a_tenth(str(mbert_like(Path(folder) / "mbert-like")))
        plan = compile_study(declared)
        for jobs in given.jobs:
            store, began, finished = Store(Path(folder) / f"store-{jobs}"), time.perf_counter(), Counter[str]()

            def note(event: Event, finished: Counter[str] = finished, began: float = began) -> None:
                if isinstance(event, Finished):
                    finished[type(plan.steps[event.key]).__name__] += 1
                    if finished.total() % 20 == 0:
                        print(f"  {time.perf_counter() - began:.0f} s: {dict(finished)}", flush=True)

            seconds = timed(partial(run_plan, plan, store, jobs, note))
            steps = sum(type(step).__name__ == "Tune" for step in plan.steps.values())
            print(f"{jobs} at once: {len(plan.steps)} steps, {steps} tunings, {seconds:.0f} s", flush=True)


def a_tenth(encoder: str) -> Study:
    """Parsing and tagging of English, seven encoders, one seed, on the treebanks that are at hand."""
    whole = find_study("align-then-predict@paper", {"encoder": encoder, "seeds": 1, "sources": ["en"]})
    declared = whole.model_dump(mode="json")
    del declared["tasks"]["ner-en"]
    at_hand = {path.name for path in (Path(os.environ["BABELSCOPE_DATA"]) / "ud").iterdir()}
    for task in declared["tasks"].values():
        task["evaluate"] = [name for name in task["evaluate"] if name in at_hand]
        task["tuning"] = {**task["tuning"], "epochs": None, "steps": 196}
    for measure in declared["measures"]:
        measure["targets"] = [name for name in measure["targets"] if name in at_hand]
        measure["tuned"] = list(declared["tasks"])
    return Study.model_validate(declared | {"name": "a-tenth"})


def mbert_like(folder: Path) -> Path:
    """An encoder with random weights of mBERT's shape, and pieces learnt from the treebanks."""
    ud = Path(os.environ["BABELSCOPE_DATA"]) / "ud"
    files = sorted(ud.glob("*-PUD/*.conllu.gz"))
    texts = [" ".join(sentence.forms) for file in files for sentence in read_conllu(file)]
    pieces = train_wordpiece(texts, 30_000)
    torch.manual_seed(0)
    save_encoder(Encoder(untrained_model(BertConfig(vocab_size=119_547)), pieces, "mbert-like"), folder)
    return folder


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "ceiling": ceilings, "bert": bert, "profile": profile, "graphs": graphs, "sharing": sharing, "study": study,
}  # fmt: skip


if __name__ == "__main__":
    main()
