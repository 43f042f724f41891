"""first-look: does pre-training carry a tagger over to languages that it was not tuned on?"""

from __future__ import annotations

from babelscope.studies.multilingual import multilingual, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "A tagger is trained on one language and scored on all others without any training there. "
    "How much of what it can do there comes from the encoder's pre-training, "
    "and how does that depend on how closely the languages are related?"
)
PUD = (
    "English", "German", "French", "Spanish", "Portuguese", "Italian", "Swedish", "Czech", "Russian", "Turkish",
    "Arabic", "Hindi", "Chinese",
)  # fmt: skip


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-natural in the world; on real treebanks a small English encoder with 26 languages brought in."""
    targets: tuple[str, ...] | None = None
    """What the tagger is scored on. Default: all nine languages of the world, or 13 PUD treebanks."""


def world(given: Parameters) -> Study:
    """Artificial languages: tuned on the source, scored on all nine."""
    return Study(
        name="first-look@world",
        question=QUESTION,
        encoders=(given.encoder or "world-natural",),
        surgeries=(None, "reinit"),
        tasks={
            "pos": Transfer(
                train=("world:qaa",),
                evaluate=given.targets or tuple(f"world:{code}" for code in FAMILY),
                sizes=Sizes(train=300, dev=100, test=200) if given.small else Sizes(train=1500, dev=300, test=500),
                tuning=Tuning(learning_rate=5e-4, epochs=3 if given.small else 6),
                baselines=("most-frequent-tag", "word-majority"),
            )
        },
        seeds=given.seeds_to_run,
    )


def real(given: Parameters) -> Study:
    """Universal Dependencies: tuned on English-EWT, scored on the parallel PUD treebanks."""
    return Study(
        name="first-look@real",
        question=QUESTION,
        encoders=(given.encoder or multilingual(small=given.small),),
        surgeries=(None, "reinit"),
        tasks={
            "pos": Transfer(
                train=("UD_English-EWT",),
                evaluate=given.targets or tuple(f"UD_{language}-PUD" for language in PUD),
                sizes=Sizes(train=500, dev=200, test=200) if given.small else Sizes(train=3000, dev=500, test=500),
                tuning=given.tuning("cpu", "float32", 3, learning_rate=rate_for(given.encoder), tokens_per_batch=1024),
                baselines=("most-frequent-tag", "word-majority"),
            )
        },
        seeds=given.seeds_to_run,
    )


PROFILES = {"world": world, "real": real}
