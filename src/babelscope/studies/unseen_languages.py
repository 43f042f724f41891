"""unseen-languages: what serves a language that the encoder has never seen?

Muller, Anastasopoulos, Sagot and Seddah, When Being Unseen from mBERT is just the Beginning.
"""

from __future__ import annotations

from pydantic import Field, PositiveInt

from babelscope.core.errors import InputError
from babelscope.core.tasks import TaskName
from babelscope.corpora.sources import ALL
from babelscope.encoders.shape import Shape
from babelscope.studies.align_then_predict import TASK_TRAINING, parsing_as_published
from babelscope.studies.multilingual import LINES, held_out, multilingual, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.studies.unseen_data import (
    SOURCES,
    TASKS,
    Cell,
    Language,
    left_out,
    of_the_world,
    published_codes,
    published_language,
    real_language,
)
from babelscope.studies.unseen_recipes import Setting, comparisons_of, encoders_of, tasks_of
from babelscope.study.declare import EVERYTHING, Sizes, Study
from babelscope.tasks.as_published import PublishedQuirk
from babelscope.tuning.settings import LEAST_READ, RECURRENT, Tuning, reading
from babelscope.world import FAMILY

QUESTION = (
    "A language that an encoder has never seen: does the encoder as it is beat a BiLSTM that starts from nothing (the "
    "language is Easy), does it only after learning to model the language (Intermediate), or not even then (Hard)? "
    "And is it the letters?"
)


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-natural in the world, a small English one with 26 other languages brought in on real text, and
    mBERT on paper."""
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
    all that there are too; 100 alone on real text, and if small."""
    quirks: tuple[PublishedQuirk, ...] | None = None
    """On paper, of parsing: what is done as the authors' code did it. Default: all that there is; [] nothing."""
    pairs: tuple[PositiveInt, ...] | None = None
    """On real text: by how many translated sentences of NTREX languages are brought in. Default: 200, 600 and 1,597;
    200 if small."""

    def labelled(self, *default: int) -> tuple[int, ...]:
        """How many labelled sentences, besides none."""
        return self.shots if self.shots is not None else (100,) if self.small else default

    def numbers(self, *default: int) -> tuple[int, ...]:
        """Of translated sentences, in rising order."""
        given = default[:1] if self.small else default
        return tuple(sorted(set(given if self.pairs is None else self.pairs)))


def world(given: Parameters) -> Study:
    """A relative in the same script, the same one in another, and, unless small, an isolate."""
    unseen = [code for code, member in FAMILY.items() if not member.seen][: 2 if given.small else None]
    languages = [of_the_world(code) for code in given.languages or unseen]
    tuning = Tuning(learning_rate=1.5e-3, epochs=3, tokens_per_batch=256)
    learning = Tuning(learning_rate=1e-3, steps=100 if given.small else 1500, betas=(0.9, 0.98))
    of_the_source, least = (500, 1000) if given.small else (1000, LEAST_READ)
    labelled = {shots: shots or of_the_source for shots in (0, *given.labelled(100, 1000))}
    setting = Setting(
        given.encoder or "world-natural",
        dict.fromkeys(_tasks_of(given, languages, "pos", "parsing"), "world:qaa"),
        Sizes(train=500, dev=100, test=100) if given.small else Sizes(train=1000, dev=200, test=400),
        {shots: reading(least, tuning, sentences) for shots, sentences in labelled.items()},
        {"tuning": learning.model_copy(update={"learning_rate": 2e-3})},
        {"tuning": learning, "masking": 0.3},
        {shots: reading(least, RECURRENT, sentences) for shots, sentences in labelled.items()},
    )
    return _study("unseen-languages@world", given, languages, setting)


def real(given: Parameters) -> Study:
    """An encoder that other languages were brought into, on languages of Africa, Malta and Xinjiang; text of NTREX."""
    languages = [real_language(code, given.texts.get(code)) for code in given.languages or ("wo", "mt", "ug")]
    tuning = given.tuning("cpu", "float32", 8, learning_rate=rate_for(given.encoder, own=3e-4), tokens_per_batch=1024)
    learning = tuning.model_copy(update={"epochs": None, "steps": 10 if given.small else 600})
    labelled, least = given.labelled(100), 100 if given.small else LEAST_READ // 2
    shape = Shape(hidden=384, layers=6, heads=12, feed_forward=1536, positions=128, dropout=0.1)
    encoder = given.encoder or multilingual(small=given.small)
    setting = Setting(
        encoder if isinstance(encoder, str) else encoder.name,
        _sources(given, languages, "pos"),
        Sizes(train=300, dev=50, test=100) if given.small else Sizes(train=1200, dev=200, test=300),
        {0: tuning} | {shots: reading(least, tuning, shots) for shots in labelled},
        {
            "tuning": learning.model_copy(update={"learning_rate": 5e-4}), "shape": shape, "vocabulary_size": 8000,
            "masking": 0.15,
        },
        {"tuning": learning},
        {0: RECURRENT} | {shots: reading(2 * least, RECURRENT, shots) for shots in labelled},
        pairs=given.numbers(200, 600, LINES), scratch_throughout=False,
    )  # fmt: skip
    study = _study("unseen-languages@real", given, languages, setting)
    translated = [language.code for language in languages if language.parallel]
    retrieval = (held_out(*translated, sentences=100 if given.small else 400),) if translated else ()
    update = {"encoders": (encoder, *study.encoders[1:]), "measures": (*study.measures, *retrieval)}
    return study.model_copy(update=update)


def paper(given: Parameters) -> Study:
    """mBERT, 20 epochs of language modelling in batches of 8 lines, and all the labelled sentences there are.

    The paper's raw text is Wikipedia's and OSCAR's. Here it is Wikipedia's: give files of OSCAR as `texts`.
    """
    codes = given.languages or published_codes(given.texts)
    languages = [published_language(code, given.texts.get(code)) for code in codes]
    tuning = given.tuning("cuda", "float32", 5, learning_rate=5e-5, examples_per_batch=32, **TASK_TRAINING)
    learning = given.tuning(
        "cuda", "float32", 20, learning_rate=5e-5, examples_per_batch=8, warmup=0.0, weight_decay=0.0,
        epsilon_before_correction=True,
    )  # fmt: skip
    shape = Shape(hidden=768, layers=12, heads=12, feed_forward=3072, positions=512, dropout=0.1)
    least, epochs = (1, 1) if given.small else (LEAST_READ, 20)
    longer = tuning.model_copy(update={"epochs": epochs})
    whole = () if given.small or given.shots is not None else (ALL,)
    labelled = (*given.labelled(100, 1000), *whole)
    by_shots = {0: tuning} | {shots: reading(least, longer, shots) for shots in labelled}
    setting = Setting(
        given.encoder or "bert-base-multilingual-cased",
        _sources(given, languages, *TASKS),
        Sizes(train=300, dev=50, test=100) if given.small else EVERYTHING,
        by_shots,
        {"tuning": learning, "shape": shape, "vocabulary_size": 30_000, "masking": 0.15},
        {"tuning": learning},
        {shots: _bilstm(tuning) for shots, tuning in by_shots.items()},
        parsing_as_published(given.quirks),
    )
    study = _study("unseen-languages@paper", given, languages, setting)
    return study.model_copy(update={"left_out": left_out(languages, setting.sources, asked=bool(given.languages))})


def _bilstm(encoder: Tuning) -> Tuning:
    """As many examples a batch as the encoder has, and at least as many epochs."""
    alike = {"tokens_per_batch": None, "examples_per_batch": encoder.examples_per_batch, "device": encoder.device}
    return RECURRENT.model_copy(update=alike | {"epochs": max(encoder.epochs or 0, RECURRENT.epochs or 0)})


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
    made = (encoder for cell in cells for encoder in encoders_of(cell, setting))
    return Study(
        name=name,
        question=QUESTION,
        encoders=(setting.encoder, *made),
        tasks=dict(tasks_of(cells, setting)),
        measures=tuple(comparisons_of(cells, setting)),
        seeds=given.seeds_to_run,
    )


PROFILES = {"world": world, "real": real, "paper": paper}
