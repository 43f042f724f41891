"""The model card of an exported model: what it was made from, what it scored, and how to use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from babelscope.core.row import Row
from babelscope.core.version import __version__
from babelscope.corpora.datasets import Dataset
from babelscope.encoders.places import CARD
from babelscope.steps import Evaluate, Learned, Training, Tune


def write_model_card(folder: Path, step: Training | Evaluate, scores: Sequence[Row]) -> None:
    """Say to people what a model is, unless a card is there that says by whose sentences it reads a language.

    Args:
        folder: the model's.
        step: that made it, or that evaluated it.
        scores: of the evaluation, where its key was given.
    """
    if not (folder / CARD).exists():
        (folder / CARD).write_text("\n".join([*_lines(step, scores), ""]), encoding="utf-8")


def _lines(step: Training | Evaluate, scores: Sequence[Row]) -> Iterator[str]:
    trained = step.model if isinstance(step, Evaluate) else step
    yield from ("---", "tags:", "- babelscope", "---", f"# {_code(trained.title)}", "")
    yield from (f"Made with Babelscope {__version__}; the result `{trained.key}` of its store.", "")
    if isinstance(trained, Tune):
        yield from _tuning(trained)
    yield from (f"- {row.measure} on the {row.split} sentences of `{row.dataset}`: {row.value:.4f}" for row in scores)
    yield from (
        "",
        "The licences of the encoder and of the training data hold for what was made of them.",
        "",
        "## Use",
        "",
        f"As `transformers` loads any folder{_and_by_babelscope(trained)}.",
    )


def _tuning(tuning: Tune) -> Iterator[str]:
    settings = tuning.tuning.model_dump(mode="json", exclude_defaults=True)
    yield f"- encoder: {_code(tuning.labels['encoder'])}"
    yield f"- training data: {', '.join(map(_data, tuning.train))}"
    if tuning.dev:
        yield f"- the best step was selected on: {', '.join(map(_data, tuning.dev))}"
    yield f"- settings: {', '.join(f'{name} {_code(str(value))}' for name, value in settings.items())}"
    yield f"- seed: {tuning.seed}"


def _data(data: Dataset) -> str:
    return _code(data.name) + (f" ({data.examples:,} examples)" if data.examples else "")


def _and_by_babelscope(trained: Training) -> str:
    if isinstance(trained, Learned):
        return ", or in Python by `babelscope.load`"
    return ", where it has a head like this one, or on a file:\n\n    babelscope predict . FILE -o PREDICTED"


def _code(text: str) -> str:
    """As it is, whatever signs a name has."""
    return f"`{text.replace('`', '')}`"
