"""From a study to the plan of its steps: names are looked up, and what is missing is reported all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import TypeGuard, TypeVar, cast

from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset, FileData
from babelscope.corpora.sources import Split
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import locate
from babelscope.errors import InputError, StudyError
from babelscope.measure_steps import Cost, Project, Retrieve, Vocabulary
from babelscope.plan import Plan
from babelscope.resolved import ResolvedTransfer
from babelscope.resolved_surfaces import angles, check_tasks, surfaces
from babelscope.step import Step
from babelscope.steps import (
    Adapt,
    EncoderStep,
    Load,
    Operate,
    Pretrain,
)
from babelscope.study import Study, Transfer
from babelscope.study_encoders import Adaptation, Pretraining
from babelscope.study_measures import Interpolation, Library, Probing
from babelscope.surgery.declare import donors_of
from babelscope.task_table import TASKS, TaskName
from babelscope.tuning.probes import Corpus, Probes
from babelscope.tuning.schedule import check_duration, check_schedule
from babelscope.world.world import VERSION

T = TypeVar("T")


def compile_study(study: Study) -> Plan:
    """The steps of a study. Everything it names is looked up first, and all that is missing reported at once.

    Raises:
        StudyError: an encoder, a data set or a language that does not exist, each with the path of its key.
    """
    return Plan.of(_Compiler(study).targets())


class _Compiler:
    """Resolves the names in a study, gathering faults."""

    def __init__(self, study: Study):
        self.study = study
        self.faults: list[str] = []
        self.advice: list[str] = []
        self.made: dict[str, EncoderStep] = {}
        self.named: dict[str, EncoderStep] = {}
        self.references: tuple[EncoderStep, ...] = ()

    def targets(self) -> list[Step]:
        study = self.study
        encoders = [self._encoder(f"encoders.{k}", given) for k, given in enumerate(study.encoders)]
        references = [self._encoder(f"references.{k}", given) for k, given in enumerate(study.references)]
        self.references = tuple(encoder for encoder in references if encoder is not None)
        transfers = {task: self._transfer(task, transfer) for task, transfer in study.tasks.items()}
        for key, declared in (("retrieval", study.retrieval), ("projection", study.projection)):
            for code in (declared.source, *declared.targets) if declared else ():
                self._resolve(key, datasets.check_world_language, code)
        texts = self._texts()
        between = [self._between(k, declared) for k, declared in enumerate(study.interpolations)]
        for k, tasks in enumerate(study.angles):
            self._resolve(f"angles.{k}", check_tasks, tasks, study)
        self._check_names(encoders)
        self._check_schedules(encoders)
        self.named = self._names(encoders)
        if self.faults:
            advice = "\n".join(dict.fromkeys(self.advice))
            raise StudyError(f"study {study.name}", list(dict.fromkeys(self.faults)), advice)
        encoders_found = [encoder for encoder in encoders if encoder is not None]
        conditions = list(self._operated(encoders_found))
        return [
            *self._retrievals(encoders_found),
            *self._projections(encoders_found),
            *self._vocabularies(encoders_found, texts),
            *(Cost(encoder=one) for one, _ in conditions if _is_among(one, study.costs)),
            *(step for transfer in transfers.values() for step in (*transfer.baselines(), *transfer.untuned())),
            *(
                step
                for transfer in transfers.values()
                for encoder, seed in conditions
                for step in transfer.evaluations(encoder, seed)
            ),
            *(step for one, data in between for step in surfaces(one, data, transfers, conditions, study)),
            *(step for tasks in study.angles for step in angles(tasks, transfers, conditions, study)),
        ]

    def _encoder(self, path: str, given: str | Pretraining | Adaptation) -> EncoderStep | None:
        """An encoder as declared; None if it, or what it is made of, does not exist."""
        if isinstance(given, str):
            return self._resolve(path, _load, given)
        texts = tuple(self._text(f"{path}.texts.{k}", text, given.sentences) for k, text in enumerate(given.texts))
        made_of = self._made_of(path, given.encoder) if isinstance(given, Adaptation) else None
        if None in texts or (isinstance(given, Adaptation) and made_of is None):
            return None
        fields = {name: value for name, value in given if name != "sentences"} | {"texts": texts}
        encoder = Adapt(**fields | {"encoder": made_of}) if made_of else Pretrain(**fields)
        self.made[given.name] = encoder
        return encoder

    def _made_of(self, path: str, name: str) -> EncoderStep | None:
        return self.made.get(name) or self._resolve(f"{path}.encoder", _load, name)

    def _text(self, path: str, given: str | WorldText, sentences: int | None) -> WorldText | FileData | None:
        if isinstance(given, WorldText):
            return given
        if given.startswith(datasets.WORLD_PREFIX):
            code = given.removeprefix(datasets.WORLD_PREFIX)
            self.faults.append(f"{path}: spell text of the world out, such as {{language: {code}, sentences: 9000}}")
            return None
        return self._resolve(path, datasets.find_file, "mlm", given, "train", sentences)

    def _check_names(self, encoders: list[EncoderStep | None]) -> None:
        """Rows know an encoder by its name, so no other encoder and no baseline may have the same one."""
        baselines = [name for transfer in self.study.tasks.values() for name in transfer.baselines]
        taken = {name: ("", f"the baseline {name}") for name in baselines}
        for k, (encoder, given) in enumerate(zip(encoders, self.study.encoders, strict=True)):
            if encoder is None:
                continue
            name = encoder.labels["encoder"]
            described = given if isinstance(given, str) else f"the pre-training encoders.{k}"
            key, other = taken.setdefault(name, (encoder.key, described))
            if key != encoder.key:
                problem = f"rows would name both {described} and {other} {name}, and mix them; rename one"
                self.faults.append(f"encoders.{k}: {problem}")

    def _check_schedules(self, encoders: list[EncoderStep | None]) -> None:
        """Whether encoders have the layers that schedules name, as far as can be seen, and tunings the time."""
        for encoder, (k, schedule) in product(encoders, enumerate(self.study.schedules)):
            if schedule and encoder and (layers := encoder.layers):
                self._resolve(f"schedules.{k}", check_schedule, schedule, layers)
        for transfer, (k, schedule) in product(self.study.tasks.values(), enumerate(self.study.schedules)):
            if schedule:
                epochs, steps = transfer.tuning.epochs, transfer.tuning.steps
                self._resolve(f"schedules.{k}", check_duration, schedule, epochs, steps)

    def _operated(self, encoders: list[EncoderStep]) -> Iterator[tuple[EncoderStep, int]]:
        """Every encoder under every surgery that is meant for it, with every seed."""
        for encoder, surgery, seed in product(encoders, self.study.surgeries, self.study.seeds):
            if surgery is None:
                yield encoder, seed
            elif not surgery.encoders or encoder in [self.named[name] for name in surgery.encoders]:
                seeded = any(operation.seeded for operation in surgery.operations)
                donors = tuple(self.named[name] for name in donors_of(surgery.operations))
                yield Operate(
                    encoder=encoder, surgery=surgery.name, operations=surgery.operations, donors=donors,
                    seed=seed if seeded else 0,
                ), seed  # fmt: skip

    def _names(self, encoders: list[EncoderStep | None]) -> dict[str, EncoderStep]:
        """The study's encoders, by the names that rows have and as they are declared, and the donors from elsewhere."""
        known = {encoder.labels["encoder"]: encoder for encoder in encoders if encoder is not None}
        for encoder, given in zip(encoders, self.study.encoders, strict=True):
            if encoder is not None and isinstance(given, str):
                known[given] = encoder
        for k, surgery in enumerate(self.study.surgeries):
            for name in surgery.encoders if surgery else ():
                if name not in known:
                    self.faults.append(
                        f"surgeries.{k}.encoders: no encoder is named {name}; there are {', '.join(known)}"
                    )
            for name in donors_of(surgery.operations) if surgery else ():
                if name not in known and (donor := self._resolve(f"surgeries.{k}", _load, name)):
                    known[name] = donor
        vocabulary = self.study.vocabulary
        if vocabulary and vocabulary.reference not in known:
            problem = f"no encoder is named {vocabulary.reference}; there are {', '.join(known)}"
            self.faults.append(f"vocabulary.reference: {problem}")
        return known

    def _retrievals(self, encoders: list[EncoderStep]) -> Iterator[Step]:
        """Without tuning, seeds differ only where an operation draws from them."""
        declared = self.study.retrieval
        if declared is None:
            return
        for operated, _ in self._operated(encoders):
            for target in declared.targets:
                yield Retrieve(
                    encoder=operated, source=declared.source, target=target, sentences=declared.sentences,
                    world_seed=self.study.world_seed, world_version=VERSION,
                )  # fmt: skip

    def _projections(self, encoders: list[EncoderStep]) -> Iterator[Step]:
        declared = self.study.projection
        if declared is None:
            return
        for encoder, target in product(encoders, declared.targets):
            yield Project(
                encoder=encoder, source=declared.source, target=target, sentences=declared.sentences,
                pairs=declared.pairs, library=declared.library or _installed_library(), seed=0,
                world_seed=self.study.world_seed, world_version=VERSION,
            )  # fmt: skip

    def _between(self, k: int, declared: Interpolation) -> tuple[Interpolation, tuple[Dataset, ...]]:
        """An interpolation and the data that its models are scored on."""
        path, study = f"interpolations.{k}", self.study
        self._resolve(path, check_tasks, declared.tasks, study)
        name = declared.tasks[0]
        if name not in study.tasks:
            return declared, ()
        task, types = cast(TaskName, study.tasks[name].task or name), study.tasks[name].entity_types
        size, seed = declared.sentences, study.world_seed
        found = (
            self._resolve(f"{path}.evaluate.{place}", datasets.find, task, data, declared.split, size, seed, types)
            for place, data in enumerate(declared.evaluate)
        )
        return declared, tuple(data for data in found if data is not None)

    def _texts(self) -> tuple[Dataset, ...]:
        """What vocabularies are compared on."""
        if self.study.vocabulary is None:
            return ()
        names, size = self.study.vocabulary.treebanks, self.study.vocabulary.sentences
        found = (
            self._resolve(f"vocabulary.treebanks.{k}", datasets.find, "pos", name, "test", size, self.study.world_seed)
            for k, name in enumerate(names)
        )
        return tuple(data for data in found if data is not None)

    def _vocabularies(self, encoders: list[EncoderStep], texts: tuple[Dataset, ...]) -> Iterator[Step]:
        if self.study.vocabulary:
            reference = self.named[self.study.vocabulary.reference]
            yield from (Vocabulary(encoder=encoder, reference=reference, texts=texts) for encoder in encoders)

    def _transfer(self, name: str, transfer: Transfer) -> ResolvedTransfer:
        task = cast(TaskName, transfer.task or name)
        find = partial(self._data, name, task, transfer)
        train, dev, test = find("train", "train"), find("train", "dev"), find("evaluate", "test")
        for k, data in enumerate(test):
            if isinstance(data, FileData) and data.sha256 in {one.sha256 for one in train if isinstance(one, FileData)}:
                problem = f"the test split of {data.name} is the file that is trained on; evaluate on another"
                self.faults.append(f"tasks.{name}.evaluate.{k}: {problem}")
        types: tuple[str, ...] = ()
        if TASKS[task].kind == "entities":
            types = self._resolve(f"tasks.{name}.train", datasets.entity_types, train) or ()
            for given, meant in transfer.entity_types.items() if types else ():
                if meant not in (*types, "O"):
                    problem = f"no training data have the type {meant}; {given} can count as {', '.join(types)} or O"
                    self.faults.append(f"tasks.{name}.entity_types: {problem}")
            dev, test = (tuple(datasets.limited(data, types) for data in part) for part in (dev, test))
        probes = self._probes(name, task, transfer.probes) if transfer.probes else None
        return ResolvedTransfer(self.study, task, transfer, train, dev, test, types, probes, self.references)

    def _probes(self, name: str, task: TaskName, declared: Probing) -> Probes:
        def data(key: str, task: TaskName, names: Sequence[str]) -> tuple[Dataset, ...]:
            size, world = declared.sentences, self.study.world_seed
            found = (
                self._resolve(f"tasks.{name}.probes.{key}.{k}", datasets.find, task, one, declared.split, size, world)
                for k, one in enumerate(names)
            )
            return tuple(one for one in found if one is not None)

        def corpora(key: str) -> tuple[Corpus, ...]:
            named = getattr(declared, key).items()
            return tuple(Corpus(name=corpus, data=data(f"{key}.{corpus}", "mlm", names)) for corpus, names in named)

        return Probes(
            every=declared.every, perplexity=corpora("perplexity"), distance=corpora("distance"),
            scores=data("scores", task, declared.scores),
        )  # fmt: skip

    def _data(self, name: str, task: TaskName, transfer: Transfer, key: str, split: Split) -> tuple[Dataset, ...]:
        size = getattr(transfer.sizes, split)
        found = (
            self._resolve(
                f"tasks.{name}.{key}.{k}", datasets.find, task, data, split, size, self.study.world_seed,
                transfer.entity_types,
            )
            for k, data in enumerate(getattr(transfer, key))
        )  # fmt: skip
        return tuple(data for data in found if data is not None)

    def _resolve(self, path: str, find: Callable[..., T], *given: object) -> T | None:
        try:
            return find(*given)
        except InputError as error:
            self.faults.append(f"{path}: {error.args[0]}")
            self.advice += [error.advice] if error.advice else []
            return None


def _is_among(encoder: EncoderStep, surgeries: tuple[str, ...]) -> TypeGuard[Operate]:
    return isinstance(encoder, Operate) and encoder.surgery in surgeries


def _installed_library() -> Library:
    """What projects words; its pictures are its own, so it is in the key."""
    return "openTSNE" if find_spec("openTSNE") else "scikit-learn"


def _load(given: str) -> Load:
    try:
        place = locate(given)
    except OSError as error:  # a folder that may not be read, a name longer than the system allows
        raise InputError(f"{given[:200]}: cannot be read: {error.strerror}") from None
    return Load(name=place.name, content=place.content, place=place.path)
