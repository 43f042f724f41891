"""The shape of a small BERT to train from scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from babelscope.core.declaration import Count, Declaration

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from babelscope.encoders.load import Encoder


MOST_WEIGHTS = 10**10
"""Of all layers: 40 GB."""


class Shape(Declaration):
    """Sizes of a BERT encoder (Devlin et al., 2019). The defaults suit the artificial world."""

    hidden: Annotated[int, Field(gt=0, le=65_536)] = 64
    """Hidden size; a multiple of `heads`."""
    layers: Annotated[int, Field(gt=0, le=1000)] = 6
    """Number of layers."""
    heads: Annotated[int, Field(gt=0, le=65_536)] = 2
    """Attention heads in each layer."""
    feed_forward: Annotated[int, Field(gt=0, le=1_000_000)] = 256
    """Inner width of the feed-forward blocks."""
    positions: Count = 64
    """At most how many tokens a text has."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout of hidden states and of attention."""

    @model_validator(mode="after")
    def _can_be(self) -> Shape:
        if self.hidden % self.heads:
            raise ValueError(f"hidden={self.hidden} cannot be divided among heads={self.heads}; give a multiple of it")
        if (weights := self.layers * self.hidden * (4 * self.hidden + 2 * self.feed_forward)) > MOST_WEIGHTS:
            raise ValueError(f"the layers have {weights:,} weights; {MOST_WEIGHTS:,} are the most")
        return self


def new_encoder(shape: Shape, tokenizer: PreTrainedTokenizerBase, seed: int, name: str) -> Encoder:
    """An untrained BERT of that shape, with a masked language model head tied to its embeddings."""
    import torch
    from transformers import BertConfig

    from babelscope.encoders.load import Encoder, untrained_model

    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward,
        max_position_embeddings=shape.positions,
        hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.dropout,
        type_vocab_size=1,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Encoder(model=untrained_model(config), tokenizer=tokenizer, name=name)
