"""Trained models outside of studies, scored on labelled data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from babelscope.core.intervals import Interval
from babelscope.corpora.datasets import Dataset, FileData, find, find_file, limited
from babelscope.corpora.sources import Split
from babelscope.engine.store import Store
from babelscope.engine.trained import trained_model
from babelscope.report.words import in_words
from babelscope.tasks.kinds import kind_of

if TYPE_CHECKING:
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Score

OF_THE_WORLD = 500
"""Examples of the artificial world, which has no end, unless another number is given."""


class Scored(NamedTuple):
    """What a model is worth on some data."""

    data: str
    language: str
    scores: list[Score]
    """As an evaluation of a study has them, with intervals over sentences where there are."""

    @property
    def in_words(self) -> dict[str, str]:
        """By measure, shares in percent, with their intervals."""
        return {
            each.measure: f"{each.value:,.0f}"
            if each.measure == each.unit
            else in_words(Interval(each.value, each.low, each.high, None, 1), each.unit)
            for each in self.scores
        }


def score(store: Store, source: str, name: str, examples: int | None = None) -> Scored:
    """Score a model on the test split of a data set; on all of a file of one's own, which has no splits.

    Args:
        store: where `source` is looked up unless it is a folder.
        source: a folder that `export` wrote, or a key as `export` takes it.
        name: of the data, as studies name them (`UD_Faroese-OFT`, `treebank:fo:FILE`, `world:qag`).
        examples: the first so many; None: all of a file, and `OF_THE_WORLD`.

    Raises:
        InputError: there is no such model or data, the data are of another task, or without labels.
    """
    model = trained_model(store, source)
    task = model.design.task
    parts = list(_parts(model.design, name, examples))
    read = [example for data in parts for example in data.read()][:examples]
    kind_of(task).check_labelled(task, read)
    return Scored(name, parts[0].code, _scores(model.reading(parts[0].code), read))


def _parts(design: Design, name: str, examples: int | None) -> Iterator[Dataset]:
    """The test split; of a file that is divided, all splits, which together are the file."""
    if name.startswith("world:"):
        yield find(design.task, name, "test", examples or OF_THE_WORLD)
        return
    test = find_file(design.task, name, "test", examples)
    whole = test.is_own and test.splits_one_file
    for split in get_args(Split) if whole else ("test",):
        data: FileData = find_file(design.task, name, split, examples)
        yield limited(data, design.entity_types) if design.entity_types else data


def _scores(model: TaskModel, examples: Sequence[Any]) -> list[Score]:
    from babelscope.encoders.masks import masks_unread

    with masks_unread():
        return model.scores(examples)
