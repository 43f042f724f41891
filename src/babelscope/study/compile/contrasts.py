"""Whether a study scores what it contrasts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from babelscope.core.errors import did_you_mean
from babelscope.core.faults import Faults
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.compile.transfers import ResolvedTransfer
from babelscope.study.declare import Condition, Study
from babelscope.tasks.kinds import BILSTM

AS_IT_IS = "null"
"""How YAML writes that there is no surgery, or no schedule."""


def check_contrasts(
    study: Study, encoders: ResolvedEncoders, transfers: Iterable[ResolvedTransfer], faults: Faults
) -> None:
    """Note conditions, tasks and languages that nothing is scored under, and contrasts of one with itself."""
    _check_places(study, list(transfers), faults)
    if not study.contrasts or not encoders.all_found:
        return
    scored = _scored(study, encoders)
    for k, contrast in enumerate(study.contrasts):
        if contrast.first == contrast.second:
            faults.add(f"contrasts.{k}", "first and second are the same condition; give different ones")
        if contrast in study.contrasts[:k]:
            faults.add(f"contrasts.{k}", "given twice; p-values would be corrected for one test too many. Remove it")
        for side in ("first", "second"):
            _check_condition(f"contrasts.{k}.{side}", getattr(contrast, side), scored, faults)
        if contrast.first.schedule or contrast.second.schedule:
            _check_schedules(study, k, faults)
        elif None not in study.schedules:
            _check_recurrent(study, k, faults)


def _check_places(study: Study, transfers: Sequence[ResolvedTransfer], faults: Faults) -> None:
    """Whether the tasks and languages that contrasts name are scored."""
    there = {
        "tasks": dict.fromkeys(str(transfer.task) for transfer in transfers),
        "languages": dict.fromkeys(data.code for transfer in transfers for data in transfer.test),
    }
    for k, contrast in enumerate(study.contrasts):
        for key, names in there.items():
            for name in getattr(contrast, key):
                if name in names:
                    continue
                near = did_you_mean(name, names) if key == "tasks" else ""  # codes are too short to be like one
                problem = f"{name!r} is not scored{near}; there are {', '.join(names)}"
                if key == "tasks" and name in study.tasks and (task := study.tasks[name].task):
                    problem = f"rows have no {name!r}, which is this study's own name, but that of its task, {task}"
                faults.add(f"contrasts.{k}.{key}", problem)


def _scored(study: Study, encoders: ResolvedEncoders) -> dict[str, list[str | None]]:
    """For each encoder and each baseline, by the names that rows have, the surgeries; None for it as it is."""
    scored: dict[str, list[str | None]] = {}
    for encoder, _ in encoders.conditions() if study.tasks else ():
        scored.setdefault(encoder.labels["encoder"], []).append(encoder.labels.get("surgery"))
    return scored | {name: [None] for transfer in study.tasks.values() for name in transfer.baselines}


def _check_condition(path: str, given: Condition, scored: dict[str, list[str | None]], faults: Faults) -> None:
    if given.encoder not in scored:
        near = did_you_mean(given.encoder, scored)
        there = ", ".join(scored) or "none"
        problem = f"no encoder or baseline that is scored is named {given.encoder}{near}; there are {there}"
        faults.add(f"{path}.encoder", problem)
    elif given.surgery not in scored[given.encoder]:
        surgeries = dict.fromkeys(name or AS_IT_IS for name in scored[given.encoder])
        asked = given.surgery or AS_IT_IS
        near = did_you_mean(asked, surgeries)
        problem = f"{given.encoder} is not scored under {asked}{near}; it is under {', '.join(surgeries)}"
        faults.add(f"{path}.surgery", problem)


def _check_schedules(study: Study, k: int, faults: Faults) -> None:
    """Whether each side of a contrast has a schedule of the study, or, as baselines do, none."""
    there = [schedule.name if schedule else None for schedule in study.schedules]
    names = [name or AS_IT_IS for name in there]
    baselines = _baselines(study)
    for key in ("first", "second"):
        side: Condition = getattr(study.contrasts[k], key)
        if side.encoder in baselines:
            problem = f"{side.encoder} is a baseline, and has no schedule; leave it out" if side.schedule else ""
        elif side.schedule in there:
            problem = ""
        elif side.schedule:
            near = did_you_mean(side.schedule, names)
            problem = f"{side.schedule!r} is no schedule of the study{near}; there are {', '.join(names)}"
        else:
            problem = f"the other side names a schedule; name this side's, too. There are {', '.join(names)}"
        if problem:
            faults.add(f"contrasts.{k}.{key}.schedule", problem)


def _check_recurrent(study: Study, k: int, faults: Faults) -> None:
    """A BiLSTM has no schedule: without one named, it is compared with encoders that are tuned without one, too."""
    names = {key: getattr(study.contrasts[k], key).encoder for key in ("first", "second")}
    encoders = set(names.values()) - _baselines(study)
    for key, name in names.items():
        if name == BILSTM and encoders:
            problem = f"{BILSTM} is trained without a schedule, and no encoder of the study is"
            faults.add(f"contrasts.{k}.{key}", f"{problem}; name the other side's schedule, or add null to schedules")


def _baselines(study: Study) -> set[str]:
    return {name for transfer in study.tasks.values() for name in transfer.baselines}
