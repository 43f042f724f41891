"""What the papers say of their trainings, beside what the profile `paper` of each study declares.

`published/protocols.csv` has what the papers say: a line names a study, its trainings (`tasks.mlm`, `bilstm.pos*`,
`encoders.*`; `*` stands for anything) and a setting. An empty value is one that is not stated. Where several lines are
about one setting, the last counts. A line has a reason where the study takes another value, or nothing is stated.
`published/training_examples.csv` has the numbers of training examples.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from babelscope.core.errors import StudyError
from babelscope.corpora.letters import split_name
from babelscope.studies import STUDIES, find_study
from babelscope.study.declare import Study, Transfer
from babelscope.study.encoders import Adaptation, Pretraining
from babelscope.tasks.kinds import BILSTM
from babelscope.tuning.settings import Tuning

PROFILE = "paper"


class Training(NamedTuple):
    """One training that a study declares."""

    name: str
    """`tasks.NAME`, `bilstm.NAME` of the same task's BiLSTM, or `encoders.NAME` of what learns language."""
    tuning: Tuning
    selected: bool
    """Whether dev sets select the best step."""
    runs: int


class Line(NamedTuple):
    """A setting, as the paper and as the study has it."""

    setting: str
    published: str
    """Empty: not stated."""
    where: str
    declared: str
    reason: str

    @property
    def verdict(self) -> str:
        """`same`, `differs: why` or `not stated: why this`."""
        if not self.published:
            return f"not stated: {self.reason}"
        return "same" if self.published == self.declared else f"differs: {self.reason}"

    @property
    def fault(self) -> str:
        """What is wrong with it: a difference without a reason, or a reason where nothing differs."""
        same = self.published == self.declared
        if same and self.reason:
            return f"{self.setting}: {self.declared} is what the paper has, but there is a reason: {self.reason}"
        if not same and not self.reason:
            said = f"the paper has {self.published}" if self.published else "the paper says nothing"
            return f"{self.setting}: {said}, the study declares {self.declared}, and no reason is given"
        return ""


def studies_with_paper() -> list[str]:
    """The built-in studies that have the profile `paper`."""
    return [name for name, study in STUDIES.items() if PROFILE in study.profiles]


def paper_study(name: str) -> Study:
    """A study in the profile `paper`, as it is without any change."""
    return find_study(f"{name}@{PROFILE}", {})


def trainings(study: Study) -> Iterator[Training]:
    """All trainings that a study declares."""
    runs = len(study.seeds)
    for name, transfer in study.tasks.items():
        selected = _selects(transfer)
        yield Training(f"tasks.{name}", transfer.tuning, selected, runs)
        if BILSTM in transfer.baselines:
            yield Training(f"bilstm.{name}", transfer.recurrent, selected, runs)
    for made in (*study.encoders, *study.references):
        if isinstance(made, Pretraining | Adaptation):
            yield Training(f"encoders.{made.name}", made.tuning, False, 1)


def _selects(transfer: Transfer) -> bool:
    """A training set with few examples has no dev split."""
    return transfer.shots is None or len(transfer.train) > 1


def settings(training: Training) -> dict[str, str]:
    """What a training declares, in words."""
    tuning, selected = training.tuning, training.selected
    examples = tuning.examples_per_batch
    warmup = f"linear warm-up over {tuning.warmup:.0%} of the steps, then " if tuning.warmup else ""
    return {
        "runs": f"{training.runs}",
        "batch": f"{tuning.tokens_per_batch} tokens" if examples is None else f"{examples} examples",
        "last batch of an epoch": "of similar lengths" if examples is None else "the rest",
        "languages of a batch": tuning.batches,
        "length": f"{tuning.epochs} epochs" if tuning.steps is None else f"{tuning.steps} steps",
        "learning rate": f"{tuning.learning_rate:g}",
        "schedule": f"{warmup}linear to 0",
        "optimizer": "AdamW" if tuning.bias_correction else "AdamW without bias correction",
        "weight decay": f"{tuning.weight_decay:g}",
        "betas": ", ".join(f"{beta:g}" for beta in tuning.betas),
        "epsilon": f"{tuning.epsilon:g}",
        "clipping": "none" if tuning.clip is None else f"norm {tuning.clip:g}",
        "dropout of the head": f"{tuning.dropout:g}",
        "longest sequence": "as the encoder" if tuning.max_length is None else f"{tuning.max_length}",
        "validation": _validation(tuning) if selected else "none",
        "early stopping": "none" if tuning.patience is None or not selected else f"patience {tuning.patience}",
        "selection": "best on the dev sets" if selected else "last step",
        "precision": tuning.precision,
    }


def _validation(tuning: Tuning) -> str:
    if tuning.validate_every is not None:
        return f"every {tuning.validate_every} steps"
    often = tuning.validations_per_epoch
    return "after each epoch" if often is None else f"{often} times an epoch"


def compared(study: str, training: Training) -> list[Line]:
    """Every setting of a training, as the paper and as the study has it.

    Raises:
        StudyError: settings that no line of the published protocols is about.
    """
    lines, missing = [], []
    for setting, declared in settings(training).items():
        found = [
            line for line in _table("protocols")
            if line["setting"] == setting and fnmatchcase(study, line["study"])
            and fnmatchcase(training.name, line["training"])
        ]  # fmt: skip
        if found:
            published, where, reason = (found[-1][key] for key in ("published", "where", "reason"))
            lines.append(Line(setting, published, where, declared, reason))
        else:
            missing.append(setting)
    if missing:
        raise StudyError(f"{study}@{PROFILE}", [f"{training.name}: no published {setting}" for setting in missing])
    return lines


def groups(name: str) -> dict[tuple[Line, ...], list[str]]:
    """The trainings of a study's profile `paper` that have all settings in common, by these."""
    found: dict[tuple[Line, ...], list[str]] = {}
    for training in trainings(paper_study(name)):
        found.setdefault(tuple(compared(name, training)), []).append(training.name)
    return found


class Size(NamedTuple):
    """The training examples of a task, and the steps that they make."""

    task: str
    examples: tuple[int, ...]
    """Of each training set."""
    where: str
    tuning: Tuning

    @property
    def steps(self) -> int:
        """Of the optimizer, in the whole training."""
        return self.tuning.steps_of(self.examples) or 0

    @property
    def steps_an_epoch(self) -> int:
        """Batches in an epoch."""
        return self.tuning.batches_of(self.examples) or 0


def sizes(name: str) -> tuple[list[Size], list[str]]:
    """Of each task of a study's profile `paper` the published number of examples; and the tasks without one."""
    known, unknown = [], []
    for task, transfer in paper_study(name).tasks.items():
        counts = [_examples(name, task, data) for data in transfer.train]
        found = [count for count in counts if count is not None]
        whole = _examples(name, task, "")  # of all training sets of a task together
        if whole is not None:
            known.append(Size(task, (whole[0],), whole[1], transfer.tuning))
        elif len(found) == len(counts):
            numbers = tuple(min(number, transfer.shots or number) for number, _ in found)
            known.append(Size(task, numbers, "; ".join(dict.fromkeys(where for _, where in found)), transfer.tuning))
        else:
            unknown.append(task)
    return known, unknown


def _examples(study: str, task: str, data: str) -> tuple[int, str] | None:
    data = split_name(data)[0] if data else data  # other letters, as many sentences
    for line in _table("training_examples"):
        if line["study"] == study and fnmatchcase(task, line["task"]) and line["data"] == data:
            return int(line["examples"]), line["where"]
    return None


@cache
def _table(name: str) -> tuple[dict[str, str], ...]:
    table = files("babelscope.studies") / "published" / f"{name}.csv"
    return tuple(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def unused_lines() -> list[str]:
    """Lines of the two tables that are about nothing that a study declares."""
    declared = {name: paper_study(name) for name in studies_with_paper()}
    names = {study: [training.name for training in trainings(value)] for study, value in declared.items()}
    known = set(settings(next(trainings(next(iter(declared.values()))))))
    unused = []
    for line in _table("protocols"):
        about = [name for study in names if fnmatchcase(study, line["study"]) for name in names[study]]
        if line["setting"] not in known or not any(fnmatchcase(name, line["training"]) for name in about):
            unused.append(f"protocols.csv: {line['study']}, {line['training']}, {line['setting']}")
    for line in _table("training_examples"):
        tasks = declared[line["study"]].tasks if line["study"] in declared else {}
        data = [transfer.train for task, transfer in tasks.items() if fnmatchcase(task, line["task"])]
        if not any(not line["data"] or line["data"] in train for train in data):
            unused.append(f"training_examples.csv: {line['study']}, {line['task']}, {line['data']}")
    return unused
