"""Surgery: operations on an encoder's weights, each a pure function of the encoder and a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from babelscope.encoders.given import Buildable
    from babelscope.encoders.load import Encoder
    from babelscope.surgery.declare import Operation

    Operations = str | Operation | Sequence[str | Operation]
    Donors = Mapping[str, Encoder | Buildable]


@overload
def apply(
    encoder: Encoder | Buildable,
    operations: Operations,
    seed: int = 0,
    donors: Donors | None = None,
) -> Encoder: ...


@overload
def apply(
    encoder: PreTrainedModel,
    operations: Operations,
    seed: int = 0,
    donors: Donors | None = None,
) -> PreTrainedModel: ...


def apply(
    encoder: Encoder | Buildable | PreTrainedModel,
    operations: Operations,
    seed: int = 0,
    donors: Donors | None = None,
) -> Encoder | PreTrainedModel:
    """An encoder after one operation or several, done in order; the given one is not changed.

    Args:
        encoder: with its tokenizer, or what `babelscope.load` gives; or a model of transformers, an encoder alone or
            with its masked language model head, for operations that need no tokenizer. A pooler of such a model is
            left out.
        operations: as text, such as `reverse` or `drop:last=6`, or declared.
        seed: of what is drawn.
        donors: the encoders that operations name as theirs, by that name.

    Returns:
        A model if a model was given, else an encoder with its tokenizer.

    Raises:
        InputError: there is no such operation, or it does not suit the encoder.
    """
    from transformers import PreTrainedModel

    from babelscope.encoders.given import as_encoder
    from babelscope.surgery.declare import parse_operation
    from babelscope.surgery.operate import operate

    given = [operations] if isinstance(operations, str) or not isinstance(operations, Sequence) else operations
    parsed = [parse_operation(operation) if isinstance(operation, str) else operation for operation in given]
    given_donors = {name: as_encoder(donor) for name, donor in (donors or {}).items()}
    operated = operate(as_encoder(encoder), parsed, seed, given_donors)
    return operated.model if isinstance(encoder, PreTrainedModel) else operated
