"""Languages brought into an encoder by translated sentences: their alignments, and the encoder that has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.row import Row
from babelscope.core.step import Needs, Results, Step, Workspace
from babelscope.corpora.parallel import ParallelText, WorldPairs, joined
from babelscope.encoders.places import CARD
from babelscope.steps.card import Brought, card, described
from babelscope.steps.curves import curve_rows
from babelscope.steps.encoder import EncoderStep
from babelscope.steps.pretrain import ENCODER_FOLDER, Learned, keep_encoder
from babelscope.tuning.settings import Tuning

if TYPE_CHECKING:
    from babelscope.corpora.alignment.links import Links
    from babelscope.encoders.aligned_text import AlignedLanguage
    from babelscope.encoders.load import Encoder
    from babelscope.encoders.state import Weights
    from babelscope.tasks.design import EncoderModel
    from babelscope.tuning.distilling import LinkedText

RowsBy = Literal["links", "spelling", "chance"]
TOKENIZER, ALIGNED = "tokenizer", "aligned.safetensors"


class Align(Step):
    """Learn a vocabulary of a language's own, and which of its pieces translate which of an encoder's."""

    row_kind: ClassVar[str] = "alignment"

    encoder: SerializeAsAny[EncoderStep]
    language: str
    parallel: tuple[ParallelText, ...]
    pairs: PositiveInt | None = None
    """At most, of all texts together; None: all."""
    pieces: PositiveInt | None = None
    """Learned at most; None: by the amount of text."""
    keep_accents: bool = True
    known: bool = False
    """Whether it is not learnt which words translate each other, but taken from the world, which knows it."""

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the encoder and of the language."""
        return self.encoder.labels | {"language": self.language}

    @property
    def title(self) -> str:
        return f"align {self.language} with {self.encoder.labels['encoder']}"

    def execute(self, workspace: Workspace) -> None:
        """Write the tokenizer and the links, and how much there is of all."""
        from babelscope.encoders.aligned_text import AlignedLanguage
        from babelscope.encoders.beside import save_tokenizer

        encoder = self.encoder.build(workspace)
        pairs = joined(self.parallel).pairs[: self.pairs]
        links = self._known_links(pairs)
        language = AlignedLanguage.learned(
            encoder, pairs, self.pieces, keep_accents=self.keep_accents, links=links if self.known else None
        )
        save_tokenizer(language.tokenizer, workspace.folder / TOKENIZER, pretty=False)
        language.text.save(workspace.folder / ALIGNED)
        rows = [*_sizes(encoder, language, pairs), *_quality(encoder, language, pairs, links)]
        workspace.write_rows(row.labelled(**self.labels) for row in rows)

    def read(self, results: Results) -> AlignedLanguage:
        """What was written."""
        from transformers import PreTrainedTokenizerFast

        from babelscope.encoders.aligned_text import AlignedLanguage, AlignedText

        folder = results.result(self)
        return AlignedLanguage(
            PreTrainedTokenizerFast.from_pretrained(folder / TOKENIZER), AlignedText.load(folder / ALIGNED)
        )

    def _known_links(self, pairs: list[tuple[str, str]]) -> list[Links]:
        """Between the words of the pairs, as far as the world knows them all; else none."""
        links: dict[tuple[str, str], Links] = {}
        for text in self.parallel:
            if not isinstance(text, WorldPairs):
                return []
            links |= dict(zip(text.read(), text.alignments(), strict=True))
        return [links[pair] for pair in pairs]


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

    def build(self, results: Results) -> Encoder:
        return self.applied(self.encoder.build(results), results)

    def applied(self, encoder: Encoder, results: Results) -> Encoder:
        """The languages brought into an encoder with the vocabulary of the step's, tuned or not."""
        from babelscope.encoders.bring_in import bring_in, own_pieces
        from babelscope.encoders.own_vocabulary import renumbered

        languages = {aligned.language: aligned.read(results) for aligned in self.languages}
        first = size = encoder.model.config.vocab_size
        tokenizers = {}
        for code, language in languages.items():
            tokenizers[code] = renumbered(language.tokenizer, first, size)
            size += len(own_pieces(encoder, language.tokenizer))
        return bring_in(encoder, tokenizers, self._rows(encoder, languages)) if languages else encoder

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

    def _rows(self, encoder: Encoder, languages: dict[str, AlignedLanguage]) -> Weights:
        """Those of all languages, one language after the other."""
        import torch
        from scipy.sparse import vstack

        from babelscope.encoders.bring_in import linked_rows, own_pieces, random_rows, spelled_rows

        if self.rows == "links":  # at once, since what they have in common takes longest
            counts = [language.counts(encoder) for language in languages.values()]
            return linked_rows(encoder, vstack(counts, format="csr"), self.shrinkage)
        if self.rows == "spelling":
            each = [spelled_rows(encoder, language.tokenizer) for language in languages.values()]
        else:
            pieces = {code: len(own_pieces(encoder, language.tokenizer)) for code, language in languages.items()}
            each = [random_rows(encoder, count, self.seed, code) for code, count in pieces.items()]
        return {name: torch.cat([rows[name] for rows in each]) for name in each[0]}


class Distil(WithLanguages, Learned):
    """Train an encoder with languages brought in to read translations as it read their sources before."""

    encoder: BringIn
    compared_layers: tuple[NonNegativeInt, ...] | None = None
    source_share: float
    tuning: Tuning
    seed: NonNegativeInt

    @property
    def brought_in(self) -> tuple[str, ...] | None:
        return self.encoder.brought_in

    @property
    def read_texts(self) -> tuple[Any, ...]:
        return tuple(text for aligned in self.encoder.languages for text in aligned.parallel)

    @property
    def needs(self) -> Needs:
        return Needs.on(self.tuning.device, self.tuning.threads)

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


def _sizes(encoder: Encoder, language: AlignedLanguage, pairs: list[tuple[str, str]]) -> Iterator[Row]:
    """How many pairs and pieces there are, what share of the pieces has a link, and how many pieces a word has."""
    linked = language.counts(encoder).sum(axis=1) > 0
    words = sum(len(translation.split()) for _, translation in pairs)
    yield Row("pairs", len(pairs), "pairs of sentences")
    yield Row("own pieces", len(linked), "pieces")
    yield Row("linked pieces", float(linked.mean()), "share")
    yield Row("fertility", sum(map(len, language.text.targets)) / words, "pieces a word")


def _quality(
    encoder: Encoder, language: AlignedLanguage, pairs: list[tuple[str, str]], known: list[Links]
) -> Iterator[Row]:
    """How far the links are those that are known, between words; nothing where none are known."""
    from babelscope.corpora.alignment.error_rate import alignment_quality
    from babelscope.corpora.alignment.links import hard_links
    from babelscope.encoders.aligned_text import in_words

    if known:
        words = in_words(language.text.links, encoder.tokenizer, language.tokenizer, pairs)
        quality = alignment_quality(hard_links(words, len(pairs)), known)
        yield Row("alignment error rate", quality.error_rate, "share")
        yield Row("alignment precision", quality.precision, "share")
        yield Row("alignment recall", quality.recall, "share")
