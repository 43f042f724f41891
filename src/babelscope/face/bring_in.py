"""A language brought into an encoder, or into a model that is tuned already, outside of studies."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.files import replacing
from babelscope.core.outside import given_path, new_path
from babelscope.corpora.codes import checked_code, known_as, same_language
from babelscope.corpora.given_pairs import given_pairs
from babelscope.corpora.mismatched import mismatches
from babelscope.corpora.paired import Pair
from babelscope.corpora.parallel import SOURCE, FilePairs, NamedPairs, ParallelText, check_source, joined
from babelscope.corpora.scripts import check_script
from babelscope.encoders.folder import MODEL_FILE, TUNED_ON, told_of
from babelscope.encoders.places import Place, locate
from babelscope.engine.brought_in import BroughtIn, languages_of, records_of, save_reading, write_records
from babelscope.engine.store import Store
from babelscope.engine.trained import trained_model
from babelscope.face.operate import without_head

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder

LOOKED_AT = 200
"""Pairs, to see whether their sides are exchanged."""


class Wanted(Declaration):
    """What is brought in, and how."""

    language: str
    """Its code."""
    parallel: tuple[str, ...]
    """Texts with their translations: names such as `ntrex:it`; files of pairs, FILE.tsv or FILE.tmx; two files of lines
    joined by a comma, `english.txt,italian.txt`."""
    source: str = SOURCE
    """The code of what the translations are from, which the model reads."""
    pairs: PositiveInt | None = None
    """At most; None: all."""
    pieces: PositiveInt | None = None
    """Learned at most; None: by the amount of text."""
    keep_accents: bool = True


def write_with_language(model: str, wanted: Wanted, folder: Path, store: Store) -> str:
    """Bring a language into an encoder or a tuned model, and write it as a Hugging Face folder.

    A tuned model's folder reads the new language, and what it read before as one of its languages. An encoder's folder
    reads what it read before, and the new language as one of its languages.

    Args:
        model: a tuned one, by an exported folder or the key of a result; or an encoder, by its name or folder.
        wanted: the language and its text.
        folder: to write; must not exist yet.
        store: where keys are looked up.

    Returns:
        What to tell the user: one line, and others where the texts seem to be exchanged, or not in step.

    Raises:
        InputError: there is no such model or text, or the folder exists.
    """
    folder = new_path(folder)
    texts = find_texts(wanted)
    pairs = _pairs(texts, wanted)
    place = None if _is_tuned(model) else locate(model)
    with replacing(folder) as draft:
        told = (
            _write_encoder(place, wanted, pairs, draft) if place else _write_model(model, wanted, pairs, draft, store)
        )
        name = place.name if place else Path(model).name
        write_records(draft, _records(place.path if place else model, name, wanted, texts, len(pairs)))
    return f"{folder}: {told}"


def recorded(encoder: Encoder, place: Place, wanted: Wanted) -> tuple[Encoder, list[dict[str, Any]]]:
    """Bring a language into an encoder in memory, made of what is at a place; with what `write_records` takes.

    Warns where the texts seem to be exchanged, or not in step.

    Raises:
        InputError: as of `find_texts` and `with_language`.
    """
    texts = find_texts(wanted)
    pairs = _pairs(texts, wanted)
    grown = with_language(encoder, wanted, pairs)
    for doubt in _doubts(encoder, wanted, pairs):
        warnings.warn(doubt, stacklevel=3)
    return grown, _records(place.path, place.name, wanted, texts, len(pairs))


def _pairs(texts: Sequence[ParallelText], wanted: Wanted) -> list[Pair]:
    pairs = joined(texts).pairs[: wanted.pairs]
    check_script(wanted.language, [target for _, target in pairs])
    return pairs


def find_texts(wanted: Wanted) -> list[NamedPairs | FilePairs]:
    """The texts that are named.

    Raises:
        InputError: no text is given, or there is no such text; a code is none, or both are of one language; or
            translations are known to be of sentences in another language than the source.
    """
    for which, code in (("language", wanted.language), ("source", wanted.source)):
        try:
            checked_code(code)
        except ValueError as error:
            raise InputError(f"{which} {code!r:.100}: {error}") from None
    if same_language(wanted.language, wanted.source):
        raise InputError(f"language and source are both {wanted.source}; give the language of the translations")
    if not wanted.parallel:
        raise InputError("no text to learn from; give one at least, such as ntrex:it or pairs.tsv")
    texts = [given_pairs(given, wanted.language, wanted.source) for given in wanted.parallel]
    for given, text in zip(wanted.parallel, texts, strict=True):
        check_source(text, wanted.source, f"{given}: ")
    return texts


def with_language(encoder: Encoder, wanted: Wanted, pairs: Sequence[Pair]) -> Encoder:
    """An encoder with the language, which is read as of then by `reading`.

    Raises:
        InputError: the encoder reads it already, or the sentences give no vocabulary.
    """
    from babelscope.encoders.aligned_text import AlignedLanguage
    from babelscope.encoders.bring_in import bring_in, check_new, linked_rows

    check_new(encoder, wanted.language)  # before all else, which takes seconds
    source = encoder.reading(wanted.source)
    language = AlignedLanguage.learned(source, pairs, wanted.pieces, keep_accents=wanted.keep_accents)
    return bring_in(encoder, {wanted.language: language.tokenizer}, linked_rows(source, language.counts(source)))


def _records(
    folder: str, model: str, wanted: Wanted, texts: Sequence[ParallelText], pairs: int
) -> list[dict[str, Any]]:
    """What was brought into a model before, as far as its folder says it, and what is brought in now."""
    made = BroughtIn(model, wanted.language, wanted.source, texts, pairs, wanted.pieces, wanted.keep_accents)
    return [*records_of(Path(folder)), made.record]


def _write_encoder(place: Place, wanted: Wanted, pairs: Sequence[Pair], folder: Path) -> str:
    from babelscope.encoders.load import load_located, save_encoder

    encoder = load_located(place)
    _check_languages(place.path, encoder, wanted)
    grown = with_language(encoder, wanted, pairs)
    save_encoder(grown, folder)
    told = f"{place.name} reads {', '.join(grown.languages)} too, by {len(pairs):,} pairs of sentences"
    return _told(told, _doubts(encoder, wanted, pairs)) + without_head(place)


def _write_model(given: str, wanted: Wanted, pairs: Sequence[Pair], folder: Path, store: Store) -> str:
    from babelscope.tasks.design import EncoderModel

    model = trained_model(store, given)
    if not isinstance(model, EncoderModel):
        raise InputError(
            f"{given}: a BiLSTM, which has no pieces that others could be aligned with; give a tuned encoder"
        )
    _check_languages(given, model.encoder, wanted)
    grown = model.with_encoder(with_language(model.encoder, wanted, pairs))
    save_reading(grown, wanted.language, _own_tokenizer_of(given, model.encoder, wanted), folder)
    told = f"a model of task {model.design.task} that reads {wanted.language}, by {len(pairs):,} pairs of sentences"
    return _told(told, [*_doubts(model.encoder, wanted, pairs), *_trained_in_others(model.encoder, wanted)])


def _trained_in_others(encoder: Encoder, wanted: Wanted) -> Iterator[str]:
    """Says where the translations are from a language that a model was not tuned in."""
    trained = _trained_in(encoder)
    if trained and not known_as(wanted.source, [*trained, *encoder.languages]):
        yield (
            f"the translations were taken to be from {wanted.source}, but the model was trained in "
            f"{', '.join(trained)}; if they are from that, remove the folder, and name it: --source "
            f"{trained[0]}"
        )


def _trained_in(encoder: Encoder) -> list[str]:
    """The languages that a model was tuned in, as far as its configuration says."""
    return list(dict.fromkeys(each.language for each in told_of(getattr(encoder.model.config, TUNED_ON, None))))


def _own_tokenizer_of(given: str, encoder: Encoder, wanted: Wanted) -> list[str]:
    """The languages that an encoder's own tokenizer is for, as far as that is known."""
    if (recorded := languages_of(Path(given))) is None:
        own = [code for code in (wanted.source, *_trained_in(encoder)) if not known_as(code, encoder.languages)]
        return list(dict.fromkeys(own)) or [wanted.source]
    if recorded.language not in encoder.languages:
        return [recorded.language]  # a folder of earlier versions, which reads it with the tokenizer that it has
    return [code for code, tokenizer in encoder.languages.items() if tokenizer is encoder.tokenizer]


def _doubts(encoder: Encoder, wanted: Wanted, pairs: Sequence[Pair]) -> list[str]:
    """What to say where the sides of the pairs seem to be exchanged, or hardly translate each other."""
    from babelscope.encoders.fluency import seem_exchanged

    doubts = mismatches(pairs)
    sources, translations = zip(*pairs[:LOOKED_AT], strict=True)
    if seem_exchanged(encoder.reading(wanted.source), sources, translations):
        doubts.append(
            f"the model reads what is given as {wanted.language} better than what is given as {wanted.source}: if the "
            "two are exchanged, remove the folder, exchange the columns or files, and bring the language in again"
        )
    return doubts


def _told(told: str, doubts: Sequence[str]) -> str:
    return "\nnote: ".join([told, *doubts])


def _check_languages(given: str, encoder: Encoder, wanted: Wanted) -> None:
    """Refuse a source that is not read, and a language that is, as far as the folder says what it reads."""
    if recorded := languages_of(Path(given)):
        read = sorted({*encoder.languages, *recorded})
        if known_as(wanted.language, read):
            raise InputError(f"--language {wanted.language}: {given} reads it already; bring it into what came before")
        if not known_as(wanted.source, read):
            raise InputError(f"--source {wanted.source}: {given} reads {', '.join(read)}; give one of these")


def _is_tuned(model: str) -> bool:
    """Whether it is a tuned model's folder or a key, and no encoder."""
    folder = given_path(model)
    return (folder / MODEL_FILE).is_file() if folder.is_dir() else bool(re.fullmatch("[0-9a-f]{4,64}", model))
