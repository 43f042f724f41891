"""Languages brought into an encoder without a gradient step: rows of the embeddings for their own vocabularies.

A piece gets its row from the encoder's pieces that it is aligned with in translated sentences (`linked_rows`), or, to
compare, from the encoder's pieces that it is spelled with (`spelled_rows`), or at random (`random_rows`). Of whatever
has one entry a piece (word embeddings, the decoder, its bias), each gets such rows.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Mapping

import torch
from scipy.sparse import csr_array
from tokenizers.normalizers import BertNormalizer
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.corpora.codes import known_as
from babelscope.encoders.extend import means_of
from babelscope.encoders.ids import last_id
from babelscope.encoders.load import Encoder
from babelscope.encoders.segmenter import Segmenter
from babelscope.encoders.state import Weights, names_per_piece, weights_of, with_weights
from babelscope.encoders.vocabulary import foreign_to


def bring_in(encoder: Encoder, languages: Mapping[str, PreTrainedTokenizerBase], rows: Weights) -> Encoder:
    """The encoder with languages that are read with tokenizers of their own.

    All weights that were there stay to the last bit, so other languages are read as before.

    Args:
        encoder: is not changed.
        languages: by its code, such as `de`, which `reading` goes by, the tokenizer of each, as `own_vocabulary` makes
            it for this encoder; the pieces of each follow those of the one before it (`renumbered`).
        rows: for every weight of `names_per_piece` the entries of the languages' own pieces, [pieces, ...], in the
            order of their ids.

    Raises:
        InputError: a code cannot name a folder, a language has been brought in, or a tokenizer was made for an
            encoder with another number of embeddings.
    """
    config = copy.deepcopy(encoder.model.config)
    known = dict(encoder.languages)
    for language, tokenizer in languages.items():
        check_new(encoder, language, known)
        config.vocab_size += len(own_pieces(encoder, tokenizer, config.vocab_size))
        known[language] = tokenizer
    weights = weights_of(encoder)
    grown = {name: torch.cat([weights[name], rows[name]]) for name in names_per_piece(encoder)}
    return with_weights(encoder, weights | grown, config=config, languages=known)


def check_new(encoder: Encoder, language: str, known: Collection[str] | None = None) -> None:
    """Refuse what is no code of a language, and a language that is read with a tokenizer of its own.

    Args:
        encoder: which the language is to be brought into.
        language: its code.
        known: the codes of the languages that are so read; None: those of the encoder.

    Raises:
        InputError: names the code.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]+", language):
        raise InputError(f"{language!r} is no code of a language: give letters, digits, - and _, such as de or zh-CN")
    if read := known_as(language, encoder.languages if known is None else known):
        raise InputError(f"{encoder.name} reads {read} already; bring it into the encoder that came before")


def own_pieces(encoder: Encoder, tokenizer: PreTrainedTokenizerBase, first: int | None = None) -> list[str]:
    """The pieces of a tokenizer that come after so many embeddings, in the order of their ids.

    Args:
        encoder: which the language is to be brought into.
        tokenizer: of the language.
        first: the number of embeddings; None: those of the encoder.

    Raises:
        InputError: they do not follow them without a gap.
    """
    first = encoder.model.config.vocab_size if first is None else first
    own = {number: piece for piece, number in tokenizer.get_vocab().items() if number >= first}
    if sorted(own) != list(range(first, first + len(own))) or not own:
        raise InputError(
            f"the tokenizer's own ids do not follow the {first} embeddings of {encoder.name}; make it with "
            "own_vocabulary for the encoder that the language is brought into"
        )
    return [own[number] for number in sorted(own)]


def reading_only(encoder: Encoder, languages: Collection[str]) -> Encoder:
    """The encoder without the embeddings that come after those of some languages and of its own tokenizer.

    Ids stay as they are, so languages whose embeddings come before stay, too. Without languages that were brought in
    it is the encoder itself.
    """
    if not encoder.languages:
        return encoder
    numbers = {code: last_id(tokenizer) for code, tokenizer in encoder.languages.items()}
    read = [numbers[code] for language in languages if (code := known_as(language, numbers))]
    config = copy.deepcopy(encoder.model.config)
    config.vocab_size = min(config.vocab_size, 1 + max([last_id(encoder.tokenizer), *read]))
    kept = {code: each for code, each in encoder.languages.items() if numbers[code] < config.vocab_size}
    weights = weights_of(encoder)
    fewer = {name: weights[name][: config.vocab_size] for name in names_per_piece(encoder)}
    return with_weights(encoder, weights | fewer, config=config, languages=kept)


def with_the_rest(encoder: Encoder, whole: Encoder, languages: Collection[str]) -> Encoder:
    """What `reading_only` made of a whole encoder, then trained, with the whole one's embeddings of all other text.

    Args:
        encoder: trained on text in `languages`.
        whole: as before the training.
        languages: the codes of all that was read; what has no tokenizer of its own is read with the whole one's.
    """
    if not whole.languages:
        return encoder
    weights, before = weights_of(encoder), weights_of(whole)
    read = ~foreign_to(whole, languages)
    rest = {name: before[name].to(weights[name].device, copy=True) for name in names_per_piece(whole)}
    for name, table in rest.items():
        kept = read[: len(weights[name])]
        table[: len(kept)][kept] = weights[name][kept]
    return with_weights(encoder, weights | rest, config=whole.model.config, languages=whole.languages)


def linked_rows(encoder: Encoder, links: csr_array, shrinkage: float = 1.0) -> Weights:
    """For each new piece the mean of the encoder's pieces that it is linked to, weighted by the links.

    It is shrunk toward the mean of all pieces, which counts as much as `shrinkage` links. Means of vectors are
    shorter than these, so each is made as long as the encoder's pieces are in the same weighted mean. A piece without
    links gets the mean of all pieces, made as long as they are on average.

    Args:
        encoder: whose pieces they are linked to.
        links: [new pieces, ids of the encoder's tokenizer]: how often each is linked with each, 0 or more.
        shrinkage: 0 or more.
    """
    ordinary = _ordinary(encoder)
    strength = torch.from_numpy(links.sum(axis=1)).double()

    def shrunk_mean(values: Tensor) -> Tensor:
        overall = values[ordinary].mean(0)
        linked = torch.from_numpy(links @ values[: links.shape[1]].numpy())
        total = (strength + shrinkage).reshape(-1, *[1] * (values.ndim - 1))
        return torch.where(total > 0, (linked + shrinkage * overall) / total, overall)

    def rows(table: Tensor) -> Tensor:
        mean = shrunk_mean(table.double())
        if table.ndim == 1:
            return mean.to(table.dtype)
        lengths = shrunk_mean(table.double().norm(dim=1))
        return (mean * (lengths / mean.norm(dim=1).clamp_min(1e-12))[:, None]).to(table.dtype)

    return {name: rows(weights_of(encoder)[name]) for name in names_per_piece(encoder)}


def spelled_rows(encoder: Encoder, tokenizer: PreTrainedTokenizerBase) -> Weights:
    """For each new piece of a tokenizer the mean of the pieces that the encoder's own tokenizer cuts it into.

    What it does not know at all gets the mean of all pieces.
    """
    segmenter = Segmenter.of(encoder.tokenizer)
    normalizer = encoder.tokenizer.backend_tokenizer.normalizer
    pieces = own_pieces(encoder, tokenizer)
    if isinstance(normalizer, BertNormalizer):  # which alone may be another one in the language's own tokenizer
        pieces = [normalizer.normalize_str(piece).replace(" ", "") for piece in pieces]
    sources = [[number for number in numbers if number != segmenter.unknown] for numbers in segmenter.segment(pieces)]
    ordinary = _ordinary(encoder)
    return {name: means_of(weights_of(encoder)[name], sources, ordinary) for name in names_per_piece(encoder)}


def random_rows(encoder: Encoder, pieces: int, seed: int, language: str) -> Weights:
    """For each new piece a draw from a normal distribution with mean and covariance of the encoder's pieces."""
    ordinary = _ordinary(encoder)
    return {
        name: _drawn(weights_of(encoder)[name][ordinary], pieces, derive_seed(seed, "bring-in", language, name))
        for name in names_per_piece(encoder)
    }


def _drawn(table: Tensor, count: int, seed: int) -> Tensor:
    flat = table.double().reshape(len(table), -1)
    values, vectors = torch.linalg.eigh(flat.T.cov().reshape(flat.shape[1], -1))
    noise = torch.randn(count, flat.shape[1], generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    drawn = flat.mean(0) + noise @ (vectors * values.clamp_min(0).sqrt()).T
    return drawn.to(table.dtype).reshape(count, *table.shape[1:])


def _ordinary(encoder: Encoder) -> list[int]:
    """The ids of the encoder's own pieces but special ones: those that there were before any language came in."""
    return sorted(set(encoder.tokenizer.get_vocab().values()) - set(encoder.tokenizer.all_special_ids))
