"""An encoder with a donor's tokenizer, and word embeddings for its tokens: what `transplant` computes."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor
from transformers import PretrainedConfig, PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder
from babelscope.encoders.state import (
    Weights,
    backbone_prefix,
    names_per_piece,
    weights_of,
    with_weights,
    word_embeddings_name,
)
from babelscope.encoders.vocabulary import spelled_pieces
from babelscope.surgery.fresh import fresh_weights
from babelscope.surgery.parts import stream

ROLES = ("pad", "unk", "cls", "sep", "mask", "bos", "eos")
"""What special tokens are for, as tokenizers and configurations name it."""


def word_width(encoder: Encoder) -> int:
    """The width of the word embeddings."""
    return weights_of(encoder)[word_embeddings_name(encoder)].shape[1]


def with_vocabulary(encoder: Encoder, donor: Encoder, seed: int, rows: str, bridge: str | None) -> Encoder:
    """The encoder with a donor's tokenizer and embeddings for its tokens (Zhang, 2021, section 4.3).

    What has an entry for each token changes: the word embeddings; the decoder of the masked language model head, tied
    or not; its bias, which is the donor's, or 0 if the donor gives none. All else stays, and every position keeps its
    vector (RoBERTa's table is moved where the padding token gets another id, from which its positions count).

    Args:
        encoder: keeps everything that is not about single tokens.
        donor: gives the tokenizer.
        seed: of what is drawn: new rows, or the random bridge.
        rows: `donor`: all embeddings are the donor's. `overlap`: tokens that both have (special tokens by what they
            are for) keep the encoder's, and their bias; the others are drawn by the encoder's own initialiser.
        bridge: how the donor's embeddings are mapped: needed where the widths differ, done wherever it is given.
            `random`: a Gaussian projection, which keeps lengths in expectation. `least-squares`: the matrix that
            brings the donor's embeddings of tokens that both have nearest to the encoder's.

    Raises:
        InputError: `least-squares` finds no token that both have; or one of the two reads languages with tokenizers of
            their own, whose tokens are rows of the embeddings that are exchanged.
    """
    for side in (encoder, donor):
        if side.languages:
            raise InputError(
                f"{side.name} reads {', '.join(side.languages)} with tokenizers of their own, whose tokens have no "
                "counterpart in another vocabulary; exchange the vocabulary first, then bring languages in"
            )
    config = _configuration(encoder, donor)
    weights, given = weights_of(encoder), _by_kind(donor)
    matches = _matches(encoder.tokenizer, donor.tokenizer)
    new: Weights = _moved_positions(encoder, config)
    fresh = fresh_weights(encoder, seed, config)
    for name in names_per_piece(encoder):
        own, theirs = weights[name], given.get(_kind(encoder, name))
        if rows == "overlap":
            new[name] = _overlapping(own, fresh[name], matches)
        elif theirs is None:
            new[name] = fresh[name]
        else:
            new[name] = _bridged(own, theirs, matches, bridge, seed).clone()
    return with_weights(encoder, weights | new, config=config, tokenizer=donor.tokenizer)


def _overlapping(own: Tensor, fresh: Tensor, matches: tuple[Tensor, Tensor]) -> Tensor:
    mine, theirs = matches
    new = fresh.clone()
    new[theirs] = own[mine]
    return new


def _bridged(own: Tensor, given: Tensor, matches: tuple[Tensor, Tensor], bridge: str | None, seed: int) -> Tensor:
    if own.ndim == 1 or bridge is None:
        return given
    if bridge == "random":
        width = own.shape[1]
        return given @ torch.randn(given.shape[1], width, generator=stream(seed, "bridge")) / width**0.5
    mine, theirs = matches
    if not len(mine):
        raise InputError("bridge=least-squares needs tokens that both vocabularies have; give bridge=random")
    solved = torch.linalg.lstsq(given[theirs].double(), own[mine].double(), driver="gelsd").solution
    return (given.double() @ solved).float()


def _matches(own: PreTrainedTokenizerBase, donor: PreTrainedTokenizerBase) -> tuple[Tensor, Tensor]:
    """The ids, in each of the two, of the tokens that both have.

    Punctuation is one token with a space before it and another without in byte-level and SentencePiece vocabularies:
    one of the donor's is the encoder's that is written alike, else the encoder's first.
    """
    mine, theirs = _ids_by_meaning(own), _ids_by_meaning(donor)
    shared = [
        (_nearest(mine[meaning], token), number)
        for meaning in theirs if meaning in mine for token, number in theirs[meaning].items()
    ]  # fmt: skip
    return torch.tensor([first for first, _ in shared]).long(), torch.tensor([second for _, second in shared]).long()


def _nearest(ids: Mapping[str, int], token: str) -> int:
    """Of tokens of one meaning, the one that is written like this, else the first."""
    return ids[token] if token in ids else next(iter(ids.values()))


def _ids_by_meaning(tokenizer: PreTrainedTokenizerBase) -> dict[tuple[str, str], dict[str, int]]:
    """Ids by the token as the vocabulary has it, of ordinary tokens by their spelling, of special ones by their use."""
    special, tokens = set(tokenizer.all_special_ids), {n: token for token, n in tokenizer.get_vocab().items()}
    ids: dict[tuple[str, str], dict[str, int]] = {}
    for number, spelled in enumerate(spelled_pieces(tokenizer)):
        if spelled and number not in special:
            ids.setdefault(("", spelled), {})[tokens[number]] = number
    roles = ((role, getattr(tokenizer, f"{role}_token_id")) for role in ROLES)
    return ids | {(role, "special"): {"": number} for role, number in roles if number is not None}


def _kind(encoder: Encoder, name: str) -> str:
    if name == word_embeddings_name(encoder):
        return "embeddings"
    return "bias" if weights_of(encoder)[name].ndim == 1 else "decoder"


def _by_kind(donor: Encoder) -> Weights:
    """The donor's weights per token; its embeddings also count as its decoder where it has no other."""
    weights = weights_of(donor)
    by_kind = {_kind(donor, name): weights[name] for name in names_per_piece(donor)}
    return {"decoder": by_kind["embeddings"]} | by_kind


def _configuration(encoder: Encoder, donor: Encoder) -> PretrainedConfig:
    config = copy.deepcopy(encoder.model.config)
    config.vocab_size = len(_by_kind(donor)["embeddings"])
    for role in ROLES:
        if getattr(config, f"{role}_token_id", None) is not None:
            setattr(config, f"{role}_token_id", getattr(donor.tokenizer, f"{role}_token_id"))
    if anatomy_of(config).positions_after_padding:
        config.max_position_embeddings += config.pad_token_id - encoder.model.config.pad_token_id
    return config


def _moved_positions(encoder: Encoder, config: PretrainedConfig) -> Weights:
    """The table of positions that count from the padding token's id, where that changes."""
    padding, old_padding = config.pad_token_id, encoder.model.config.pad_token_id
    anatomy = anatomy_of(config)
    if not anatomy.positions_after_padding or padding == old_padding:
        return {}
    name = f"{backbone_prefix(encoder)}{anatomy.positions[0]}.weight"
    table = weights_of(encoder)[name]
    unused = table.new_zeros(padding, table.shape[1])
    return {name: torch.cat([unused, table[old_padding:]])}
