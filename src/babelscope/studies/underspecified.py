"""underspecified: why does zero-shot transfer vary, and what lies between models of one language and of two?

Wu, Van Durme and Dredze (2022), Zero-shot Cross-lingual Transfer is Under-specified Optimization.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, get_args

from pydantic import PositiveInt

from babelscope.core.tasks import TASKS
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.shape import Shape
from babelscope.measures.angle import Angles
from babelscope.measures.data_sizes import DataSizes
from babelscope.measures.interpolation import Interpolation
from babelscope.studies.interpolated import (
    COARSE_ALPHAS,
    Pair,
    Setting,
    of_chance,
    of_few_shots,
    of_pairs,
    of_seeds,
    transfers,
)
from babelscope.studies.multilingual import multilingual, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import EVERYTHING, NO_LIMIT, Sizes, Study, Transfer
from babelscope.study.encoders import DeclaredEncoder, Pretraining
from babelscope.tasks.as_published import PublishedQuirk
from babelscope.tasks.kinds import kind_of
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "A model tuned on a source language, one tuned on source and target, and the line between them: how do the scores "
    "of both languages change on the way? Where the source's stays and the target's does not, nothing in the source's "
    "data says where on the line to stop, so chance does. How flat is it, and what helps?"
)


class Learning(NamedTuple):
    """What a task of the world takes to be learned from one language alone.

    A model of two languages reads each as often as a model of one. Where the latter has not learned its task by then,
    the former scores higher on the source for want of training, and the line between them shows that. So a source has
    more labelled sentences than another language, as sources do.

    Where pre-training has not prepared for a task, chance in the first steps decides in which of several ways it is
    learned; models of one start then lie in different basins, with a barrier between them. A long warm-up, in which
    the model moves little, keeps them in one.
    """

    source: int
    """Examples of a language that is the source of a pair."""
    target: int
    """Of the others."""
    epochs: int
    learning_rate: float = 7e-4
    warmup: float = 0.06


TAGGING = Learning(600, 200, 4)
PARSING = Learning(600, 200, 7)
ENTITIES = Learning(1800, 450, 5, learning_rate=5e-4, warmup=0.6)
SENTIMENT = Learning(1800, 450, 7, learning_rate=5e-4, warmup=0.6)


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoders: tuple[str, ...] | None = None
    """Default: world-pairs and one of a third of its size in the world, a small English one with 26 languages brought
    in on real data, mBERT and XLM-R on paper."""
    steps: PositiveInt | None = None
    """Of the smaller encoder's pre-training in the world; default: 15,000, or 2,000 if small."""
    quirks: tuple[PublishedQuirk, ...] | None = None
    """What is done as the published code did it; default: all of it on paper, else nothing. A task has those that
    concern it."""


def world(given: Parameters) -> Study:
    """Two encoders of different size, two sources, four tasks; the pairs of the paper with the world's languages."""
    codes = ("qaa", "qac", "qae") if given.small else tuple(FAMILY)
    pairs = _pairs(codes[:1] if given.small else ("qaa", "qae"), codes)
    few = [pair for pair in pairs if pair.source == "qaa"]
    settings = {
        "pos": _in_world(given, pairs, TAGGING, planes=(Pair("qaa", "qac"),), few_shot=few),
        "ner": _in_world(given, pairs, ENTITIES),
        "parsing": _in_world(given, pairs, PARSING, planes=() if given.small else (Pair("qaa", "qae"),)),
        "sentiment": _in_world(given, pairs, SENTIMENT),
    }
    if given.small:
        settings = {task: settings[task] for task in ("pos", "parsing")}
    encoders = given.encoders or (("world-pairs",) if given.small else ("world-pairs", _smaller(given)))
    return _study("underspecified@world", given, encoders, settings, 50 if given.small else 60)


def _in_world(
    given: Parameters,
    pairs: Sequence[Pair],
    learning: Learning,
    planes: Sequence[Pair] = (),
    few_shot: Sequence[Pair] = (),
) -> Setting:
    source, target, epochs, learning_rate, warmup = learning
    sizes = Sizes(train=target, dev=200, test=300)
    if given.small:
        source, epochs, sizes = 5 * source // 6, epochs - 1, Sizes(train=2 * target // 3, dev=50, test=100)
    tuning = Tuning(
        epochs=epochs, learning_rate=learning_rate, warmup=warmup, tokens_per_batch=256, batches="one-language"
    )
    return Setting("world:{}".format, pairs, sizes, tuning, source, planes, few_shot=few_shot)


def _smaller(given: Parameters) -> Pretraining:
    """Four layers of 48, pre-trained as the shipped encoder was, for a shorter time."""
    seen = [code for code, member in FAMILY.items() if member.seen]
    return Pretraining(
        name="smaller",
        texts=tuple(WorldText(language=code, sentences=10_000, pairs=10_000, switched=0.2) for code in seen),
        shape=Shape(hidden=48, layers=4, heads=2, feed_forward=192),
        tuning=Tuning(
            learning_rate=2e-3, steps=given.steps or (2_000 if given.small else 15_000), betas=(0.9, 0.98), warmup=0.06
        ),
    )


REAL_TREEBANKS = {"en": "English-EWT", "de": "German-GSD", "fr": "French-GSD", "tr": "Turkish-IMST"}


def real(given: Parameters) -> Study:
    """Tagging and parsing of treebanks, entities of MasakhaNER."""
    rate = rate_for(*given.encoders or ())
    tuning = given.tuning("cpu", "float32", 4, learning_rate=rate, tokens_per_batch=256, batches="one-language")
    sizes = Sizes(train=200, dev=50, test=50) if given.small else Sizes(train=600, dev=100, test=200)
    pairs = _pairs(("en",), tuple(REAL_TREEBANKS)[: 2 if given.small else None])
    settings = {
        "pos": Setting(
            _treebank, pairs, sizes, tuning, planes=pairs[:1], plane_alphas=COARSE_ALPHAS, few_shot=pairs[:1]
        ),
        "parsing": Setting(_treebank, pairs[:1], sizes, tuning),
        "ner": Setting("masakhaner2:{}".format, _pairs(("pcm",), ("pcm", "swa")), sizes, tuning),
    }
    if given.small:
        settings = {task: settings[task] for task in ("pos", "parsing")}
    encoders = given.encoders or (multilingual(small=given.small),)
    return _study("underspecified@real", given, encoders, settings, 30 if given.small else 60)


def _treebank(code: str) -> str:
    return f"UD_{(REAL_TREEBANKS | PAPER_TREEBANKS)[code]}"


QUIRKS = tuple(quirk for quirk in get_args(PublishedQuirk) if quirk != "reversed-relations")
"""All but that of another study's code."""
PAPER_TREEBANKS = {
    "ar": "Arabic-PADT", "de": "German-GSD", "en": "English-EWT", "es": "Spanish-GSD", "fr": "French-GSD",
    "hi": "Hindi-HDTB", "ru": "Russian-GSD", "vi": "Vietnamese-VTB", "zh": "Chinese-GSD",
}  # fmt: skip


def paper(given: Parameters) -> Study:
    """mBERT and XLM-R on four tasks, 15 pairs, 3 seeds: 576 tunings, since pairs share their languages' models."""
    everything = Sizes(train=200, dev=50, test=50) if given.small else EVERYTHING
    tuning = Tuning(
        learning_rate=2e-5, epochs=1 if given.small else 5, examples_per_batch=32, warmup=0.1, weight_decay=0.0,
        betas=(0.9, 0.99), clip=None, dropout=0.2, max_length=128, batches="drawn",
        validations_per_epoch=4, patience=10, device=given.device or "cuda", precision=given.precision or "float32",
    )  # fmt: skip
    codes = tuple(PAPER_TREEBANKS)
    pairs = _pairs(("en", "ar"), codes)

    def setting(data: Callable[[str], str], plane: Pair) -> Setting:
        return Setting(data, pairs, everything, tuning, planes=(plane,), parts=(plane,))

    settings = {
        "xnli": setting("xnli:{}".format, Pair("ar", "zh")),
        "ner": setting("wikiann:{}".format, Pair("en", "ru")),
        "pos": setting(_treebank, Pair("ar", "de")),
        "parsing": setting(_treebank, Pair("en", "hi"))._replace(head="underspecified", measure="las.nopunct"),
    }
    encoders = given.encoders or ("bert-base-multilingual-cased", "FacebookAI/xlm-roberta-large")
    asked = given.model_copy(update={"quirks": QUIRKS if given.quirks is None else given.quirks})
    study = _study("underspecified@paper", asked, encoders, settings, 50 if given.small else NO_LIMIT)
    return study.model_copy(update={"measures": (*study.measures, DataSizes())})


def _pairs(sources: Sequence[str], codes: Sequence[str]) -> list[Pair]:
    """Every source with every language; two sources are one pair, the first with the second."""
    pairs = [Pair(source, target) for source in sources for target in codes if target != source]
    return [pair for pair in pairs if Pair(pair.target, pair.source) not in pairs[: pairs.index(pair)]]


def _study(
    name: str, given: Parameters, encoders: Sequence[DeclaredEncoder], settings: Mapping[str, Setting], sentences: int
) -> Study:
    tasks: dict[str, Transfer] = {}
    between: list[Interpolation] = []
    angles: list[Angles] = []
    for task, plain in settings.items():
        setting = plain._replace(quirks=kind_of(TASKS[task]).quirks_among(given.quirks or ()))
        tasks |= transfers(task, setting)
        lines, own_angles = of_pairs(task, setting, sentences)
        angles += own_angles
        between += [*lines, *of_few_shots(task, setting), *of_chance(task, setting)]
        between += of_seeds(task, setting) if len(given.seeds_to_run) > 1 else []
    return Study(
        name=name, question=QUESTION, encoders=tuple(encoders), tasks=tasks, seeds=given.seeds_to_run,
        measures=(*between, *angles),
    )  # fmt: skip


PROFILES = {"world": world, "real": real, "paper": paper}
