"""The steps that put words of parallel sentences into the plane, layer by layer: of the world, and of real text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora.parallel_words import ALIGNED_BY, AlignmentFile, ParallelWords
from babelscope.steps import EncoderStep
from babelscope.world import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from babelscope.corpora.alignment.links import Links, WordPair
    from babelscope.encoders.load import Encoder

Library = Literal["openTSNE", "scikit-learn"]
FEWEST_PAIRS = 2
"""That are shown: a projection needs four points."""


class Words(NamedTuple):
    """What an encoder makes of the words of parallel sentences."""

    first: Tensor
    """[layers, words, hidden]."""
    second: Tensor
    """[layers, other words, hidden]."""
    aligned: NDArray[np.int64]
    """[pairs, 2]: words that are translations, counted through all sentences."""
    lengths: Sequence[int]
    """How many words each sentence of the first language has."""


class Projecting(Step):
    """Put aligned words of two languages into the plane, layer by layer, before any tuning."""

    row_kind: ClassVar[str] = "projection"

    encoder: SerializeAsAny[EncoderStep]
    sentences: PositiveInt
    """Parallel ones: of all of their words the share is counted whose nearest word is a translation."""
    pairs: PositiveInt
    """Aligned words that are shown."""
    library: str
    seed: NonNegativeInt

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of the two."""
        raise NotImplementedError

    @property
    def dataset(self) -> str:
        """What rows call the data."""
        raise NotImplementedError

    @property
    def libraries(self) -> dict[str, str]:
        return {"openTSNE": "tsne"} if self.library == "openTSNE" else {}

    @property
    def title(self) -> str:
        return f"project {' and '.join(self.languages)}: {self.encoder.labels['encoder']}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self._labels.items()): self.key}

    def execute(self, workspace: Workspace) -> None:
        """Write where t-SNE puts aligned words, and what share of all words is nearest to a translation, by layer."""
        import torch

        from babelscope.measures.formulas.projection import project

        torch.set_num_threads(1)
        words = self._words(self.encoder.build(workspace), workspace)
        shown = words.aligned[: self.pairs]
        # The first language's words of the pairs, then the second's.
        points = torch.cat([words.first[:, shown[:, 0]], words.second[:, shown[:, 1]]], dim=1)
        places = project(points, self.seed, library=self.library).coordinates
        workspace.write_rows([*self._shares(words), *self._places(places)])

    def _words(self, encoder: Encoder, workspace: Workspace) -> Words:
        raise NotImplementedError

    def _shares(self, words: Words) -> Iterator[Row]:
        """A row a layer."""
        from babelscope.measures.formulas.projection import translation_share

        shares = translation_share(words.first, words.second, words.aligned)
        labels = self._labels | {"language": self.languages[1]}
        for layer, share in enumerate(shares):
            yield Row("translation share", float(share), "share", layer=layer, **labels)

    def _places(self, layers: NDArray[np.float64]) -> Iterator[Row]:
        """Two rows a word and layer; `layers` is [layers, source's and target's words, 2]."""
        pairs = layers.shape[1] // 2
        for layer, points in enumerate(layers):
            for k, point in enumerate(points):
                language, word = self.languages[k // pairs], k % pairs
                labels = self._labels | {"layer": layer, "language": language, "word": word}
                for axis, value in zip("xy", point, strict=True):
                    yield Row(f"t-SNE {axis}", float(value), **labels)

    @property
    def _labels(self) -> dict[str, Any]:
        return self.encoder.labels | {"task": "projection", "dataset": self.dataset}


class Project(Projecting):
    """Words of two languages of the world, of which it is known which are translations."""

    source: str
    target: str
    world_seed: NonNegativeInt
    world_version: int

    @property
    def languages(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def dataset(self) -> str:
        return f"world:{self.source}-{self.target}"

    def _words(self, encoder: Encoder, workspace: Workspace) -> Words:
        from babelscope.encoders.tap import word_states
        from babelscope.measures.formulas.projection import aligned_words

        parallel = World(self.world_seed).parallel([self.source, self.target], self.sentences)
        aligned = aligned_words(parallel, self.source, self.target)
        sides = [[sentence.sentences[code].forms for sentence in parallel] for code in self.languages]
        readers = map(encoder.reading, self.languages)
        first, second = (word_states(reader, side) for reader, side in zip(readers, sides, strict=True))
        return Words(first, second, aligned, [*map(len, sides[0])])


class ProjectWords(Projecting):
    """Words of real parallel sentences.

    They are aligned as a file says, by a layer of an encoder, or, without either, as all sentences make likely.
    Version 2: by hidden Markov models where it was IBM model 1.
    """

    version: ClassVar[int] = 2

    texts: ParallelWords
    alignments: AlignmentFile | None
    aligner: SerializeAsAny[EncoderStep] | None
    aligner_layer: PositiveInt | None

    @property
    def languages(self) -> tuple[str, str]:
        return self.texts.languages

    @property
    def dataset(self) -> str:
        """With what aligned the words: what it finds is another translation share."""
        if self.aligner:
            by = f"layer {self.aligner_layer} of {self.aligner.labels['encoder']}"
        else:
            by = self.alignments.file if self.alignments else "hidden Markov models"
        return f"{self.texts.name}{ALIGNED_BY}{by}"

    def _words(self, encoder: Encoder, workspace: Workspace) -> Words:
        from babelscope.measures.formulas.alignment import flat_links, similarity_links

        sentences, links = self._sentences()
        first, second = _states(encoder, self.languages, sentences)
        if self.aligner:
            same = self.aligner.key == self.encoder.key
            sides = (first, second) if same else _states(self.aligner.build(workspace), self.languages, sentences)
            links = similarity_links(*sides, self.aligner_layer or 0, sentences)
        aligned = flat_links(links, sentences)
        if len(aligned) < FEWEST_PAIRS:
            problem = f"{len(aligned)} aligned words in {len(sentences)} sentence pairs; a picture needs {FEWEST_PAIRS}"
            raise InputError(f"{self.dataset}: {problem}")
        return Words(first, second, aligned, [len(one) for one, _ in sentences])

    def _sentences(self) -> tuple[list[WordPair], list[Links]]:
        """The first pairs with words on both sides; and which are aligned, empty where an encoder is to say it."""
        from babelscope.corpora.alignment.align import align_words

        pairs = self.texts.read()
        links = self.alignments.read(pairs) if self.alignments else [] if self.aligner else align_words(pairs)
        whole = [k for k, sides in enumerate(pairs) if all(sides)][: self.sentences]
        return [pairs[k] for k in whole], [links[k] for k in whole if links]

    def _shares(self, words: Words) -> Iterator[Row]:
        """A row a layer, with its interval over sentences."""
        import numpy as np

        from babelscope.core.intervals import bca_interval
        from babelscope.measures.formulas.projection import translation_hits

        counted, hits = translation_hits(words.first, words.second, words.aligned)
        sentence = np.repeat(np.arange(len(words.lengths)), words.lengths)[counted]
        totals = np.bincount(sentence, minlength=len(words.lengths))
        labels = self._labels | {"language": self.languages[1]}
        for layer, found in enumerate(hits):
            share = bca_interval(np.bincount(sentence, found, len(totals)), totals)
            yield Row("translation share", share.mean, "share", layer=layer, low=share.low, high=share.high, **labels)


def _states(encoder: Encoder, languages: tuple[str, str], sentences: Sequence[WordPair]) -> tuple[Tensor, Tensor]:
    """[layers, words, hidden] of each side."""
    from babelscope.encoders.tap import word_states

    sides = zip(languages, zip(*sentences, strict=True), strict=True)
    first, second = (word_states(encoder.reading(language), side) for language, side in sides)
    return first, second
