"""evolution: how do representations and perplexities change when a multilingual encoder learns one language?

Hussain and Dudev, Evolution of Representations in Cross-Lingual Fine-tuning.
"""

from __future__ import annotations

from typing import Any

from pydantic import PositiveInt

from babelscope.corpora.world_text import WorldText
from babelscope.studies.parameters import StudyParameters
from babelscope.study import Sizes, Study, Transfer
from babelscope.study_encoders import Pretraining
from babelscope.study_measures import Probing
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "A multilingual encoder goes on learning masked language modelling on one language alone. When does it know that "
    "language better than the others, what do these lose, which layers move, and toward an encoder that never knew "
    "another? What does it help to freeze the lower layers?"
)
SCHEDULES = ("freeze:0", "upper:half", "upper:quarter", "upper:last", "gradual:groups=3")
"""The techniques: all layers, the upper half, the upper quarter, the last layer, gradual unfreezing. The embeddings
are frozen in all of them, and with them the decoder that is tied to them."""


class Parameters(StudyParameters):
    """What `--with` can change."""

    encoder: str = "world-natural"
    """The multilingual one."""
    target: str = "qag"
    """The language of the world that it learns."""
    steps: PositiveInt | None = None
    """Of the native encoder's pre-training; default: 6,000, or 1,000 if small."""


def world(given: Parameters) -> Study:
    """A relative of the source that the encoder has never seen; the six languages that it knows are the control."""
    control = tuple(f"world:{code}" for code, member in FAMILY.items() if member.seen and code != given.target)
    target = (f"world:{given.target}",)
    return Study(
        name="evolution@world",
        question=QUESTION,
        encoders=(given.encoder,),
        schedules=SCHEDULES,
        references=(_native(given),),
        tasks={
            "mlm": Transfer(
                train=target,
                evaluate=(*target, *control),
                sizes=Sizes(train=1000, dev=100, test=100) if given.small else Sizes(train=4000, dev=200, test=300),
                tuning=Tuning(epochs=2 if given.small else 3, learning_rate=1e-3, warmup=0.0),
                probes=Probing(
                    every=10 if given.small else 20,
                    perplexity={"target": target, "control": control},
                    distance={"target": target},
                    sentences=30 if given.small else 100,
                ),
            )
        },
        seeds=given.seeds_to_run,
    )


def _native(given: Parameters) -> Any:
    return Pretraining(
        name=f"native-{given.target}",
        texts=(WorldText(language=given.target, sentences=4_000 if given.small else 20_000),),
        tuning=Tuning(
            learning_rate=2e-3, steps=given.steps or (1_000 if given.small else 6_000), betas=(0.9, 0.98), warmup=0.06
        ),
    )


PROFILES = {"world": world}
