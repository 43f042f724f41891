"""The steps of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from babelscope.corpora.datasets import FileData
from babelscope.corpora.parallel import FilePairs
from babelscope.steps import Adapt, EncoderStep
from babelscope.steps.plan import Plan
from babelscope.study.compile.comparisons import check_comparisons, comparisons
from babelscope.study.compile.contrasts import check_contrasts, check_costs
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.compile.faults import Faults
from babelscope.study.compile.measures import check_languages, find_texts, measure_encoders
from babelscope.study.compile.similarities import find_all_parallel, similarities
from babelscope.study.compile.surfaces import find_data, surfaces
from babelscope.study.compile.surgeries import check_surgeries
from babelscope.study.compile.transfers import ResolvedTransfer, resolve_transfer
from babelscope.study.declare import Study


def compile_study(study: Study) -> Plan:
    """The steps of a study. Everything it names is looked up first, and all that is missing reported at once.

    Raises:
        StudyError: an encoder, a data set or a language that does not exist, or things that do not go together; each
            with the path of its key.
    """
    faults = Faults()
    encoders = ResolvedEncoders.of(study, faults)
    transfers = {name: resolve_transfer(study, name, encoders, faults) for name in study.tasks}
    conditions = list(encoders.conditions())
    check_languages(study, faults)
    texts, between = find_texts(study, faults), find_data(study, transfers, faults)
    parallel = find_all_parallel(study, transfers, faults)
    operated = list(dict.fromkeys(encoder for encoder, _ in conditions))
    check_surgeries(study, encoders, operated, faults)
    _check_schedules(study, operated, faults)
    _check_heads(encoders, transfers, faults)
    _check_apart(encoders, transfers, faults)
    check_contrasts(study, encoders, faults)
    check_costs(study, faults)
    check_comparisons(study, encoders, transfers, faults)
    faults.report(study.name)
    return Plan.of([
        *measure_encoders(encoders, texts),
        *(step for transfer in transfers.values() for step in (*transfer.baselines(), *transfer.untuned())),
        *(
            step
            for transfer in transfers.values()
            for encoder, seed in conditions
            for step in transfer.evaluations(encoder, seed)
        ),
        *similarities(study, parallel, transfers, conditions),
        *surfaces(study, between, transfers, conditions),
        *comparisons(study, encoders, transfers),
    ])  # fmt: skip


def _check_schedules(study: Study, encoders: Iterable[EncoderStep], faults: Faults) -> None:
    """Whether encoders have the layers that schedules name, as far as can be seen, and tunings the time."""
    layers = dict.fromkeys(encoder.layers for encoder in encoders if encoder.layers)
    durations = dict.fromkeys((one.tuning.epochs, one.tuning.steps) for one in study.tasks.values())
    for k, schedule in enumerate(study.schedules):
        if schedule:
            for count in layers:
                faults.resolve(f"schedules.{k}", schedule.check, count)
            for epochs, steps in durations:
                faults.resolve(f"schedules.{k}", schedule.check_duration, epochs, steps)


def _check_heads(encoders: ResolvedEncoders, transfers: Mapping[str, ResolvedTransfer], faults: Faults) -> None:
    """Whether encoders that are to predict hidden pieces can, and probes compare layers with as many others."""
    if any(transfer.predicts_pieces for transfer in transfers.values()):
        perplexities = any(transfer.probes and transfer.probes.perplexity for transfer in transfers.values())
        measured = encoders.references if perplexities else []
        for key, found in (("encoders", encoders.declared), ("references", measured)):
            for k, encoder in enumerate(found):
                if encoder and encoder.has_mlm_head is False:
                    faults.add(f"{key}.{k}", f"{encoder.labels['encoder']} {_HEADLESS}")
    if any(transfer.probes and transfer.probes.distance for transfer in transfers.values()):
        for encoder, (k, reference) in product(encoders.found, enumerate(encoders.references)):
            counts = (encoder.layers, reference.layers if reference else None)
            if None not in counts and counts[0] != counts[1]:
                names = (encoder.labels["encoder"], reference.labels["encoder"] if reference else "")
                problem = f"{names[1]} has {counts[1]} layers, but {names[0]} has {counts[0]}"
                faults.add(f"references.{k}", f"{problem}; distances are from one layer to the same one")


def _check_apart(encoders: ResolvedEncoders, transfers: Mapping[str, ResolvedTransfer], faults: Faults) -> None:
    """Nothing is scored on a file that an adaptation reads in full."""
    read = {digest for encoder in encoders.found for digest in _read_in_full(encoder)}
    for name, transfer in transfers.items():
        for k, data in enumerate(transfer.test):
            if isinstance(data, FileData) and data.sha256 in read:
                problem = f"{data.name} is read in full as one of an adaptation's parallel texts; evaluate on another"
                faults.add(f"tasks.{name}.evaluate.{k}", problem)


def _read_in_full(encoder: EncoderStep) -> Iterator[str]:
    """The digests of the files that an encoder, or what it was made of, read pairs of lines from."""
    if isinstance(encoder, Adapt):
        yield from (digest for pairs in encoder.parallel if isinstance(pairs, FilePairs) for digest in pairs.sha256)
        yield from _read_in_full(encoder.encoder)


_HEADLESS = (
    "has no masked language model head, which language modelling and perplexity need; declare an adaptation, which "
    "gives it one: {name: ..., encoder: ..., texts: [...], tuning: {...}}"
)
