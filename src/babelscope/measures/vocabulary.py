"""What the vocabularies of encoders share, and how they cover languages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, SerializeAsAny

from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.steps import EncoderStep


class VocabularyComparison(Measure):
    """Compare the pieces of every encoder with a reference's, and how they cover the test split of treebanks."""

    before_tuning: ClassVar[bool] = True

    measure: Literal["vocabulary"] = "vocabulary"
    reference: str
    """The name of an encoder of the study."""
    treebanks: tuple[str, ...] = Field(min_length=1)
    """Named as those of `pos`."""
    sentences: PositiveInt = 500
    """Of each treebank, at most."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        if self.reference not in compiled.named:
            faults.add("reference", f"no encoder is named {self.reference}; there are {', '.join(compiled.named)}")
        faults.resolve_all("treebanks", lambda name: self._find(name, compiled), self.treebanks)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        reference = compiled.named[self.reference]
        texts = tuple(self._find(name, compiled) for name in self.treebanks)
        yield from (Vocabulary(encoder=encoder, reference=reference, texts=texts) for encoder in compiled.encoders)

    def _find(self, name: str, compiled: Compiled) -> Dataset:
        return compiled.look_up(datasets.find, "pos", name, "test", self.sentences, compiled.world_seed)


class Vocabulary(Step):
    """Compare an encoder's pieces with another's, and see how they cover texts; before any tuning."""

    row_kind: ClassVar[str] = "vocabulary"

    encoder: SerializeAsAny[EncoderStep]
    reference: SerializeAsAny[EncoderStep]
    texts: tuple[Dataset, ...]

    @property
    def title(self) -> str:
        return f"vocabulary of {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        """Write what the two vocabularies share, and how this one covers each language."""
        from babelscope.measures.formulas import overlap

        tokenizer, reference = (side.build(workspace).tokenizer for side in (self.encoder, self.reference))
        rows = [
            Row("pieces", len(tokenizer), "pieces"),
            Row("shared pieces", len(overlap.shared_pieces(tokenizer, reference)), "pieces"),
            Row("English-like pieces", len(overlap.english_like_pieces(tokenizer)), "pieces"),
        ]
        for data in self.texts:
            sentences = [sentence.forms for sentence in data.read()]
            covered = overlap.coverage(tokenizer, sentences)
            contexts = overlap.english_like_contexts(tokenizer, [" ".join(words) for words in sentences])
            shares = {"unknown words": covered.unknown, "characters covered": covered.characters}
            rows += [Row(name, share, "share").labelled(**data_labels(data)) for name, share in shares.items()]
            rows.append(Row("fertility", covered.fertility, "pieces a word").labelled(**data_labels(data)))
            if not math.isnan(contexts):
                rows.append(Row("English-like contexts", contexts, "share").labelled(**data_labels(data)))
        workspace.write_rows(row.labelled(**self.encoder.labels) for row in rows)
