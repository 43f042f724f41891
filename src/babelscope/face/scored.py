"""Trained models outside of studies, scored on labelled data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.intervals import Interval
from babelscope.core.scores import measure_of
from babelscope.corpora.datasets import WORLD_PREFIX, Dataset, WorldData, find, find_file, limited
from babelscope.corpora.own_splits import OWN_ENTITIES, OWN_TREEBANKS
from babelscope.encoders.own_vocabulary import check_own
from babelscope.engine.store import Store
from babelscope.engine.trained import reads_first, trained_model
from babelscope.report.words import in_words
from babelscope.tasks.kinds import kind_of
from babelscope.world import LANGUAGES
from babelscope.world.world import VERSION

if TYPE_CHECKING:
    from babelscope.tasks.design import TaskModel
    from babelscope.tasks.task import Score

OF_THE_WORLD = 500
"""Examples of the artificial world, which has no end, unless another number is given."""
COUNTED = ("words", "texts")
"""Units of numbers that say how much was scored."""
SAID = {
    "coverage": "words labelled", "unknown": "words with an unknown token", "words": "words scored",
    "examples": "texts scored",
}  # fmt: skip
"""What measures are called that are no scores; others have their names in `core.scores`."""


class Scored(NamedTuple):
    """What a model is worth on some data."""

    data: Dataset
    scores: list[Score]
    """As an evaluation of a study has them, with intervals over sentences where there are."""

    @property
    def title(self) -> str:
        """What was scored on."""
        world = f", artificial world {self.data.seed}" if isinstance(self.data, WorldData) else ""
        return f"{self.data.name} ({self.data.code}{world})"

    @property
    def notes(self) -> list[str]:
        """What to know of the data."""
        if isinstance(self.data, WorldData) or not self.data.division:
            return []
        ways = (OWN_TREEBANKS, OWN_ENTITIES)
        own = next((way for way in ways if self.data.source.startswith(way.prefix)), None)
        whole = f"; to score a whole file, give a folder with it, named …-test{own.endings[0]}" if own else ""
        return [f"only the test split is scored: {self.data.division}{whole}"]

    @property
    def in_words(self) -> dict[str, str]:
        """By what was measured, shares in percent, with their intervals."""
        return {
            SAID.get(each.measure, measure_of(each.measure).name): f"{each.value:,.0f}"
            if each.unit in COUNTED
            else in_words(Interval(each.value, each.low, each.high, None, 1), each.unit)
            for each in self.scores
        }


def score(store: Store, source: str, name: str, examples: int | None = None) -> Scored:
    """Score a model on the test split of a data set, as an evaluation of a study does.

    Args:
        store: where `source` is looked up unless it is a folder.
        source: a folder that `export` wrote, or a key as `export` takes it.
        name: of the data, as studies name them (`UD_Faroese-OFT`, `treebank:fo:FILE`, `entities:wo:FILE`, `world:qag`).
        examples: the first so many; None: all of a file, and `OF_THE_WORLD`.

    Raises:
        InputError: there is no such model or data, the data are of another task, or the model has tokenizers of their
            own for other languages alone.
    """
    model = trained_model(store, source)
    data = _data(model, name, examples)
    first = reads_first(model, source)
    if first and first[0] not in model.languages:  # the folder does not say what reads all others
        check_own(data.code, [*model.languages, *first])
    read = data.read()
    kind_of(data.task).check_labelled(data.task, read)
    return Scored(data, _scores(model.reading(data.code), read))


def _data(model: TaskModel, name: str, examples: int | None) -> Dataset:
    """The test split, read as what the model learned by was."""
    task, learned = model.design.task, model.training_data
    if name.startswith(WORLD_PREFIX) or name in LANGUAGES:
        if learned.world_version not in (None, VERSION):
            raise InputError(
                f"{name}: the model learned in version {learned.world_version} of the artificial world, and this "
                f"Babelscope makes version {VERSION}; train the model again"
            )
        return find(task, name, "test", examples or OF_THE_WORLD, learned.world_seed or 0)
    data = find_file(task, name, "test", examples, learned.entity_types)
    return limited(data, model.design.entity_types) if model.design.entity_types else data


def _scores(model: TaskModel, examples: Sequence[Any]) -> list[Score]:
    from babelscope.encoders.masks import masks_unread

    with masks_unread():
        return model.scores(examples)
