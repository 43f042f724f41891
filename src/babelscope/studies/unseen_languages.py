"""unseen-languages: what serves a language that the encoder has never seen?

Muller, Anastasopoulos, Sagot and Seddah, When Being Unseen from mBERT is just the Beginning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from pydantic import Field, PositiveInt

from babelscope.core.errors import InputError
from babelscope.core.tasks import TaskName
from babelscope.corpora.sources import ALL
from babelscope.corpora.transliteration import PERMUTE
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.shape import Shape
from babelscope.measures.comparison import Comparison, Scored
from babelscope.studies.align_then_predict import TASK_TRAINING
from babelscope.studies.parameters import DeviceParameters
from babelscope.studies.unseen_data import (
    CONTROL,
    SOURCES,
    TASKS,
    Cell,
    Language,
    left_out,
    of_the_world,
    published_codes,
    published_language,
    real_language,
    source_of,
)
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.study.encoders import Adaptation, DeclaredText, Pretraining
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM, SCRATCH, above, against_chance, by_letters
from babelscope.tuning.settings import RECURRENT, Tuning
from babelscope.world import FAMILY, LANGUAGES

QUESTION = (
    "A language that an encoder has never seen: does the encoder as it is beat a BiLSTM that starts from nothing (the "
    "language is Easy), does it only after learning to model the language (Intermediate), or not even then (Hard)? "
    "And is it the letters?"
)


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-natural in the world, all-MiniLM-L6-v2 on real text, and mBERT on paper."""
    languages: tuple[str, ...] | None = None
    """Codes of unseen languages. Default: the world's three, two if small; Wolof, Maltese and Uyghur; on paper the
    published ones as far as there is text to read, and three that the encoder has seen, as controls of transliteration
    (the one of Japanese takes pykakasi)."""
    tasks: tuple[TaskName, ...] | None = None
    """pos, parsing or ner. Default: pos and parsing in the world, all three on paper, elsewhere pos."""
    texts: dict[str, str] = Field(default={})
    """Elsewhere: raw text to adapt to, by language, such as `mt: text:mt:oscar.txt`; default: on paper Wikipedia, else
    NTREX, and where it lacks the language, the treebank's training text."""
    shots: tuple[PositiveInt, ...] | None = None
    """Labelled sentences of the language; besides none, which is tuning on the source. Default: 100 and 1,000, on paper
    all that there are too; 100 alone if small."""

    @property
    def labelled(self) -> tuple[int, ...]:
        """How many labelled sentences, besides none."""
        return self.shots if self.shots is not None else (100,) if self.small else (100, 1000)


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


def world(given: Parameters) -> Study:
    """A relative in the same script, the same one in another, and, unless small, an isolate."""
    unseen = [code for code, member in FAMILY.items() if not member.seen][: 2 if given.small else None]
    languages = [of_the_world(code) for code in given.languages or unseen]
    tuning = Tuning(learning_rate=7e-4, epochs=3 if given.small else 4, tokens_per_batch=256)
    learning = Tuning(learning_rate=1e-3, steps=100 if given.small else 1500, betas=(0.9, 0.98))
    setting = Setting(
        given.encoder or "world-natural",
        dict.fromkeys(_tasks_of(given, languages, "pos", "parsing"), "world:qaa"),
        Sizes(train=500, dev=100, test=100) if given.small else Sizes(train=1000, dev=200, test=400),
        _by_shots(given, tuning, few=10 if given.small else 25, many=3),
        {"tuning": learning.model_copy(update={"learning_rate": 2e-3})},
        {"tuning": learning, "masking": 0.3},
    )
    return _study("unseen-languages@world", given, languages, setting)


def real(given: Parameters) -> Study:
    """An English encoder on languages of Africa, Malta and Xinjiang; text of NTREX."""
    languages = [real_language(code, given.texts.get(code)) for code in given.languages or ("wo", "mt", "ug")]
    tuning = given.tuning("cpu", "float32", 2, learning_rate=3e-4, tokens_per_batch=1024)
    learning = tuning.model_copy(update={"epochs": None, "steps": 10 if given.small else 200})
    shape = Shape(hidden=384, layers=6, heads=12, feed_forward=1536, positions=128, dropout=0.1)
    setting = Setting(
        given.encoder or "sentence-transformers/all-MiniLM-L6-v2",
        _sources(given, languages, "pos"),
        Sizes(train=300, dev=50, test=100) if given.small else Sizes(train=1000, dev=200, test=300),
        _by_shots(given, tuning, few=1 if given.small else 12, many=1 if given.small else 12),
        {
            "tuning": learning.model_copy(update={"learning_rate": 5e-4}), "shape": shape, "vocabulary_size": 8000,
            "masking": 0.15,
        },
        {"tuning": learning.model_copy(update={"learning_rate": 3e-4})},
    )  # fmt: skip
    return _study("unseen-languages@real", given, languages, setting)


def paper(given: Parameters) -> Study:
    """mBERT, 20 epochs of language modelling in batches of 8 lines, and all the labelled sentences there are.

    The paper's raw text is Wikipedia's and OSCAR's. Here it is Wikipedia's: give files of OSCAR as `texts`.
    """
    codes = given.languages or published_codes(given.texts)
    languages = [published_language(code, given.texts.get(code)) for code in codes]
    tuning = given.tuning("cuda", "float32", 5, learning_rate=5e-5, examples_per_batch=32, **TASK_TRAINING)
    learning = given.tuning(
        "cuda", "float32", 20, learning_rate=5e-5, examples_per_batch=8, warmup=0.0, weight_decay=0.0
    )
    shape = Shape(hidden=768, layers=12, heads=12, feed_forward=3072, positions=512, dropout=0.1)
    by_shots = _by_shots(given, tuning, few=1 if given.small else 50, many=1 if given.small else 20)
    # All labelled sentences are learned from for as many epochs as 1,000 of them.
    whole = {} if given.small or given.shots is not None else {ALL: tuning.model_copy(update={"epochs": 20})}
    setting = Setting(
        given.encoder or "bert-base-multilingual-cased",
        _sources(given, languages, *TASKS),
        Sizes(train=300, dev=50, test=100) if given.small else Sizes(train=10**6, dev=10**6, test=10**6),
        by_shots | whole,
        {"tuning": learning, "shape": shape, "vocabulary_size": 30_000, "masking": 0.15},
        {"tuning": learning},
        {shots: _bilstm(tuning) for shots, tuning in (by_shots | whole).items()},
    )
    study = _study("unseen-languages@paper", given, languages, setting)
    return study.model_copy(update={"left_out": left_out(languages, setting.sources, asked=bool(given.languages))})


def _bilstm(encoder: Tuning) -> Tuning:
    """As many examples a batch as the encoder has, and at least as many epochs."""
    alike = {"tokens_per_batch": None, "examples_per_batch": encoder.examples_per_batch, "device": encoder.device}
    return RECURRENT.model_copy(update=alike | {"epochs": max(encoder.epochs or 0, RECURRENT.epochs or 0)})


def _by_shots(given: Parameters, tuning: Tuning, few: int, many: int) -> dict[int, Tuning]:
    """Passes over up to 200 sentences of the language, and over more of them: as many as are learned in."""
    epochs = {shots: few if shots <= 200 else many for shots in given.labelled}
    return {0: tuning} | {shots: tuning.model_copy(update={"epochs": count}) for shots, count in epochs.items()}


def _sources(given: Parameters, languages: list[Language], *default: TaskName) -> dict[TaskName, str]:
    return {task: SOURCES[task] for task in _tasks_of(given, languages, *default)}


def _tasks_of(given: Parameters, languages: list[Language], *default: TaskName) -> tuple[TaskName, ...]:
    """Those that are asked for; `InputError` for one that no language has data of."""
    for task in given.tasks or ():
        if not any(task in language.data for language in languages):
            codes = ", ".join(language.code for language in languages)
            there = ", ".join(dict.fromkeys(offered for language in languages for offered in language.data))
            raise InputError(f"--with tasks: {task}: there are no data of it for {codes}; there are for {there}")
    return given.tasks or default


def _study(name: str, given: Parameters, languages: list[Language], setting: Setting) -> Study:
    cells = [Cell(language, letters) for language in languages for letters in (None, *language.letters)]
    made = (encoder for cell in cells for encoder in _encoders(cell, setting))
    return Study(
        name=name,
        question=QUESTION,
        encoders=(setting.encoder, *made),
        tasks=dict(_tasks(cells, setting)),
        measures=tuple(_comparisons(cells, setting)),
        seeds=given.seeds_to_run,
    )


def _encoders(cell: Cell, setting: Setting) -> Iterator[Adaptation | Pretraining]:
    """One that goes on from the encoder, and one from nothing, on the same text."""
    if cell.language.text is None:
        return
    read = {"texts": (_text(cell, cell.language.text),), "sentences": cell.language.sentences}
    yield Adaptation(name=cell.recipe(setting.encoder, ADAPTED), encoder=setting.encoder, **read, **setting.adaptation)
    yield Pretraining(name=cell.recipe(setting.encoder, SCRATCH), **read, **setting.pretraining)


def _text(cell: Cell, text: str) -> DeclaredText:
    if cell.language.code in LANGUAGES:
        return WorldText(language=cell.language.code, sentences=10_000, letters=cell.letters)
    return cell.lettered(text)


def _tasks(cells: list[Cell], setting: Setting) -> Iterator[tuple[str, Transfer]]:
    for task in setting.sources:
        tested = [cell for cell in cells if task in cell.language.data]
        for source in dict.fromkeys(source_of(task, cell.language, setting.sources[task]) for cell in tested):
            there = [cell for cell in tested if source_of(task, cell.language, setting.sources[task]) == source]
            zero = Transfer(
                task=task, train=(source,), evaluate=tuple(_data(cell, task) for cell in there), sizes=setting.sizes,
                tuning=setting.tunings[0], encoders=(setting.encoder,), baselines=("bilstm",),
                recurrent=setting.bilstm[0],
            )  # fmt: skip
            yield _zero(task, there[0], setting), zero
            for cell in there:
                yield from _tasks_of_a_cell(task, cell, zero, setting)


def _tasks_of_a_cell(task: TaskName, cell: Cell, zero: Transfer, setting: Setting) -> Iterator[tuple[str, Transfer]]:
    """Its own encoders without its labelled sentences, and all encoders with some of them."""
    made = tuple(cell.recipe(setting.encoder, recipe) for recipe in cell.recipes if recipe != AS_IT_IS)
    own = {"evaluate": (_data(cell, task),), "encoders": made, "baselines": ()}
    if made:
        yield _named(task, 0, cell), zero.model_copy(update=own)
    for shots, tuning in setting.tunings.items():
        if cell.language.trains(task, shots):
            yield _named(task, shots, cell), Transfer(
                task=task, train=own["evaluate"], shots=shots, evaluate=own["evaluate"], sizes=setting.sizes,
                tuning=tuning, encoders=(setting.encoder, *made), baselines=("bilstm",),
                recurrent=setting.bilstm[shots],
            )  # fmt: skip


def _comparisons(cells: list[Cell], setting: Setting) -> Iterator[Comparison]:
    for task, (shots, cell) in product(setting.sources, product(setting.tunings, cells)):
        if task not in cell.language.data or (shots and not cell.language.trains(task, shots)):
            continue
        scored = {recipe: _scored(task, shots, cell, setting, recipe) for recipe in cell.recipes}
        if ADAPTED in scored:
            yield Comparison(claim=above(ADAPTED, AS_IT_IS), first=scored[ADAPTED], second=scored[AS_IT_IS])
        if shots:
            recurrent = scored[AS_IT_IS].model_copy(update={"encoder": "bilstm"})
            for recipe, first in scored.items():
                yield Comparison(claim=above(recipe, BILSTM), first=first, second=recurrent)
        if cell.letters:
            yield from _comparisons_of_letters(task, shots, cell, cell.letters, cells, setting)


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
        encoder=cell.recipe(setting.encoder, recipe), evaluate=_data(cell, task),
    )  # fmt: skip


def _named(task: TaskName, shots: int, cell: Cell | None = None) -> str:
    return " ".join(filter(None, [task, f"with {shots}", cell and f"in {cell.name}"]))


def _zero(task: TaskName, cell: Cell, setting: Setting) -> str:
    """The tuning on the source alone; where a language has another source than is usual, it is named."""
    source = source_of(task, cell.language, setting.sources[task])
    return _named(task, 0) if source == setting.sources[task] else f"{_named(task, 0)} from {source}"


def _data(cell: Cell, task: TaskName) -> str:
    return cell.lettered(cell.language.data[task])


PROFILES = {"world": world, "real": real, "paper": paper}
