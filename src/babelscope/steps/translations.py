"""The parallel texts that an encoder was made by."""

from __future__ import annotations

from collections.abc import Iterator

from babelscope.corpora.parallel import FilePairs, NamedPairs
from babelscope.steps.bring_in import BringIn, Distil
from babelscope.steps.encoder import EncoderStep, Operate
from babelscope.steps.pretrain import Adapt


def translations(encoder: EncoderStep) -> Iterator[NamedPairs | FilePairs]:
    """Those in files that it, or what it was made of, read."""
    if isinstance(encoder, Adapt | BringIn):
        parts = [encoder] if isinstance(encoder, Adapt) else encoder.languages
        yield from (text for part in parts for text in part.parallel if isinstance(text, NamedPairs | FilePairs))
    if isinstance(encoder, Adapt | BringIn | Distil | Operate):
        yield from translations(encoder.encoder)
