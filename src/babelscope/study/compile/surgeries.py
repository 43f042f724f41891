"""Whether a study's encoders can have its surgeries, as far as that is seen before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable

from babelscope.core.faults import Faults
from babelscope.encoders.folder import word_width
from babelscope.steps import Adapt, BringIn, Distil, EncoderStep, Load, Operate, Pretrain
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.declare import Study
from babelscope.surgery import check_operations, donors_of


def check_surgeries(study: Study, encoders: ResolvedEncoders, operated: Iterable[EncoderStep], faults: Faults) -> None:
    """Note layers that encoders do not have, donors' embeddings of another width, and languages that come too late."""
    paths = {surgery.name: f"surgeries.{k}" for k, surgery in enumerate(study.surgeries) if surgery}
    any_seed = {(step.surgery, step.encoder): step for step in operated if isinstance(step, Operate)}
    for step in any_seed.values():
        donors = {name: _word_width(encoders.named.get(name)) for name in donors_of(step.operations)}
        faults.resolve(
            paths[step.surgery], check_operations, step.encoder.labels["encoder"], step.operations,
            step.encoder.layers, _word_width(step.encoder), donors,
        )  # fmt: skip
        if isinstance(step.encoder, BringIn) and step.encoder.after_tuning:
            problem = f"languages are brought into {step.encoder.name} after tuning, so nothing is operated on"
            faults.add(paths[step.surgery], f"{problem}; name other `encoders` for it, or leave after_tuning out")


def _word_width(encoder: EncoderStep | None) -> int | None:
    match encoder:
        case Load(place=place):
            return word_width(place)
        case Pretrain(shape=shape):
            return shape.hidden
        case Adapt(encoder=inner) | BringIn(encoder=inner) | Distil(encoder=inner):
            return _word_width(inner)
    return None
