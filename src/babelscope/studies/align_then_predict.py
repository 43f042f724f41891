"""align-then-predict: are the lower layers what carries a task over to other languages?

Muller, Elazar, Sagot and Seddah (2021), First Align, then Predict: Understanding the Cross-Lingual Ability of
Multilingual BERT, https://arxiv.org/abs/2101.11109.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from babelscope.core.errors import InputError
from babelscope.measures.similarity import Similarity
from babelscope.studies.multilingual import PUD as REAL
from babelscope.studies.multilingual import given_or_both, rate_for
from babelscope.studies.parameters import DeviceParameters, Layers
from babelscope.study.declare import EVERYTHING, Sizes, Study, Transfer
from babelscope.study.encoders import DeclaredEncoder
from babelscope.tasks.as_published import PublishedQuirk
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "Two layers after two are drawn anew before the encoder is tuned on one language. Do the lower ones cost the other "
    "languages more than the language of the training, and the upper ones nothing? Are languages most alike in the "
    "lower layers, before and after tuning, and does a task carry over further where they are more alike?"
)
PUD = {
    "ar": "Arabic", "cs": "Czech", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French",
    "hi": "Hindi", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "pl": "Polish",
    "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip
"""Languages with a parallel treebank, which is scored, and whose sentences are compared. They are English and the
eighteen that the authors' code compares with it. The paper counts seventeen; its slides do not list them."""
TREEBANKS = {"en": "UD_English-EWT", "ru": "UD_Russian-GSD", "ar": "UD_Arabic-PADT"}
"""The sources' training data."""


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-natural in the world, bert-base-multilingual-cased on paper; on real treebanks a small English
    encoder with 26 languages brought in, distilled and not."""
    layers: Layers | None = None
    """Of the encoder; they are drawn anew in twos. Default: 6, but 12 on paper and of an encoder that is given there or
    on real treebanks."""
    quirks: tuple[PublishedQuirk, ...] | None = None
    """On paper, of parsing: what is done as the authors' code did it. Default: all that there is; [] nothing, so that
    sentences are compared without that code's CKA, too."""
    sources: tuple[str, ...] | None = None
    """Codes of the languages to tune on, each by itself. Default: qaa in the world, en on real, and en, ru and ar on
    paper."""


TASK_TRAINING: dict[str, Any] = {
    "weight_decay": 0.0, "epsilon": 1e-6, "epsilon_before_correction": True, "clip": None, "dropout": 0.2,
    "max_length": 500,
}  # fmt: skip
"""What else the authors' code trains tasks with."""
CKA_AS_PUBLISHED: dict[str, Any] = {
    "measures": ("RBF CKA (overlapping quarters)",), "pooling": "mean-with-special-twice",
}  # fmt: skip
"""How that of their first paper compares sentences."""
QUIRKS: tuple[PublishedQuirk, ...] = (
    "published-scorer", "cls-root", "self-arcs", "summed-probabilities", "reversed-relations",
)  # fmt: skip
"""What that code does otherwise in parsing."""


def parsing_as_published(quirks: tuple[PublishedQuirk, ...] | None) -> dict[str, Any]:
    """The head of the authors' code, and what it does otherwise; None: all of it."""
    return {"head": "align-then-predict", "quirks": QUIRKS if quirks is None else quirks}


@dataclass(frozen=True)
class Setting:
    """What the study does in one profile."""

    languages: Sequence[str]
    """Codes of all languages that are scored and compared."""
    train: Callable[[str, str], str]
    """From task and language to the name of the training data."""
    test: Callable[[str, str], str]
    """Likewise of what is scored."""
    parallel: Callable[[str], str]
    """From a language to the name of its parallel sentences."""
    tasks: Mapping[str, Mapping[str, Any]]
    """By task, what all of its transfers share."""
    sentences: int
    """To compare."""
    device: str = "cpu"
    """What compares encoders as they are."""
    as_published: bool = False
    """Whether they are compared as the authors' code did, too."""


def world(given: Parameters) -> Study:
    """Three tasks, two if small, tuned on the source, scored and compared in what the shipped encoders have seen.

    The publication scores what mBERT has seen, too.
    """
    sizes = Sizes(train=500, dev=100, test=200) if given.small else Sizes(train=1500, dev=300, test=500)
    words = {"sizes": sizes, "tuning": Tuning(epochs=3 if given.small else 6)}
    shared = {"pos": words, "parsing": words}
    if not given.small:  # names take more examples and longer than a first look has
        shared["ner"] = {"sizes": Sizes(train=3000, dev=300, test=500), "tuning": Tuning(epochs=12)}
    sentences = 100 if given.small else 300
    seen = tuple(code for code, member in FAMILY.items() if member.seen)
    setting = Setting(seen, _in_world, _in_world, "world:{}".format, shared, sentences)
    sources = _known(given.sources or ("qaa",), seen)
    return _study("world", given, (given.encoder or "world-natural",), given.layers or 6, sources, setting)


def real(given: Parameters) -> Study:
    """Tagging and parsing, tuned on English, scored and compared on parallel treebanks."""
    tuning = given.tuning("cpu", "float32", 4, learning_rate=rate_for(given.encoder), tokens_per_batch=256)
    longer = tuning.model_copy(update={"epochs": tuning.epochs if given.small else 5})
    sizes = {"sizes": Sizes(train=500, dev=50, test=100) if given.small else Sizes(train=800, dev=200, test=200)}
    tasks = {"pos": sizes | {"tuning": tuning}, "parsing": sizes | {"tuning": longer}}
    setting = Setting(tuple(REAL), _treebank, _pud, lambda code: _pud("", code), tasks, 100 if given.small else 150)
    encoders = given_or_both(given.encoder, small=given.small)
    layers = given.layers or (12 if given.encoder else 6)
    return _study("real", given, encoders, layers, _known(given.sources or ("en",), TREEBANKS), setting)


def paper(given: Parameters) -> Study:
    """mBERT, three sources, three tasks, entities of WikiAnn."""
    tuning = given.tuning("cuda", "float32", 5, learning_rate=5e-5, examples_per_batch=32, **TASK_TRAINING)
    everything = Sizes(train=200, dev=50, test=50) if given.small else EVERYTHING
    shared: dict[str, Any] = {"sizes": everything, "tuning": tuning}
    tasks = {"parsing": shared | parsing_as_published(given.quirks), "pos": shared, "ner": shared}
    setting = Setting(
        tuple(PUD),
        lambda task, code: f"wikiann:{code}" if task == "ner" else _treebank(task, code),
        lambda task, code: f"wikiann:{code}" if task == "ner" else _pud(task, code),
        lambda code: _pud("", code),
        tasks,
        100 if given.small else 1000,
        tuning.device,
        as_published=given.quirks != (),
    )
    sources = _known(given.sources or tuple(TREEBANKS), TREEBANKS)
    encoder = given.encoder or "bert-base-multilingual-cased"
    return _study("paper", given, (encoder,), given.layers or 12, sources, setting)


def _known(sources: Sequence[str], known: Collection[str]) -> Sequence[str]:
    if unknown := [code for code in sources if code not in known]:
        raise InputError(f"sources: {unknown[0]!r} cannot be one here; allowed are {', '.join(known)}")
    return sources


def _in_world(task: str, code: str) -> str:
    return f"world:{code}"


def _treebank(task: str, code: str) -> str:
    return TREEBANKS[code]


def _pud(task: str, code: str) -> str:
    return f"UD_{PUD[code]}-PUD"


def _study(
    profile: str,
    given: Parameters,
    encoders: Sequence[DeclaredEncoder],
    layers: int,
    sources: Sequence[str],
    setting: Setting,
) -> Study:
    pairs = [(first, first + 1) for first in range(0, layers - 1, 2)]
    return Study(
        name=f"align-then-predict@{profile}",
        question=QUESTION,
        encoders=tuple(encoders),
        surgeries=(None, *(f"reinit:layers={first}+{second}" for first, second in pairs)),
        tasks={f"{task}-{code}": _transfer(task, code, setting) for code in sources for task in setting.tasks},
        seeds=given.seeds_to_run,
        measures=tuple(measure for code in sources for measure in _similarities(code, setting)),
    )


def _transfer(task: str, source: str, setting: Setting) -> Transfer:
    evaluate = tuple(setting.test(task, code) for code in setting.languages)
    declared = {"task": task, "train": (setting.train(task, source),), "evaluate": evaluate}
    return Transfer.model_validate(declared | dict(setting.tasks[task]))


def _similarities(source: str, setting: Setting) -> Iterator[Similarity]:
    usual = Similarity.model_validate(
        {
            "source": setting.parallel(source),
            "targets": tuple(setting.parallel(code) for code in setting.languages if code != source),
            "sentences": setting.sentences,
            "tuned": tuple(f"{task}-{source}" for task in setting.tasks),
            "device": setting.device,
        }
    )
    yield usual
    if setting.as_published:
        yield usual.model_copy(update=CKA_AS_PUBLISHED)


PROFILES = {"world": world, "real": real, "paper": paper}
