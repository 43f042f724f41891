"""Which depths of two encoders are compared, and whether both have them. Loads no torch."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.core.errors import InputError

_OF_OTHERS = (
    "Probes of `distance` need references with as many layers as the encoders have when they are tuned, surgeries "
    "included: leave out the reference, or what has another number of layers, or `distance`"
)


def check_as_deep(reference: str, count: int | None, encoder: str, layers: int | None) -> None:
    """Refuse to measure an encoder's distance to a reference of another depth; None: that is not known.

    Raises:
        InputError: one has more layers than the other.
    """
    if count is not None and layers is not None and count != layers:
        problem = f"{reference} has {count} layers, but {encoder} has {layers}"
        raise InputError(f"{problem}; distances are from one layer to the same one", _OF_OTHERS)


def compared_depths(layers: Sequence[int] | None, last: int) -> tuple[int, ...]:
    """Where a distillation compares states, 0 for the embeddings; None: in the middle and at the end.

    Raises:
        InputError: an encoder with `last` layers does not have one of them, or there is none.
    """
    if layers is None:
        return tuple(sorted({(last + 1) // 2, last}))
    if not layers or not set(layers) <= set(range(last + 1)):
        raise InputError(
            f"layers {', '.join(map(str, layers)) or 'none'}: give one or more of 0 to {last}, where 0 stands for the "
            "embeddings"
        )
    return tuple(layers)
