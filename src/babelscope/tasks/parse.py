"""Dependency parsing: the head of each word of a sentence, and its relation to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, Sentence, Tree, Word
from babelscope.encoders.encoded import encoded_words
from babelscope.encoders.load import Encoder
from babelscope.encoders.on_device import KeptBatches
from babelscope.encoders.pieces import Batch, Pieces, by_length, evaluation_tokens
from babelscope.encoders.windows import Windows, encode_words
from babelscope.tasks.attachment import attachment_scores, attachment_shares, universal
from babelscope.tasks.biaffine import NONE
from babelscope.tasks.biaffine_as_published import check_root, drops_after_layers, scorer
from babelscope.tasks.parsable import check_lengths, check_sentences
from babelscope.tasks.tag import first_pieces
from babelscope.tasks.task import Score


class WordBatch(NamedTuple):
    """Whole sentences, each with all of its windows."""

    batch: Batch
    """Their windows."""
    firsts: Tensor
    """[sentences, words]: positions of the words' first pieces in the batch, read row by row; 0 where padded."""
    real: Tensor
    """[sentences, words], bool: False where padded."""
    starts: Tensor
    """[sentences]: positions of the sentences' first tokens, such as `[CLS]`."""

    def to(self, device: torch.device) -> WordBatch:
        """The same batch on a device."""
        return WordBatch(self.batch.to(device), *(tensor.to(device) for tensor in self[1:]))


SentenceBatch = tuple[NDArray[np.int64], WordBatch]
"""Which sentences there are, and what a parser reads of them."""


class ParseBatch(NamedTuple):
    """Sentences with their gold trees."""

    words: Any
    """A `WordBatch`, or what another parser reads."""
    heads: Tensor
    """[sentences, words]: gold heads; `NONE` where padded."""
    relations: Tensor
    """[sentences, words]: gold classes; `NONE` where padded."""


class Parser(nn.Module):
    """An encoder's backbone, with dropout and a biaffine scorer over the last hidden states of first pieces.

    The backbone is the encoder's own, not a copy: training the parser changes the encoder. A sentence longer than
    the encoder is read in windows, and all of its words meet in the scorer. `head` is a name in `biaffine.SHAPES`
    (None: by the encoder's size), `max_length` (pieces) can only be less than what the encoder has positions for,
    `quirks` are of those in `as_published`.
    """

    def __init__(
        self,
        encoder: Encoder,
        head: str | None = None,
        dropout: float = 0.1,
        max_length: int | None = None,
        quirks: Collection[str] = (),
    ):
        super().__init__()
        self.quirks = frozenset(quirks)
        self.tokenizer = encoder.tokenizer
        self.max_length = min(encoder.max_length, max_length or encoder.max_length)
        self.backbone = encoder.backbone
        self.dropout = nn.Dropout(dropout)
        self.biaffine = scorer(encoder.backbone.config.hidden_size, head, self.quirks)
        check_root(self.quirks, encoder)
        if drops_after_layers(head, self.quirks):
            self.dropout, self.biaffine.dropout = nn.Dropout(0), nn.Dropout(dropout)

    def forward(self, words: WordBatch) -> Tensor:
        """[sentences, words, hidden]: the states of words; with the quirk `cls-root` that of the root before them."""
        batch, places = words.batch, words.firsts
        if self.biaffine.root is None:
            places = torch.cat([words.starts[:, None], places], dim=1)
        states = self.backbone(input_ids=batch.ids, attention_mask=batch.attention_mask).last_hidden_state
        chosen = states.flatten(0, 1).index_select(0, places.flatten()).view(*places.shape, -1)
        if "sentence-dropout" not in self.quirks:
            return self.dropout(chosen)
        return chosen * self.dropout(chosen.new_ones(len(chosen), 1, chosen.shape[2]))

    def predict(self, sentences: Sequence[Sequence[str]], tokens_per_batch: int | None = None) -> list[Tree]:
        """A tree over the words of each sentence: one word is the root, and it alone has the relation `root`."""
        check_lengths(sentences)
        windows = encode_words(self.tokenizer, sentences, self.max_length)  # of text that nobody gave to be kept
        encoded = EncodedSentences(windows)
        tokens = tokens_per_batch or evaluation_tokens(self.biaffine.device)
        return predict_trees(self, len(encoded.lengths), sentence_batches(encoded, tokens))


@dataclass(frozen=True)
class EncodedSentences:
    """Sentences of words, encoded once. A sentence's windows follow one another."""

    windows: Windows

    @classmethod
    def of(cls, parser: Parser, sentences: Sequence[Sequence[str]]) -> EncodedSentences:
        """Encode sentences for a parser."""
        return cls(encoded_words(parser.tokenizer, sentences, parser.max_length))

    @cached_property
    def word_counts(self) -> NDArray[np.int64]:
        """[sentences]."""
        return np.diff(self.windows.sentence_starts)

    @cached_property
    def window_starts(self) -> NDArray[np.int64]:
        """[sentences + 1]: the first window of each sentence, and the number of windows."""
        first_words = [owned[0] for owned in self.windows.owned]
        return np.searchsorted(first_words, self.windows.sentence_starts)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[sentences]: pieces of each in all of its windows, special pieces included; 0 for one without words."""
        pieces = np.concatenate([[0], np.cumsum(self.windows.pieces.lengths)])
        return np.diff(pieces[self.window_starts])

    @cached_property
    def batches(self) -> KeptBatches[SentenceBatch]:
        """All that have words."""
        return KeptBatches(lambda device: sentence_batches(self, evaluation_tokens(device)))

    def batch(self, indices: NDArray[np.int64]) -> WordBatch:
        """The sentences at `indices`, in that order; each has words."""
        begin, end = self.window_starts[indices], self.window_starts[indices + 1]
        windows = _ranges(begin, end)
        batch = self.windows.pieces.batch(windows)
        width = batch.ids.shape[1]
        counts = torch.from_numpy(self.word_counts[indices])
        real = torch.arange(int(counts.max())) < counts[:, None]
        firsts = torch.zeros(real.shape, dtype=torch.int64)
        firsts[real] = first_pieces(self.windows, windows, width)
        starts = torch.from_numpy((np.cumsum(end - begin) - (end - begin)) * width)
        return WordBatch(batch, firsts, real, starts)


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start to its end, one range after the other."""
    counts = ends - starts
    return np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)


def sentence_batches(encoded: EncodedSentences, tokens_per_batch: int) -> Iterator[SentenceBatch]:
    """All sentences that have words, from the shortest to the longest: which there are, and what a parser reads."""
    some = np.flatnonzero(encoded.lengths)
    for indices in (some[batch] for batch in by_length(encoded.lengths[some], tokens_per_batch)):
        yield indices, encoded.batch(indices)


@torch.no_grad()
def read_sentences(
    parser: Any, batches: Iterable[tuple[NDArray[np.int64], Any]]
) -> Iterator[tuple[NDArray[np.int64], Any, Tensor]]:
    """Batch by batch, which sentences there are, what the parser reads of them, and the states that it makes."""
    was_training, device = parser.training, parser.biaffine.device
    parser.eval()
    for indices, given in batches:
        words = given.to(device)
        yield indices, words, parser(words)
    parser.train(was_training)


def predict_trees(parser: Any, sentences: int, batches: Iterable[tuple[NDArray[np.int64], Any]]) -> list[Tree]:
    """The tree of each of so many sentences; of those that are in no batch it is empty. The parser is of any kind."""
    trees = [Tree([], []) for _ in range(sentences)]
    for indices, words, states in read_sentences(parser, batches):
        for index, tree in zip(indices.tolist(), parser.biaffine.trees(states, words.real), strict=True):
            trees[index] = tree
    return trees


class PredictsTrees(Protocol):
    """A parser of any kind."""

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A tree over the words of each sentence."""


def evaluate_parser(parser: PredictsTrees, sentences: Sequence[Sentence]) -> list[Score]:
    """LAS and UAS of a parser; then `las.nopunct` and `uas.nopunct`, without the words tagged PUNCT or SYM.

    Raises:
        InputError: there is no word; or as of `check_sentences`.
    """
    sentences = [sentence for sentence in sentences if sentence.words]
    if not sentences:
        raise InputError("no word to parse: the evaluation data is empty")
    check_sentences(sentences)
    return attachment_scores(
        [sentence.words for sentence in sentences], parser.predict([sentence.forms for sentence in sentences])
    )


def gold_trees(sentences: Sequence[Sequence[Word]]) -> tuple[Pieces, Pieces]:
    """The heads of words, and the classes of their relations, padded with `NONE` in batches.

    Relations are universal ones (`check_sentences`). Where a sentence was cut, a word whose head is gone has neither.
    """
    classes = {deprel: number for number, deprel in enumerate(DEPREL)}
    deprels = [[universal(word.deprel) for word in words] for words in sentences]
    heads = [[word.head if word.head <= len(words) else NONE for word in words] for words in sentences]
    relations = [
        [NONE if head == NONE else classes[deprel] for head, deprel in zip(*rows, strict=True)]
        for rows in zip(heads, deprels, strict=True)
    ]
    return Pieces.of(heads, NONE), Pieces.of(relations, NONE)


@dataclass(frozen=True)
class Parsing:
    """The task: sentences with gold trees to train a parser on, and dev sets by name."""

    parser: Any
    """A `Parser`, or what a task derived from this one trains."""
    sentences: Sequence[Sentence]
    dev: Mapping[str, Sequence[Sentence]] = field(default_factory=dict)
    measure: str = "las"
    """What selects the best step."""
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        for sentences in (self.sentences, *self.dev.values()):
            check_sentences(sentences)

    @cached_property
    def examples(self) -> Any:
        """The training sentences that have words."""
        return EncodedSentences.of(self.parser, [sentence.forms for sentence in self.sentences if sentence.words])

    @cached_property
    def gold(self) -> tuple[Pieces, Pieces]:
        """The heads of their words, and the classes of their relations."""
        return gold_trees([sentence.words for sentence in self.sentences if sentence.words])

    @cached_property
    def held_out(self) -> dict[str, Any]:
        """The dev sentences."""
        return {
            name: EncodedSentences.of(self.parser, [sentence.forms for sentence in part])
            for name, part in self.dev.items()
        }

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[sentences]: pieces of each in all of its windows, special pieces included."""
        return self.examples.lengths

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> ParseBatch:
        """Training sentences with their trees."""
        heads, relations = (gold.batch(indices).ids for gold in self.gold)
        return ParseBatch(self.examples.batch(indices), heads, relations)

    def loss(self, model: Any, batch: ParseBatch) -> Tensor:
        """Mean cross-entropy of heads plus that of relations."""
        device = model.biaffine.device
        words = batch.words.to(device)
        return model.biaffine.loss(model(words), words.real, batch.heads.to(device), batch.relations.to(device))

    def portion(self, indices: NDArray[np.int64], seed: int) -> tuple[ParseBatch, int]:
        """Training sentences, and what their loss is divided by.

        Where that is nothing, by the quirk `short-mean`, it is 1, so that the other portions weigh a little less.
        """
        batch = self.batch(indices, torch.Generator().manual_seed(seed))
        return batch, max(1, int(self.parser.biaffine.count(batch.words.real, batch.heads)))

    def predict(self, model: Any, encoded: Any) -> list[Tree]:
        """The trees of dev sentences."""
        return predict_trees(model, len(encoded.lengths), encoded.batches.on(model.biaffine.device))

    def evaluate(self, model: Any) -> dict[str, float]:
        """The measure on each dev set."""
        values = {}
        for name, encoded in self.held_out.items():
            words, trees = [sentence.words for sentence in self.dev[name]], self.predict(model, encoded)
            values[name] = attachment_shares([self.measure], words, trees)[self.measure]
        return values
