"""alignment-by-layer: which layers hold what languages share?

Jexus, Which layer preserves the best cross-lingual representations in multilingual-BERT?
"""

from __future__ import annotations

from typing import Any

from babelscope.corpora.benchmarks import XNLI_LANGUAGES
from babelscope.measures.projection import Projection
from babelscope.measures.retrieval import Retrieval
from babelscope.measures.similarity import Similarity
from babelscope.studies.multilingual import PUD as REAL
from babelscope.studies.multilingual import given_or_both, held_out, rate_for
from babelscope.studies.parameters import DeviceParameters, Layers
from babelscope.study.declare import EVERYTHING, Sizes, Study, Transfer
from babelscope.study.encoders import DeclaredEncoder
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "If the layers that align languages are kept as pre-training left them, and those above are tuned on one "
    "language, how much carries over to the others? Which number of frozen layers is best, and is it where parallel "
    "sentences lie nearest to one another?"
)


ENGLISH = "UD_English-PUD"
PUD = tuple(
    f"UD_{language}-PUD"
    for language in ("Chinese", "Arabic", "French", "German", "Hindi", "Russian", "Spanish", "Turkish")
)
"""Treebanks parallel to it of languages of XNLI; the first is that of the post's pictures. UD has one of Thai, too."""


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-pairs in the world, bert-base-multilingual-cased on paper; on real text a small English encoder
    with 26 languages brought in, distilled and not."""
    layers: Layers | None = None
    """Of the encoder: as many are frozen at most. Default: 6, but 12 on paper and of an encoder that is given there or
    on real text."""


def world(given: Parameters) -> Study:
    """Inference and tagging, tuned on the source with every number of frozen layers, scored on all nine languages."""
    targets = tuple(code for code in FAMILY if code != "qaa")
    return Study(
        name="alignment-by-layer@world",
        question=QUESTION,
        encoders=(given.encoder or "world-pairs",),
        schedules=_schedules(given.layers or 6),
        tasks={"pos": _in_world(given, 1500, 6), "inference": _in_world(given, 6000, 9)},
        seeds=given.seeds_to_run,
        measures=(
            Retrieval(source="qaa", targets=targets, sentences=100 if given.small else 300),
            Projection(source="qaa", targets=("qab", "qac"), pairs=40 if given.small else 100),
        ),
    )


def real(given: Parameters) -> Study:
    """Tagging, tuned on English, scored on parallel treebanks; with an encoder that is given, XNLI as well.

    XNLI is tuned on pairs translated to Spanish, and tested on pairs written in Basque and on their translations. Its
    batches are larger, since 256 tokens are four or five pairs. Without a given encoder it would take hours more.
    """
    tuning = given.tuning("cpu", "float32", 4, learning_rate=rate_for(given.encoder), tokens_per_batch=256)
    few, small = Sizes(train=500, dev=50, test=100), given.small
    tasks = {
        "pos": Transfer(
            train=("UD_English-EWT",), evaluate=tuple(REAL.values()), tuning=tuning,
            sizes=few if small else Sizes(train=1000, dev=200, test=200),
        )
    }  # fmt: skip
    if given.encoder:
        tests = ("xnli:eu-native", "xnli:eu2es-native", "xnli:eu2en-native")
        sizes = few if small else Sizes(train=3000, dev=500, test=621)
        pairs = tuning.model_copy(update={"tokens_per_batch": 1024})
        tasks["xnli"] = Transfer(train=("xnli:es-original",), evaluate=tests, sizes=sizes, tuning=pairs)
    encoders = given_or_both(given.encoder, small=small)
    schedules = _schedules(given.layers or (12 if given.encoder else 6))
    targets = tuple(code for code in REAL if code != "en")
    words = tuple(REAL[code] for code in ("zh", "es", "de"))
    return _on_parallel_text("real", given, encoders, tasks, schedules, held_out(*targets), words)


def paper(given: Parameters) -> Study:
    """mBERT, tuned on the English of XNLI, tested on all its languages; dropout stays on in frozen layers.

    That is what PyTorch does with layers that need no gradient; one number of frozen layers is tuned without, too. The
    post's words were of WMT-17, English with Chinese; here they are of the parallel treebanks.
    """
    tuning = given.tuning("cuda", "float32", learning_rate=2e-5, epochs=3, examples_per_batch=32)
    sizes = Sizes(train=500, dev=100, test=200) if given.small else EVERYTHING
    tests = tuple(f"xnli:{code}" for code in XNLI_LANGUAGES)
    transfer = Transfer(train=("xnli:en",), evaluate=tests, sizes=sizes, tuning=tuning)
    sentences = Similarity(source=ENGLISH, targets=PUD, measures=("retrieval",))
    encoders = (given.encoder or "bert-base-multilingual-cased",)
    schedules = _published_schedules(given.layers or 12)
    return _on_parallel_text("paper", given, encoders, {"xnli": transfer}, schedules, sentences, PUD)


def _on_parallel_text(
    profile: str,
    given: Parameters,
    encoders: tuple[DeclaredEncoder, ...],
    tasks: dict[str, Transfer],
    schedules: Any,
    sentences: Similarity,
    words: tuple[str, ...],
) -> Study:
    """With retrieval of sentences, and English words with those of treebanks."""
    fewer = {"sentences": 100} if given.small else {}
    return Study(
        name=f"alignment-by-layer@{profile}",
        question=QUESTION,
        encoders=encoders,
        schedules=schedules,
        tasks=tasks,
        seeds=given.seeds_to_run,
        measures=(
            sentences.model_copy(update=fewer),
            Projection(source=ENGLISH, targets=words, sentences=300, pairs=100).model_copy(update=fewer),
        ),
    )


def _schedules(layers: int) -> Any:
    """From nothing frozen to all layers, where the head alone is trained."""
    return tuple(f"freeze:{frozen}" for frozen in range(-1, layers + 1))


def _published_schedules(layers: int) -> Any:
    """From nothing frozen to all layers but the last, with dropout in what is frozen; and two thirds without."""
    frozen = [f"freeze:{frozen},frozen_dropout" for frozen in range(layers)]
    return ("freeze:-1", *frozen, f"freeze:{2 * layers // 3}")


def _in_world(given: Parameters, examples: int, epochs: int) -> Transfer:
    small = Sizes(train=min(1000, examples), dev=100, test=200)
    return Transfer(
        train=("world:qaa",),
        evaluate=tuple(f"world:{code}" for code in FAMILY),
        sizes=small if given.small else Sizes(train=examples, dev=300, test=500),
        tuning=Tuning(epochs=max(1, epochs // 2) if given.small else epochs),
    )


PROFILES = {"world": world, "real": real, "paper": paper}
