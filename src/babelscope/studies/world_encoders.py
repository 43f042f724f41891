"""world-encoders: where are the shipped encoders' languages aligned, and what does each encoder carry over?"""

from __future__ import annotations

from pydantic import NonNegativeInt, PositiveInt

from babelscope.corpora.treebanks import WorldText
from babelscope.declaration import Declaration
from babelscope.steps import Pretrain
from babelscope.study import Retrieval, Study
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "Two encoders of the same shape are pre-trained on six languages of the world, one on natural text, one with a "
    "fifth of the words in other languages. Where in the encoder are languages aligned, "
    "and what does each carry over to languages it was not tuned on?"
)
SWITCHED = {"world-natural": 0.0, "world-switched": 0.2}
"""Shipped encoder -> share of words replaced by another language's."""


class Parameters(Declaration):
    """What `--with` can change; `steps`, `sentences` (of each language) and `seed` are those of the pre-training."""

    steps: PositiveInt = 90_000
    sentences: PositiveInt = 20_000
    seed: NonNegativeInt = 0
    seeds: PositiveInt = 3


def world(given: Parameters) -> Study:
    """The encoders that ship with the package."""
    return _study("world-encoders@world", tuple(SWITCHED), given)


def scratch(given: Parameters) -> Study:
    """The same encoders pre-trained anew: about three quarters of an hour for both, a core each."""
    return _study(
        "world-encoders@scratch", tuple(_pretrain(name, share, given) for name, share in SWITCHED.items()), given
    )


def _study(name: str, encoders: tuple[str | Pretrain, ...], given: Parameters) -> Study:
    return Study(
        name=name,
        question=QUESTION,
        encoders=encoders,
        surgeries=(None, "reinit"),
        train=("world:qaa",),
        evaluate=tuple(f"world:{code}" for code in FAMILY),
        seeds=tuple(range(given.seeds)),
        baselines=("most-frequent-tag", "word-majority"),
        retrieval=Retrieval(source="qaa", targets=tuple(code for code in FAMILY if code != "qaa")),
    )


def _pretrain(name: str, switched: float, given: Parameters) -> Pretrain:
    seen = [code for code, member in FAMILY.items() if member.seen]
    return Pretrain(
        name=name,
        texts=tuple(WorldText(language=code, sentences=given.sentences, switched=switched) for code in seen),
        tuning=Tuning(learning_rate=2e-3, steps=given.steps, betas=(0.9, 0.98), warmup=0.06),
        seed=given.seed,
    )


PROFILES = {"world": world, "scratch": scratch}
