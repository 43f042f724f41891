"""How much a plan will store, before any of it runs: weights exactly where they can be counted, rows about.

And whether there is room for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from pathlib import Path
from shutil import disk_usage

from safetensors import SafetensorError

from babelscope.core.step import Step
from babelscope.encoders.footprint import footprint
from babelscope.encoders.shape import Shape
from babelscope.encoders.weight_files import weight_shapes
from babelscope.engine.agenda import Agenda
from babelscope.engine.dropping import readers_of
from babelscope.engine.store import Store
from babelscope.steps import Adapt, Align, EncoderStep, Learned, Load, Operate, Pretrain, Training, Tune
from babelscope.steps.duration import duration_of
from babelscope.steps.plan import Plan
from babelscope.tuning.probes import Probes

ROW_BYTES = 280
"""Of a row of probes, as it is stored."""
CHECKPOINTS = 6
"""How often a training has its weights on the disk at most, beside the best: as such and in two moments, which are
written beside those of the last checkpoint."""
LAYER_MEASURES = 5
"""What is measured of each layer against each reference: four distances and CKA."""
USUAL_LAYERS = 12
"""Of an encoder whose configuration is not at hand."""


def expected_bytes(plan: Plan) -> dict[str, int | None]:
    """By kind of step, what its results take; None where a size cannot be seen from here.

    A kind that writes a handful of rows a step counts these alone.
    """
    sizes: dict[str, int | None] = {}
    for step in plan.steps.values():
        known, added = sizes.setdefault(type(step).__name__, 0), bytes_of(step)
        sizes[type(step).__name__] = None if known is None or added is None else known + added
    return sizes


def peak_bytes(plan: Plan, at_once: int) -> int | None:
    """The most that drafts and results of a plan take at any moment, about, if weights go that nothing reads any more.

    That is with as many steps `at_once`, in the plan's order, from an empty store. Weights that cannot be seen from
    here are left out; None where all are.
    """
    weights = {key: _weights_in(step) for key, step in plan.steps.items()}
    agenda, readers, running = Agenda(plan, lambda key: False), readers_of(plan), deque[str]()
    taken = peak = 0
    while agenda.unfinished:
        while agenda.has_ready and len(running) < at_once:
            running.append(agenda.take())
            taken += (bytes_of(plan.steps[running[-1]]) or 0) + CHECKPOINTS * weights[running[-1]]
        peak = max(peak, taken)
        agenda.finish(key := running.popleft())
        taken -= CHECKPOINTS * weights[key]
        for done in {key, *(needed.key for needed in plan.steps[key].inputs)}:
            if plan.steps[done].droppable and not readers[done] & agenda.unfinished:
                taken -= weights[done]
    return peak if any(weights.values()) else None


def _weights_in(step: Step) -> int:
    """Bytes of the weights that a step trains; 0 if it trains none, or they cannot be seen."""
    if not isinstance(step, Training):
        return 0
    return _weights(step if isinstance(step, Learned) else step.encoder) or 0


def running_bytes(steps: Sequence[Step], at_once: int) -> int:
    """What the checkpoints of trainings take that run at once, at most, as far as it can be seen from here."""
    return CHECKPOINTS * sum(sorted(map(_weights_in, steps))[-at_once:])


def missing_bytes(steps: Sequence[Step], store: Store) -> int:
    """What the store's disk lacks for the results of steps, as far as their sizes can be seen from here; 0: nothing.

    Drafts of theirs have room that their results will have.
    """
    missing = sum(bytes_of(step) or 0 for step in steps) - disk_usage(store.folder).free
    return max(0, missing - sum(store.draft_bytes(step.key) for step in steps)) if missing > 0 else 0


def bytes_of(step: Step) -> int | None:
    """What the result of a step takes, about; None where that cannot be seen from here."""
    if isinstance(step, Align):
        return None  # grows with the text, and with what its own vocabulary learns of it
    if isinstance(step, Learned):
        return _weights(step)
    if isinstance(step, Tune):
        weights = _weights(step.encoder)
        rows = _rows(step, step.probes) if step.probes else 0
        if weights is not None and step.compact:
            weights //= 4  # which are bytes in place of float32
        return None if weights is None else weights + rows * ROW_BYTES
    return ROW_BYTES


def _rows(step: Tune, probes: Probes) -> int:
    """Those that its probes write."""
    steps, layers = duration_of(step).steps, step.encoder.layers or USUAL_LAYERS
    times = sum(probes.due(step, steps) for step in range(steps + 1))
    layered = len(probes.distance) * (len(step.references) + 1) * LAYER_MEASURES * (layers + 1)
    return times * (len(probes.perplexity) + layered + len(probes.scores))


def _weights(encoder: EncoderStep) -> int | None:
    """Bytes of an encoder in float32; of one with layers dropped or repeated, those before that."""
    match encoder:
        case Pretrain(shape=shape, vocabulary_size=pieces):
            return 4 * _parameters(shape, pieces)
        case Adapt(encoder=inner) | Operate(encoder=inner):
            return _weights(inner)
        case Load(place=place) if Path(place).is_dir():
            return 4 * numbers if (numbers := _saved(encoder)) else None
        case Load(place=place):
            return 4 * sizes.weights if (sizes := footprint(place)) else None
        case _:
            return None


@lru_cache(maxsize=256)
def _saved(encoder: Load) -> int | None:
    """How many numbers an encoder's weights are in its folder, in any precision; None where none can be read."""
    try:
        return sum(map(prod, weight_shapes(Path(encoder.place)).values()))
    except (SafetensorError, OSError):
        return None


def _parameters(shape: Shape, pieces: int) -> int:
    """Of a BERT with its head: embeddings, layers, and the head's own layer and biases."""
    hidden, inner = shape.hidden, shape.feed_forward
    layer = 4 * (hidden + 1) * hidden + (hidden + 1) * inner + (inner + 1) * hidden + 4 * hidden
    embeddings = (pieces + shape.positions + 1) * hidden + 2 * hidden
    return embeddings + shape.layers * layer + (hidden + 1) * hidden + 2 * hidden + pieces
