"""Models of encoders for texts: classifiers, regression, and the masked language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from babelscope.core.errors import EncoderError
from babelscope.encoders.load import Encoder
from babelscope.encoders.vocabulary import foreign_pieces
from babelscope.tasks.classify import Classification, Classifier, evaluate_classifier
from babelscope.tasks.design import Design, EncoderModel, Measured
from babelscope.tasks.family import over_backbone
from babelscope.tasks.measured import measured_language, measured_texts
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling, perplexity_of
from babelscope.tasks.quirky import QuirkyTest
from babelscope.tasks.task import Objective, Score


class TextModel(EncoderModel):
    """A class, or a number, a text."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(encoder, design)
        self.measures = design.task.measures
        self.module: Classifier = Classifier(
            encoder,
            design.task.labels,
            design.dropout,
            design.max_length,
            head=design.head or "first",
            scale=design.task.scale or (0.0, 1.0),
        )

    def with_encoder(self, encoder: Encoder) -> EncoderModel:
        other = super().with_encoder(encoder)
        if self.module.family is not None:
            other.module._modules["family"] = over_backbone(self.module.family, encoder.backbone)
        return other

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        return Classification(self.module, train, dev, self.measures[0])

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        scores = evaluate_classifier(self.module, examples, self.measures)
        return [*scores, Score("examples", len(examples), "texts")]

    def measured(self, examples: Sequence[Any]) -> Measured:
        return measured_texts(self.module, examples, self.measures)


class LanguageModel(EncoderModel):
    """An encoder with its masked language model head."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(encoder, design)
        if not encoder.has_mlm_head:
            raise EncoderError(f"{encoder.name} has no masked language model head, so task mlm cannot use it")
        self.module: nn.Module = encoder.model

    def with_encoder(self, encoder: Encoder) -> LanguageModel:
        return LanguageModel(encoder, self.design)

    def training(self, train: Sequence[str], dev: Mapping[str, Sequence[str]]) -> Objective:
        held_out = {name: self._plainly(part) for name, part in dev.items()}
        return MaskedLanguageModelling(
            self.encoder.tokenizer, train, self.max_length, dev=held_out, foreign=foreign_pieces(self.encoder),
            attends_padding="padding-as-text" in self.design.quirks,
        )  # fmt: skip

    def scores(self, examples: Sequence[str]) -> list[Score]:
        """Perplexity on fixed masked tokens, with the losses that it is made of.

        One that is cut to several sequences, for being longer than `max_length`, is one sentence.
        """
        losses = self.held_out(examples).losses(self.encoder.model)
        summed, counted = losses[:, 0].tolist(), losses[:, 1].astype(int).tolist()
        return [Score("perplexity", perplexity_of(losses), "", None, None, tuple(summed), tuple(counted))]

    def measured(self, examples: Sequence[str]) -> Measured:
        return measured_language(self.encoder.model, self.held_out(examples))

    def held_out(self, sentences: Sequence[str]) -> HeldOut:
        """Sentences with masks that stay the same."""
        held_out = self._plainly(sentences)
        if not self.design.quirks:
            return held_out
        return QuirkyTest(held_out.pieces, held_out.owners, held_out.places, held_out.masking, self.design.quirks)

    def _plainly(self, sentences: Sequence[str]) -> HeldOut:
        return HeldOut.of(self.encoder.tokenizer, sentences, self.max_length, foreign=foreign_pieces(self.encoder))
