"""The step that trains an encoder on a task."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import NonNegativeInt, SerializeAsAny

from babelscope.core.collection import uncollected
from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.core.step import Needs, Results, Step, Workspace
from babelscope.core.tasks import Task
from babelscope.core.training import TrainedOn
from babelscope.corpora.codes import known_as
from babelscope.corpora.datasets import Dataset
from babelscope.steps.curves import curve_rows
from babelscope.steps.encoder import EncoderStep, Recurrent
from babelscope.steps.memory import READING, memory_of
from babelscope.tasks.kinds import kind_of
from babelscope.tuning.probes import Probes
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import Tuning

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from torch import Tensor

    from babelscope.encoders.load import Encoder
    from babelscope.tasks.design import EncoderModel, TaskModel
    from babelscope.tuning.memo import StateMemo
    from babelscope.tuning.observer import Observer


BEST, ROUNDED = "best.safetensors", "rounded.safetensors"
"""The files that the best weights are in, as they are or rounded."""


class Tune(Step):
    """Train an encoder on a task in one or several languages; the dev sets select the best step.

    Text in a language that has a tokenizer of its own in the encoder is read with that, transliterated text with the
    encoder's.
    """

    droppable: ClassVar[tuple[str, ...]] = (BEST, "last.safetensors")
    """Older versions of Babelscope kept the last weights, too."""
    row_kind: ClassVar[str] = "curve"

    encoder: SerializeAsAny[EncoderStep]
    task: Task
    """A built-in one, or one that a study declares, with its classes."""
    head: str | None = None
    """One of the heads of the task's kind; None: the default of its model."""
    quirks: tuple[str, ...] = ()
    """Of those that the task's kind has, to repeat published numbers."""
    entity_types: tuple[str, ...] = ()
    """Of named entities: what the model can call one."""
    train: tuple[Dataset, ...]
    dev: tuple[Dataset, ...]
    tuning: Tuning
    schedule: Schedule | None = None
    """Which part of the encoder is trained, and when; None: all of it."""
    probes: Probes | None = None
    """What is measured while it is trained."""
    references: tuple[SerializeAsAny[EncoderStep], ...] = ()
    """Encoders that the probes measure distances to."""
    seed: NonNegativeInt
    compact: bool = False
    """Whether its best weights are kept rounded, in a quarter of the bytes, and are these wherever they are read."""

    @property
    def trained_on(self) -> TrainedOn:
        """The languages of the training data, and how many examples there are of what none are left to select on.

        What is selected on test sets leaves no training data out, so that none of it is few.
        """
        selected = {data.name for data in self.dev}
        on_test = any(data.split == "test" for data in self.dev)
        return TrainedOn.of(
            (data.code, None if on_test or data.name in selected else data.examples) for data in self.train
        )

    @property
    def labels(self) -> dict[str, Any]:
        """The encoder's columns, the schedule, the task, the languages of the training data and the seed."""
        labels = self.encoder.labels | {"task": self.task.name, **self.trained_on.columns, "seed": self.seed}
        return labels | ({"schedule": self.schedule.name} if self.schedule else {})

    @property
    def predicted(self) -> float:
        """The share of tokens that a masked language model head predicts."""
        return kind_of(self.task).masking

    @property
    def needs(self) -> Needs:
        return self._needs_as(self.tuning)

    @property
    def needs_to_read(self) -> Needs:
        """What a step needs that reads with the model."""
        return self._needs_as(READING)

    def _needs_as(self, training: Tuning) -> Needs:
        """Where this model is trained, with the memory of such a training."""
        memory = 0 if self.tuning.device == "cpu" else memory_of(self.encoder, training, self.predicted)
        return Needs.on(self.tuning.device, self.tuning.threads, memory)

    @property
    def libraries(self) -> dict[str, str]:
        return {"peft": "lora"} if self.schedule and self.schedule.lora else {}

    @property
    def title(self) -> str:
        labels = self.labels
        details = ", ".join(labels[name] for name in ("surgery", "schedule") if labels.get(name))
        encoder = f"{labels['encoder']} ({details})" if details else labels["encoder"]
        return f"tune {encoder} on {self.trained_on}, {self.task}, seed {self.seed}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self.labels.items()): self.key}

    def execute(self, workspace: Workspace) -> None:
        """Write the best weights, the learning curves, and the probes."""
        from babelscope.tasks.models import InLanguage, training_task
        from babelscope.tasks.quirky import with_quirks
        from babelscope.tasks.task import check_direction
        from babelscope.tuning import loop

        encoder = self._trained_part(self._encoder(workspace))
        untuned = self.untuned(encoder)
        with uncollected():
            dev = {data.name: InLanguage(data.code, data.read()) for data in self.dev}
            parts = [InLanguage(language, examples) for language, examples in self._training_parts(untuned).items()]
            objective = training_task(untuned, parts, dev)
        check_direction(objective)
        task = with_quirks(objective, self.probes.quirks if self.probes else ())
        watch = self._watch(untuned, encoder, workspace) if encoder else None
        history = loop.tune(
            untuned.module, task, self.tuning, self.seed, workspace.folder, workspace.progress, schedule=self.schedule,
            memo=None if kind_of(self.task).fresh_examples else _memo(), watch=watch,
        )  # fmt: skip
        if self.compact:
            self._round(workspace)
        steps = {"best_step": history.best_step, "last_step": history.last_step, "planned_steps": history.planned_steps}
        (workspace.folder / "history.json").write_text(json.dumps(steps, indent=1) + "\n", encoding="utf-8")
        probed = workspace.rows_so_far() if self.probes else []
        workspace.write_rows([*curve_rows(history.points, self.labels), *probed])

    def untuned(self, encoder: Encoder | None) -> TaskModel:
        """The model that the tuning starts from, without an encoder a BiLSTM; the step's seed draws its head."""
        import torch

        from babelscope.tasks.design import Design
        from babelscope.tasks.models import known_words, recurrent_model, task_model

        design = Design(
            self.task, head=self.head, entity_types=self.entity_types, dropout=self.tuning.dropout,
            max_length=self.tuning.max_length, quirks=self.quirks,
        )  # fmt: skip
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive_seed(self.seed, "head"))
            if encoder is None:
                return recurrent_model(design, known_words([example for data in self.train for example in data.read()]))
            return task_model(encoder, design)

    def model(self, results: Results) -> TaskModel:
        """The best model, in evaluation mode."""
        from babelscope.encoders.bring_in import with_the_rest
        from babelscope.tuning.checkpoint import module_weights, read_weights, set_weights
        from babelscope.tuning.compact import restored

        encoder = self._encoder(results)
        trained = self._trained_part(encoder)
        tuned = self.untuned(trained)
        kept = read_weights(results.result(self) / (ROUNDED if self.compact else BEST))
        set_weights(tuned.module, restored(module_weights(tuned.module), kept) if self.compact else kept)
        tuned.module.eval()
        if encoder is None or trained is None or trained is encoder:
            return tuned
        return cast("EncoderModel", tuned).with_encoder(with_the_rest(trained, encoder, self._languages))

    def tuned_encoder(self, results: Results) -> Encoder:
        """The encoder of the best model, in evaluation mode; not for a BiLSTM, which has none."""
        return cast("EncoderModel", self.model(results)).encoder

    def weights(self, results: Results) -> Mapping[str, Tensor]:
        """What the best model is made of, by name."""
        from babelscope.tuning.checkpoint import module_weights, read_weights

        if self.encoder.brought_in != () or self.compact:  # not all of them are kept
            return {name: each.detach() for name, each in module_weights(self.model(results).module).items()}
        return read_weights(results.result(self) / BEST)

    def _round(self, workspace: Workspace) -> None:
        """Keep the best weights rounded in their place."""
        from babelscope.tuning.checkpoint import kept_weights, module_weights, write_weights
        from babelscope.tuning.compact import compacted

        start = self.untuned(self._trained_part(self._encoder(workspace)))
        best = workspace.folder / BEST
        write_weights(workspace.folder / ROUNDED, compacted(module_weights(start.module), kept_weights(best)))
        best.unlink()

    def _watch(self, model: TaskModel, encoder: Encoder, workspace: Workspace) -> Observer | None:
        """What takes the probes, on the device that the model is trained on; None: there are none."""
        from torch.nn import Module

        from babelscope.tuning.observer import Observer

        if not self.probes:
            return None
        references = {reference.labels["encoder"]: reference.build(workspace) for reference in self.references}
        for each in (encoder, *references.values()):
            Module.to(each.model, self.tuning.device)
        return Observer(self.probes, model, encoder, references, workspace, self.labels)

    def _encoder(self, results: Results) -> Encoder | None:
        return None if isinstance(self.encoder, Recurrent) else self.encoder.build(results)

    def _trained_part(self, encoder: Encoder | None) -> Encoder | None:
        """The encoder without embeddings that no text of the training has.

        Nothing could be learned for them, and weight decay would shrink them.
        """
        from babelscope.encoders.bring_in import reading_only

        if encoder is None or self.probes:  # probes may read any language
            return encoder
        return reading_only(encoder, self._languages)

    @property
    def _languages(self) -> list[str]:
        """The codes of all that is read."""
        return [data.code for data in (*self.train, *self.dev)]

    def _training_parts(self, model: TaskModel) -> dict[str, list[Any]]:
        """The training examples: by language where batches are to be of one language, else all under the first."""
        check_batches(self.train, self.tuning, self.encoder, model.languages)
        languages, mixed = [data.code for data in self.train], self.tuning.batches == "mixed"
        parts: dict[str, list[Any]] = {}
        for data, language in zip(self.train, languages, strict=True):
            parts.setdefault(languages[0] if mixed else language, []).extend(data.read())
        return parts


def check_batches(
    train: Iterable[Dataset], tuning: Tuning, encoder: EncoderStep | Recurrent, brought_in: Iterable[str]
) -> None:
    """Refuse batches of several languages where the encoder reads them with different tokenizers.

    Raises:
        InputError: some of them were brought in, and others were not, or each is read with its own.
    """
    languages = dict.fromkeys(data.code for data in train)
    own = {known_as(language, brought_in) for language in languages}
    if tuning.batches == "mixed" and len(own) > 1:
        raise InputError(
            f"training on {', '.join(languages)}: {encoder.labels['encoder']} reads {', '.join(sorted(own - {''}))} "
            "with a tokenizer of its own, so that no batch can hold several of these languages",
            "Write `batches: one-language` in the settings of the tuning",
        )


@cache
def _memo() -> StateMemo:
    """What frozen layers give for the training sentences, kept from one tuning of a sweep to the next."""
    from babelscope.tuning.memo import StateMemo

    return StateMemo()
