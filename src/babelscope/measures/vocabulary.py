"""What the vocabularies of encoders share, and how they cover languages."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, PositiveInt, SerializeAsAny

from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.steps import EncoderStep

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class VocabularyComparison(Measure):
    """Compare the vocabulary of every encoder with a reference's, and its coverage of the test splits of treebanks.

    The share of raw text that is English-like (Zhang, 2021, section 4.1) can be measured as well.
    """

    before_tuning: ClassVar[bool] = True

    measure: Literal["vocabulary"] = "vocabulary"
    reference: str
    """The name of an encoder of the study."""
    treebanks: tuple[str, ...] = Field(min_length=1)
    """Treebanks, named as those of `pos`."""
    sentences: PositiveInt = 500
    """At most how many sentences of each treebank are read."""
    contexts: tuple[str, ...] = ()
    """Raw text, named as that of `mlm`. English-like contexts are counted in its training split."""
    context_sentences: PositiveInt = 100_000
    """At most how many sentences of each of these texts are read."""
    shared_english: bool = False
    """Whether shared tokens that are English-like are counted too (Zhang, 2021, table 2)."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        faults.resolve("reference", compiled.encoder, self.reference)
        faults.resolve_all("treebanks", lambda name: self._find(name, compiled), self.treebanks)
        faults.resolve_all("contexts", lambda name: self._find_text(name, compiled), self.contexts)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        reference = compiled.named[self.reference]
        texts = tuple(self._find(name, compiled) for name in self.treebanks)
        contexts = tuple(self._find_text(name, compiled) for name in self.contexts)
        for encoder in compiled.encoders:
            yield Vocabulary(
                encoder=encoder, reference=reference, texts=texts, contexts=contexts,
                shared_english=self.shared_english,
            )  # fmt: skip

    def _find(self, name: str, compiled: Compiled) -> Dataset:
        return compiled.look_up(datasets.find, "pos", name, "test", self.sentences, compiled.world_seed)

    def _find_text(self, name: str, compiled: Compiled) -> Dataset:
        return compiled.look_up(datasets.find, "mlm", name, "train", self.context_sentences, compiled.world_seed)


class Vocabulary(Step):
    """Compare an encoder's pieces with another's, and see how they cover texts; before any tuning."""

    row_kind: ClassVar[str] = "vocabulary"

    encoder: SerializeAsAny[EncoderStep]
    reference: SerializeAsAny[EncoderStep]
    texts: tuple[Dataset, ...]
    """Treebanks."""
    contexts: tuple[Dataset, ...] = ()
    """Raw text whose English-like contexts are counted as well."""
    shared_english: bool = False
    """Whether shared pieces that are English-like are counted as well."""

    @property
    def title(self) -> str:
        return f"vocabulary of {self.encoder.labels['encoder']}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        labels = tuple(self.encoder.labels.items())
        return {labels: self.reference.key} | {
            (labels, data.name, data.split): data for data in (*self.texts, *self.contexts)
        }

    def execute(self, workspace: Workspace) -> None:
        """Write what the two vocabularies share, and how this one, or its own, covers each language."""
        from babelscope.measures.formulas import overlap

        encoder = self.encoder.build(workspace)
        tokenizer, reference = encoder.tokenizer, self.reference.build(workspace).tokenizer
        shared, english = overlap.shared_pieces(tokenizer, reference), overlap.english_like_pieces(tokenizer)
        counts = {"pieces": len(tokenizer), "shared pieces": len(shared), "English-like pieces": len(english)}
        if self.shared_english:
            counts["shared English-like pieces"] = len(shared & english)
        rows = [Row(name, count, "pieces") for name, count in counts.items()]
        for data in self.texts:
            tokenizer, sentences = encoder.reading(data.code).tokenizer, [sentence.forms for sentence in data.read()]
            covered = overlap.coverage(tokenizer, sentences)
            shares = {"unknown words": covered.unknown, "characters covered": covered.characters}
            rows += [Row(name, share, "share").labelled(**data_labels(data)) for name, share in shares.items()]
            rows.append(Row("fertility", covered.fertility, "pieces a word").labelled(**data_labels(data)))
            rows += _contexts(tokenizer, data, [" ".join(words) for words in sentences])
        for data in self.contexts:
            rows += _contexts(encoder.reading(data.code).tokenizer, data, data.read())
        workspace.write_rows(row.labelled(**self.encoder.labels) for row in rows)


def _contexts(tokenizer: PreTrainedTokenizerBase, data: Dataset, lines: Sequence[str]) -> Iterator[Row]:
    """The share of a text's contexts that are English-like; nothing where no line is as long as a context."""
    from babelscope.measures.formulas import overlap

    share = overlap.english_like_contexts(tokenizer, lines)
    if not math.isnan(share):
        yield Row("English-like contexts", share, "share").labelled(**data_labels(data))
