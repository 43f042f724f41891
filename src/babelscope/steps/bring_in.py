"""The encoder with languages brought in by their alignments, and its distillation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, SerializeAsAny

from babelscope.core.step import Results, Step, Workspace
from babelscope.encoders.folder import CARD
from babelscope.encoders.footprint import MOST_PIECES
from babelscope.steps.align import Align, AlignedLanguages, read_languages
from babelscope.steps.card import Brought, card, described
from babelscope.steps.curves import curve_rows
from babelscope.steps.encoder import EncoderStep
from babelscope.steps.pretrain import ENCODER_FOLDER, Learned, keep_encoder

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.encoders.state import Weights
    from babelscope.tasks.design import EncoderModel
    from babelscope.tuning.distilling import LinkedText

RowsBy = Literal["links", "spelling", "chance"]


class WithLanguages(EncoderStep):
    """What encoders have in common that languages were brought into, trained afterwards or not."""

    encoder: SerializeAsAny[EncoderStep]

    @property
    def layers(self) -> int | None:
        return self.encoder.layers

    @property
    def has_mlm_head(self) -> bool | None:
        return self.encoder.has_mlm_head


class BringIn(WithLanguages):
    """An encoder with languages that are read by vocabularies of their own, whose embeddings no step has trained."""

    stored: ClassVar[bool] = False

    name: str
    languages: tuple[Align, ...]
    rows: RowsBy = "links"
    shrinkage: NonNegativeFloat = 1.0
    seed: NonNegativeInt = 0
    """Of rows by chance."""
    after_tuning: bool = False
    """Whether models are tuned without the languages, which are brought into the tuned ones."""

    @property
    def brought_in(self) -> tuple[str, ...] | None:
        before = self.encoder.brought_in
        return None if before is None else (*before, *(aligned.language for aligned in self.languages))

    @property
    def most_added_pieces(self) -> int:
        return sum(aligned.pieces or MOST_PIECES for aligned in self.languages)

    def build(self, results: Results) -> Encoder:
        return self.applied(self.encoder.build(results), results)

    def applied(self, encoder: Encoder, results: Results) -> Encoder:
        """The languages brought into an encoder with the vocabulary of the step's, tuned or not."""
        from babelscope.encoders.bring_in import bring_in

        if not self.languages:
            return encoder
        languages = read_languages(self.languages, encoder, results)
        return bring_in(encoder, languages.tokenizers, self._rows(encoder, languages))

    def texts(self, encoder: Encoder, results: Results) -> Iterator[LinkedText]:
        """The sentences that the languages were aligned in, in the pieces of the encoder and of `applied`."""
        from babelscope.encoders.bring_in import own_pieces
        from babelscope.tuning.distilling import LinkedText

        first, before = encoder.model.config.vocab_size, 0
        for aligned in self.languages:
            language = aligned.read(results)
            targets = [[piece + before * (piece >= first) for piece in sentence] for sentence in language.text.targets]
            yield LinkedText(aligned.language, language.text.sources, targets, language.text.links)
            before += len(own_pieces(encoder, language.tokenizer))

    def into(self, model: EncoderModel, results: Results) -> EncoderModel:
        """A model of the encoder, tuned or not, with the languages; its head is the very same."""
        return model.with_encoder(self.applied(model.encoder, results))

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}

    def _rows(self, encoder: Encoder, languages: AlignedLanguages) -> Weights:
        """Those of all languages, one language after the other."""
        import torch

        from babelscope.encoders.bring_in import linked_rows, own_pieces, random_rows, spelled_rows

        if self.rows == "links":
            return linked_rows(encoder, languages.counts, self.shrinkage)
        own = {code: language.tokenizer for code, language in languages.each.items()}
        if self.rows == "spelling":
            each = [spelled_rows(encoder, tokenizer) for tokenizer in own.values()]
        else:
            pieces = {code: len(own_pieces(encoder, tokenizer)) for code, tokenizer in own.items()}
            each = [random_rows(encoder, count, self.seed, code) for code, count in pieces.items()]
        return {name: torch.cat([rows[name] for rows in each]) for name in each[0]}


class Distil(WithLanguages, Learned):
    """Train an encoder with languages brought in to read translations as it read their sources before."""

    encoder: BringIn
    compared_layers: tuple[NonNegativeInt, ...] | None = None
    source_share: float

    @property
    def brought_in(self) -> tuple[str, ...] | None:
        return self.encoder.brought_in

    @property
    def read_texts(self) -> tuple[Any, ...]:
        return tuple(text for aligned in self.encoder.languages for text in aligned.parallel)

    @property
    def title(self) -> str:
        return f"distil {self.name}"

    def execute(self, workspace: Workspace) -> None:
        """Write the encoder's folder and the curve of its training loss."""
        from babelscope.encoders.bring_in import with_the_rest
        from babelscope.tuning.distilling import distil

        teacher = self.encoder.encoder.build(workspace)
        student, start = (self.encoder.applied(teacher, workspace) for _ in range(2))
        texts = list(self.encoder.texts(teacher, workspace))
        history = distil(
            student, teacher, texts, workspace.folder, tuning=self.tuning,
            layers=self.compared_layers, source_share=self.source_share, seed=self.seed, progress=workspace.progress,
        )  # fmt: skip
        read = ["", *(text.language for text in texts)]  # the sources with the encoder's own tokenizer
        keep_encoder(with_the_rest(student, start, read), workspace)
        (workspace.folder / ENCODER_FOLDER / CARD).write_text(self._card(texts), encoding="utf-8")
        workspace.write_rows(curve_rows(history.points, self.labels | {"task": "distillation", "seed": self.seed}))

    def _card(self, texts: list[LinkedText]) -> str:
        languages = zip(self.encoder.languages, texts, strict=True)
        brought = [
            Brought(aligned.language, [described(each) for each in aligned.parallel], len(text.sources))
            for aligned, text in languages
        ]
        made_of, codes = self.encoder.encoder.labels["encoder"], [each.language for each in brought]
        return card(made_of, brought, trained=True, beside=codes)


def names_by_alignment(steps: Iterable[Step]) -> dict[str, list[str]]:
    """By the key of every alignment that these steps go by, the names of the encoders that it brings a language into.

    Several may share one: with embeddings by links, by spelling and by chance, say.
    """
    names: dict[str, dict[str, None]] = {}
    for brought_in in (inner for step in steps for inner in _unstored(step) if isinstance(inner, BringIn)):
        for aligned in brought_in.languages:
            names.setdefault(aligned.key, {})[brought_in.name] = None
    return {key: list(named) for key, named in names.items()}


def _unstored(step: Step) -> Iterator[Step]:
    """The steps inside a step that are in no plan, since they are computed anew."""
    for inner in vars(step).values():
        if isinstance(inner, Step) and not inner.stored:
            yield inner
            yield from _unstored(inner)
