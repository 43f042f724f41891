"""Sentences that a study reads for two purposes: trained on and tested, selected on, or tested under two codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations

from babelscope.core.errors import InputError
from babelscope.core.examples import bare_texts, many_of
from babelscope.core.step import Step
from babelscope.core.tasks import LINES
from babelscope.corpora.datasets import Dataset, FileData, WorldData
from babelscope.steps import Adapt, Evaluate, Pretrain, Tune
from babelscope.steps.encoder import EncoderStep
from babelscope.steps.plan import made_of

BETTER = "its scores are better than on new ones"
SELECTED = "the best step is selected on what is trained on"
TWICE = "they count twice in every epoch"
SCORED_TWICE = "scores of the two are not of two languages"

Compared = tuple[Dataset, Dataset, str]
"""Two data sets that should have no sentences in common, and what happens where they have."""


def leaks(steps: list[Step]) -> Iterator[str]:
    """Data of which many sentences are also read for another purpose, from another file or another part of the same."""
    texts = _Texts()
    for data, other, harm in dict.fromkeys([*_compared(steps), *_tested_twice(steps)]):
        if _may_share(data, other):
            with suppress(InputError):  # which a run says of the file
                if both := texts.shared(data, other):
                    use = "that are trained on" if other.split == "train" else f"of the {other.split} split"
                    yield (
                        f"{data.name}: {both:,} of {texts.count(data):,} examples of the {data.split} split are also "
                        f"among those of {other.name} {use}, so that {harm}"
                    )


class _Texts:
    """The texts of data sets, as they tell examples apart; each is read once."""

    def __init__(self) -> None:
        self._read: dict[Dataset, list[object]] = {}
        self._known: dict[Dataset, set[object]] = {}

    def shared(self, data: Dataset, other: Dataset) -> int:
        """How many examples of the first are also in the other; 0 where they are few."""
        if other not in self._known:
            self._known[other] = set(self._of(other))
        return many_of(sum(text in self._known[other] for text in self._of(data)), self.count(data))

    def count(self, data: Dataset) -> int:
        """How many examples there are."""
        return len(self._of(data))

    def _of(self, data: Dataset) -> list[object]:
        if data not in self._read:
            self._read[data] = bare_texts(data.read())
        return self._read[data]


def _compared(steps: Iterable[Step]) -> Iterator[Compared]:
    """What each step trains on, selects on and scores."""
    adapted: dict[str, list[FileData]] = {}
    for step in steps:
        if isinstance(step, Evaluate):
            yield from ((step.data, trained, BETTER) for trained in step.model.train)
            yield from ((step.data, selected, BETTER) for selected in step.model.dev if selected != step.data)
        if isinstance(step, Evaluate) and step.data.task.reads == LINES:
            encoder = step.model.encoder
            if encoder.key not in adapted:
                adapted[encoder.key] = list(_adapted_to(encoder))
            yield from ((step.data, text, BETTER) for text in adapted[encoder.key])
        if isinstance(step, Tune):
            yield from ((selected, trained, SELECTED) for selected in step.dev for trained in step.train)
            yield from ((second, first, TWICE) for first, second in combinations(step.train, 2))


def _adapted_to(encoder: EncoderStep) -> Iterator[FileData]:
    """Files of text that an encoder, or what it was made of, has learned from."""
    learned = (step for step in made_of(encoder) if isinstance(step, Adapt | Pretrain))
    yield from (text for step in learned for text in step.texts if isinstance(text, FileData))


def _tested_twice(steps: Iterable[Step]) -> Iterator[Compared]:
    """Test sets of one task that go by different codes, and are the user's own, or of the world in other letters."""
    by_task: dict[object, dict[Dataset, None]] = {}
    for step in steps:
        if isinstance(step, Evaluate):
            by_task.setdefault(step.data.task, {})[step.data] = None
    for tested in by_task.values():
        own: list[Dataset] = [data for data in tested if isinstance(data, FileData) and data.is_own]
        of_world: list[Dataset] = [data for data in tested if isinstance(data, WorldData)]
        pairs = (*combinations(own, 2), *combinations(of_world, 2))
        yield from ((later, first, SCORED_TWICE) for first, later in pairs if first.code != later.code)


def _may_share(data: Dataset, other: Dataset) -> bool:
    """Whether they are at hand, and in one language, unless one is the user's own; of the world in other letters."""
    if isinstance(data, FileData) and isinstance(other, FileData):
        return (data.is_own or other.is_own or data.language == other.language) and data.is_here and other.is_here
    return isinstance(data, WorldData) and isinstance(other, WorldData) and bool(data.letters or other.letters)
