"""What the papers say of their trainings, beside what the profile `paper` of each study declares.

`studies/published/protocols.csv` has what the papers say: a line names a study, or several with a space between, its
trainings (`tasks.mlm`, `bilstm.pos*`, `encoders.*`; `*` stands for anything) and a setting. An empty value is one that
is not stated. Where several lines are about one setting, the last counts. A line has a reason where the study takes
another value, or nothing is stated.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from babelscope.core.errors import StudyError
from babelscope.studies import STUDIES, find_study
from babelscope.studies.published_numbers import read_table
from babelscope.study.declare import Study
from babelscope.study.trainings import Training, settings, trainings

PROFILE = "paper"


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


def compared(study: str, training: Training) -> list[Line]:
    """Every setting of a training, as the paper and as the study has it.

    Raises:
        StudyError: settings that no line of the published protocols is about.
    """
    lines, missing = [], []
    for setting, declared in settings(training).items():
        found = [
            line for line in read_table("protocols")
            if line["setting"] == setting and is_about(line, study) and fnmatchcase(training.name, line["training"])
        ]  # fmt: skip
        if found:
            published, where, reason = (found[-1][key] for key in ("published", "where", "reason"))
            lines.append(Line(setting, published, where, declared, reason))
        else:
            missing.append(setting)
    if missing:
        raise StudyError(f"{study}@{PROFILE}", [f"{training.name}: no published {setting}" for setting in missing])
    return lines


def is_about(line: dict[str, str], study: str) -> bool:
    """Whether a line of a table names a study."""
    return any(fnmatchcase(study, pattern) for pattern in line["study"].split())


def groups(name: str) -> dict[tuple[Line, ...], list[str]]:
    """The trainings of a study's profile `paper` that have all settings in common, by these."""
    found: dict[tuple[Line, ...], list[str]] = {}
    for training in trainings(paper_study(name)):
        found.setdefault(tuple(compared(name, training)), []).append(training.name)
    return found
