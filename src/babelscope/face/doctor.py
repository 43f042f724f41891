"""What this machine has and lacks, and which settings are fastest here."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil

from babelscope.core.errors import InputError
from babelscope.corpora.sources import available_treebanks
from babelscope.encoders.footprint import Footprint
from babelscope.encoders.places import shipped_encoders
from babelscope.encoders.shape import Shape
from babelscope.engine.calibration import Calibration, Rate, write_calibration
from babelscope.engine.environment import processor
from babelscope.engine.local import usable_cores
from babelscope.engine.store import Store
from babelscope.engine.work import LEARNING
from babelscope.face.compiling import HEADER, TITLE, VOCABULARY, bert_config, compiling_lines

Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]

SHAPES = {
    "small (6 layers of 64)": Shape(),
    "medium (2 layers of 768)": Shape(hidden=768, layers=2, heads=12, feed_forward=3072),
}
BATCH, LARGE_BATCH = (8, 32), (32, 128)
"""Sentences in a batch, and tokens in each: on a CPU, and on an accelerator."""
CAPABILITIES = ("avx2", "avx512_f", "avx512_bf16", "amx_tile", "amx_bf16")
WORTHWHILE = 1.2
"""How many times faster a setting must be to be worth declaring instead of the default."""
PASSES = 20
"""Steps of each setting that are timed at most, after one that warms caches."""
SECONDS = 20.0
"""After which no further step of an encoder is timed, so that a busy machine does not keep one waiting."""
HOPELESS = 3.0
"""A setting whose first step takes this many times as long as the default's is not timed again."""
BUSY = 0.5
"""Others compute here if the load average is above this share of the cores."""


class Setting(NamedTuple):
    """How a training run computes."""

    device: str
    precision: str
    threads: int


def examine(
    store: Store, shapes: Mapping[str, Shape] = SHAPES, passes: int = PASSES, keep: Path | None = None
) -> list[Table]:
    """Title, header and lines of each table about this machine; `passes` steps of each setting are timed at most.

    What was measured is kept in the file `keep`, for plans.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded, as in the engine's workers
    load = psutil.getloadavg()[0]  # before this adds to it
    speeds = {name: measure(shape, settings(), passes) for name, shape in shapes.items()}
    kept = _keep(shapes, speeds, keep) if keep else "nowhere"
    return [
        (
            "machine",
            ("what", "found"),
            [*_machine(), ("load", load_in_words(load, usable_cores())), ("speeds are kept in", kept)],
        ),
        ("data", ("what", "found"), _data(store.folder)),
        ("training speed", ("encoder", "device", "precision", "threads", "tokens a second"), _speed_lines(speeds)),
        (
            "what to declare under tuning",
            ("encoder", *Setting._fields, "times as fast as the default"),
            _advice_lines(speeds),
        ),
        *_compiling(),
    ]


def _compiling() -> list[Table]:
    """Whether `compile: true` pays, where there is a CUDA device."""
    import torch

    return [(TITLE, HEADER, compiling_lines())] if torch.cuda.is_available() else []


def settings() -> list[Setting]:
    """What is measured: both precisions, on one core, on all, and on a CUDA device where there is one."""
    import torch

    places = [("cpu", threads) for threads in dict.fromkeys((1, usable_cores()))]
    places += [("cuda", 1)] if torch.cuda.is_available() else []
    return [Setting(device, p, threads) for (device, threads), p in product(places, ("float32", "bfloat16"))]


def load_in_words(load: float, cores: int) -> str:
    """The load average, and what it means for the speeds that are measured."""
    if load <= BUSY * cores:
        return f"{load:.1f}, {cores} cores: quiet"
    return f"{load:.1f}, {cores} cores: busy, so the speeds below are too low; run this again when it is quiet"


def measure(shape: Shape, settings: list[Setting], passes: int) -> dict[Setting, float]:
    """Tokens that one run trains on in a second, by setting: medians of single steps, the settings taking turns."""
    import torch

    threads = torch.get_num_threads()
    try:
        steps = {setting: _training_step(shape, setting) for setting in settings}
        times = take_turns(steps, passes)
    finally:
        torch.set_num_threads(threads)
    return {setting: prod(batch_of(setting)) / median(spent) for setting, spent in times.items()}


def batch_of(setting: Setting) -> tuple[int, int]:
    """Sentences that a measured step trains on, and tokens in each."""
    return BATCH if setting.device == "cpu" else LARGE_BATCH


def rates(shape: Shape, speeds: Mapping[Setting, float]) -> list[Rate]:
    """Operations a second, from the tokens that are trained on in a second; all of these are predicted."""
    sizes = Footprint(shape.layers, shape.hidden, shape.heads, shape.feed_forward, VOCABULARY)
    return [
        Rate(
            **setting._asdict(),
            width=shape.hidden,
            operations=LEARNING * speed * sizes.forward(batch_of(setting)[1], predicted=1),
        )
        for setting, speed in speeds.items()
    ]


def _keep(shapes: Mapping[str, Shape], speeds: Mapping[str, Mapping[Setting, float]], path: Path) -> str:
    """The file, or why there is none."""
    measured = [rate for name, shape in shapes.items() for rate in rates(shape, speeds[name])]
    try:
        write_calibration(Calibration.of_this_machine(tuple(measured)), path)
    except InputError as error:
        return str(error)
    return f"{path}, where babelscope plan finds them"


def recommended(speeds: dict[Setting, float]) -> Setting:
    """What trains most in a second on the whole machine, when as many runs share a CPU as their threads leave room.

    Single-threaded float32, the default, unless another setting is `WORTHWHILE` times as fast.
    """
    default = next(iter(speeds))
    best = max(speeds, key=lambda setting: _whole_machine(setting, speeds))
    worthwhile = _whole_machine(best, speeds) >= WORTHWHILE * _whole_machine(default, speeds)
    return best if worthwhile else default


def _whole_machine(setting: Setting, speeds: dict[Setting, float]) -> float:
    runs = usable_cores() // setting.threads if setting.device == "cpu" else 1
    return speeds[setting] * runs


def take_turns(
    steps: Mapping[Setting, Callable[[], float]], passes: int, clock: Callable[[], float] = time.perf_counter
) -> dict[Setting, list[float]]:
    """Seconds of single steps, by setting, after one of each that warms caches; the first setting is the default.

    Taking turns spreads what else the machine does over all of them. `HOPELESS` settings are timed once, and after
    `SECONDS` no turn begins.
    """
    import torch

    def seconds_of(setting: Setting) -> float:
        torch.set_num_threads(setting.threads)
        start = clock()
        steps[setting]()
        return clock() - start

    began = clock()
    for setting in steps:
        seconds_of(setting)
    times = {setting: [seconds_of(setting)] for setting in steps}
    limit = HOPELESS * next(iter(times.values()))[0]
    hopeful = [setting for setting, spent in times.items() if spent[0] <= limit]
    for _ in range(passes - 1):
        if clock() - began > SECONDS:
            break
        for setting in hopeful:
            times[setting].append(seconds_of(setting))
    return times


def _training_step(shape: Shape, setting: Setting) -> Callable[[], float]:
    """A step of masked language modelling as the training loop takes it, on random tokens."""
    import torch

    from babelscope.encoders.load import untrained_model

    model: torch.nn.Module = untrained_model(bert_config(shape, VOCABULARY, batch_of(setting)[1]))
    model.to(setting.device).train()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    pieces = torch.randint(VOCABULARY, batch_of(setting), device=setting.device)

    def step() -> float:
        with torch.autocast(setting.device, torch.bfloat16, enabled=setting.precision == "bfloat16"):
            loss = model(input_ids=pieces, labels=pieces).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.item())  # waits for a GPU

    return step


def _speed_lines(speeds: dict[str, dict[Setting, float]]) -> list[tuple[str, ...]]:
    return [
        (name, setting.device, setting.precision, str(setting.threads), f"{speed:,.0f}")
        for name, measured in speeds.items()
        for setting, speed in measured.items()
    ]


def _advice_lines(speeds: dict[str, dict[Setting, float]]) -> list[tuple[str, ...]]:
    lines = []
    for name, measured in speeds.items():
        default, best = next(iter(measured)), recommended(measured)
        gain = _whole_machine(best, measured) / _whole_machine(default, measured)
        lines.append((name, *map(str, best), f"{gain:.1f}"))
    return lines


def _machine() -> list[tuple[str, ...]]:
    import torch

    memory = psutil.virtual_memory()
    cuda = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return [
        ("cores", f"{usable_cores()} usable, {psutil.cpu_count(logical=False) or 'unknown number'} physical"),
        ("memory", f"{memory.available / 2**30:.1f} GiB free of {memory.total / 2**30:.1f}"),
        ("system", platform.platform()),
        ("Python", platform.python_version()),
        ("torch", torch.__version__),
        ("CPU", f"{processor()}, {torch.backends.cpu.get_cpu_capability()}"),
        ("instructions", _instructions()),
        ("CUDA devices", ", ".join(cuda) or "none: leave tuning.device at cpu"),
    ]


def _instructions() -> str:
    import torch

    if not hasattr(torch.cpu, "get_capabilities"):
        return "unknown to this version of torch"
    capabilities = torch.cpu.get_capabilities()
    return ", ".join(name for name in CAPABILITIES if capabilities.get(name)) or "none of use here"


def _data(store: Path) -> list[tuple[str, ...]]:
    there = next(folder for folder in (store, *store.parents) if folder.exists())
    writable = "writable" if os.access(there, os.W_OK) else "NOT writable: give --store another folder"
    return [
        ("BABELSCOPE_DATA", os.environ.get("BABELSCOPE_DATA") or "not set: treebanks are fetched from the network"),
        ("treebanks", _treebanks()),
        ("store", f"{store}: {writable}, {shutil.disk_usage(there).free / 2**30:.1f} GiB free"),
        ("shipped encoders", ", ".join(shipped_encoders()) or "none: this installation is incomplete"),
    ]


def _treebanks() -> str:
    try:
        counts = Counter(treebank.source for treebank in available_treebanks())
    except InputError as error:
        return str(error)
    return ", ".join(f"{count} from {source}" for source, count in sorted(counts.items()))
