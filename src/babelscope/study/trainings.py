"""The trainings that a study declares, and their settings in words, as papers state them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from babelscope.core.tasks import MASKING_RATE
from babelscope.study.declare import Study, Transfer
from babelscope.study.encoders import Adaptation, Pretraining
from babelscope.tasks.design import TEXT_HEADS
from babelscope.tasks.kinds import BILSTM, kind_of
from babelscope.tuning.probes import Quirk
from babelscope.tuning.settings import Tuning

LAYERS = 12
"""Of the encoders that are tuned with a schedule in the profile `paper`."""
DEV, TEST = "best on the dev sets", "best on the sets that are scored"
SELECTION_QUIRKS: dict[Quirk, str] = {
    "higher-is-best": "the higher perplexity counting as better",
    "two-batches": "of 32 sentences",
    "fresh-masks": "masked anew each time",
    "no-attention-mask": "padding attended to",
}
"""Quirks of probes that change which step is selected in language modelling."""
HEADS = {"first": "from the first state", "pooler": "from the pooler", "family": "as of its family"}
"""How the page calls the heads of tasks on texts."""
BATCHES = {"drawn": "one language, drawn by its size"}
"""How the page calls some kinds of batches; others by their names."""


class Training(NamedTuple):
    """One training that a study declares."""

    name: str
    """`tasks.NAME`, `bilstm.NAME` of the same task's BiLSTM, or `encoders.NAME` of what learns language."""
    tuning: Tuning
    selection: str | None
    """What selects the best step; None: nothing, and the last is kept."""
    seeds: int
    """How many there are; each encoder is trained with all of them."""
    masking: float | None = None
    """Share of the pieces that are hidden; None: it is no language modelling."""
    quirks: tuple[str, ...] = ()
    """Of its kind of task."""
    frozen_dropout: str | None = None
    """Whether what schedules freeze keeps its dropout; None: nothing is frozen."""
    head: str | None = None
    """What of a text is classified; None: it is no task on texts."""


def trainings(study: Study) -> Iterator[Training]:
    """All trainings that a study declares."""
    seeds, frozen = len(study.seeds), _frozen_dropout(study)
    for name, transfer in study.tasks.items():
        language = study.task(name).name == "mlm"
        selection, masking = _selection(transfer, language), MASKING_RATE if language else None
        head = transfer.head or TEXT_HEADS[0] if kind_of(study.task(name)).heads == TEXT_HEADS else None
        yield Training(f"tasks.{name}", transfer.tuning, selection, seeds, masking, transfer.quirks, frozen, head)
        if BILSTM in transfer.baselines:
            yield Training(f"bilstm.{name}", transfer.recurrent, selection, seeds)
    for made in made_encoders(study):
        yield Training(f"encoders.{made.name}", made.tuning, None, 1, made.masking)


def made_encoders(study: Study) -> list[Adaptation | Pretraining]:
    """What learns language before it is tuned, or serves as a reference."""
    return [made for made in (*study.encoders, *study.references) if isinstance(made, Pretraining | Adaptation)]


def _selection(transfer: Transfer, language: bool) -> str | None:
    """A training set with few examples has no dev split."""
    if transfer.selected_on == "test":
        best = TEST
    elif transfer.shots is None or len(transfer.train) > 1:
        best = DEV
    else:
        return None
    quirks = transfer.probes.quirks if transfer.probes and language else ()
    return ", ".join([best, *(text for quirk, text in SELECTION_QUIRKS.items() if quirk in quirks)])


def _frozen_dropout(study: Study) -> str | None:
    """On or off, and the names of schedules that are the exception where only some have it."""
    freezing = [
        schedule for schedule in study.schedules
        if schedule and any(stage != 0 for stage in schedule.entry_stages(LAYERS))
    ]  # fmt: skip
    without = [schedule.name for schedule in freezing if not schedule.frozen_dropout]
    if not freezing or len(without) == len(freezing):
        return "off" if freezing else None
    return f"on, but off in {', '.join(without)}" if without else "on"


def settings(training: Training) -> dict[str, str]:
    """What a training declares, in words."""
    tuning, selected = training.tuning, training.selection is not None
    examples = tuning.examples_per_batch
    warmup = f"linear warm-up over {tuning.warmup:.0%} of the steps, then " if tuning.warmup else ""
    return {
        "seeds": f"{training.seeds}",
        "batch": f"{tuning.tokens_per_batch} tokens" if examples is None else f"{examples} examples",
        "last batch of an epoch": "of similar lengths" if examples is None else _last_batch(tuning),
        "languages of a batch": BATCHES.get(tuning.batches, tuning.batches),
        "length": f"{tuning.epochs} epochs" if tuning.steps is None else f"{tuning.steps} steps",
        "learning rate": f"{tuning.learning_rate:g}",
        "schedule": f"{warmup}linear to 0",
        "optimizer": "AdamW" if tuning.bias_correction else "AdamW without bias correction",
        "weight decay": f"{tuning.weight_decay:g}",
        "betas": ", ".join(f"{beta:g}" for beta in tuning.betas),
        "epsilon": f"{tuning.epsilon:g}" + ", before the correction" * tuning.epsilon_before_correction,
        "clipping": "none" if tuning.clip is None else f"norm {tuning.clip:g}",
        "dropout of the head": f"{tuning.dropout:g}",
        "longest sequence": "as the encoder" if tuning.max_length is None else f"{tuning.max_length}",
        "validation": _validation(tuning) if selected else "none",
        "early stopping": "none" if tuning.patience is None or not selected else f"patience {tuning.patience}",
        "selection": training.selection or "last step",
        "precision": tuning.precision,
        **_only_some(training),
        **{f"quirk {name}": "yes" for name in training.quirks},
    }


def _last_batch(tuning: Tuning) -> str:
    return "the rest; left out where there are two languages" if tuning.batches == "drawn" else "the rest"


def _only_some(training: Training) -> dict[str, str]:
    """Settings of tasks on texts, of language modelling, of schedules that freeze, and of encoders without dropout."""
    head = {"head": HEADS[training.head]} if training.head else {}
    dropout = {} if training.tuning.encoder_dropout else {"dropout of the encoder": "none"}
    dropout |= {"dropout of frozen layers": training.frozen_dropout} if training.frozen_dropout else {}
    if training.masking is None:
        return head | dropout
    # `encode_sentences` knows no other unit.
    return dropout | {"masking rate": f"{training.masking:.0%}", "unit of text": "lines, long ones in parts"}


def _validation(tuning: Tuning) -> str:
    if tuning.validate_every is not None:
        return f"every {tuning.validate_every} steps"
    often = tuning.validations_per_epoch
    return "after each epoch" if often is None else f"{often} times an epoch"
