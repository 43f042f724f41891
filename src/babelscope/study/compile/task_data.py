"""What a task of a study names, looked up: its data and its encoders, and whether these go together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Literal

from babelscope.core.faults import Faults
from babelscope.core.tasks import ENTITIES, TASKS, WORDS, Task
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset, FileData
from babelscope.corpora.letters import split_name
from babelscope.corpora.sources import Split
from babelscope.measures.probing import Probing
from babelscope.steps import EncoderStep
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.compile.transfers import ResolvedTransfer
from babelscope.study.declare import Study, Transfer
from babelscope.tasks.kinds import kind_of
from babelscope.tuning.probes import Corpus, Probes


def resolve_transfer(study: Study, name: str, encoders: ResolvedEncoders, faults: Faults) -> ResolvedTransfer:
    """Look up the data of one of the study's tasks, and the encoders that it is for."""
    transfer = study.tasks[name]
    task, path = study.task(name), f"tasks.{name}"

    def find(key: str, names: tuple[str, ...], split: Split) -> tuple[Dataset, ...]:
        sizes, types = dict(zip(names, transfer.sizes.of(split, len(names)), strict=True)), transfer.entity_types
        return faults.resolve_all(
            f"{path}.{key}",
            lambda source: datasets.find(task, source, split, sizes[source], study.world_seed, types),
            names,
        )

    train, test = find("train", transfer.train, "train"), find("evaluate", transfer.evaluate, "test")
    enough = len(transfer.train) if transfer.shots is None else 1 if len(transfer.train) > 1 else 0
    dev = find("train", transfer.train[:enough], "dev")
    few = (data.model_copy(update={"examples": transfer.shots}) for data in train[enough:])
    train = (*train[:enough], *few)
    if transfer.selected_on == "test":
        train, dev = tuple(_whole(data) for data in train), ()
    _check_each_once(path, train, faults)
    _check_apart(path, (*train, *dev), test, faults)
    types = _entity_types(path, transfer, train, faults) if task.reads == ENTITIES else ()
    task = _with_classes(path, task, train, faults)
    _check_labelled(f"{path}.train", task, dev, faults)
    _check_labelled(f"{path}.evaluate", task, test, faults)
    dev, test = (tuple(_told(task, types, data) for data in part) for part in (dev, test))
    dev = test if transfer.selected_on == "test" else dev
    probes = _resolve_probes(f"{path}.probes", task, transfer.probes, study, faults) if transfer.probes else None
    references = tuple(encoder for encoder in encoders.references if encoder is not None)
    names = transfer.encoders if encoders.all_found else ()
    meant = faults.resolve_all(f"{path}.encoders", encoders.tuned, names)
    if probes:
        _check_tokenizers(f"{path}.probes", probes, meant or encoders.found, faults)
    return ResolvedTransfer(study, task, transfer, train, dev, test, types, probes, references, meant)


def _check_tokenizers(path: str, probes: Probes, encoders: Sequence[EncoderStep], faults: Faults) -> None:
    """Every corpus is read with one tokenizer, as far as that can be seen."""
    for key, encoder in product(("perplexity", "distance"), encoders):
        for corpus in getattr(probes, key):
            where = f"{path}.{key}.{corpus.name}"
            faults.resolve(where, corpus.check_tokenizers, encoder.labels["encoder"], encoder.brought_in or ())


def _whole(data: Dataset) -> Dataset:
    """With what would be cut off for a dev split; the splits of one file are parts of it in any case."""
    divided = isinstance(data, FileData) and not data.splits_one_file
    return data.model_copy(update={"whole": True}) if divided else data


def _check_each_once(path: str, train: tuple[Dataset, ...], faults: Faults) -> None:
    """No file is trained on twice, under whatever names, unless its words are in other letters."""
    names: dict[tuple[str, str | None], str] = {}
    for k, data in enumerate(train):
        if not isinstance(data, FileData):
            continue
        first = names.setdefault((data.sha256, split_name(data.name)[1]), data.name)
        if first != data.name:
            problem = f"{data.name} is the same text as {first}; its examples would count twice in every epoch"
            faults.add(f"{path}.train.{k}", problem)


def _check_apart(path: str, train: tuple[Dataset, ...], test: tuple[Dataset, ...], faults: Faults) -> None:
    """Nothing is scored on a file that it is trained on, unless both are parts of it, divided alike."""
    read = [trained for trained in train if isinstance(trained, FileData)]
    for k, data in enumerate(test):
        if isinstance(data, FileData) and any(_holds(trained, data) for trained in read):
            problem = f"the test split of {data.name} is the file that is trained or selected on; evaluate on another"
            faults.add(f"{path}.evaluate.{k}", problem)


def _holds(trained: FileData, data: FileData) -> bool:
    parts = trained.splits_one_file and trained.source == data.source
    return trained.sha256 == data.sha256 and not parts


def _entity_types(path: str, transfer: Transfer, train: tuple[Dataset, ...], faults: Faults) -> tuple[str, ...]:
    types: tuple[str, ...] = faults.resolve(f"{path}.train", datasets.entity_types, train) or ()
    if not types and transfer.entity_types:
        faults.add(f"{path}.entity_types", "no type of the training data is left to find; leave one that is no O")
    for given, meant in transfer.entity_types.items() if types else ():
        if meant not in (*types, "O"):
            problem = f"no training data have the type {meant}; {given} can count as {', '.join(types)} or O"
            faults.add(f"{path}.entity_types", problem)
    return types


def _with_classes(path: str, task: Task, train: tuple[Dataset, ...], faults: Faults) -> Task:
    """The task with its classes: those of the training data, unless it has them already."""

    def learned() -> tuple[str, ...]:
        return kind_of(task).classes(task, [example for data in train for example in data.read()])

    if task.name in TASKS or not train:
        return task
    return task.model_copy(update={"labels": faults.resolve(f"{path}.train", learned) or ()})


def _check_labelled(path: str, task: Task, data: Sequence[Dataset], faults: Faults) -> None:
    """Of a declared task on words, or of numbers; data of others are refused when they are read."""
    for k, each in enumerate(data if task.name not in TASKS and (task.reads == WORDS or task.scale) else ()):
        faults.resolve(f"{path}.{k}", lambda asked: kind_of(task).check_labelled(task, asked.read()), each)


def _told(task: Task, types: tuple[str, ...], data: Dataset) -> Dataset:
    """The same data, refused when they are read if they have a class or an entity type that the training data lack."""
    told = datasets.limited(data, types) if types else data
    return told.model_copy(update={"task": task}) if kind_of(task).closed else told


def _resolve_probes(path: str, task: Task, declared: Probing, study: Study, faults: Faults) -> Probes:
    def find(key: str, task: str | Task, names: tuple[str, ...], size: int) -> tuple[Dataset, ...]:
        return faults.resolve_all(
            f"{path}.{key}", lambda source: datasets.find(task, source, declared.split, size, study.world_seed), names
        )

    def corpora(key: Literal["perplexity", "distance"]) -> tuple[Corpus, ...]:
        named = getattr(declared, key).items()
        return tuple(
            Corpus(name=corpus, data=find(f"{key}.{corpus}", "mlm", names, declared.at_most(key, corpus)))
            for corpus, names in named
        )

    if declared.quirks and not kind_of(task).needs_mlm_head:
        faults.add(f"{path}.quirks", f"these are of language modelling, task mlm, not of {task}; leave them out")
    return Probes(
        every=declared.every, perplexity=corpora("perplexity"), distance=corpora("distance"),
        scores=find("scores", task, declared.scores, declared.at_most("scores")), quirks=declared.quirks,
    )  # fmt: skip
