"""Masked language modelling on raw text: an encoder's pre-training, or its adaptation to other text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from babelscope.encoders.anatomy import reads_types
from babelscope.encoders.load import Encoder
from babelscope.encoders.vocabulary import foreign_pieces
from babelscope.tasks.apart import Apart
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.task import Objective
from babelscope.tuning.loop import History, Progress, tune
from babelscope.tuning.settings import Tuning


def learn_language(
    encoder: Encoder,
    sentences: Sequence[str] | Mapping[str, Sequence[str]],
    folder: Path,
    *,
    tuning: Tuning,
    pairs: Sequence[tuple[str, str]] = (),
    masking: float = 0.3,
    dev: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
    progress: Progress = lambda done, total, **numbers: None,
    checkpoint_seconds: float = 60.0,
) -> History:
    """Train an encoder on sentences (words separated by spaces), resumable from `folder`.

    All are read with the encoder's tokenizer; of a language with one of its own, give the encoder `reading` it. Or give
    the sentences by the codes of their languages: each is read with its own, and a batch is of one of them.

    `pairs` are read besides: a sentence and its translation, in one sequence that is masked on both sides.
    `dev` holds sentences by name; their perplexity is measured at each validation and selects the best step. Without
    it the last step is kept.
    """
    if isinstance(sentences, Mapping):
        parts = [_task(encoder.reading(code), own, tuning, masking=masking) for code, own in sentences.items()]
        task: Objective = Apart(parts)
    else:
        task = _task(encoder, sentences, tuning, pairs=pairs, masking=masking, dev=dev or {})
    return tune(encoder.model, task, tuning, seed, folder, progress, checkpoint_seconds)


def _task(
    encoder: Encoder,
    sentences: Sequence[str],
    tuning: Tuning,
    *,
    masking: float,
    pairs: Sequence[tuple[str, str]] = (),
    dev: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> MaskedLanguageModelling:
    length = min(encoder.max_length, tuning.max_length or encoder.max_length)
    tokenizer, foreign = encoder.tokenizer, foreign_pieces(encoder)
    held_out = {part: HeldOut.of(tokenizer, text, length, foreign=foreign) for part, text in dev.items()}
    types = reads_types(encoder.model.config)
    return MaskedLanguageModelling(
        tokenizer, sentences, length, masking, held_out, pairs=pairs, types=types, foreign=foreign
    )
