"""Models of encoders for words: taggers, taggers of entities, parsers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from babelscope.core.examples import Sentence, Tagged, tagged
from babelscope.encoders.load import Encoder
from babelscope.tasks.design import Design, EncoderModel, Measured
from babelscope.tasks.measured import measured_entities, measured_tags, measured_trees
from babelscope.tasks.ner import EntityTagging, bio_labels, evaluate_ner
from babelscope.tasks.parse import Parser, Parsing, evaluate_parser
from babelscope.tasks.tag import Tagger, Tagging, evaluate_tagger
from babelscope.tasks.task import Objective, Score


class TaggingModel(EncoderModel):
    """A label a word."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(encoder, design)
        self.module: Tagger = Tagger(encoder, design.task.labels, design.dropout, design.max_length)

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        return Tagging(self.module, self.gold(train), {name: self.gold(part) for name, part in dev.items()})

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        return evaluate_tagger(self.module, self.gold(examples))

    def measured(self, examples: Sequence[Any]) -> Measured:
        return measured_tags(self.module, self.gold(examples))

    def gold(self, examples: Sequence[Any]) -> list[Tagged]:
        """Words with their labels."""
        return tagged(examples, self.design.task.label)


class EntityModel(EncoderModel):
    """A BIO tag a word."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(encoder, design)
        self.module: Tagger = Tagger(encoder, bio_labels(design.entity_types), design.dropout, design.max_length)

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
        self.module: Parser = Parser(encoder, design.head, design.dropout, design.max_length)

    def training(self, train: Sequence[Sentence], dev: Mapping[str, Sequence[Sentence]]) -> Objective:
        return Parsing(self.module, train, dev, self.design.task.measures[0])

    def scores(self, examples: Sequence[Sentence]) -> list[Score]:
        return evaluate_parser(self.module, examples)

    def measured(self, examples: Sequence[Sentence]) -> Measured:
        return measured_trees(self.module, examples, self.design.task.measures)
