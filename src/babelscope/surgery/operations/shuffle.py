"""Shuffle which token has which word embedding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import field_validator

from babelscope.core.patterns import check_pattern
from babelscope.surgery.fields import ENGLISH_LIKE, Patterns
from babelscope.surgery.operation import Operation

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from babelscope.encoders.load import Encoder

LONGEST = 100
"""Letters of a token, about."""


class Shuffle(Operation):
    """Permute which token has which word embedding; special tokens keep theirs (Zhang, 2021, section 4).

    A token is in the first of `classes` that matches the whole token. Tokens of one class change places only among
    themselves. Tokens of no class do so too, and tokens that only a language with its own tokenizer has. A row of the
    embeddings that stands for no token stays. A decoder that is tied to the embeddings follows; its bias does not.
    """

    takes_seed: ClassVar[bool] = True
    operation: Literal["shuffle"] = "shuffle"
    classes: Patterns = (ENGLISH_LIKE,)
    """Regular expressions about tokens, which are spelled as in WordPiece: `##` inside a word."""

    @field_validator("classes")
    @classmethod
    def _are_patterns(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in classes:
            check_pattern(pattern, LONGEST)
        return classes

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        import torch

        from babelscope.encoders.state import weights_of, with_weights, word_embeddings_name
        from babelscope.surgery.parts import stream

        name, weights = word_embeddings_name(encoder), weights_of(encoder)
        rows = torch.arange(len(weights[name]))
        for names, ids in self._groups(encoder).items():
            members = torch.tensor(ids, dtype=torch.int64)
            rows[members] = members[torch.randperm(len(ids), generator=stream(seed, "shuffle", *names))]
        return with_weights(encoder, weights | {name: weights[name][rows]})

    def _groups(self, encoder: Encoder) -> dict[tuple[str, ...], list[int]]:
        """The ids of tokens that change places among themselves, by what their chance is drawn from."""
        groups: dict[tuple[str, ...], list[int]] = {}
        groups |= {(str(number),): ids for number, ids in enumerate(self._ids(encoder.tokenizer))}
        shared = {number for ids in groups.values() for number in ids}
        for language, tokenizer in encoder.languages.items():
            own = [[token for token in ids if token not in shared] for ids in self._ids(tokenizer)]
            groups |= {(language, str(number)): ids for number, ids in enumerate(own)}
        return groups

    def _ids(self, tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
        """The ids of each class's tokens, and at the end of those that are in none."""
        from babelscope.encoders.vocabulary import spelled_pieces

        special = set(tokenizer.all_special_ids)
        ids: list[list[int]] = [[] for _ in range(len(self.classes) + 1)]
        for number, token in enumerate(spelled_pieces(tokenizer)):
            if token and number not in special:
                matching = (place for place, pattern in enumerate(self.classes) if re.fullmatch(pattern, token))
                ids[next(matching, len(self.classes))].append(number)
        return ids
