"""Languages brought into small encoders, and what these make of a line."""

from __future__ import annotations

import torch

from babelscope.encoders.bring_in import (
    bring_in,
    own_pieces,
    random_rows,
)
from babelscope.encoders.load import Encoder
from babelscope.encoders.own_vocabulary import own_vocabulary
from tokenizer_kinds import GEORGIAN as ONCE

GEORGIAN = ONCE * 2


def with_language(encoder: Encoder, language: str, lines: list[str]) -> Encoder:
    tokenizer = own_vocabulary(encoder, lines, 60)
    return bring_in(
        encoder, {language: tokenizer}, random_rows(encoder, len(own_pieces(encoder, tokenizer)), 3, language)
    )


def states(encoder: Encoder, line: str) -> torch.Tensor:
    with torch.no_grad():
        ids = torch.tensor([encoder.tokenizer(line)["input_ids"]])
        return encoder.backbone(input_ids=ids).last_hidden_state


def cut(encoder: Encoder, language: str, line: str) -> list[str]:
    return encoder.reading(language).tokenizer.tokenize(line)
