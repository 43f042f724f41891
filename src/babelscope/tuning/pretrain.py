"""Pre-training a small encoder from scratch by masked language modelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from babelscope.encoders.load import Encoder
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.seeds import derive_seed
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tuning.loop import History, Progress, tune
from babelscope.tuning.settings import Tuning


def pretrain(
    sentences: Sequence[str],
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    *,
    tuning: Tuning,
    shape: Shape | None = None,
    masking: float = 0.3,
    dev: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
    name: str = "pretrained",
    progress: Progress = lambda done, total, **numbers: None,
    checkpoint_seconds: float = 60.0,
) -> tuple[Encoder, History]:
    """Train a BERT on sentences (of any languages, words separated by spaces), resumable from `folder`.

    `dev` holds sentences by name; their perplexity is measured at each validation and selects the best step. Without
    it the last step is kept.
    """
    encoder = new_encoder(shape or Shape(), tokenizer, derive_seed(seed, "weights"), name)
    length = min(encoder.max_length, tuning.max_length or encoder.max_length)
    held_out = {part: HeldOut.of(tokenizer, text, length) for part, text in (dev or {}).items()}
    task = MaskedLanguageModelling(tokenizer, sentences, length, masking, held_out)
    history = tune(encoder.model, task, tuning, seed, folder, progress, checkpoint_seconds)
    return encoder, history
