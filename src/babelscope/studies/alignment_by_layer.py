"""alignment-by-layer: which layers hold what languages share?

Jexus, Which layer preserves the best cross-lingual representations in multilingual-BERT?
"""

from __future__ import annotations

from babelscope.studies.parameters import StudyParameters
from babelscope.study import Sizes, Study, Transfer
from babelscope.study_measures import Projection, Retrieval
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "If the layers that align languages are kept as pre-training left them, and those above are tuned on one "
    "language, how much carries over to the others? Which number of frozen layers is best, and is it where parallel "
    "sentences lie nearest to one another?"
)
LAYERS = 6
"""Of the shipped encoders."""


class Parameters(StudyParameters):
    """What `--with` can change."""

    encoder: str = "world-pairs"


def world(given: Parameters) -> Study:
    """Inference and tagging, tuned on the source with every number of frozen layers, scored on all nine languages."""
    return Study(
        name="alignment-by-layer@world",
        question=QUESTION,
        encoders=(given.encoder,),
        schedules=tuple(f"freeze:{frozen}" for frozen in range(-1, LAYERS + 1)),
        tasks={"pos": _in_world(given, 1500, 6), "inference": _in_world(given, 6000, 3)},
        seeds=given.seeds_to_run,
        retrieval=Retrieval(
            source="qaa", targets=tuple(code for code in FAMILY if code != "qaa"), sentences=100 if given.small else 300
        ),
        projection=Projection(source="qaa", targets=("qab", "qac"), pairs=40 if given.small else 100),
    )


def _in_world(given: Parameters, examples: int, epochs: int) -> Transfer:
    small = Sizes(train=min(1000, examples), dev=100, test=200)
    return Transfer(
        train=("world:qaa",),
        evaluate=tuple(f"world:{code}" for code in FAMILY),
        sizes=small if given.small else Sizes(train=examples, dev=300, test=500),
        tuning=Tuning(epochs=max(1, epochs // 2) if given.small else epochs),
    )


PROFILES = {"world": world}
