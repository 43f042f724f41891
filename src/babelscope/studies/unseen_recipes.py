"""What the study `unseen-languages` is made of: the encoders, tasks and comparisons of every language and recipe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from babelscope.core.tasks import TaskName
from babelscope.corpora.sources import ALL
from babelscope.corpora.transliteration import PERMUTE
from babelscope.corpora.world_text import WorldText
from babelscope.measures.comparison import Comparison, Scored
from babelscope.studies.unseen_data import CONTROL, Cell, source_of
from babelscope.study.declare import Sizes, Transfer
from babelscope.study.encoders import Adaptation, BringingIn, DeclaredText, Pretraining
from babelscope.study.verdicts import (
    ADAPTED,
    AS_IT_IS,
    BILSTM,
    SCRATCH,
    above,
    against_chance,
    brought_in_by,
    by_letters,
)
from babelscope.tuning.settings import RECURRENT, Tuning
from babelscope.world import LANGUAGES


class Setting(NamedTuple):
    """What differs between profiles."""

    encoder: str
    sources: dict[TaskName, str]
    sizes: Sizes
    tunings: dict[int, Tuning]
    """By labelled sentences of the language; 0: on the source."""
    pretraining: dict[str, Any]
    """Of the encoder from scratch: shape, tuning, vocabulary."""
    adaptation: dict[str, Any]
    bilstm: Mapping[int, Tuning] = defaultdict(lambda: RECURRENT)
    """Likewise, of the BiLSTM beside it."""
    parsing: Mapping[str, Any] = MappingProxyType({})
    """What else is said of parsing: its head and quirks."""
    pairs: tuple[int, ...] = ()
    """By how many translated sentences languages are brought in that have some."""
    scratch_throughout: bool = True
    """Whether encoders from scratch are tried in other letters too, and without labelled sentences of the language."""

    def said_of(self, task: TaskName) -> Mapping[str, Any]:
        """What else is said of a task."""
        return self.parsing if task == "parsing" else {}

    def recipes(self, cell: Cell, shots: int) -> tuple[str, ...]:
        """What is done to the encoder before it is tuned on so many labelled sentences of the language."""
        left_out = () if self.scratch_throughout or (shots and not cell.letters) else (SCRATCH,)
        return tuple(recipe for recipe in cell.recipes if recipe not in left_out)


def encoders_of(cell: Cell, setting: Setting) -> Iterator[Adaptation | Pretraining | BringingIn]:
    """One that goes on from the encoder, and one from nothing, on the same text; and those with the language in it."""
    if cell.language.text is not None:
        name, text = cell.recipe(setting.encoder, ADAPTED), _text(cell, cell.language.text)
        read = {"texts": (text,), "sentences": cell.language.sentences}
        yield Adaptation(name=name, encoder=setting.encoder, **read, **setting.adaptation)
        if setting.scratch_throughout or not cell.letters:
            yield Pretraining(name=cell.recipe(setting.encoder, SCRATCH), **read, **setting.pretraining)
    if cell.parallel:
        languages = {cell.language.code: (cell.parallel,)}
        for shots in (0, 1) if any(setting.tunings) else (0,):
            for pairs, name in _brought_in(cell, setting, shots).items():
                yield BringingIn(
                    name=name, encoder=setting.encoder, languages=languages, pairs=pairs, after_tuning=not shots
                )


def _brought_in(cell: Cell, setting: Setting, shots: int) -> dict[int, str]:
    """By the number of translated sentences, the name of the encoder that the language is brought into.

    Into models of the source's sentences, which all numbers share; where models learn from sentences of the language,
    before that, and by the most translated ones alone.
    """
    if not cell.parallel:
        return {}
    names = {pairs: cell.recipe(setting.encoder, brought_in_by(pairs)) for pairs in setting.pairs}
    return {pairs: f"{names[pairs]}, then tuned" for pairs in setting.pairs[-1:]} if shots else names


def _names(cell: Cell, setting: Setting, shots: int) -> dict[str, str]:
    """By recipe, the name of the encoder that is scored with so many labelled sentences."""
    names = {recipe: cell.recipe(setting.encoder, recipe) for recipe in setting.recipes(cell, shots)}
    return names | {brought_in_by(pairs): name for pairs, name in _brought_in(cell, setting, shots).items()}


def _text(cell: Cell, text: str) -> DeclaredText:
    if cell.language.code in LANGUAGES:
        return WorldText(language=cell.language.code, sentences=10_000, letters=cell.letters)
    return cell.lettered(text)


def tasks_of(cells: list[Cell], setting: Setting) -> Iterator[tuple[str, Transfer]]:
    """By name: tuned on the source, scored in all cells; and in each cell its own encoders, and its own sentences."""
    for task in setting.sources:
        tested = [cell for cell in cells if task in cell.language.data]
        for source in dict.fromkeys(source_of(task, cell.language, setting.sources[task]) for cell in tested):
            there = [cell for cell in tested if source_of(task, cell.language, setting.sources[task]) == source]
            zero = Transfer(
                task=task, train=(source,), evaluate=tuple(_data(cell, task) for cell in there), sizes=setting.sizes,
                tuning=setting.tunings[0], encoders=(setting.encoder,), baselines=("bilstm",),
                recurrent=setting.bilstm[0], **setting.said_of(task),
            )  # fmt: skip
            yield _zero(task, there[0], setting), zero
            for cell in there:
                yield from _tasks_of_a_cell(task, cell, zero, setting)


def _tasks_of_a_cell(task: TaskName, cell: Cell, zero: Transfer, setting: Setting) -> Iterator[tuple[str, Transfer]]:
    """Its own encoders without its labelled sentences, and all encoders with some of them, or all.

    Of some all are trained on, to the last step; where all are given, the dev split selects.
    """
    made = tuple(_names(cell, setting, 0).values())[1:]
    own = {"evaluate": (_data(cell, task),), "encoders": made, "baselines": ()}
    if made:
        yield _named(task, 0, cell), zero.model_copy(update=own)
    for shots, tuning in setting.tunings.items():
        if cell.language.trains(task, shots):
            few = None if shots == ALL else shots
            yield _named(task, shots, cell), Transfer(
                task=task, train=own["evaluate"], shots=few, evaluate=own["evaluate"], sizes=setting.sizes,
                tuning=tuning, encoders=tuple(_names(cell, setting, shots).values()), baselines=("bilstm",),
                recurrent=setting.bilstm[shots], **setting.said_of(task),
            )  # fmt: skip


def comparisons_of(cells: list[Cell], setting: Setting) -> Iterator[Comparison]:
    """Recipes against each other and against the BiLSTM, and letters against the language's own."""
    for task, (shots, cell) in product(setting.sources, product(setting.tunings, cells)):
        if task not in cell.language.data or (shots and not cell.language.trains(task, shots)):
            continue
        scored = {recipe: _scored(task, shots, cell, setting, recipe) for recipe in _names(cell, setting, shots)}
        for better, other in _against_each_other(scored):
            yield Comparison(claim=above(better, other), first=scored[better], second=scored[other])
        if shots:
            recurrent = scored[AS_IT_IS].model_copy(update={"encoder": "bilstm"})
            for recipe, first in scored.items():
                yield Comparison(claim=above(recipe, BILSTM), first=first, second=recurrent)
        if cell.letters:
            yield from _comparisons_of_letters(task, shots, cell, cell.letters, cells, setting)


def _against_each_other(recipes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Adapted and brought in above as it is, and brought in by the most translated sentences above adapted."""
    further = [recipe for recipe in recipes if recipe not in (AS_IT_IS, SCRATCH)]
    yield from ((recipe, AS_IT_IS) for recipe in further)
    if ADAPTED in further[:-1]:
        yield further[-1], ADAPTED


def _comparisons_of_letters(
    task: TaskName, shots: int, cell: Cell, letters: str, cells: list[Cell], setting: Setting
) -> Iterator[Comparison]:
    """With the language's own letters, and with those that are exchanged at random."""
    own, control = Cell(cell.language, None), _control(cell)
    for recipe in cell.recipes[:2]:
        first = _scored(task, shots, cell, setting, recipe)
        second = _scored(task, shots, own, setting, recipe)
        yield Comparison(claim=by_letters(recipe, PERMUTE in letters), first=first, second=second)
        if control in cells:
            second = _scored(task, shots, control, setting, recipe)
            yield Comparison(claim=against_chance(recipe), first=first, second=second)


def _control(cell: Cell) -> Cell:
    """The same transliteration, its letters exchanged at random."""
    return Cell(cell.language, f"{cell.letters}{CONTROL}")


def _scored(task: TaskName, shots: int, cell: Cell, setting: Setting, recipe: str) -> Scored:
    of_its_own = shots or recipe != AS_IT_IS
    return Scored(
        task=_named(task, shots, cell) if of_its_own else _zero(task, cell, setting),
        encoder=_names(cell, setting, shots)[recipe], evaluate=_data(cell, task),
    )  # fmt: skip


def _named(task: TaskName, shots: int, cell: Cell | None = None) -> str:
    many = "all" if shots == ALL else shots
    return " ".join(filter(None, [task, f"with {many}", cell and f"in {cell.name}"]))


def _zero(task: TaskName, cell: Cell, setting: Setting) -> str:
    """The tuning on the source alone; where a language has another source than is usual, it is named."""
    source = source_of(task, cell.language, setting.sources[task])
    return _named(task, 0) if source == setting.sources[task] else f"{_named(task, 0)} from {source}"


def _data(cell: Cell, task: TaskName) -> str:
    return cell.lettered(cell.language.data[task])
