"""Trained models outside of studies: as Hugging Face folders, and at work on files."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from babelscope.core.errors import InputError
from babelscope.corpora.parallel import SOURCE
from babelscope.engine.brought_in import BroughtIn, languages_of, turned
from babelscope.engine.recall import find_key, recall
from babelscope.engine.store import Store
from babelscope.steps import BringIn, Distil, Evaluate, Learned, Training, Tune
from babelscope.tasks.kinds import kind_of

if TYPE_CHECKING:
    from babelscope.core.step import Step
    from babelscope.corpora.unlabelled import Document
    from babelscope.tasks.design import EncoderModel, TaskModel


class FinishedSteps:
    """The `Results` of a store."""

    def __init__(self, store: Store):
        self._store = store

    def result(self, step: Step) -> Path:
        """The folder of a step's published result, its checksums verified."""
        return self._store.result(step.key)


def export(store: Store, key: str, folder: Path) -> str:
    """Write the model of a result as a Hugging Face folder.

    A model that was trained, or else evaluated, in a language that was brought into it reads that one.

    Args:
        store: that has it.
        key: of a pre-training, an adaptation or a tuning, or of an evaluation, which means the model that was
            evaluated; or its first digits.
        folder: to write; must not exist yet.

    Returns:
        One line for the user.

    Raises:
        InputError: there is no such model, its head is one that transformers does not have, or the folder exists.
    """
    step = _trained_step(store, find_key(store, key))
    refuse_existing(folder)
    if isinstance(step, Learned):
        with replacing(folder) as draft:
            shutil.copytree(store.result(step.key) / "encoder", draft)
        return f"encoder: {folder}"
    from babelscope.tasks.export import save_model

    model, brought = _load(step, store), _brought_in(step, store)
    if brought:
        model = turned(cast("EncoderModel", model), brought.language, _read_before(step))
    with replacing(folder) as draft:
        save_model(model, draft)
        if brought:
            brought.write(draft)
    return f"model: {folder} ({step.title})"


def predict(store: Store, source: str, file: Path, output: Path, language: str | None = None) -> str:
    """Write a file again with the predictions of a model.

    Args:
        store: where `source` is looked up unless it is a folder.
        source: a folder that `export` wrote, or a key as `export` takes it.
        file: CoNLL-U for tagging and parsing, BIO for named entities, TSV for sentence tasks; or plain text, one
            sentence a line. Labels of words go to the column of CoNLL-U that the model was trained on.
        output: to write, in the same format; plain text becomes one of these. Must not exist yet.
        language: that of the file, by its code, where the model has a tokenizer of its own for it.

    Returns:
        One line for the user, which says where the predictions stand.

    Raises:
        InputError: there is no such model, the file is malformed or not of its task, the output exists, or the model
            has tokenizers of their own for other languages alone.
    """
    from babelscope.encoders.own_vocabulary import check_own

    refuse_existing(output)
    model = trained_model(store, source)
    made_for = languages_of(Path(source))
    check_own(language, [*model.languages, *([made_for.language] if made_for and model.languages else [])])
    model = model.reading(language) if language else model
    task = model.design.task
    kind = kind_of(task)
    document = kind.document(task, file)
    predictions = _predictions(model, document)
    with replacing(output) as draft:
        document.write(draft, predictions)
    return f"{output}: {len(document.inputs)} predictions of task {task}, in {kind.written(task)}"


def _predictions(model: TaskModel, document: Document) -> list[object]:
    from babelscope.tasks.design import Predictor

    if not isinstance(model.module, Predictor):
        raise InputError(f"a model of task {model.design.task} labels nothing, so there is nothing to predict with it")
    return model.module.predict(document.inputs)


def trained_model(store: Store, source: str) -> TaskModel:
    """A model by the folder that `export` wrote, or by a key as `export` takes it, in evaluation mode.

    Raises:
        InputError: there is no such model, or it is an encoder that is not tuned.
    """
    if Path(source).is_dir():
        from babelscope.tasks.export import load_model

        return load_model(Path(source))
    if os.sep in source:
        raise InputError(f"{source}: no such folder; give one that babelscope export wrote, or the key of a result")
    key = find_key(store, source)
    step = _trained_step(store, key)
    if isinstance(step, Learned):
        raise InputError(f"{key}: an encoder that is not tuned on a task; give the key of a tuning or an evaluation")
    return _load(step, store)


def _trained_step(store: Store, key: str) -> Training | Evaluate:
    step = recall(store, key)
    if not isinstance(step, Training | Evaluate):
        raise InputError(
            f"{key}: a result of {type(step).__name__}, which has no model; Pretrain, Adapt, Distil and Tune have"
        )
    return step


def _load(step: Tune | Evaluate, store: Store) -> TaskModel:
    results = FinishedSteps(store)
    return step.built(results) if isinstance(step, Evaluate) else step.model(results)


def _brought_in(step: Tune | Evaluate, store: Store) -> BroughtIn | None:
    """What was brought into a model in the language that it was evaluated or trained in; None if that was not."""
    tuned, later = (step.model, step.brought_in) if isinstance(step, Evaluate) else (step, None)
    made = later or tuned.encoder
    encoder = made.encoder if isinstance(made, Distil) else made
    if not isinstance(encoder, BringIn):
        return None
    for aligned in encoder.languages:
        if aligned.language == _language(step):
            (pairs,) = (row.value for row in store.rows(aligned.key) if row.measure == "pairs")
            into, source = encoder.encoder.labels["encoder"], _read_before(step) or SOURCE
            return BroughtIn(
                into, aligned.language, source, aligned.parallel, int(pairs), aligned.pieces, aligned.keep_accents
            )
    return None


def _language(step: Tune | Evaluate) -> str:
    return step.data.code if isinstance(step, Evaluate) else step.train[0].code


def _read_before(step: Tune | Evaluate) -> str | None:
    """The language that a model was trained in, if it was evaluated in another."""
    trained = (step.model if isinstance(step, Evaluate) else step).train[0].code
    return None if trained == _language(step) else trained


def refuse_existing(path: Path) -> None:
    """Raise `InputError` if there is something at a path that is to be written."""
    if path.exists():
        raise InputError(f"{path}: already there; give a name that does not exist yet")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` that takes its place when all went well, file or folder."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        _set_modes(draft)
        draft.rename(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        draft.unlink(missing_ok=True)


def _set_modes(draft: Path) -> None:
    """Give the files of a folder the mode of the most open one: safetensors leaves its own to their owner alone."""
    files = list(filter(Path.is_file, draft.rglob("*")))
    mode = max((stat.S_IMODE(file.stat().st_mode) for file in files), default=0)
    for file in files:
        file.chmod(mode)
