"""Words of parallel sentences in the plane, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.measures.retrieval import check_languages
from babelscope.steps import EncoderStep
from babelscope.world import World
from babelscope.world.world import VERSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

Library = Literal["openTSNE", "scikit-learn"]


class Projection(Measure):
    """Words of parallel sentences in the plane (t-SNE), layer by layer, of the encoders as they are."""

    per_layer: ClassVar[bool] = True
    before_tuning: ClassVar[bool] = True

    measure: Literal["projection"] = "projection"
    source: str
    """A language of the world, by its code."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Languages of the world, each shown with the source."""
    sentences: PositiveInt = 100
    """Over whose words the share is counted whose nearest word in the other language is a translation."""
    pairs: PositiveInt = 100
    """Aligned words that are shown, at most."""
    library: Library | None = None
    """What computes t-SNE; None: openTSNE where it is installed, else scikit-learn."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        check_languages(self.source, self.targets, faults)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        for encoder, target in product(compiled.encoders, self.targets):
            yield Project(
                encoder=encoder, source=self.source, target=target, sentences=self.sentences,
                pairs=self.pairs, library=self.library or _installed_library(), seed=0,
                world_seed=compiled.world_seed, world_version=VERSION,
            )  # fmt: skip


def _installed_library() -> Library:
    """What projects words; its pictures are its own, so it is in the key."""
    return "openTSNE" if find_spec("openTSNE") else "scikit-learn"


class Project(Step):
    """Put aligned words of two languages into the plane, layer by layer, before any tuning."""

    row_kind: ClassVar[str] = "projection"

    encoder: SerializeAsAny[EncoderStep]
    source: str
    target: str
    sentences: PositiveInt
    """Parallel ones: of all of their words the share is counted whose nearest word is a translation."""
    pairs: PositiveInt
    """Aligned words that are shown."""
    library: str
    seed: NonNegativeInt
    world_seed: NonNegativeInt
    world_version: int

    @property
    def title(self) -> str:
        return f"project {self.source} and {self.target}: {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        """Write where t-SNE puts aligned words, and what share of all words is nearest to a translation, by layer."""
        import torch

        from babelscope.encoders.tap import word_states
        from babelscope.measures.formulas.projection import aligned_words, project, translation_share

        torch.set_num_threads(1)
        encoder = self.encoder.build(workspace)
        parallel = World(self.world_seed).parallel([self.source, self.target], self.sentences)
        first, second = (
            word_states(encoder, [sentence.sentences[code].forms for sentence in parallel])
            for code in (self.source, self.target)
        )
        aligned = aligned_words(parallel, self.source, self.target)
        shown = aligned[: self.pairs]
        points = project(_points(first, second, shown), self.seed, library=self.library).coordinates
        workspace.write_rows([*self._shares(translation_share(first, second, aligned)), *self._places(points)])

    def _shares(self, shares: NDArray[np.float64]) -> Iterator[Row]:
        """A row a layer."""
        labels = self._labels | {"language": self.target}
        for layer, share in enumerate(shares):
            yield Row("translation share", float(share), "share", layer=layer, **labels)

    def _places(self, layers: NDArray[np.float64]) -> Iterator[Row]:
        """Two rows a word and layer; `layers` is [layers, source's and target's words, 2]."""
        pairs = layers.shape[1] // 2
        for layer, points in enumerate(layers):
            for k, point in enumerate(points):
                language, word = (self.source, self.target)[k // pairs], k % pairs
                labels = self._labels | {"layer": layer, "language": language, "word": word}
                for axis, value in zip("xy", point, strict=True):
                    yield Row(f"t-SNE {axis}", float(value), **labels)

    @property
    def _labels(self) -> dict[str, Any]:
        return self.encoder.labels | {"task": "projection", "dataset": f"world:{self.source}-{self.target}"}


def _points(first: Tensor, second: Tensor, shown: NDArray[np.int64]) -> Tensor:
    """[layers, pairs of both languages, hidden]: the first language's words of the pairs, then the second's."""
    import torch

    return torch.cat([first[:, shown[:, 0]], second[:, shown[:, 1]]], dim=1)
