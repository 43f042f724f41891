"""all-tasks: how well is every task learned, and how much of it carries over to other languages?"""

from __future__ import annotations

from babelscope.studies.multilingual import multilingual, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "Every task is trained on one language and scored there and on the others. What is learned at all, against "
    "baselines that know no encoder, and what carries over without any training?"
)


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-pairs in the world; on real data a small English encoder with 26 languages brought in."""


def world(given: Parameters) -> Study:
    """Artificial languages: tuned on the source, scored on all nine."""
    return Study(
        name="all-tasks@world",
        question=QUESTION,
        encoders=(given.encoder or "world-pairs",),
        tasks={
            "pos": _in_world(given, 1500, 6, "word-majority", "bilstm"),
            "ner": _in_world(given, 3000, 6, "word-majority", "bilstm"),
            "parsing": _in_world(given, 1500, 6, "bilstm"),
            "inference": _in_world(given, 10_000, 3, "majority", "bag-of-words"),
            "acceptability": _in_world(given, 4000, 3, "majority", "bag-of-words"),
            "sentiment": _in_world(given, 4000, 3, "majority", "bag-of-words"),
            "paraphrase": _in_world(given, 10_000, 3, "majority", "bag-of-words"),
            "similarity": _in_world(given, 6000, 3, "majority", "bag-of-words"),
        },
        seeds=given.seeds_to_run,
    )


def _in_world(given: Parameters, examples: int, epochs: int, *baselines: str) -> Transfer:
    small = Sizes(train=min(examples, 1000), dev=100, test=200)
    return Transfer.model_validate(
        {
            "train": ("world:qaa",),
            "evaluate": tuple(f"world:{code}" for code in FAMILY),
            "sizes": small if given.small else Sizes(train=examples, dev=500, test=1000),
            "tuning": Tuning(epochs=1 if given.small else epochs),
            "baselines": baselines,
        }
    )


def real(given: Parameters) -> Study:
    """Real treebanks, entities and GLUE tasks."""
    words = given.tuning("cpu", "float32", 2, learning_rate=rate_for(given.encoder), tokens_per_batch=1024)
    longer = words.model_copy(update={"epochs": 4, "tokens_per_batch": 512})
    texts = words.model_copy(update={"learning_rate": 5e-5})
    return Study(
        name="all-tasks@real",
        question=QUESTION,
        encoders=(given.encoder or multilingual(small=given.small),),
        tasks={
            "pos": _real(given, ["UD_English-EWT"], ["UD_English-EWT"], words, 3000, ["word-majority", "bilstm"]),
            "parsing": _real(given, ["UD_English-EWT"], ["UD_English-EWT"], longer, 3000, ["bilstm"]),
            "ner-wolof": _entities(given, "wol", longer),
            "ner-naija": _entities(given, "pcm", longer),
            "rte": _glue(given, "RTE", texts.model_copy(update={"epochs": 4})),
            "sst2": _glue(given, "SST-2", texts),
            "stsb": _glue(given, "STS-B", texts),
        },
        seeds=given.seeds_to_run,
    )


def _entities(given: Parameters, code: str, tuning: Tuning) -> Transfer:
    name = [f"masakhaner2:{code}"]
    transfer = _real(given, name, name, tuning, 2000, ["word-majority", "bilstm"])
    return transfer.model_copy(update={"task": "ner"})


def _glue(given: Parameters, name: str, tuning: Tuning) -> Transfer:
    return _real(given, [f"glue:{name}"], [f"glue:{name}"], tuning, 5000, ["majority", "bag-of-words"])


def _real(
    given: Parameters, train: list[str], evaluate: list[str], tuning: Tuning, examples: int, baselines: list[str]
) -> Transfer:
    if given.small:
        tuning = tuning.model_copy(update={"epochs": 1})
    sizes = Sizes(train=500, dev=100, test=200) if given.small else Sizes(train=examples, dev=500, test=2000)
    return Transfer.model_validate(
        {"train": train, "evaluate": evaluate, "sizes": sizes, "tuning": tuning, "baselines": baselines}
    )


PROFILES = {"world": world, "real": real}
