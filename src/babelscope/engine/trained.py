"""Trained models outside of studies: as Hugging Face folders, and at work on files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from babelscope.core.errors import InputError
from babelscope.core.files import replacing
from babelscope.core.outside import given_path, new_path, reading
from babelscope.core.words import counted
from babelscope.corpora.codes import checked_code, known_as
from babelscope.corpora.parallel import SOURCE
from babelscope.encoders.folder import TUNED_ON, TunedOn
from babelscope.encoders.places import near_folder
from babelscope.engine.brought_in import BroughtIn, languages_of, records_of, save_reading, write_card, write_records
from babelscope.engine.dropping import whole
from babelscope.engine.input_notes import input_notes
from babelscope.engine.mark import check_outside
from babelscope.engine.model_card import letters_of, transliterated, write_model_card
from babelscope.engine.recall import find_key, recall
from babelscope.engine.store import Store
from babelscope.steps import Adapt, BringIn, Distil, Evaluate, Learned, Load, Operate, Recurrent, Training, Tune
from babelscope.steps.card import without_folder
from babelscope.tasks.kinds import kind_of

if TYPE_CHECKING:
    from babelscope.core.step import Step
    from babelscope.corpora.datasets import Dataset
    from babelscope.corpora.unlabelled import Document
    from babelscope.steps import EncoderStep
    from babelscope.tasks.design import EncoderModel, TaskModel, TrainingData


class FinishedSteps:
    """The `Results` of a store."""

    def __init__(self, store: Store):
        self._store = store

    def result(self, step: Step) -> Path:
        """The folder of a step's published result, its checksums verified. DroppedError where weights were dropped."""
        return whole(self._store, step.key)


def export(store: Store, key: str, folder: Path) -> str:
    """Write the model of a result as a Hugging Face folder, with a model card.

    A model that was trained, or else evaluated, in a language that was brought into it reads that one.

    Args:
        store: that has it.
        key: of a pre-training, an adaptation or a tuning, or of an evaluation, which means the model that was
            evaluated; or its first digits.
        folder: to write; must not exist yet.

    Returns:
        One line for the user.

    Raises:
        InputError: there is no such model, its class has no format, or the folder exists.
    """
    if key and given_path(key).is_dir():
        raise InputError(f"{key}: is a folder; give the key of a result, which is exported as one")
    step, folder = _trained_step(store, find_key(store, key)), new_path(folder)
    check_outside(folder)
    if isinstance(step, Learned):
        with replacing(folder) as draft:
            shutil.copytree(store.result(step.key) / "encoder", draft)
            write_model_card(draft, step, [])
        return f"encoder: {folder}"
    from babelscope.tasks.export import save_model
    from babelscope.tasks.text_models import LanguageModel

    model, language = _load(step, store), _language(step)
    own = known_as(language, model.languages)
    first = own or language
    records = sorted(_brought_in(step, store), key=lambda record: record["language"] == first)
    with replacing(folder) as draft:
        if own and not isinstance(model, LanguageModel):  # which is written as an encoder, that reads the source first
            save_reading(cast("EncoderModel", model), own, _read_before(model, step, records), draft)
        else:
            save_model(model, draft)
        if model.languages and records:
            # A record says which language the folder reads first, which is none of them in a model of the source.
            (write_records if records[-1]["language"] == first else write_card)(draft, records)
        write_model_card(draft, step, store.rows(step.key) if isinstance(step, Evaluate) else [])
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
        One line for the user, which says where the predictions stand; and notes, a line each that begins with
        `note: `: the language was not named and the model has tokenizers for several, the text is not as the model
        reads it.

    Raises:
        InputError: there is no such model, the file is malformed or not of its task, the output exists, the language
            is no code, or the model has tokenizers of their own for other languages alone.
    """
    from babelscope.encoders.own_vocabulary import check_own

    output = new_path(output)
    if language is not None:
        _check_code(language)
    with reading(file):  # before weights have to be computed again
        file.stat()
    model = trained_model(store, source)
    first = reads_first(model, source)
    check_own(language, [*model.languages, *first])
    read_as = "" if language else _read_as(first, [code for code in model.languages if code not in first])
    model = model.reading(language or "".join(first))
    task = model.design.task
    kind = kind_of(task)
    document = kind.document(task, file)
    predictions = _predictions(model, document)
    with replacing(output) as draft:
        document.write(draft, predictions)
    done = f"{counted(len(document.inputs), kind.unit(task))} {kind.predicted} (task {task})"
    notes = "".join(f"\nnote: {note}" for note in input_notes(model, document.inputs))
    return f"{output}: {done}, in {kind.written(task)}{read_as}{_in_letters(store, source)}{notes}"


def _in_letters(store: Store, source: str) -> str:
    """That a model of a result was made for text in other letters, which the file has to be in."""
    letters = None if given_path(source).is_dir() else letters_of(_trained_step(store, find_key(store, source)))
    return f"\nnote: the model read {transliterated(letters)}" if letters else ""


def _read_as(first: Sequence[str], others: Collection[str]) -> str:
    """In which language a text was read without being asked, where a model has tokenizers for several."""
    if not others:
        return ""
    named = f"--language {' or '.join(others)}"
    if first:
        return f", read as {', '.join(first)} (if it is in another language: {named})"
    return (
        "\nnote: the text was read in the pieces of what the model was trained on; if it is in another language, name "
        f"it: {named}"
    )


def _check_code(language: str) -> None:
    try:
        checked_code(language)
    except ValueError as error:
        raise InputError(f"--language {language!r:.100}: {error}") from None


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
    if given_path(source).is_dir():
        from babelscope.tasks.export import load_model

        return load_model(given_path(source))
    if os.sep in source:
        raise InputError(
            f"{source}: no such folder{near_folder(source)}; give one that babelscope export wrote, or the key of a "
            "result"
        )
    key = find_key(store, source)
    step = _trained_step(store, key)
    if isinstance(step, Learned):
        raise InputError(f"{key}: an encoder that is not tuned on a task; give the key of a tuning or an evaluation")
    return _load(step, store)


def reads_first(model: TaskModel, source: str) -> list[str]:
    """The language that a folder was made to read, where the model has tokenizers for others; of a key none."""
    made_for = languages_of(Path(source))
    return [made_for.language] if made_for and model.languages else []


def _trained_step(store: Store, key: str) -> Training | Evaluate:
    step = recall(store, key)
    if not isinstance(step, Training | Evaluate):
        raise InputError(
            f"{key}: a result of {type(step).__name__}, which has no model; Pretrain, Adapt, Distil and Tune have"
        )
    return step


def _load(step: Tune | Evaluate, store: Store) -> TaskModel:
    """The model, which says how its training data were read; its configuration says what it was tuned on."""
    results = FinishedSteps(store)
    model = step.built(results) if isinstance(step, Evaluate) else step.model(results)
    tuned = _tuned(step)
    model.training_data = _training_data(tuned.train)
    if not isinstance(tuned.encoder, Recurrent):
        config = cast("EncoderModel", model).encoder.model.config
        now = [TunedOn(tuned.task.name, without_folder(data.name), data.language)._asdict() for data in tuned.train]
        setattr(config, TUNED_ON, [*getattr(config, TUNED_ON, []), *now])
    return model


def _training_data(train: Sequence[Dataset]) -> TrainingData:
    from babelscope.corpora.datasets import WorldData
    from babelscope.tasks.design import TrainingData

    worlds = [data for data in train if isinstance(data, WorldData)]
    types = [data.entity_types for data in train if not isinstance(data, WorldData)]
    return TrainingData(
        world_seed=worlds[0].seed if worlds else None,
        world_version=worlds[0].world_version if worlds else None,
        entity_types=dict(types[0]) if types else {},
    )


def _brought_in(step: Tune | Evaluate, store: Store) -> Iterator[dict[str, Any]]:
    """The records of what was brought into a model, in that order."""
    later = step.brought_in if isinstance(step, Evaluate) else None
    return _brought_into(later or _tuned(step).encoder, store, _trained_in(step))


def _brought_into(encoder: EncoderStep, store: Store, trained: str) -> Iterator[dict[str, Any]]:
    """The records of what was brought into an encoder, that of what it was made of first.

    Args:
        encoder: the step.
        store: that has the alignments.
        trained: the language that a model of it was trained in: where texts do not say what they were translated
            from, it was that one.
    """
    if isinstance(encoder, Load):
        yield from records_of(Path(encoder.place))
    if isinstance(encoder, Adapt | BringIn | Distil | Operate):
        later = {"distilled": True} if isinstance(encoder, Distil) else {}
        yield from (record | later for record in _brought_into(encoder.encoder, store, trained))
    if isinstance(encoder, BringIn):
        into = encoder.encoder.labels["encoder"]
        for aligned in encoder.languages:
            (pairs,) = (int(row.value) for row in store.rows(aligned.key) if row.measure == "pairs")
            known = [text.source for text in aligned.parallel if text.source]
            source = known[0] if known else SOURCE if trained == aligned.language else trained
            yield BroughtIn(
                into, aligned.language, source, aligned.parallel, pairs, aligned.pieces, aligned.keep_accents
            ).record


def _tuned(step: Tune | Evaluate) -> Tune:
    return step.model if isinstance(step, Evaluate) else step


def _trained_in(step: Tune | Evaluate) -> str:
    return _tuned(step).train[0].code


def _language(step: Tune | Evaluate) -> str:
    """That a model was evaluated in, or else trained."""
    return step.data.code if isinstance(step, Evaluate) else _trained_in(step)


def _read_before(model: TaskModel, step: Tune | Evaluate, records: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a model's own tokenizer is for, as far as that is known: all that has none of its own in the model."""
    told = [record[key] for record in records for key in ("source", "language")]
    return [code for code in dict.fromkeys([_trained_in(step), *told]) if not known_as(code, model.languages)]
