"""Measures of each layer's states of sentences: the base of all of them, and the step that computes them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, Field, PositiveInt, SerializeAsAny

from babelscope.core.devices import Device
from babelscope.core.faults import Faults
from babelscope.core.registry import reader
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure, check_layers_of
from babelscope.measures.models import OfModel, Placed, models_of

if TYPE_CHECKING:
    from torch import Tensor


class LayerMeasure(Measure):
    """A number for every layer, from its states of sentences in one language.

    A measure is a subclass with a name and a formula:

        class Spread(LayerMeasure):
            measure: Literal["spread"] = "spread"

            def compute(self, states):
                return states.std(dim=1).mean(dim=-1)

    Its fields, should it have any, count in the keys of its steps. Its rows have its name as measure and kind.
    """

    per_layer: ClassVar[bool] = True
    formula: ClassVar[int] = 1
    """Raise it when `compute` changes, so that old results are not taken for new ones."""

    texts: tuple[str, ...] = Field(min_length=1)
    """Data sets, named as those of `mlm`; the sentences of their test splits are read, each data set by itself."""
    sentences: PositiveInt = 300
    """Of each, at most."""
    tuned: tuple[str, ...] = ()
    """Names of tasks whose tuned models are measured as well."""
    device: Device = "cpu"
    """Of encoders as they are; tuned ones are measured where they were trained."""

    def compute(self, states: Tensor) -> Sequence[float] | Tensor:
        """[layers], of `states` [layers, sentences, width]: the means of the tokens' states, in layer 0 embeddings."""
        raise NotImplementedError

    def check(self, compiled: Compiled, faults: Faults) -> None:
        """Note texts and tasks that there are not."""
        faults.resolve_all("texts", lambda name: self._find(name, compiled), self.texts)
        faults.resolve_all("tuned", compiled.task, self.tuned)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        """One for every encoder under every surgery, untuned; and for each of its tunings that is to be measured."""
        texts = tuple(self._find(name, compiled) for name in self.texts)
        for placed in models_of(compiled, self.tuned, self.device):
            yield self._step(placed, texts)

    def _find(self, name: str, compiled: Compiled) -> Dataset:
        return compiled.look_up(datasets.find, "mlm", name, "test", self.sentences, compiled.world_seed)

    def _step(self, placed: Placed, texts: tuple[Dataset, ...]) -> Step:
        # Which tasks are measured as well changes no number.
        plain = self.model_copy(update={"tuned": (), "device": "cpu"})
        return MeasureLayers(measure=plain, formula=self.formula, texts=texts, **placed._asdict())


class MeasureLayers(OfModel):
    """Compute a measure of each layer's states of sentences, whose name is the kind of the rows."""

    measure: Annotated[SerializeAsAny[LayerMeasure], BeforeValidator(reader(Measure))]
    formula: PositiveInt = 1
    texts: tuple[Dataset, ...]
    device: Device = "cpu"
    threads: PositiveInt = 1

    @property
    def title(self) -> str:
        return f"{self.measure.kind} of {self.model_title}"

    def kind_of(self, row: Row) -> str | None:
        return self.measure.kind

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        labels, measure = tuple(self.labels.items()), self.measure.model_copy(update={"texts": (), "sentences": 1})
        return {(labels, self.measure.kind, data.name): (measure, data) for data in self.texts}

    def execute(self, workspace: Workspace) -> None:
        """Write a number for every layer (0: the embeddings) and data set."""
        from babelscope.encoders.tap import sentence_states

        encoder = self.encoder(workspace)
        rows = []
        for data in self.texts:
            labels = self.labels | data_labels(data)
            states = sentence_states(encoder.reading(data.code), data.read())
            values = self.measure.compute(states)
            check_layers_of(self.measure.kind, len(values), len(states))
            for layer, value in enumerate(values):
                rows.append(Row(self.measure.kind, float(value), self.measure.unit, layer=layer, **labels))
        workspace.write_rows(rows)
