"""The alignment of a language with an encoder, learned from translated sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pydantic import PositiveInt, SerializeAsAny

from babelscope.core.row import Row
from babelscope.core.step import Results, Step, Workspace
from babelscope.corpora.parallel import KnownLinks, ParallelText, WorldPairs, joined
from babelscope.corpora.spacing import unspaced_script
from babelscope.steps.encoder import EncoderStep

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from transformers import PreTrainedTokenizerBase

    from babelscope.encoders.aligned_text import AlignedLanguage
    from babelscope.encoders.load import Encoder

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
    source: str | None = None
    """The code of what the translations are from, where their files do not say it. An encoder that reads it by a
    vocabulary of its own is aligned by that one."""
    edition: PositiveInt = 1
    """Of how links are judged in the world. In the first, links between full stops counted as errors."""

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

        encoder = self._reader(self.encoder.build(workspace))
        pairs = joined(self.parallel).pairs[: self.pairs]
        known = self._known_links(pairs)
        language = AlignedLanguage.learned(
            encoder, pairs, self.pieces, keep_accents=self.keep_accents,
            links=[each.sure for each in known] if self.known else None,
        )  # fmt: skip
        save_tokenizer(language.tokenizer, workspace.folder / TOKENIZER, pretty=False)
        language.text.save(workspace.folder / ALIGNED)
        rows = [*_sizes(encoder, language, pairs), *self._quality(encoder, language, pairs, known)]
        workspace.write_rows(row.labelled(**self.labels) for row in rows)

    def read(self, results: Results) -> AlignedLanguage:
        """What was written."""
        from transformers import PreTrainedTokenizerFast

        from babelscope.encoders.aligned_text import AlignedLanguage, AlignedText

        folder = results.result(self)
        return AlignedLanguage(
            PreTrainedTokenizerFast.from_pretrained(folder / TOKENIZER), AlignedText.load(folder / ALIGNED)
        )

    def _reader(self, encoder: Encoder) -> Encoder:
        """The encoder with the tokenizer that it reads the source by."""
        source = self.source or next((text.source for text in self.parallel if text.source), None)
        return encoder.reading(source) if source else encoder

    def _known_links(self, pairs: list[tuple[str, str]]) -> list[KnownLinks]:
        """Between the words of the pairs, as far as the world knows them all; else none."""
        links: dict[tuple[str, str], KnownLinks] = {}
        for text in self.parallel:
            if not isinstance(text, WorldPairs):
                return []
            links |= dict(zip(text.read(), text.alignments(), strict=True))
        return [links[pair] for pair in pairs]

    def _quality(
        self, encoder: Encoder, language: AlignedLanguage, pairs: list[tuple[str, str]], known: list[KnownLinks]
    ) -> Iterator[Row]:
        """How far the links are those that are known, between words; nothing where none are known."""
        from babelscope.corpora.alignment.error_rate import alignment_quality
        from babelscope.corpora.alignment.links import hard_links
        from babelscope.encoders.aligned_text import in_words

        if known:
            words = in_words(language.text.links, encoder.tokenizer, language.tokenizer, pairs)
            sure, possible = [each.sure for each in known], [each.possible for each in known]
            quality = alignment_quality(hard_links(words, len(pairs)), sure, possible if self.edition > 1 else None)
            yield Row("alignment error rate", quality.error_rate, "share")
            yield Row("alignment precision", quality.precision, "share")
            yield Row("alignment recall", quality.recall, "share")


class AlignedLanguages(NamedTuple):
    """What alignments of several languages with one encoder have learned, put together."""

    each: dict[str, AlignedLanguage]
    tokenizers: dict[str, PreTrainedTokenizerBase]
    """Each's own, whose pieces follow those of the one before."""
    counts: csr_array
    """[own pieces of all, the encoder's embeddings]: how often each is linked with each."""


_latest: dict[tuple[tuple[str, ...], int], AlignedLanguages] = {}
"""The languages read last, by the keys of their alignments and the number of embeddings before them: a worker brings
them into one encoder after another."""


def read_languages(alignments: Sequence[Align], encoder: Encoder, results: Results) -> AlignedLanguages:
    """The languages of one or more alignments with an encoder, or with what it was before it was tuned."""
    first = encoder.model.config.vocab_size
    made_by = (tuple(aligned.key for aligned in alignments), first)
    if made_by not in _latest:
        together = _together({aligned.language: aligned.read(results) for aligned in alignments}, encoder)
        _latest.clear()
        _latest[made_by] = together
    return _latest[made_by]


def _together(languages: dict[str, AlignedLanguage], encoder: Encoder) -> AlignedLanguages:
    from scipy.sparse import vstack

    from babelscope.encoders.bring_in import own_pieces
    from babelscope.encoders.own_vocabulary import renumbered

    first = size = encoder.model.config.vocab_size
    tokenizers = {}
    for code, language in languages.items():
        tokenizers[code] = renumbered(language.tokenizer, first, size)
        size += len(own_pieces(encoder, language.tokenizer))
    counts = vstack([language.counts(encoder) for language in languages.values()], format="csr")
    return AlignedLanguages(languages, tokenizers, counts)


def _sizes(encoder: Encoder, language: AlignedLanguage, pairs: list[tuple[str, str]]) -> Iterator[Row]:
    """How many pairs and pieces there are, what share of the pieces has a link, and how many pieces a word has.

    Nothing of the last where there are no spaces between words, so that words cannot be counted.
    """
    linked = language.counts(encoder).sum(axis=1) > 0
    translations = [translation for _, translation in pairs]
    yield Row("pairs", len(pairs), "pairs of sentences")
    yield Row("own pieces", len(linked), "pieces")
    yield Row("linked pieces", float(linked.mean()), "share")
    if not unspaced_script(translations):
        words = sum(len(translation.split()) for translation in translations)
        yield Row("fertility", sum(map(len, language.text.targets)) / words, "pieces a word")
