"""What functions of the Python face ask of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from babelscope.core.errors import InputError

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


def check_each(
    what: str, given: Sequence[object], meant: str, such_as: str, kinds: type | tuple[type, ...] = str
) -> None:
    """Refuse an empty list of arguments, and arguments of another kind, such as a list in place of its entries."""
    if wrong := [value for value in given if not isinstance(value, kinds)]:
        raise InputError(f"{what}: {wrong[0]!r} is not {meant}; give each as an argument by itself, such as {such_as}")
    if not given:
        raise InputError(f"{what}: give {meant}, such as {such_as}")


def reading(encoder: Encoder, language: str | None) -> Encoder:
    """The encoder with the tokenizer of a language's own; None: as it is.

    Raises:
        InputError: other languages alone have one.
    """
    from babelscope.encoders.own_vocabulary import check_own

    if not isinstance(language, str | None):
        raise InputError(f"language={language!r:.100}: give the code of a language, such as 'fo', or None")
    check_own(language, encoder.languages)
    return encoder.reading(language) if language else encoder
