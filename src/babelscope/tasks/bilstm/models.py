"""Models without an encoder: a BiLSTM that tags, finds entities, or parses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from babelscope.core.examples import Sentence
from babelscope.tasks.bilstm.backbone import BiLstmBackbone
from babelscope.tasks.bilstm.parse import BiLstmParser, BiLstmParsing
from babelscope.tasks.bilstm.tag import BiLstmTagger, BiLstmTagging, evaluate_bilstm_ner, evaluate_bilstm_tagger
from babelscope.tasks.design import Design, Gold, TaskModel
from babelscope.tasks.ner import bio_labels
from babelscope.tasks.parse import evaluate_parser
from babelscope.tasks.task import Objective, Score


class RecurrentTaggingModel(TaskModel):
    """A label a word."""

    def __init__(self, backbone: BiLstmBackbone, design: Design, gold: Gold):
        super().__init__(design)
        self.gold = gold
        self.module: BiLstmTagger = BiLstmTagger(backbone, design.task.labels)

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        held_out = {name: self.gold(part) for name, part in dev.items()}
        return BiLstmTagging(self.module, self.gold(train), held_out)

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        return evaluate_bilstm_tagger(self.module, self.gold(examples))


class RecurrentEntityModel(TaskModel):
    """A BIO tag a word, by a CRF."""

    def __init__(self, backbone: BiLstmBackbone, design: Design):
        super().__init__(design)
        self.module: BiLstmTagger = BiLstmTagger(backbone, bio_labels(design.entity_types), "crf")

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        return BiLstmTagging(self.module, train, dev, "f1")

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        return evaluate_bilstm_ner(self.module, examples)


class RecurrentParsingModel(TaskModel):
    """A tree a sentence."""

    def __init__(self, backbone: BiLstmBackbone, design: Design):
        super().__init__(design)
        self.module: BiLstmParser = BiLstmParser(backbone)

    def training(self, train: Sequence[Sentence], dev: Mapping[str, Sequence[Sentence]]) -> Objective:
        return BiLstmParsing(self.module, train, dev, self.design.task.measures[0])

    def scores(self, examples: Sequence[Sentence]) -> list[Score]:
        return evaluate_parser(self.module, examples)
