"""The model card of an exported model: what it was made from, what it scored, and how to use it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from babelscope.core.row import Row
from babelscope.core.tasks import LINES
from babelscope.core.version import __version__
from babelscope.corpora.datasets import Dataset
from babelscope.encoders.folder import CARD
from babelscope.steps import Evaluate, Learned, Training, Tune
from babelscope.steps.card import letters_without_folder, without_folder


def write_model_card(folder: Path, step: Training | Evaluate, scores: Sequence[Row]) -> None:
    """Say to people what a model is, before what a card says by whose sentences it reads a language.

    Args:
        folder: the model's.
        step: that made it, or that evaluated it.
        scores: of the evaluation, where its key was given.
    """
    there = (folder / CARD).read_text(encoding="utf-8") if (folder / CARD).exists() else ""
    if isinstance(step, Learned) and there:
        return
    brought_in = ["", there.replace("# ", "## ", 1)] if there else [""]
    (folder / CARD).write_text("\n".join([*_lines(step, scores), *brought_in]), encoding="utf-8")


def _lines(step: Training | Evaluate, scores: Sequence[Row]) -> Iterator[str]:
    trained = step.model if isinstance(step, Evaluate) else step
    made = f"Made with Babelscope {__version__} by the step {_code(trained.title)}, result `{trained.key}`."
    yield from ("---", "tags:", "- babelscope", "---", f"# {_heading(trained)}", "", made, "")
    if isinstance(trained, Tune):
        yield from _tuning(trained)
        if isinstance(step, Evaluate):
            yield from _scored(step, scores)
        yield ""
    yield "The licences of the encoder and of the training data hold for what was made of them."
    letters = letters_of(step)
    told = [f"It read {transliterated(letters_without_folder(letters))}", ""] if letters else []
    yield from ("", "## Use", "", *told, _use(trained))


def letters_of(step: Training | Evaluate) -> str | None:
    """How the text that a model was evaluated on, or else trained on, was transliterated; None: it was not."""
    if isinstance(step, Evaluate):
        return step.data.letters
    read = {data.letters for data in step.train} if isinstance(step, Tune) else set()
    return next(iter(read)) if len(read) == 1 else None


def transliterated(letters: str) -> str:
    """What a text has to be, for a model of such text."""
    return (
        f"text in other letters; transliterate yours first: babelscope transliterate FILE --by {shlex.quote(letters)} "
        "-o TRANSLITERATED"
    )


def _heading(trained: Training) -> str:
    if not isinstance(trained, Tune):
        return _code(trained.title)
    return f"{trained.task.title or _code(trained.task.name)}, learned from {_code(str(trained.trained_on))}"


def _tuning(tuning: Tune) -> Iterator[str]:
    settings = [
        f"{name} {_code(str(value))}"
        for name, value in tuning.tuning.model_dump(mode="json", exclude_defaults=True).items()
    ]
    yield f"- encoder: {_code(tuning.labels['encoder'])}"
    yield f"- training data: {', '.join(map(_data, tuning.train))}"
    if tuning.dev:
        yield f"- the best step was selected on: {_selected_on(tuning.dev)}"
    yield f"- settings: {', '.join(settings) or 'the defaults'}"
    yield f"- seed: {tuning.seed}"


def _selected_on(data: Sequence[Dataset]) -> str:
    """Whoever reads a score beside it must see that it is of the same sentences."""
    tested = any(each.split == "test" for each in data)
    named = ", ".join(_sentences(each) if each.split == "test" else _data(each) for each in data)
    return named + (", so that scores on these are better than on new ones" if tested else "")


def _scored(step: Evaluate, scores: Sequence[Row]) -> Iterator[str]:
    for row in scores:
        if row.measure in step.model.task.measures:
            yield f"- {row.measure} on {_sentences(step.data)}: {row.value:.4f}"


def _sentences(data: Dataset) -> str:
    return f"the {data.split} sentences of {_data(data)}"


def _data(data: Dataset) -> str:
    return _code(without_folder(data.name)) + (f" (at most {data.examples:,} examples)" if data.examples else "")


def _use(trained: Training) -> str:
    if isinstance(trained, Learned) or trained.task.reads == LINES:
        return "As `transformers` loads any folder, or in Python by `babelscope.load`."
    others = "Where `transformers` has a head like this one, it loads the folder as any other; else the encoder alone."
    return f"In this folder, with Babelscope:\n\n    babelscope predict . FILE -o PREDICTED\n\n{others}\n"


def _code(text: str) -> str:
    """As it is in a line, whatever signs a name has."""
    return f"`{' '.join(text.replace('`', '').split())}`"
