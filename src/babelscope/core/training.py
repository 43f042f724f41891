"""What a model was trained on, as values and as one text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class TrainedOn(NamedTuple):
    """The languages of a model's training data, and how many examples of each but the first if these are few.

    As text `qaa`, `qaa+qab`, `qaa+qab:10` or `qab:100`: the number stands with every language but the first, or with
    the only one.
    """

    languages: tuple[str, ...]
    shots: int | None = None

    def __str__(self) -> str:
        few = "" if self.shots is None else f":{self.shots}"
        whole = 1 if len(self.languages) > 1 else 0
        return "+".join([*self.languages[:whole], *(f"{code}{few}" for code in self.languages[whole:])])

    @property
    def columns(self) -> dict[str, str | int | None]:
        """The columns of a row that say it; no `shots` where there are none."""
        few = {} if self.shots is None else {"shots": self.shots}
        return {"train_languages": "+".join(self.languages), **few}

    @classmethod
    def of(cls, sets: Iterable[tuple[str, int | None]]) -> TrainedOn:
        """Of training sets: the language of each, and how many examples there are if these are few, else None.

        A language is not one of few examples if another set of it is not.
        """
        given = list(sets)
        whole = {language for language, few in given if few is None}
        shots = [few for language, few in given if language not in whole]
        return cls(tuple(dict.fromkeys(language for language, _ in given)), shots[-1] if shots else None)

    @classmethod
    def read(cls, text: str) -> TrainedOn:
        """From its text."""
        parts = [re.fullmatch(r"(.*?)(?::(\d+))?", part, re.DOTALL) for part in text.split("+")]
        numbers = [int(part[2]) for part in parts if part and part[2]]
        return cls(tuple(part[1] for part in parts if part), numbers[-1] if numbers else None)
