"""Models of encoders for words: taggers, taggers of entities, parsers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from babelscope.core.examples import Sentence, Tagged
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Frame
from babelscope.tasks.cut_sentences import cut_to_pieces, cut_to_words
from babelscope.tasks.design import Design, EncoderModel, Gold, Measured
from babelscope.tasks.measured import measured_entities, measured_tags, measured_trees
from babelscope.tasks.ner import EntityTagging, bio_labels, evaluate_ner
from babelscope.tasks.parse import Parser, Parsing, evaluate_parser
from babelscope.tasks.tag import Tagger, Tagging, evaluate_tagger
from babelscope.tasks.task import Objective, Score


class WindowModel(EncoderModel):
    """A model that reads long sentences in windows."""

    @property
    def max_length(self) -> int:
        """The longest sequence. Published code counts no special pieces, and ends one short of what it was asked."""
        asked = self.design.max_length
        if asked is None or "repeating-windows" not in self.design.quirks:
            return super().max_length
        return min(self.encoder.max_length, asked - 1 + len(Frame.of(self.encoder.tokenizer)))


class TaggingModel(WindowModel):
    """A label a word."""

    def __init__(self, encoder: Encoder, design: Design, gold: Gold):
        super().__init__(encoder, design)
        self.gold = gold
        self.module: Tagger = Tagger(encoder, design.task.labels, design.dropout, self.max_length, design.quirks)

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        return Tagging(self.module, self.gold(train), {name: self.gold(part) for name, part in dev.items()})

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        return evaluate_tagger(self.module, self.gold(examples))

    def measured(self, examples: Sequence[Any]) -> Measured:
        return measured_tags(self.module, self.gold(examples))


class EntityModel(WindowModel):
    """A BIO tag a word."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(encoder, design)
        labels = bio_labels(design.entity_types)
        self.module: Tagger = Tagger(encoder, labels, design.dropout, self.max_length, design.quirks)

    def training(self, train: Sequence[Tagged], dev: Mapping[str, Sequence[Tagged]]) -> Objective:
        return EntityTagging(self.module, train, dev)

    def scores(self, examples: Sequence[Tagged]) -> list[Score]:
        return evaluate_ner(self.module, examples)

    def measured(self, examples: Sequence[Tagged]) -> Measured:
        return measured_entities(self.module, examples)


class ParsingModel(EncoderModel):
    """A tree a sentence."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(encoder, design)
        self.module: Parser = Parser(encoder, design.head, design.dropout, self.max_length, design.quirks)

    @property
    def max_length(self) -> int:
        """The longest sequence; where sentences are cut, that of the encoder."""
        return self.encoder.max_length if self._cuts else super().max_length

    @property
    def _cuts(self) -> bool:
        return "cut-sentences" in self.design.quirks

    def training(self, train: Sequence[Sentence], dev: Mapping[str, Sequence[Sentence]]) -> Objective:
        train = cut_to_pieces(self.encoder.tokenizer, train, super().max_length) if self._cuts else train
        read = {name: self._read(part) for name, part in dev.items()}
        return Parsing(self.module, train, read, self.design.task.measures[0])

    def scores(self, examples: Sequence[Sentence]) -> list[Score]:
        return evaluate_parser(self.module, self._read(examples))

    def measured(self, examples: Sequence[Sentence]) -> Measured:
        return measured_trees(self.module, self._read(examples), self.design.task.measures)

    def _read(self, examples: Sequence[Sentence]) -> Sequence[Sentence]:
        """What is scored of sentences."""
        return cut_to_words(examples, super().max_length) if self._cuts else examples
