"""Where named entities are found: MasakhaNER 2 in the user's folder, WikiANN there or on the Hugging Face hub.

A corpus is named by its collection and its language there: `masakhaner2:wol`, `wikiann:de`. Its files are
`COLLECTION/LANGUAGE/SPLIT.txt`, in BIO, as both are distributed; `.txt` may be missing, and `.gz` may follow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.core.languages import REAL_LANGUAGES, Language
from babelscope.corpora.bio import read_bio, write_bio
from babelscope.corpora.cache import from_hub, publish, reason, user_cache
from babelscope.corpora.codes import checked_code
from babelscope.corpora.lines import the_one
from babelscope.corpora.sources import SPLITS, Split, check_split, data_folders

HUB_DATASET = "unimelb-nlp/wikiann"
_HUB_SPLITS: dict[Split, str] = {"train": "train", "dev": "validation", "test": "test"}
_MASAKHANER_CODES = {
    "bam": "bm", "bbj": "bbj", "ewe": "ee", "fon": "fon", "hau": "ha", "ibo": "ig", "kin": "rw", "lug": "lg",
    "luo": "luo", "mos": "mos", "nya": "ny", "pcm": "pcm", "sna": "sn", "swa": "sw", "tsn": "tn", "twi": "tw",
    "wol": "wo", "xho": "xh", "yor": "yo", "zul": "zu",
}  # fmt: skip
"""The collection's own codes (ISO 639-3) -> BCP 47."""


class EntityCorpus(NamedTuple):
    """A corpus that lies in the data folder."""

    name: str
    language: Language
    splits: tuple[Split, ...]


Source = Callable[[str, str], Path | None]
"""From a collection and its language to a folder with its splits; None if the source lacks it."""


def local_folder(collection: str, language: str) -> Path | None:
    """`COLLECTION/LANGUAGE` in the first data folder that has it."""
    folders = (data / collection / language for data in data_folders())
    return next((folder for folder in folders if folder.is_dir()), None)


def hub_folder(
    collection: str, language: str, cache: Path | None = None, load: Callable[[str], Mapping[str, Any]] | None = None
) -> Path | None:
    """WikiANN of a language from the Hugging Face hub, written once as BIO.

    `load` gives the splits of a language. Raises `InputError` if that fails.
    """
    if collection != "wikiann":
        return None
    folder = (cache or user_cache()) / "wikiann" / language
    if folder.is_dir():
        return folder
    try:
        splits = (load or partial(from_hub, HUB_DATASET))(language)
        publish(folder, lambda draft: _write_splits(draft, splits))
    except Exception as error:  # whatever the network libraries raise (they share no base class), or rows of new form
        where = f"{HUB_DATASET}, {language}, on the Hugging Face hub"
        raise InputError(f"wikiann:{language} could not be fetched from {where}: {reason(error)}", _advice()) from error
    return folder


SOURCES: tuple[Source, ...] = (local_folder, hub_folder)


def entity_file(name: str, split: Split, sources: tuple[Source, ...] = SOURCES) -> Path:
    """The BIO file of a corpus' split (`train`, `dev` or `test`), fetched if need be.

    Raises `InputError` if no source has the corpus, or the corpus has no such split, or two files of it that differ.
    """
    check_split(split)
    collection, language = _parts(name)
    folder = next(filter(None, (source(collection, language) for source in sources)), None)
    if folder is None:
        raise InputError(f"{name} is in none of the sources", _advice())
    if file := the_one(_files(folder, split)):
        return file
    there = ", ".join(_splits(folder)) or "no split at all"
    raise InputError(f"{name} has no {split} split: {folder} holds {there} (files named SPLIT[.txt][.gz])")


def read_entities(
    name: str,
    split: Split,
    labels: Sequence[str] | None = None,
    mapping: Mapping[str, str] | None = None,
    sources: tuple[Source, ...] = SOURCES,
) -> list[Tagged]:
    """The sentences of a corpus' split; `labels` and `mapping` as for `read_bio`."""
    prefix = f"{_parts(name)[1]}:" if name.startswith("wikiann:") else ""
    return read_bio(entity_file(name, split, sources), labels, mapping, prefix)


def entity_language(name: str) -> Language:
    """The language of a corpus: `masakhaner2:wol` is `wo`.

    A language that is not in `core.languages` is named by its code, with the script code Zyyy (undetermined).
    """
    collection, language = _parts(name)
    code = _MASAKHANER_CODES[language] if collection == "masakhaner2" else language
    return REAL_LANGUAGES.get(code, Language(code, code, "Zyyy"))


def available_entity_corpora() -> list[EntityCorpus]:
    """The corpora of the data folders, by name; the hub has WikiANN in many more languages."""
    corpora = {}
    for collection in ("masakhaner2", "wikiann"):
        for folder in [folder for data in reversed(data_folders()) for folder in sorted((data / collection).glob("*"))]:
            known = collection == "wikiann" or folder.name in _MASAKHANER_CODES
            if known and folder.is_dir() and (splits := _splits(folder)):
                name = f"{collection}:{folder.name}"
                corpora[name] = EntityCorpus(name, entity_language(name), splits)
    return list(corpora.values())


def _parts(name: str) -> tuple[str, str]:
    """The collection and its language."""
    collection, _, language = name.partition(":")
    with suppress(ValueError):
        if collection == "wikiann":
            return collection, checked_code(language)
    if collection == "masakhaner2" and language in _MASAKHANER_CODES:
        return collection, language
    allowed = f"wikiann:LANGUAGE, such as wikiann:de, or masakhaner2: and one of {', '.join(_MASAKHANER_CODES)}"
    raise InputError(f"{name!r} is not the name of an entity corpus; allowed are {allowed}")


def _files(folder: Path, split: Split) -> list[Path]:
    candidates = (folder / f"{split}{ending}" for ending in (".txt", ".txt.gz", "", ".gz"))
    return [file for file in candidates if file.is_file()]


def _splits(folder: Path) -> tuple[Split, ...]:
    return tuple(split for split in SPLITS if _files(folder, split))


def _write_splits(folder: Path, splits: Mapping[str, Any]) -> None:
    for split, name in _HUB_SPLITS.items():
        write_bio(folder / f"{split}.txt", _hub_sentences(splits[name]))


def _hub_sentences(rows: Any) -> Iterator[Tagged]:
    """`rows` is a `datasets.Dataset` with one sentence a row; tags are class numbers."""
    tags = rows.features["ner_tags"].feature
    for row in rows:
        if row["tokens"]:
            yield Tagged([_word(token) for token in row["tokens"]], tags.int2str(row["ner_tags"]))


def _word(token: str) -> str:
    """A token as BIO can hold it: no control characters, no space at an end; `_` if nothing else is left."""
    return "".join(char for char in token if char >= " " and char != "\x7f").strip() or "_"


def _advice() -> str:
    there = ", ".join(corpus.name for corpus in available_entity_corpora()) or "none"
    folders = os.pathsep.join(map(str, data_folders()))
    state = f"is {folders}; entity corpora there: {there}" if folders else "is not set"
    return (
        f"BABELSCOPE_DATA {state}\nSet BABELSCOPE_DATA to a folder that holds COLLECTION/LANGUAGE/SPLIT.txt[.gz], such "
        "as masakhaner2/wol/test.txt, or connect to the network for wikiann; MasakhaNER 2 is in "
        "https://github.com/masakhane-io/masakhane-ner"
    )
