"""A task's data, found, and the steps that they make of encoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from babelscope.core.faults import Faults
from babelscope.core.step import Step
from babelscope.core.tasks import ENTITIES, TASKS, WORDS, Task
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset, FileData
from babelscope.corpora.letters import split_name
from babelscope.corpora.sources import Split
from babelscope.measures.probing import Probe, Probing, ScoreReference
from babelscope.measures.text_size import TextSize
from babelscope.steps import Baseline, BringIn, EncoderStep, Evaluate, Operate, Recurrent, Tune
from babelscope.steps.duration import all_here, by_language
from babelscope.steps.memory import in_portions
from babelscope.steps.tune import check_batches
from babelscope.study.compile.encoders import ResolvedEncoders
from babelscope.study.declare import Study, Transfer
from babelscope.tasks.baselines import BaselineRule
from babelscope.tasks.kinds import BILSTM, kind_of
from babelscope.tuning.probes import Corpus, Probes
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import check_full


@dataclass(frozen=True)
class ResolvedTransfer:
    """What a transfer of a study names, looked up."""

    study: Study
    task: Task
    """With its classes, where it is declared."""
    transfer: Transfer
    train: tuple[Dataset, ...]
    dev: tuple[Dataset, ...]
    test: tuple[Dataset, ...]
    entity_types: tuple[str, ...]
    """What the training data call an entity."""
    probes: Probes | None
    references: tuple[EncoderStep, ...]
    encoders: tuple[EncoderStep, ...]
    """Those that are tuned on it; none: all."""

    def is_for(self, encoder: EncoderStep) -> bool:
        """Whether an encoder, perhaps operated, is to be tuned on it."""
        whole = encoder.encoder if isinstance(encoder, Operate) else encoder
        return not self.encoders or whole in self.encoders

    @property
    def predicts_pieces(self) -> bool:
        """Whether encoders need a masked language model head."""
        return self._models_language or bool(self.probes and self.probes.perplexity)

    def baselines(self) -> Iterator[Step]:
        """What is scored beside the encoders."""
        for name in self.transfer.baselines:
            if name == BILSTM:
                models = map(self.recurrent, self.study.seeds)
                yield from (Evaluate(model=model, data=data) for model in models for data in self.test)
            else:
                yield from (self._baseline(name, data) for data in self.test)

    def _baseline(self, name: str, data: Dataset) -> Baseline:
        revision, shots = BaselineRule.named(name).revision, self.transfer.shots
        return Baseline(baseline=name, task=self.task, train=self.train, data=data, shots=shots, revision=revision)

    def untuned(self) -> Iterator[Step]:
        """The references' own perplexities: of the probes' texts, and of the test sets of language modelling."""
        if not (self.probes and self.probes.perplexity):
            return
        perplexities = Probes(perplexity=self.probes.perplexity, quirks=self.probes.quirks)
        length, tests = self.transfer.tuning.max_length, self.test if self._models_language else ()
        for reference in self.references:
            yield Probe(encoder=reference, probes=perplexities, max_length=length)
            for data in tests:
                yield ScoreReference(
                    encoder=reference, task=self.task, data=data, max_length=length, quirks=self._quirks
                )
            yield from self._text_sizes(reference)

    def _text_sizes(self, encoder: EncoderStep) -> Iterator[Step]:
        """How long the texts whose perplexity is measured are for an encoder."""
        if self.probes:
            few = "two-batches" in self.probes.quirks
            for text in self.probes.perplexity:
                yield TextSize(encoder=encoder, text=text, task=self.task.name, two_batches=few)
        for data in self.test if self._models_language else ():
            yield TextSize(encoder=encoder, text=Corpus(name=data.name, data=(data,)), task=self.task.name)

    @property
    def _models_language(self) -> bool:
        return kind_of(self.task).needs_mlm_head

    @property
    def _quirks(self) -> tuple[str, ...]:
        return kind_of(self.task).quirks_among(self.transfer.quirks)

    def evaluations(self, encoder: EncoderStep, seed: int) -> Iterator[Step]:
        """Tunings under every schedule, and the scores of each; none of an encoder that is not meant for it."""
        if not self.is_for(encoder):
            return
        for schedule in self.study.schedules:
            model = self.tuned(encoder, schedule, seed)
            yield model
            yield from (_scored(model, encoder, data) for data in self.test)
        yield from self._text_sizes(encoder)

    def evaluation(self, encoder: EncoderStep, schedule: Schedule | None, seed: int, data: Dataset) -> Evaluate:
        """The scores of a tuning on a test set, with the languages that are brought in after it."""
        return _scored(self.tuned(encoder, schedule, seed), encoder, data)

    def tuned(self, encoder: EncoderStep, schedule: Schedule | None, seed: int) -> Tune:
        """The tuning of an encoder under a schedule; without the languages that are brought in after it."""
        encoder = _as_tuned(encoder)
        references = self.references if self.probes and self.probes.distance else ()
        tuning = in_portions(self.transfer.tuning, encoder, kind_of(self.task).masking)
        if schedule is not None or self.transfer.head == "family":
            tuning = tuning.model_copy(update={"compile": False})
        return Tune(
            encoder=encoder, task=self.task, head=self.transfer.head, quirks=self._quirks,
            entity_types=self.entity_types, train=self.train, dev=self.dev,
            tuning=tuning, schedule=schedule, probes=self.probes, references=references, seed=seed,
            compact=self.study.keep == "compact",
        )  # fmt: skip

    def check_batches(self, encoder: EncoderStep) -> None:
        """Refuse batches that an encoder could not read, as far as the languages brought into it are known.

        Raises:
            InputError: batches are of several languages, which it reads with different tokenizers.
        """
        if len({data.code for data in self.train}) < 2:
            return
        tuned = _as_tuned(encoder)
        check_batches(self.train, self.transfer.tuning, tuned, tuned.brought_in or ())

    def check_full_batches(self) -> None:
        """Refuse full batches of more examples than there are of a language, where that is known.

        Raises:
            InputError: none of that language would be read.
        """
        tuning = self.transfer.tuning
        drawn = tuning.batches == "drawn" and self.is_counted
        if tuning.examples_per_batch and drawn and len(examples := by_language(self.train)) > 1:
            check_full(examples.values(), tuning.examples_per_batch)

    @property
    def is_counted(self) -> bool:
        """Whether it is known how many examples are trained on."""
        return bool(self.train) and all_here(self.train) and "repeating-windows" not in self.transfer.quirks

    def recurrent(self, seed: int) -> Tune:
        """The training of a BiLSTM, which has settings and a head of its own, and no layers to freeze."""
        return Tune(
            encoder=Recurrent(), task=self.task, entity_types=self.entity_types, train=self.train, dev=self.dev,
            tuning=self.transfer.recurrent, seed=seed, compact=self.study.keep == "compact",
        )  # fmt: skip


def _as_tuned(encoder: EncoderStep) -> EncoderStep:
    """Without the languages that are brought in after tuning."""
    while isinstance(encoder, BringIn) and encoder.after_tuning:
        encoder = encoder.encoder
    return encoder


def _scored(model: Tune, encoder: EncoderStep, data: Dataset) -> Evaluate:
    later = encoder if isinstance(encoder, BringIn) and encoder.after_tuning else None
    return Evaluate(model=model, data=data, brought_in=later)


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
