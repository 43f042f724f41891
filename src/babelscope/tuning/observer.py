"""Takes the probes of a model in training, and writes them down as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from babelscope.core.errors import OtherRunError
from babelscope.core.row import Row
from babelscope.core.seeds import derive_seed
from babelscope.core.step import PROBE_SPLIT
from babelscope.core.tasks import MASKING_RATE
from babelscope.encoders.cka import linear_cka
from babelscope.encoders.distance import distances
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.positions import Positions, matched, position_states
from babelscope.encoders.tap import Reading, word_states
from babelscope.encoders.vocabulary import foreign_pieces
from babelscope.tasks.design import TaskModel
from babelscope.tasks.mlm import HeldOut, Masking, Validation
from babelscope.tasks.quirky import BATCH, QuirkyHeldOut
from babelscope.tuning.depths import check_as_deep
from babelscope.tuning.probes import START, Corpus, Probes


class Journal(Protocol):
    """Where rows are written down one after the other."""

    def write_rows(self, rows: Iterable[Row]) -> None:
        """Set the rows."""

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add rows."""

    def rows_so_far(self) -> list[Row]:
        """All rows, those of an attempt that was cut short included."""


class Observer:
    """The watch of a training run. It holds what is measured on, encoded once.

    Text in a language that has a tokenizer of its own in an encoder is read with that.

    Args:
        probes: what to measure, and when.
        model: is trained; scored by the probes' `scores`.
        encoder: the one inside of it, as it is before training.
        references: encoders to measure distances to, besides the start, by name.
        journal: gets the rows.
        labels: columns of every row.

    Raises:
        InputError: the sentences of a corpus are read with different tokenizers, or distances are to be measured to a
            reference of another depth.
    """

    def __init__(
        self,
        probes: Probes,
        model: TaskModel,
        encoder: Encoder,
        references: Mapping[str, Encoder],
        journal: Journal,
        labels: Mapping[str, Any],
    ):
        self.probes, self.model, self.encoder = probes, model, encoder
        self.journal, self.labels = journal, labels
        length = min(encoder.max_length, model.design.max_length or encoder.max_length)
        self.held_out: dict[str, Validation] = {}
        for corpus in probes.perplexity:
            reader = _reader(encoder, corpus)
            foreign = foreign_pieces(reader)
            held_out = HeldOut.of(reader.tokenizer, _sentences(corpus), length, foreign=foreign)
            self.held_out[corpus.name] = QuirkyHeldOut(held_out, probes.quirks) if probes.quirks else held_out
        self.sentences = {corpus.name: _sentences(corpus) for corpus in probes.distance}
        for name, reference in references.items() if probes.distance else ():
            check_as_deep(name, _layers(reference), encoder.name, _layers(encoder))
        encoders = {START: encoder, **references}
        self.references = {
            (corpus.name, name): self._states(reference, corpus, dropout=False, seed=0)
            for corpus in probes.distance
            for name, reference in encoders.items()
        }

    def resume(self, step: int) -> None:
        """Forget what was measured after this step: it is measured again.

        Raises:
            OtherRunError: what was measured before the first step is gone, and with it what came after.
        """
        rows = [row for row in self.journal.rows_so_far() if step and (row.step or 0) <= step]
        measures = self.probes.perplexity or self.probes.distance or self.probes.scores
        if step and measures and not any(row.step == 0 for row in rows):
            raise OtherRunError(f"the checkpoint is of step {step}, but the probes of step 0 are gone")
        self.journal.write_rows(rows)

    def due(self, step: int, total: int) -> bool:
        """Whether to observe after this step."""
        return self.probes.due(step, total)

    def observe(self, step: int, model: nn.Module) -> None:
        """Take all probes, and write them down. What chance has a part in follows from the seed and the step."""
        if self.probes.quirks:
            torch.manual_seed(derive_seed(self.labels.get("seed") or 0, "probe", step))
        self.journal.add_rows(row.labelled(split=PROBE_SPLIT, step=step, **self.labels) for row in self.take())

    @torch.no_grad()
    def take(self) -> Iterator[Row]:
        """Every probe of the model as it is now."""
        for corpus in self.probes.perplexity:
            value = self.held_out[corpus.name].perplexity(self.encoder.model)
            yield Row("perplexity", value, language=corpus.languages, dataset=corpus.name)
        for corpus in self.probes.distance:
            for row in self._distances(corpus):
                yield row.labelled(language=corpus.languages, dataset=corpus.name)
        for data in self.probes.scores:
            for score in self.model.reading(data.code).scores(data.read()):
                yield Row(score.measure, score.value, score.unit, language=data.code, dataset=data.name)

    def _distances(self, corpus: Corpus) -> Iterator[Row]:
        dropout = "dropout-on" in self.probes.quirks
        states = self._states(self.encoder, corpus, dropout, torch.initial_seed())
        for (name, reference), there in self.references.items():
            if name == corpus.name:
                yield from _compared(*self._paired(states, there), reference)

    def _states(self, encoder: Encoder, corpus: Corpus, dropout: bool, seed: int) -> Tensor | Positions:
        """Rounded, those of references too, so that what did not move is at distance 0. `seed` is of the masks."""
        encoder, sentences = _reader(encoder, corpus), self.sentences[corpus.name]
        unmasked = "no-attention-mask" in self.probes.quirks
        masking = _masking(encoder, seed) if "masked-states" in self.probes.quirks else None
        reading = Reading(BATCH if unmasked else None, attends_padding=unmasked, dropout=dropout, masking=masking)
        if "own-tokenizer" in self.probes.quirks:
            return position_states(encoder, sentences, reading._replace(sentences_per_batch=BATCH))
        return word_states(encoder, [sentence.split() for sentence in sentences], reading=reading).half().cpu()

    def _paired(self, states: Tensor | Positions, reference: Tensor | Positions) -> tuple[Tensor, Tensor]:
        """The states of what is compared, each [layers, words or positions, hidden]."""
        if isinstance(states, Positions) and isinstance(reference, Positions):
            return matched(states, reference, padding="no-attention-mask" in self.probes.quirks)
        return cast(Tensor, states), cast(Tensor, reference)


def _masking(encoder: Encoder, seed: int) -> Callable[[Batch], Batch]:
    """Masks as in training."""
    masking = Masking(encoder.tokenizer, MASKING_RATE, foreign_pieces(encoder))
    generator = torch.Generator().manual_seed(seed)
    return lambda batch: masking.draw(batch, generator).batch


def _compared(states: Tensor, reference: Tensor, name: str) -> Iterator[Row]:
    """All distances, and CKA; CKA alone where the reference has another width, since no distance is defined then."""
    if states.shape == reference.shape:
        for measure, values in distances(states, reference)._asdict().items():
            yield from _by_layer(f"{_SPOKEN[measure]} to {name}", values)
    alike = [linear_cka(own, other, debiased=True) for own, other in zip(states, reference, strict=True)]
    yield from _by_layer(f"CKA with {name}", alike)


def _by_layer(measure: str, values: Iterable[float]) -> Iterator[Row]:
    for layer, value in enumerate(values):
        yield Row(measure, float(value), layer=layer)


_SPOKEN = {
    "euclidean": "distance",
    "cosine": "cosine distance",
    "relative": "relative distance",
    "aligned": "aligned distance",
}


def _layers(encoder: Encoder) -> int:
    layers: int = encoder.model.config.num_hidden_layers
    return layers


def _reader(encoder: Encoder, corpus: Corpus) -> Encoder:
    """The encoder as it reads all of a corpus.

    Raises:
        InputError: it reads some of the corpus with one tokenizer, and some with another.
    """
    corpus.check_tokenizers(encoder.name, encoder.languages)
    return encoder.reading(corpus.data[0].code)


def _sentences(corpus: Corpus) -> list[str]:
    return [sentence for data in corpus.data for sentence in data.read()]
