"""The steps that a task's data make of encoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from babelscope.core.step import Step
from babelscope.core.tasks import Task
from babelscope.corpora.datasets import Dataset
from babelscope.measures.probing import Probe, ScoreReference
from babelscope.measures.text_size import TextSize
from babelscope.steps import Baseline, BringIn, EncoderStep, Evaluate, Operate, Recurrent, Tune
from babelscope.steps.duration import all_here, by_language
from babelscope.steps.memory import in_portions
from babelscope.steps.tune import check_batches
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
