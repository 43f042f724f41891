"""world-encoders: pre-train the encoders that ship with the package, and measure how well they align languages."""

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
    """What `--with` can change."""

    steps: PositiveInt = 60_000
    sentences: PositiveInt = 16_000
    """Of each language."""
    seed: NonNegativeInt = 0
    """Of the pre-training."""


def world(given: Parameters) -> Study:
    """The shipped encoders from scratch: about half an hour each, one thread each."""
    seen = [code for code, member in FAMILY.items() if member.seen]
    tuning = Tuning(learning_rate=2e-3, steps=given.steps, betas=(0.9, 0.98), warmup=0.06)
    encoders = [
        Pretrain(
            name=name,
            texts=tuple(WorldText(language=code, sentences=given.sentences, switched=share) for code in seen),
            tuning=tuning,
            seed=given.seed,
        )
        for name, share in SWITCHED.items()
    ]
    return Study(
        name="world-encoders@world",
        question=QUESTION,
        encoders=tuple(encoders),
        surgeries=(None, "reinit"),
        train=("world:qaa",),
        evaluate=tuple(f"world:{code}" for code in FAMILY),
        baselines=("most-frequent-tag", "word-majority"),
        retrieval=Retrieval(source="qaa", targets=tuple(code for code in FAMILY if code != "qaa")),
    )


PROFILES = {"world": world}
