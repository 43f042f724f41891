"""Whether a study's encoders can have its surgeries, as far as that is seen before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable

from babelscope.core.faults import Faults
from babelscope.encoders.places import word_width
from babelscope.steps import Adapt, EncoderStep, Load, Operate, Pretrain
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.declare import Study
from babelscope.surgery.declare import donors_of
from babelscope.surgery.fit import check_operations


def check_surgeries(study: Study, encoders: ResolvedEncoders, operated: Iterable[EncoderStep], faults: Faults) -> None:
    """Note layers that encoders do not have, and donors' embeddings of another width without a bridge."""
    paths = {surgery.name: f"surgeries.{k}" for k, surgery in enumerate(study.surgeries) if surgery}
    for one in operated:
        if isinstance(one, Operate):
            donors = {name: _word_width(encoders.named.get(name)) for name in donors_of(one.operations)}
            faults.resolve(
                paths[one.surgery], check_operations, one.encoder.labels["encoder"], one.operations,
                one.encoder.layers, _word_width(one.encoder), donors,
            )  # fmt: skip


def _word_width(encoder: EncoderStep | None) -> int | None:
    match encoder:
        case Load(place=place):
            return word_width(place)
        case Pretrain(shape=shape):
            return shape.hidden
        case Adapt(encoder=adapted):
            return _word_width(adapted)
    return None
