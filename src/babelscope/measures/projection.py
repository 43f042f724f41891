"""Words of parallel sentences in the plane, layer by layer: the declaration; its steps are in `projecting`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveInt

from babelscope.core.declaration import Count
from babelscope.core.errors import InputError
from babelscope.core.faults import Faults
from babelscope.core.step import Step
from babelscope.corpora.datasets import WORLD_PREFIX
from babelscope.corpora.parallel_words import AlignmentFile, find_alignments, find_words
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.measures.projecting import Library, Project, ProjectWords
from babelscope.measures.retrieval import check_languages
from babelscope.steps import EncoderStep
from babelscope.world.world import VERSION


class Projection(Measure):
    """Words of parallel sentences in the plane (t-SNE), layer by layer, for encoders without tuning.

    In the world it is known which words are translations. For real words there are three ways to find out:

    - They are learnt from all sentences of the data, by hidden Markov models and without any encoder. This is the
      default.
    - They are read from files, `alignments`.
    - They are taken from the hidden states of a layer of an encoder, `aligner`. That favours this layer and its
      neighbours.
    """

    per_layer: ClassVar[bool] = True
    before_tuning: ClassVar[bool] = True

    measure: Literal["projection"] = "projection"
    source: str
    """A language of the world, by its code; a treebank with parallel ones, such as `UD_English-PUD`; or a text.

    A text, such as `text:en:news.en`, must have spaces between its words.
    """
    targets: tuple[str, ...] = Field(min_length=1)
    """Others of the same kind, each shown with the source.

    Treebanks are parallel by `sent_id`, texts line by line.
    """
    sentences: Count = 100
    """The first sentences, over whose words the translation share is counted.

    The translation share is the share of words whose nearest word in the other language is a translation.
    """
    pairs: Annotated[Count, Field(ge=2)] = 100
    """At most how many pairs of aligned words are shown, two or more."""
    library: Library | None = None
    """The library that computes t-SNE; None: openTSNE where it is installed, else scikit-learn."""
    alignments: tuple[str, ...] = ()
    """For real words, a file for each target, with a line such as `0-0 1-2` for every sentence pair.

    Words are counted from 0. The format is that of Pharaoh, which fast_align, eflomal and SimAlign write.
    """
    aligner: str | None = None
    """For real words, an encoder of the study; None: alignments are learnt, or read from `alignments`.

    Words are aligned whose hidden states in a layer of this encoder are most similar to each other.
    """
    aligner_layer: PositiveInt | None = None
    """The layer of the aligner. Layer 8 of mBERT's 12 is the best one of Jalili Sabet et al. (2020)."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        in_world = [_is_of_the_world(name) for name in (self.source, *self.targets)]
        if all(in_world):
            check_languages(_code(self.source), tuple(map(_code, self.targets)), faults)
            if self.alignments or self.aligner or self.aligner_layer:
                faults.add("", "alignments and aligner are for real words; in the world it is known what translates")
        elif any(in_world):
            names = ", ".join((self.source, *self.targets))
            faults.add("targets", f"{names}: words of the world are parallel to its own alone")
        else:
            faults.resolve("aligner", self._aligner, compiled)
            self._check_files(compiled, faults)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        if _is_of_the_world(self.source):
            yield from self._steps_in_world(compiled)
            return
        aligner = self._aligner(compiled)
        for encoder, (k, target) in product(compiled.encoders, enumerate(self.targets)):
            yield ProjectWords(
                encoder=encoder, texts=compiled.look_up(find_words, self.source, target), sentences=self.sentences,
                pairs=self.pairs, library=self.library or _installed_library(), seed=0,
                alignments=self._file(compiled, k), aligner=aligner, aligner_layer=self.aligner_layer,
            )  # fmt: skip

    def _steps_in_world(self, compiled: Compiled) -> Iterator[Step]:
        for encoder, target in product(compiled.encoders, self.targets):
            yield Project(
                encoder=encoder, source=_code(self.source), target=_code(target), sentences=self.sentences,
                pairs=self.pairs, library=self.library or _installed_library(), seed=0,
                world_seed=compiled.world_seed, world_version=VERSION,
            )  # fmt: skip

    def _check_files(self, compiled: Compiled, faults: Faults) -> None:
        if self.alignments and len(self.alignments) != len(self.targets):
            problem = f"{len(self.alignments)} files for {len(self.targets)} targets; give one for each, in their order"
            faults.add("alignments", problem)
            return
        for k, target in enumerate(self.targets):
            if faults.resolve(f"targets.{k}", compiled.look_up, find_words, self.source, target) and self.alignments:
                faults.resolve(f"alignments.{k}", self._file, compiled, k)

    def _file(self, compiled: Compiled, target: int) -> AlignmentFile | None:
        if not self.alignments:
            return None
        words = compiled.look_up(find_words, self.source, self.targets[target])
        return compiled.look_up(find_alignments, self.alignments[target], words)

    def _aligner(self, compiled: Compiled) -> EncoderStep | None:
        """The encoder that aligns.

        Raises:
            InputError: there is none of that name, it has no such layer, or another way is given as well.
        """
        if self.aligner is None:
            if self.aligner_layer:
                raise InputError(f"aligner_layer={self.aligner_layer} is of an encoder that aligns; give aligner too")
            return None
        if self.alignments:
            raise InputError("aligner and alignments are given; words are aligned in one way")
        if self.aligner_layer is None:
            raise InputError("a similarity of states is of one layer: give aligner_layer, such as 8 of mBERT's 12")
        encoder = compiled.encoder(self.aligner)
        if encoder and encoder.layers and self.aligner_layer > encoder.layers:
            raise InputError(f"aligner_layer={self.aligner_layer}, but {self.aligner} has {encoder.layers} layers")
        return encoder


def _installed_library() -> Library:
    """What projects words; its pictures are its own, so it is in the key."""
    return "openTSNE" if find_spec("openTSNE") else "scikit-learn"


def _code(name: str) -> str:
    return name.removeprefix(WORLD_PREFIX)


def _is_of_the_world(name: str) -> bool:
    """Whether it is a code, with or without `world:`; other data have signs in their names."""
    return _code(name).isalpha()
