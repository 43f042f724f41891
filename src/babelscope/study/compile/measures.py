"""The steps that measure a study's encoders as they are."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product

from babelscope.core.step import Step
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset
from babelscope.measure_steps import Cost, Project, Retrieve, Vocabulary
from babelscope.steps import Operate
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.compile.faults import Faults
from babelscope.study.declare import Study
from babelscope.study_measures import Library
from babelscope.world.world import VERSION


def check_languages(study: Study, faults: Faults) -> None:
    """Note languages to retrieve or project that the world has not."""
    for key, declared in (("retrieval", study.retrieval), ("projection", study.projection)):
        for code in (declared.source, *declared.targets) if declared else ():
            faults.resolve(key, datasets.check_world_language, code)


def find_texts(study: Study, faults: Faults) -> tuple[Dataset, ...]:
    """What vocabularies are compared on."""
    declared = study.vocabulary
    if declared is None:
        return ()
    return faults.resolve_all(
        "vocabulary.treebanks",
        lambda name: datasets.find("pos", name, "test", declared.sentences, study.world_seed),
        declared.treebanks,
    )


def measure_encoders(encoders: ResolvedEncoders, texts: tuple[Dataset, ...]) -> Iterator[Step]:
    """All of them, without tuning."""
    yield from _retrievals(encoders)
    yield from _projections(encoders)
    study = encoders.study
    if study.vocabulary:
        reference = encoders.named[study.vocabulary.reference]
        yield from (Vocabulary(encoder=encoder, reference=reference, texts=texts) for encoder in encoders.found)
    for encoder, _ in encoders.conditions():
        if isinstance(encoder, Operate) and encoder.surgery in study.costs:
            yield Cost(encoder=encoder)


def _retrievals(encoders: ResolvedEncoders) -> Iterator[Step]:
    """Without tuning, seeds differ only where an operation draws from them."""
    study, declared = encoders.study, encoders.study.retrieval
    if declared is None:
        return
    for operated, _ in encoders.conditions():
        for target in declared.targets:
            yield Retrieve(
                encoder=operated, source=declared.source, target=target, sentences=declared.sentences,
                world_seed=study.world_seed, world_version=VERSION,
            )  # fmt: skip


def _projections(encoders: ResolvedEncoders) -> Iterator[Step]:
    study, declared = encoders.study, encoders.study.projection
    if declared is None:
        return
    for encoder, target in product(encoders.found, declared.targets):
        yield Project(
            encoder=encoder, source=declared.source, target=target, sentences=declared.sentences,
            pairs=declared.pairs, library=declared.library or _installed_library(), seed=0,
            world_seed=study.world_seed, world_version=VERSION,
        )  # fmt: skip


def _installed_library() -> Library:
    """What projects words; its pictures are its own, so it is in the key."""
    return "openTSNE" if find_spec("openTSNE") else "scikit-learn"
