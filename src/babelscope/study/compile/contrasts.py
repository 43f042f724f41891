"""Whether a study scores what it contrasts."""

from __future__ import annotations

from babelscope.core.faults import Faults
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.declare import Condition, Study

AS_IT_IS = "null"
"""How YAML writes that there is no surgery."""


def check_contrasts(study: Study, encoders: ResolvedEncoders, faults: Faults) -> None:
    """Note conditions that nothing is scored under, and contrasts of one with itself."""
    if not encoders.all_found:
        return
    scored = _scored(study, encoders)
    for k, contrast in enumerate(study.contrasts):
        if contrast.first == contrast.second:
            faults.add(f"contrasts.{k}", "first and second are the same condition; give different ones")
        for side in ("first", "second"):
            _check_condition(f"contrasts.{k}.{side}", getattr(contrast, side), scored, faults)


def _scored(study: Study, encoders: ResolvedEncoders) -> dict[str, list[str | None]]:
    """For each encoder and each baseline, by the names that rows have, the surgeries; None for it as it is."""
    scored: dict[str, list[str | None]] = {}
    for encoder, _ in encoders.conditions() if study.tasks else ():
        scored.setdefault(encoder.labels["encoder"], []).append(encoder.labels.get("surgery"))
    return scored | {name: [None] for transfer in study.tasks.values() for name in transfer.baselines}


def _check_condition(path: str, given: Condition, scored: dict[str, list[str | None]], faults: Faults) -> None:
    if given.encoder not in scored:
        problem = (
            f"no encoder or baseline that is scored is named {given.encoder}; there are {', '.join(scored) or 'none'}"
        )
        faults.add(f"{path}.encoder", problem)
    elif given.surgery not in scored[given.encoder]:
        surgeries = dict.fromkeys(name or AS_IT_IS for name in scored[given.encoder])
        problem = f"{given.encoder} is not scored under {given.surgery or AS_IT_IS}; it is under {', '.join(surgeries)}"
        faults.add(f"{path}.surgery", problem)
