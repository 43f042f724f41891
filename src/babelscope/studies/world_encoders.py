"""world-encoders: where are the shipped encoders' languages aligned, and what does each encoder carry over?"""

from __future__ import annotations

from typing import NamedTuple

from pydantic import NonNegativeInt, PositiveInt

from babelscope.corpora.world_text import WorldText
from babelscope.measures.retrieval import Retrieval
from babelscope.studies.parameters import StudyParameters
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.study.encoders import Pretraining
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "Three encoders of the same shape are pre-trained on six languages of the world: one on natural text; one with a "
    "fifth of the words that have a meaning in other languages (about a sixth of all words differ: punctuation, "
    "digits and shared names stay as they are); and one on such text and on pairs of related sentences. Where in the "
    "encoder are languages aligned, and what does each carry over to languages it was not tuned on?"
)


class Mixture(NamedTuple):
    """What an encoder is pre-trained on."""

    switched: float = 0.0
    """Share of the words with a meaning that are replaced by another language's."""
    paired: float = 0.0
    """Pairs of related sentences, as a share of the sentences they come on top of."""


MIXTURES = {
    "world-natural": Mixture(),
    "world-switched": Mixture(switched=0.2),
    "world-pairs": Mixture(switched=0.2, paired=1.5),
}
"""Shipped encoder -> what it is pre-trained on."""


class Parameters(StudyParameters):
    """What `--with` can change; `steps`, `sentences` (of each language) and `seed` are those of the pre-training."""

    steps: PositiveInt | None = None
    """Default: 90,000, or 3,000 if small."""
    sentences: PositiveInt | None = None
    """Default: 20,000, or 4,000 if small."""
    seed: NonNegativeInt = 0


def world(given: Parameters) -> Study:
    """The encoders that ship with the package."""
    return _study("world-encoders@world", tuple(MIXTURES), given)


def scratch(given: Parameters) -> Study:
    """The same encoders pre-trained anew: 30 to 45 minutes of a core each."""
    encoders = tuple(_pretrain(name, mixture, given) for name, mixture in MIXTURES.items())
    return _study("world-encoders@scratch", encoders, given)


def _study(name: str, encoders: tuple[str | Pretraining, ...], given: Parameters) -> Study:
    targets = tuple(code for code in FAMILY if code != "qaa")
    return Study(
        name=name,
        question=QUESTION,
        encoders=encoders,
        surgeries=(None, "reinit"),
        tasks={
            "pos": Transfer(
                train=("world:qaa",),
                evaluate=tuple(f"world:{code}" for code in FAMILY),
                sizes=Sizes(train=300, dev=100, test=200) if given.small else Sizes(),
                tuning=Tuning(epochs=3 if given.small else 6),
                baselines=("most-frequent-tag", "word-majority"),
            )
        },
        seeds=given.seeds_to_run,
        measures=(Retrieval(source="qaa", targets=targets, sentences=100 if given.small else 300),),
    )


def _pretrain(name: str, mixture: Mixture, given: Parameters) -> Pretraining:
    seen = [code for code, member in FAMILY.items() if member.seen]
    sentences = given.sentences or (4_000 if given.small else 20_000)
    steps = given.steps or (3_000 if given.small else 90_000)
    return Pretraining(
        name=name,
        texts=tuple(
            WorldText(
                language=code,
                sentences=sentences,
                pairs=round(mixture.paired * sentences),
                switched=mixture.switched,
            )
            for code in seen
        ),
        tuning=Tuning(learning_rate=2e-3, steps=steps, betas=(0.9, 0.98), warmup=0.06),
        seed=given.seed,
    )


PROFILES = {"world": world, "scratch": scratch}
