"""The steps that compare models sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from babelscope.comparison import Compare
from babelscope.core.errors import InputError
from babelscope.core.step import Step
from babelscope.corpora.letters import split_name
from babelscope.steps import Evaluate
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.compile.faults import Faults
from babelscope.study.compile.transfers import ResolvedTransfer
from babelscope.study.declare import Study
from babelscope.study_measures import Comparison, Scored
from babelscope.tasks.kinds import BILSTM, kind_of
from babelscope.tuning.schedule import Schedule

Transfers = Mapping[str, ResolvedTransfer]


def check_comparisons(study: Study, encoders: ResolvedEncoders, transfers: Transfers, faults: Faults) -> None:
    """Note models that are not scored, and pairs that are not scored on the same sentences."""
    if not encoders.all_found:
        return
    for k, one in enumerate(study.comparisons):
        for side in ("first", "second"):
            faults.resolve(f"comparisons.{k}.{side}", _check_scored, encoders, transfers, getattr(one, side))
        faults.resolve(f"comparisons.{k}", _check_paired, transfers, one)


def comparisons(study: Study, encoders: ResolvedEncoders, transfers: Transfers) -> Iterator[Step]:
    """Each comparison that the study declares, with all seeds."""
    for one in study.comparisons:
        for schedule in study.schedules:
            first, second = (
                _evaluations(study, encoders, transfers, side, schedule) for side in (one.first, one.second)
            )
            yield Compare(claim=one.claim, first=first, second=second)


def _check_scored(encoders: ResolvedEncoders, transfers: Transfers, scored: Scored) -> None:
    if scored.task not in transfers:
        raise InputError(f"{scored.task!r} is no task of the study; there are {', '.join(transfers)}")
    resolved = transfers[scored.task]
    if not kind_of(resolved.task).scored_by_sentence(resolved.task):
        raise InputError(f"{resolved.task} is not scored sentence by sentence, which a comparison needs")
    if scored.encoder == BILSTM:
        if scored.encoder not in resolved.transfer.baselines:
            raise InputError(f"{BILSTM} is no baseline of {scored.task}; add it there")
    elif not resolved.is_for(encoders.tuned(scored.encoder)):
        raise InputError(f"{scored.encoder} is not tuned on {scored.task}; add it to the task's encoders")
    if scored.evaluate not in (names := resolved.transfer.evaluate):
        raise InputError(f"{scored.task} is not scored on {scored.evaluate}; it is on {', '.join(names)}")


def _check_paired(transfers: Transfers, one: Comparison) -> None:
    sides = [side for side in (one.first, one.second) if side.task in transfers]
    tasks = dict.fromkeys(str(transfers[side.task].task) for side in sides)
    if len(tasks) > 1:
        raise InputError(f"{' and '.join(tasks)} are not scored alike; compare models of one task")
    sources = [(split_name(side.evaluate)[0], transfers[side.task].transfer.sizes.test) for side in sides]
    if len(set(sources)) > 1:
        named = " and ".join(f"{name} (at most {count} sentences)" for name, count in sources)
        raise InputError(f"{named} are not the same sentences; give the same data, and as many of them")


def _evaluations(
    study: Study, encoders: ResolvedEncoders, transfers: Transfers, scored: Scored, schedule: Schedule | None
) -> tuple[Evaluate, ...]:
    transfer = transfers[scored.task]
    data = next(one for one in transfer.test if one.name == scored.evaluate)
    if scored.encoder == BILSTM:
        models = [transfer.recurrent(seed) for seed in study.seeds]
    else:
        encoder = encoders.named[scored.encoder]
        models = [transfer.tuned(encoder, schedule, seed) for seed in study.seeds]
    return tuple(Evaluate(model=model, data=data) for model in models)
