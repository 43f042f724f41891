"""The steps of a study."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from itertools import product

from babelscope.core.faults import Faults
from babelscope.core.step import Step
from babelscope.corpora.datasets import FileData
from babelscope.measures import Compiled
from babelscope.measures.text_size import TextSize
from babelscope.steps import Baseline, Distil, EncoderStep, Tune
from babelscope.steps.duration import by_language, examples_of
from babelscope.steps.plan import Plan
from babelscope.steps.translations import translations
from babelscope.study.compile.contrasts import check_contrasts
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.compile.surgeries import check_surgeries
from babelscope.study.compile.task_data import resolve_transfer
from babelscope.study.compile.transfers import ResolvedTransfer
from babelscope.study.declare import Study
from babelscope.tuning.depths import check_as_deep, compared_depths


def compile_study(study: Study) -> Plan:
    """The steps of a study. Everything it names is looked up first, and all that is missing reported at once.

    Raises:
        StudyError: an encoder, a data set or a language that does not exist, or things that do not go together; each
            with the path of its key.
    """
    faults = Faults()
    encoders = ResolvedEncoders.of(study, faults)
    transfers = {name: resolve_transfer(study, name, encoders, faults) for name in study.tasks}
    compiled = _compiled(study, encoders, transfers)
    operated = list(dict.fromkeys(encoder for encoder, _ in compiled.conditions))
    for k, measure in enumerate(study.measures):
        told = f"measures.{k} is of the kind {measure.kind}; entries are counted from 0"
        measure.check(compiled, faults.within(f"measures.{k}", told))
    check_surgeries(study, encoders, operated, faults)
    _check_schedules(study, operated, transfers.values(), faults)
    _check_heads(encoders, transfers, faults)
    _check_depths(operated, encoders, transfers, faults)
    _check_batches(operated, transfers, faults)
    _check_distilled(encoders, faults)
    _check_apart(encoders, transfers, faults)
    check_contrasts(study, encoders, transfers.values(), faults)
    faults.report(study.name)
    first, last = (
        [step for measure in study.measures if measure.before_tuning is early for step in measure.steps(compiled)]
        for early in (True, False)
    )
    plan = Plan.of([*first, *_scores(transfers.values(), compiled), *last])
    _check_told_apart(plan.steps.values(), faults)
    faults.report(study.name)
    return plan


def _compiled(study: Study, encoders: ResolvedEncoders, transfers: Mapping[str, ResolvedTransfer]) -> Compiled:
    """What measures see of the study: donors that are none of its encoders are left out."""
    own = (*encoders.found, *encoders.references)
    return Compiled(
        measures=study.measures,
        encoders=tuple(encoders.found),
        named={name: encoder for name, encoder in encoders.named.items() if encoder in own},
        complete=encoders.all_found,
        conditions=list(encoders.conditions()),
        tasks=transfers,
        surgeries=tuple(surgery.name for surgery in study.surgeries if surgery),
        schedules=study.schedules,
        seeds=study.seeds,
        world_seed=study.world_seed,
    )


def _scores(transfers: Collection[ResolvedTransfer], compiled: Compiled) -> Iterator[Step]:
    """What the tasks' models score, after what needs no tuning."""
    for transfer in transfers:
        yield from transfer.baselines()
        yield from transfer.untuned()
    for transfer in transfers:
        for encoder, seed in compiled.conditions:
            yield from transfer.evaluations(encoder, seed)


def _check_told_apart(steps: Iterable[Step], faults: Faults) -> None:
    """Whether columns of rows can tell the results of steps from one another."""
    first: dict[tuple[object, ...], tuple[Step, Hashable]] = {}
    for step in steps:
        for told, by in step.told_by.items():
            other, before = first.setdefault((type(step), told), (step, by))
            if before != by and _read(before) != _read(by):
                where = "tasks" if isinstance(step, Tune | Baseline | TextSize) else "measures"
                faults.add(where, _not_told_apart(other, step))
                return


def _read(made_of: Hashable) -> Hashable:
    """Of data sets, how many examples are read of each: more may be asked for than there are."""
    if isinstance(made_of, tuple) and all(isinstance(each, FileData) for each in made_of):
        return tuple((data.name, data.sha256, examples_of(data)) for data in made_of)
    return made_of


def _not_told_apart(first: Step, second: Step) -> str:
    if isinstance(first, Tune | Baseline) and isinstance(second, Tune | Baseline):
        ways = ["+".join(data.name for data in each.train) for each in (first, second)]
        told = f"on {ways[0]} and {ways[1]}" if ways[0] != ways[1] else f"on other numbers of examples of {ways[0]}"
        problem = f"{first.title} is trained in two ways, {told}"
    else:
        problem = f"{first.title} is measured in two ways"
    return f"{problem}, and rows could not tell the two apart; make two studies of them"


def _check_schedules(
    study: Study, encoders: Iterable[EncoderStep], transfers: Iterable[ResolvedTransfer], faults: Faults
) -> None:
    """Whether encoders have the layers that schedules name, as far as can be seen, and tunings the time and dropout."""
    if not any(study.schedules):
        return
    layers = dict.fromkeys(encoder.layers for encoder in encoders if encoder.layers)
    by_steps = any(schedule and schedule.chosen.stage_length != "epoch" for schedule in study.schedules)
    durations = dict.fromkeys(_duration(transfer, counted=by_steps) for transfer in transfers)
    without_dropout = [name for name, transfer in study.tasks.items() if not transfer.tuning.encoder_dropout]
    for k, schedule in enumerate(study.schedules):
        if schedule:
            for count in layers:
                faults.resolve(f"schedules.{k}", schedule.check, count)
            for epochs, steps in durations:
                faults.resolve(f"schedules.{k}", schedule.check_duration, epochs, steps)
            for name in without_dropout if schedule.frozen_dropout else ():
                problem = f"frozen_dropout: tasks.{name} has encoder_dropout: false, so that no layer has dropout"
                faults.add(f"schedules.{k}", f"{problem}; leave one of the two out")


def _duration(transfer: ResolvedTransfer, *, counted: bool) -> tuple[int | None, int | None]:
    """Epochs and steps of a task's tunings: steps that are declared, or, if they are to be counted, of the examples."""
    tuning = transfer.transfer.tuning
    if counted and transfer.is_counted:
        return tuning.epochs, tuning.steps_of(by_language(transfer.train).values())
    return tuning.epochs, tuning.steps


def _check_heads(encoders: ResolvedEncoders, transfers: Mapping[str, ResolvedTransfer], faults: Faults) -> None:
    """Whether encoders that are to predict hidden pieces can."""
    predicting = [transfer for transfer in transfers.values() if transfer.predicts_pieces]
    if predicting:
        perplexities = any(transfer.probes and transfer.probes.perplexity for transfer in predicting)
        measured = encoders.references if perplexities else []
        for key, steps in (("encoders", encoders.declared), ("references", measured)):
            for k, encoder in enumerate(steps):
                tuned = key == "references" or any(transfer.is_for(encoder) for transfer in predicting if encoder)
                if encoder and encoder.has_mlm_head is False and tuned:
                    faults.add(f"{key}.{k}", f"{encoder.labels['encoder']} {_HEADLESS}")


def _check_depths(
    operated: Iterable[EncoderStep], encoders: ResolvedEncoders, transfers: Mapping[str, ResolvedTransfer],
    faults: Faults,
) -> None:  # fmt: skip
    """Whether references are as deep as what probes compare with them, as far as can be seen."""
    comparing = [transfer for transfer in transfers.values() if transfer.probes and transfer.probes.distance]
    compared = [encoder for encoder in operated if any(transfer.is_for(encoder) for transfer in comparing)]
    for encoder, (k, reference) in product(compared, enumerate(encoders.references)):
        if reference:
            surgery = encoder.labels.get("surgery")
            named = encoder.labels["encoder"] + (f" after surgery {surgery}" if surgery else "")
            other = reference.labels["encoder"]
            faults.resolve(f"references.{k}", check_as_deep, other, reference.layers, named, encoder.layers)


def _check_batches(operated: Iterable[EncoderStep], transfers: Mapping[str, ResolvedTransfer], faults: Faults) -> None:
    """Whether batches can hold what encoders are trained on, as far as can be seen of the languages in these."""
    for name, transfer in transfers.items():
        faults.resolve(f"tasks.{name}.tuning", transfer.check_full_batches)
    for encoder, (name, transfer) in product(operated, transfers.items()):
        if transfer.is_for(encoder):
            faults.resolve(f"tasks.{name}.tuning", transfer.check_batches, encoder)


def _check_distilled(encoders: ResolvedEncoders, faults: Faults) -> None:
    """Whether encoders have the layers that distillations compare, as far as can be seen."""
    for key, steps in (("encoders", encoders.declared), ("references", encoders.references)):
        for k, step in enumerate(steps):
            if isinstance(step, Distil) and step.layers:
                faults.resolve(f"{key}.{k}.distil.compared_layers", compared_depths, step.compared_layers, step.layers)


def _check_apart(encoders: ResolvedEncoders, transfers: Mapping[str, ResolvedTransfer], faults: Faults) -> None:
    """Nothing is scored on a file that an encoder was made with, whatever its splits are."""
    read = {digest for encoder in encoders.found for text in translations(encoder) for digest in text.sha256}
    for name, transfer in transfers.items():
        for k, data in enumerate(transfer.test):
            if isinstance(data, FileData) and data.sha256 in read:
                read_as = "is read, in full or in part, as parallel text of an encoder"
                problem = f"{data.name} {read_as}; evaluate on another"
                faults.add(f"tasks.{name}.evaluate.{k}", problem)


_HEADLESS = (
    "has no masked language model head, which language modelling and perplexity need; declare an adaptation, which "
    "gives it one: {name: ..., encoder: ..., texts: [...], tuning: {...}}"
)
