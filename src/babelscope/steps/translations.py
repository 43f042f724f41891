"""The parallel texts that an encoder was made by."""

from __future__ import annotations

from collections.abc import Iterator

from babelscope.corpora.parallel import FilePairs, NamedPairs
from babelscope.steps.align import Align
from babelscope.steps.encoder import EncoderStep
from babelscope.steps.plan import made_of
from babelscope.steps.pretrain import Adapt


def translations(encoder: EncoderStep) -> Iterator[NamedPairs | FilePairs]:
    """Those in files that it, or what it was made of, read; each once."""
    parts = (part for part in made_of(encoder) if isinstance(part, Adapt | Align))
    texts = dict.fromkeys(text for part in parts for text in part.parallel)
    yield from (text for text in texts if isinstance(text, NamedPairs | FilePairs))
