"""A task's data, found, and the steps that they make of encoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from babelscope.corpora.datasets import Dataset
from babelscope.measure_steps import Probe
from babelscope.step import Step
from babelscope.steps import Baseline, EncoderStep, Evaluate, Recurrent, Tune
from babelscope.study import Study, Transfer
from babelscope.task_table import TaskName
from babelscope.tuning.probes import Probes
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import RECURRENT


@dataclass(frozen=True)
class ResolvedTransfer:
    """What a transfer of a study names, looked up."""

    study: Study
    task: TaskName
    transfer: Transfer
    train: tuple[Dataset, ...]
    dev: tuple[Dataset, ...]
    test: tuple[Dataset, ...]
    entity_types: tuple[str, ...]
    """What the training data call an entity."""
    probes: Probes | None
    references: tuple[EncoderStep, ...]

    def baselines(self) -> Iterator[Step]:
        """What is scored beside the encoders."""
        for name in self.transfer.baselines:
            if name == "bilstm":
                for seed in self.study.seeds:
                    yield from self._recurrent(seed)
            else:
                yield from (Baseline(baseline=name, task=self.task, train=self.train, data=one) for one in self.test)

    def untuned(self) -> Iterator[Step]:
        """The references' own perplexities."""
        if self.probes and self.probes.perplexity:
            perplexities = Probes(perplexity=self.probes.perplexity)
            yield from (Probe(encoder=one, probes=perplexities) for one in self.references)

    def evaluations(self, encoder: EncoderStep, seed: int) -> Iterator[Step]:
        """Tunings under every schedule, each scored on every data set."""
        for schedule in self.study.schedules:
            model = self.tuned(encoder, schedule, seed)
            yield from (Evaluate(model=model, data=one) for one in self.test)

    def tuned(self, encoder: EncoderStep, schedule: Schedule | None, seed: int) -> Tune:
        """The tuning of an encoder under a schedule."""
        return Tune(
            encoder=encoder, task=self.task, head=self.transfer.head, entity_types=self.entity_types,
            train=self.train, dev=self.dev, tuning=self.transfer.tuning, schedule=schedule, probes=self.probes,
            references=self.references if self.probes and self.probes.distance else (), seed=seed,
        )  # fmt: skip

    def _recurrent(self, seed: int) -> Iterator[Step]:
        """A BiLSTM has settings and a head of its own, and no layers to freeze."""
        model = Tune(
            encoder=Recurrent(), task=self.task, entity_types=self.entity_types, train=self.train, dev=self.dev,
            tuning=RECURRENT, seed=seed,
        )  # fmt: skip
        yield from (Evaluate(model=model, data=one) for one in self.test)
