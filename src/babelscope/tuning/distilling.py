"""Distillation: a student learns to read translations as a teacher reads their sources.

The teacher is an encoder as it was, the student the same with languages brought in. Sentences are taught as by Reimers
and Gurevych (2020), by their mean states, and words as by Cao, Kitaev and Klein (2020), by the states of pieces that
are linked. The student reads some of the sources, too, so that it goes on reading them as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel

from babelscope.core.errors import InputError
from babelscope.corpora.alignment.links import SoftLinks
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Batch, Frame, Pieces
from babelscope.tuning.batches import Order
from babelscope.tuning.depths import compared_depths
from babelscope.tuning.loop import History, Progress, tune
from babelscope.tuning.settings import Tuning
from babelscope.tuning.teacher import Ids, Teacher, mean_states


class LinkedText(NamedTuple):
    """Sentences with their translations into a language, and links between their pieces."""

    language: str
    sources: Sequence[Sequence[int]]
    """The ids of each sentence's pieces, without special ones, by the teacher's tokenizer."""
    targets: Sequence[Sequence[int]]
    """Those of its translation, by the student's tokenizer of the language."""
    links: SoftLinks


class Example(NamedTuple):
    """A sentence for the teacher and one for the student, special pieces included."""

    source: Ids
    target: Ids
    places: NDArray[np.int64]
    """[2, links]: the linked pieces of the source, and those of the target."""
    weights: NDArray[np.float64]
    """[links]."""

    @property
    def with_itself(self) -> Example:
        """The source for both, every piece linked with itself."""
        places = np.arange(len(self.source))
        return Example(self.source, self.source, np.stack([places, places]), np.ones(len(places)))


class Lesson(NamedTuple):
    """What the student reads, and the states that it should have."""

    batch: Batch
    places: Tensor
    """[links]: the linked pieces of the batch, read row by row."""
    weights: Tensor
    """[links]."""
    states: Tensor
    """[layers, links, hidden]: the teacher's, of the pieces that they are linked with."""
    means: Tensor
    """[sequences, hidden]: the teacher's mean states of the last layer."""

    def to(self, device: torch.device) -> Lesson:
        """The same on a device."""
        return Lesson(self.batch.to(device), *(tensor.to(device) for tensor in self[1:]))


def distil(
    student: Encoder,
    teacher: Encoder,
    texts: Sequence[LinkedText],
    folder: Path,
    *,
    tuning: Tuning,
    source_share: float,
    layers: Sequence[int] | None = None,
    seed: int = 0,
    progress: Progress = lambda done, total, **numbers: None,
    checkpoint_seconds: float = 60.0,
) -> History:
    """Train all weights of the student but its head, resumable from `folder`; the last step is kept.

    The loss is the squared error of the student's states, a mean over dimensions: of linked pieces at `layers`, a mean
    over these and over links by their weights, and of mean-pooled sentences at the last layer; both count alike.
    Special pieces are linked with each other, since tasks read them. No unit is dropped, as the teacher drops none.
    Batches are of any languages.

    Args:
        student: reads the texts' languages. Its word embeddings stay tied to its head where they are.
        teacher: the encoder that the languages were brought into; it stays as it is.
        texts: pairs without pieces on a side, and those longer than the encoder or `tuning.max_length`, are left out.
        folder: of checkpoints.
        tuning: the settings; with fewer steps than there are batches, not all pairs are read.
        source_share: how likely it is that the student reads the source of a pair instead of the translation.
        layers: where linked pieces are compared, 0 for the embeddings; by default in the middle and at the end.
        seed: of the order, and of what is read on which side.
        progress: is told of each step.
        checkpoint_seconds: between checkpoints.

    Raises:
        InputError: a layer or a share that there is not, or no pair to learn from.
    """
    depths = compared_depths(layers, student.model.config.num_hidden_layers)
    if not 0 <= source_share <= 1:
        raise InputError(f"source_share {source_share}: give a share of the examples from 0 to 1, such as 0.2")
    frame = Frame.of(teacher.tokenizer)  # of every language: own vocabularies keep the special pieces and their ids
    length = min(student.max_length, tuning.max_length or student.max_length)
    examples = [example for text in texts for example in examples_of(text, frame, length)]
    asked = [examples[index].source for index in _reached(examples, tuning, seed)]
    task = Distillation(examples, Teacher(teacher, depths, asked, tuning.device), source_share)
    history = tune(student.backbone, task, tuning, seed, folder, progress, checkpoint_seconds)
    whole: nn.Module = student.model
    whole.to(tuning.device)  # the head, too
    return history


@dataclass(frozen=True, eq=False)
class Distillation:
    """The task: examples to learn from."""

    examples: Sequence[Example]
    teacher: Teacher
    source_share: float
    measure: ClassVar[str] = "squared error"
    higher_is_better: ClassVar[bool] = False

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[examples]: pieces of each on its longer side."""
        return _lengths(self.examples)

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> Lesson:
        """Examples, some of which are read on the source's side."""
        turned = torch.rand(len(indices), generator=generator) < self.source_share
        examples = [self.examples[index] for index in indices]
        return self.lesson([each.with_itself if alone else each for each, alone in zip(examples, turned, strict=True)])

    def lesson(self, examples: Sequence[Example]) -> Lesson:
        """Examples as tensors."""
        padding_id = self.teacher.encoder.tokenizer.pad_token_id
        batch = Pieces.of([each.target for each in examples], padding_id).batch(np.arange(len(examples)))
        taught = self.teacher.states([each.source for each in examples])
        linked = [known.pieces[:, each.places[0]] for known, each in zip(taught, examples, strict=True)]
        width = batch.ids.shape[1]
        return Lesson(
            batch,
            torch.from_numpy(np.concatenate([row * width + each.places[1] for row, each in enumerate(examples)])),
            torch.from_numpy(np.concatenate([each.weights for each in examples])).float(),
            torch.cat(linked, dim=1).float(),
            torch.stack([known.mean for known in taught]).float(),
        )

    def loss(self, model: PreTrainedModel, batch: Lesson) -> Tensor:
        """The squared error of linked pieces, and that of sentences."""
        model.eval()  # no unit is dropped, as the teacher drops none
        read, places, weights, states, means = batch.to(model.device)
        layers = model(input_ids=read.ids, attention_mask=read.attention_mask, output_hidden_states=True).hidden_states
        own = torch.stack([layers[depth].flatten(0, 1).index_select(0, places) for depth in self.teacher.layers])
        own_means = mean_states(layers[-1].float(), self.teacher.frame.inside(read))
        pieces = (own.float() - states).square().mean(dim=(0, 2)) * weights
        sentences = (own_means - means).square().mean(dim=1)
        return pieces.sum() / weights.sum().clamp(min=1e-9) + sentences.sum() / len(sentences)

    def evaluate(self, model: PreTrainedModel) -> dict[str, float]:
        """Nothing: no pairs are held out."""
        return {}


def examples_of(text: LinkedText, frame: Frame, longest: int) -> list[Example]:
    """The pairs that have pieces on either side and are not too long, with special pieces linked to their like."""
    starts = np.searchsorted(text.links.pair, np.arange(len(text.sources) + 1))
    before, after = np.arange(len(frame.before)), np.arange(-len(frame.after), 0)
    examples = []
    for number, sides in enumerate(zip(text.sources, text.targets, strict=True)):
        source, target = (tuple(frame.around(side)) for side in sides)
        if not all(sides) or max(len(source), len(target)) > longest:
            continue
        own = slice(starts[number], starts[number + 1])
        places = [
            np.concatenate([before, len(before) + linked[own], len(side) + after])
            for linked, side in ((text.links.source, source), (text.links.target, target))
        ]
        weights = np.concatenate([np.ones(len(before)), text.links.weight[own], np.ones(len(after))])
        examples.append(Example(source, target, np.stack(places), weights))
    return examples


def _lengths(examples: Sequence[Example]) -> NDArray[np.int64]:
    """[examples]: pieces of each on its longer side, since the student may read either."""
    return np.array([max(len(each.source), len(each.target)) for each in examples], dtype=np.int64)


def _reached(examples: Sequence[Example], tuning: Tuning, seed: int) -> list[int]:
    """Which examples a run comes to, in order."""
    if not examples:
        return []  # refused by the loop
    turns = Order(_lengths(examples), tuning, seed).turns()
    return sorted({int(index) for turn in turns for index in turn.batch})
