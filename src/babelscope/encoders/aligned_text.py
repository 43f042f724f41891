"""Sentences and their translations in pieces, and which pieces translate each other: learnt, or known by words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_array
from transformers import PreTrainedTokenizerBase

from babelscope.corpora.alignment.align import soft_links
from babelscope.corpora.alignment.links import Integers, Links, SoftLinks, counts
from babelscope.encoders.bring_in import own_pieces
from babelscope.encoders.load import Encoder
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.windows import pieces_of_words

TextPair = tuple[str, str]


class AlignedText(NamedTuple):
    """Pairs of sentences, without special pieces, and links between their pieces."""

    sources: list[list[int]]
    """The ids of each sentence's pieces."""
    targets: list[list[int]]
    """Those of its translation."""
    links: SoftLinks

    def counts(self, first: int, pieces: int) -> csr_array:
        """[pieces, first]: how often each own piece of the translations' vocabulary is linked with each of the source.

        Args:
            first: the id of the first own piece, above those of the source.
            pieces: how many there are.
        """
        linked = counts(self.links, self.sources, self.targets)
        linked.resize((first + pieces, first))
        return linked[first:]

    def save(self, path: Path) -> None:
        """Write it to a safetensors file."""
        sides = {name: side for name, side in (("sources", self.sources), ("targets", self.targets))}
        ids = {name: np.array(list(chain.from_iterable(side)), dtype=np.int32) for name, side in sides.items()}
        lengths = {f"{name} lengths": np.array([*map(len, side)], dtype=np.int32) for name, side in sides.items()}
        places = {name: np.asarray(getattr(self.links, name), dtype=np.int32) for name in ("pair", "source", "target")}
        save_file({**ids, **lengths, **places, "weight": self.links.weight.astype(np.float32)}, path)

    @classmethod
    def load(cls, path: Path) -> AlignedText:
        """What `save` wrote; weights have the precision of float32."""
        kept = load_file(path)
        sources, targets = (
            [kept[name][start:end].tolist() for start, end in pairwise([0, *np.cumsum(kept[f"{name} lengths"])])]
            for name in ("sources", "targets")
        )
        pair, source, target = (kept[name].astype(np.int64) for name in ("pair", "source", "target"))
        return cls(sources, targets, SoftLinks(pair, source, target, kept["weight"].astype(np.float64)))


class AlignedLanguage(NamedTuple):
    """A vocabulary of a language's own, and which of its pieces translate which of an encoder's."""

    tokenizer: PreTrainedTokenizerBase
    """The language's own."""
    text: AlignedText

    @classmethod
    def learned(
        cls,
        encoder: Encoder,
        pairs: Sequence[TextPair],
        size: int | None = None,
        *,
        keep_accents: bool = True,
        links: Sequence[Links] | None = None,
    ) -> AlignedLanguage:
        """Learn both from sentences of what the encoder reads with their translations.

        Args:
            encoder: reads the sentences with its tokenizer.
            pairs: sentences with their translations.
            size: of the vocabulary, as `own_vocabulary` has it, as is `keep_accents`.
            links: those between the words of each pair, where they are known; None: they are learned.

        Raises:
            InputError: as of `own_vocabulary`.
        """
        tokenizer = own_vocabulary(encoder, [translation for _, translation in pairs], size, keep_accents=keep_accents)
        both = (encoder.tokenizer, tokenizer)
        return cls(tokenizer, align_pieces(*both, pairs) if links is None else with_links(*both, pairs, links))

    def counts(self, encoder: Encoder) -> csr_array:
        """[own pieces, the encoder's embeddings]: how often each is linked with each."""
        return self.text.counts(encoder.model.config.vocab_size, len(own_pieces(encoder, self.tokenizer)))


def align_pieces(
    source: PreTrainedTokenizerBase, target: PreTrainedTokenizerBase, pairs: Sequence[TextPair]
) -> AlignedText:
    """Learn from all pairs which pieces translate each other.

    Args:
        source: the tokenizer of the first sentences.
        target: that of the second.
        pairs: sentences with their translations. Where a side has no piece, there are no links.
    """
    sources, targets = (_ids(tokenizer, side) for tokenizer, side in zip((source, target), _sides(pairs), strict=True))
    whole = np.array([k for k, both in enumerate(zip(sources, targets, strict=True)) if all(both)], dtype=np.int64)
    links = soft_links([(sources[k], targets[k]) for k in whole])
    return AlignedText(sources, targets, links._replace(pair=whole[links.pair]))


def with_links(
    source: PreTrainedTokenizerBase,
    target: PreTrainedTokenizerBase,
    pairs: Sequence[TextPair],
    links: Sequence[Links],
) -> AlignedText:
    """The same where it is known which words translate each other: a word's pieces share its links.

    Each piece of a linked word is linked with every piece of the other. The links of a target's piece with all the
    pieces of a word weigh 1 together.

    Args:
        source: the tokenizer of the first sentences.
        target: that of the second.
        pairs: words separated by spaces.
        links: of each pair, between words.
    """
    sources, targets = (
        pieces_of_words(tokenizer, [text.split(" ") for text in side])
        for tokenizer, side in zip((source, target), _sides(pairs), strict=True)
    )
    spread = [
        (k, i, j, 1 / len(sources[k][first]))
        for k, linked in enumerate(links)
        for first, second in linked
        for i in _places(sources[k], first)
        for j in _places(targets[k], second)
    ]
    *places, weights = np.array(sorted(spread)).reshape(-1, 4).T
    pair, source_place, target_place = (column.astype(np.int64) for column in places)
    flat_sources, flat_targets = ([list(chain.from_iterable(words)) for words in side] for side in (sources, targets))
    return AlignedText(flat_sources, flat_targets, SoftLinks(pair, source_place, target_place, weights))


def in_words(
    links: SoftLinks, source: PreTrainedTokenizerBase, target: PreTrainedTokenizerBase, pairs: Sequence[TextPair]
) -> SoftLinks:
    """Links between pieces as links between words separated by spaces; of several the heaviest counts."""
    starts, words = zip(
        *(_words_of_pieces(tokenizer, side) for tokenizer, side in zip((source, target), _sides(pairs), strict=True)),
        strict=True,
    )
    ends = [words[k][starts[k][links.pair] + place] for k, place in enumerate((links.source, links.target))]
    by_weight = np.argsort(-links.weight, kind="stable")
    linked = np.stack([links.pair, *ends])[:, by_weight]
    (pair, first, second), heaviest = np.unique(linked, axis=1, return_index=True)
    return SoftLinks(pair, first, second, links.weight[by_weight][heaviest])


def _sides(pairs: Sequence[TextPair]) -> tuple[list[str], list[str]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def _ids(tokenizer: PreTrainedTokenizerBase, sentences: list[str]) -> list[list[int]]:
    ids: list[list[int]] = tokenizer(sentences, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def _places(words: Sequence[Sequence[int]], number: int) -> range:
    """Where the pieces of a word are in its sentence."""
    start = sum(map(len, words[:number]))
    return range(start, start + len(words[number]))


def _words_of_pieces(tokenizer: PreTrainedTokenizerBase, sentences: list[str]) -> tuple[Integers, Integers]:
    """[sentences]: where the pieces of each begin; and [pieces of all]: the word of each in its sentence."""
    words = pieces_of_words(tokenizer, [text.split(" ") for text in sentences])
    numbers = [np.repeat(np.arange(len(each)), [len(pieces) for pieces in each]) for each in words]
    lengths = np.array([len(each) for each in numbers])
    return np.cumsum(lengths) - lengths, np.concatenate(numbers)
