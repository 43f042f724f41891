"""Folders of models that a language was brought into: which tokenizer is the model's own, and what was read for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from babelscope.core.errors import DataError
from babelscope.core.outside import given_path, read_json
from babelscope.core.version import __version__
from babelscope.corpora.parallel import ParallelText
from babelscope.encoders.folder import CARD, LANGUAGES
from babelscope.steps.card import Brought, card, described

if TYPE_CHECKING:
    from babelscope.tasks.design import EncoderModel

RECORD = f"{LANGUAGES}/bring-in.json"
"""What was brought into the model of a folder, and by what text; beside the tokenizers, where it counts for no key."""
EARLIER_RECORD = "bring-in.json"
"""Where folders had it that were written before."""


class BroughtIn(NamedTuple):
    """A language, and what a model learned to read it from."""

    model: str
    """The name of what it was brought into, without a folder."""
    language: str
    source: str
    """The code of what the translations are from."""
    texts: Sequence[ParallelText]
    pairs: int
    pieces: int | None = None
    """Learned at most; None: by the amount of text."""
    keep_accents: bool = True

    @property
    def record(self) -> dict[str, Any]:
        """What a folder says of it, with licence and attribution of the texts."""
        return {
            "model": self.model, "language": self.language, "source": self.source, "pairs": self.pairs,
            "parallel": [described(text) for text in self.texts], "pieces": self.pieces,
            "keep accents": self.keep_accents, "babelscope": __version__,
        }  # fmt: skip


def write_records(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Put what was brought into a model beside it; a card says it to people.

    Args:
        folder: the model's.
        records: one or more, each of another language; the last is the one that a tuned model's folder reads first.
    """
    *earlier, last = records
    record = {**last, "earlier": earlier}
    (folder / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_card(folder, records)


def write_card(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Say to people what was brought into the model of a folder, as `write_records` has it."""
    brought = [Brought(each["language"], each["parallel"], each["pairs"]) for each in records]
    beside = sorted(place.name for place in (folder / LANGUAGES).iterdir() if place.is_dir())
    distilled = any(each.get("distilled") for each in records)
    (folder / CARD).write_text(card(records[-1]["model"], brought, trained=distilled, beside=beside), encoding="utf-8")


class _Text(BaseModel):
    """What is looked for in a text's description."""

    text: str
    sha256: list[str]
    licence: str = ""
    attribution: str = ""
    home: str = ""


class _Record(BaseModel):
    """What is looked for in a record."""

    language: str
    source: str
    parallel: list[_Text]
    pairs: int
    earlier: list[_Record] = []


class ReadIn(NamedTuple):
    """What a folder's record says of its languages."""

    language: str
    """That was brought in; a tuned model's folder reads it first."""
    source: str
    """That it was aligned with; an encoder's folder reads it first."""


def records_of(folder: Path) -> list[dict[str, Any]]:
    """What was brought into a folder's model, the last at the end."""
    places = (given_path(folder) / name for name in (RECORD, EARLIER_RECORD))
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return []
    record = read_json(file)
    try:
        _Record.model_validate(record)
    except ValidationError:
        raise DataError(file, None, "not what babelscope bring-in writes; bring the language in again") from None
    return [*record.pop("earlier", []), record]


def languages_of(folder: Path) -> ReadIn | None:
    """What a folder that bring-in made, or an export of what was brought in, reads; None of any other folder."""
    records = records_of(folder)
    return ReadIn(records[-1]["language"], records[-1]["source"]) if records else None


def save_reading(model: EncoderModel, language: str, before: Sequence[str], folder: Path) -> None:
    """Write a model with the tokenizer of a language as its own, which `transformers` reads all text with.

    Babelscope reads other languages by the model's own tokenizer all the same, since the folder says which that is.

    Args:
        model: reads the language with a tokenizer of the language's own.
        language: its code.
        before: the languages that the model's own tokenizer was for, which are some of its languages then; without
            any it is left out.
        folder: is made.
    """
    from babelscope.encoders.beside import declare_first
    from babelscope.tasks.export import save_model

    encoder = model.encoder
    languages = dict.fromkeys(before, encoder.tokenizer) | dict(encoder.languages)
    own = languages.pop(language)
    save_model(model.with_encoder(replace(encoder, tokenizer=own, languages=languages)), folder)
    if before:
        declare_first(folder, language, before)
