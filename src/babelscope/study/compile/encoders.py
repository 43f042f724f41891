"""A study's encoders, found: as declared, by name, and under its surgeries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from babelscope.core.faults import Faults
from babelscope.corpora import datasets
from babelscope.corpora.datasets import FileData
from babelscope.corpora.parallel import (
    ParallelText,
    WorldPairs,
    check_language,
    find_named_pairs,
    find_pairs,
)
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import locate
from babelscope.measures.compiled import unnamed
from babelscope.steps import Adapt, Align, BringIn, Distil, EncoderStep, Load, Operate, Pretrain
from babelscope.study.declare import Study
from babelscope.study.encoders import Adaptation, BringingIn, Pretraining
from babelscope.surgery import donors_of
from babelscope.tuning.probes import START

Given = str | Pretraining | Adaptation | BringingIn


_KINDS = {Pretraining: "pre-training", Adaptation: "adaptation", BringingIn: "bringing-in"}


@dataclass
class ResolvedEncoders:
    """The encoders of a study; None stands for one that there is not."""

    study: Study
    faults: Faults
    declared: list[EncoderStep | None] = field(default_factory=list)
    references: list[EncoderStep | None] = field(default_factory=list)
    named: dict[str, EncoderStep] = field(default_factory=dict)
    """By what rows call them and as they are declared, donors from elsewhere included."""

    @classmethod
    def of(cls, study: Study, faults: Faults) -> ResolvedEncoders:
        """Look them all up."""
        encoders = cls(study, faults)
        for k, given in enumerate(study.encoders):
            encoders.declared.append(encoders._find(f"encoders.{k}", given))
        for k, given in enumerate(study.references):
            encoders.references.append(encoders._find(f"references.{k}", given))
        encoders._check_names()
        encoders._check_shown_apart()
        encoders._check_references()
        encoders._name()
        return encoders

    @property
    def all_found(self) -> bool:
        """Whether the names that rows have are all known, so that a name that is not among them is a fault."""
        return None not in self.declared

    @property
    def found(self) -> list[EncoderStep]:
        """Those that are tuned, as far as they exist."""
        return [encoder for encoder in self.declared if encoder is not None]

    def tuned(self, name: str) -> EncoderStep:
        """The encoder of the study that rows, or its declaration, call so.

        Raises:
            InputError: none of those that are tuned is called so.
        """
        step = self.named.get(name)
        if step is None or step not in self.found:
            raise unnamed(name, [known for known, encoder in self.named.items() if encoder in self.found])
        return step

    def conditions(self) -> Iterator[tuple[EncoderStep, int]]:
        """Every encoder under every surgery that is meant for it, with every seed."""
        for encoder, surgery, seed in product(self.found, self.study.surgeries, self.study.seeds):
            if surgery is None:
                yield encoder, seed
            elif not surgery.encoders or encoder in [self.named.get(name) for name in surgery.encoders]:
                seeded = any(operation.seeded for operation in surgery.operations)
                donors = (self.named.get(name) for name in donors_of(surgery.operations))
                yield Operate(
                    encoder=encoder, surgery=surgery.name, operations=surgery.operations,
                    donors=tuple(donor for donor in donors if donor is not None), seed=seed if seeded else 0,
                ), seed  # fmt: skip

    def _find(self, path: str, given: Given) -> EncoderStep | None:
        if isinstance(given, str):
            return self.faults.resolve(path, _load, given)
        if isinstance(given, BringingIn):
            return self._brought_in(path, given)
        texts = tuple(self._text(f"{path}.texts.{k}", text, given.sentences) for k, text in enumerate(given.texts))
        fields = {name: value for name, value in given if name != "sentences"} | {"texts": texts}
        if isinstance(given, Pretraining):
            return None if None in texts else Pretrain(**fields)
        pairs = tuple(
            self._pair(f"{path}.parallel.{k}", pair, given.sentences) for k, pair in enumerate(given.parallel)
        )
        made_of = self._made_of(path, given.encoder)
        if None in (*texts, *pairs, made_of):
            return None
        adapted = Adapt(**fields | {"parallel": pairs, "encoder": made_of})
        self.faults.resolve(f"{path}.parallel", adapted.check_pairs, adapted.brought_in or ())
        return _counted(adapted)

    def _brought_in(self, path: str, given: BringingIn) -> BringIn | Distil | None:
        made_of = self._made_of(path, given.encoder)
        texts = {
            language: tuple(self._pair(f"{path}.languages.{language}.{k}", pair, None) for k, pair in enumerate(pairs))
            for language, pairs in given.languages.items()
        }
        for language, pairs in texts.items():
            for k, pair in enumerate(pairs):
                if pair:
                    self.faults.resolve(f"{path}.languages.{language}.{k}", check_language, pair, language)
        if made_of is None or any(None in pairs for pairs in texts.values()):
            return None
        read = {name: getattr(given, name) for name in ("pairs", "pieces", "keep_accents", "known")}
        made = {name: getattr(given, name) for name in ("name", "rows", "shrinkage", "seed", "after_tuning")}
        aligned = (
            Align(encoder=made_of, language=language, parallel=pairs, edition=_edition_of(pairs), **read)
            for language, pairs in texts.items()
        )
        step = BringIn(encoder=made_of, languages=tuple(aligned), **made)
        return Distil(encoder=step, name=given.name, **dict(given.distil)) if given.distil else step

    def _made_of(self, path: str, name: str) -> EncoderStep | None:
        """What an adaptation or a bringing-in goes on from: an encoder declared before it, or any other."""
        before = [encoder for encoder in (*self.declared, *self.references) if encoder is not None]
        if same := [encoder for encoder in before if encoder.labels["encoder"] == name]:
            return same[0]
        given = (*self.study.encoders, *self.study.references)
        made = [None if isinstance(each, str) else each.name for each in given]
        if name in made:
            if made.index(name) >= len(self.declared) + len(self.references):  # else it has a fault of its own
                self.faults.add(f"{path}.encoder", f"{name} is not made before this one; declare it first")
            return None
        return self.faults.resolve(f"{path}.encoder", _load, name)

    def _text(self, path: str, given: str | WorldText, sentences: int | None) -> WorldText | FileData | None:
        if isinstance(given, WorldText):
            return given
        if given.startswith(datasets.WORLD_PREFIX):
            code = given.removeprefix(datasets.WORLD_PREFIX)
            self.faults.add(
                path, f"{given}: spell text of the world out, such as {{language: {code}, sentences: 9000}}"
            )
            return None
        return self.faults.resolve(path, datasets.find_file, "mlm", given, "train", sentences)

    def _pair(self, path: str, given: str | tuple[str, str] | WorldPairs, sentences: int | None) -> ParallelText | None:
        if isinstance(given, WorldPairs):
            return given
        if isinstance(given, str):
            return self.faults.resolve(path, find_named_pairs, given, sentences)
        return self.faults.resolve(path, find_pairs, *given, sentences)

    def _check_names(self) -> None:
        """Rows know an encoder by its name, so no other encoder and no baseline may have the same one."""
        baselines = [name for transfer in self.study.tasks.values() for name in transfer.baselines]
        taken = {name: ("", f"the baseline {name}") for name in baselines}
        for key, given, encoder in self._all():
            if encoder is None:
                continue
            name = encoder.labels["encoder"]
            described = given if isinstance(given, str) else f"the {_KINDS[type(given)]} {key}"
            other_key, other = taken.setdefault(name, (encoder.key, described))
            if other_key != encoder.key:
                self.faults.add(key, f"rows would name both {described} and {other} {name}, and mix them; rename one")

    def _check_shown_apart(self) -> None:
        """Whether pages call one encoder after a surgery, or under a schedule, as another is named."""
        names = {encoder.labels["encoder"]: key for key, _, encoder in self._all() if encoder is not None}
        for name, other in permutations(names, 2):
            if other in self._shown_as(name):
                problem = f"{other!r} is what pages call {name} after a surgery or under a schedule; rename one"
                self.faults.add(names[other], problem)

    def _shown_as(self, name: str) -> set[str]:
        """What pages may call an encoder of that name."""
        surgeries = [surgery for surgery in self.study.surgeries if surgery]
        operated = [surgery.name for surgery in surgeries if not surgery.encoders or name in surgery.encoders]
        operated += ["untrained"] * bool(operated)
        schedules = ["", *(f", schedule {schedule.name}" for schedule in self.study.schedules if schedule)]
        starts = [name, *(f"{name}{mark} {surgery}" for mark in ("", ",") for surgery in operated)]
        return {f"{start}{schedule}" for start in starts for schedule in schedules}

    def _check_references(self) -> None:
        """Whether probes use them, and whether what these measure can be told apart."""
        probes = [transfer.probes for transfer in self.study.tasks.values() if transfer.probes]
        if self.study.references and not any(probing.perplexity or probing.distance for probing in probes):
            self.faults.add("references", "no task has probes of perplexity or distance, which are all they are for")
        for k, encoder in enumerate(self.references):
            if encoder is not None and encoder in self.references[:k]:
                self.faults.add(f"references.{k}", f"{encoder.labels['encoder']} is given twice")
            if encoder is not None and encoder.labels["encoder"] == START:
                self.faults.add(f"references.{k}", f"probes call each encoder before training {START!r}; rename it")

    def _name(self) -> None:
        """Name the encoders, and load the donors that are no encoders of the study."""
        for _, given, encoder in self._all():
            if encoder is not None:
                self.named.setdefault(encoder.labels["encoder"], encoder)
                if isinstance(given, str):
                    self.named[given] = encoder
        known = {given if isinstance(given, str) else given.name for _, given, _ in self._all()}
        for k, surgery in enumerate(self.study.surgeries):
            for name in surgery.encoders if surgery and self.all_found else ():
                self.faults.resolve(f"surgeries.{k}.encoders", self.tuned, name)
            for name in donors_of(surgery.operations) if surgery else ():
                if name in known or name in self.named:
                    continue
                if donor := self.faults.resolve(f"surgeries.{k}", _load, name):
                    self.named[name] = donor

    def _all(self) -> Iterator[tuple[str, Given, EncoderStep | None]]:
        """Path, declaration and step of every encoder and reference."""
        for key, given, steps in (
            ("encoders", self.study.encoders, self.declared), ("references", self.study.references, self.references),
        ):  # fmt: skip
            for k, (declaration, encoder) in enumerate(zip(given, steps, strict=True)):
                yield f"{key}.{k}", declaration, encoder


def _load(given: str) -> Load:
    return Load.at(locate(given))


def _edition_of(pairs: Sequence[ParallelText | None]) -> int:
    """How links are judged, which is known in the world alone."""
    return 2 if all(isinstance(pair, WorldPairs) for pair in pairs) else 1


def _counted(adapted: Adapt) -> Adapt:
    """With an edition of its own where its steps are counted otherwise than before."""
    tuning, apart = adapted.tuning, adapted.by_tokenizer(adapted.encoder.brought_in or ())
    counted = len(apart) > 1 and tuning.batches == "mixed" and tuning.steps is None and tuning.examples_per_batch
    return adapted.model_copy(update={"edition": 2}) if counted else adapted
