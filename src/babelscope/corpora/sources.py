"""Where treebanks are found: the user's folder, then the public repositories on GitHub, then the Hugging Face hub.

The first source that has a treebank gives all of its files: splits of different releases are never mixed, since a
sentence may have moved from one split to another between them.
"""

from __future__ import annotations

import csv
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from babelscope.core.errors import DataError, InputError, did_you_mean
from babelscope.core.examples import NO_LABEL, Multiword, Sentence, Word
from babelscope.core.languages import REAL_LANGUAGES, Language, code_of_name
from babelscope.core.outside import given_path
from babelscope.corpora.cache import fetch, from_hub, publish, reason, user_cache
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.lines import the_one

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
ALL = 10**6
"""So many labelled examples are as many as there are."""
DATA_VARIABLE = "BABELSCOPE_DATA"
HUB_DATASET, HUB_RELEASE = "commul/universal_dependencies", "2.17"
GITHUB = "https://raw.githubusercontent.com"
_TITLES, _CODES = {"Maghrebi Arabic French": "Narabizi"}, {"nrz": "qaf"}
"""What UD calls languages that go by another name, or another code, here: `qaf` is one of the artificial world's."""

Source = Callable[[str], Path | None]
"""From a treebank's name to a folder with its `*-ud-SPLIT.conllu[.gz]` files; None if the source lacks it."""


class AvailableTreebank(NamedTuple):
    """A treebank that needs no search: it lies in the data folder, or is in the table of public files."""

    name: str
    language: Language
    splits: tuple[Split, ...]
    source: str


class _PublicFile(NamedTuple):
    treebank: str
    file: str
    licence: str
    commit: str
    sha256: str


def data_folders() -> tuple[Path, ...]:
    """The folders that the environment variable BABELSCOPE_DATA names, several as those of PATH are; none if not set.

    What several have is taken from the first of them. Raises `InputError` if one is no folder, or may not be read.
    """
    names = [name for name in os.environ.get(DATA_VARIABLE, "").split(os.pathsep) if name]
    folders = tuple(map(given_path, names))
    for name, folder in zip(names, folders, strict=True):
        if not folder.is_dir():
            raise InputError(f"{DATA_VARIABLE} names {name!r}, which is not a folder; correct it or unset it")
        if not os.access(folder, os.R_OK | os.X_OK):
            raise InputError(f"{DATA_VARIABLE} names {name!r}, which you may not read; correct it or unset it")
    return folders


def local_folder(name: str) -> Path | None:
    """`ud/NAME` in the first data folder that has it."""
    return next((data / "ud" / name for data in data_folders() if (data / "ud" / name).is_dir()), None)


def github_folder(name: str, cache: Path | None = None, downloader: Any = None) -> Path | None:
    """The files of the public repository at the recorded commit, fetched once and checked against their SHA-256.

    `cache` is the folder that keeps them (default: the user's cache folder), `downloader` one of pooch's.
    Raises `InputError` if they cannot be fetched or are not the recorded ones.
    """
    wanted = [file for file in _public_files() if file.treebank == name]
    folder = (cache or user_cache()) / "ud" / name
    for file in wanted:
        url = f"{GITHUB}/UniversalDependencies/{name}/{file.commit}/{file.file}"
        try:
            fetch(url, file.sha256, folder, downloader)
        except (OSError, ValueError) as error:
            raise _not_fetched(name, url, error) from error
    return folder if wanted else None


def hub_folder(
    name: str, cache: Path | None = None, load: Callable[[str], Mapping[str, Any]] | None = None
) -> Path | None:
    """The treebank's splits in the public data set on the Hugging Face hub, written once as CoNLL-U.

    `load` gives the splits of a configuration such as `en_ewt`. Raises `InputError` if that fails.
    """
    code = treebank_language(name).code
    prefix = f"{_CODES.get(code, code)}_{name.rsplit('-', 1)[1].lower()}"
    folder = (cache or user_cache()) / f"ud-{HUB_RELEASE}-with-text" / name  # without, files have no `# text`
    if folder.is_dir():
        return folder
    try:
        splits = (load or functools.partial(from_hub, HUB_DATASET, revision=HUB_RELEASE))(prefix)
        publish(folder, lambda draft: _write_splits(draft, prefix, splits))
    except Exception as error:  # whatever the network libraries raise (they share no base class), or rows of new form
        raise _not_fetched(name, f"{HUB_DATASET}, {prefix}, on the Hugging Face hub", error) from error
    return folder


SOURCES: tuple[Source, ...] = (local_folder, github_folder, hub_folder)


def treebank_folder(name: str, sources: tuple[Source, ...] = SOURCES) -> Path:
    """The folder that holds all files of a treebank such as `UD_English-EWT`, fetched if need be."""
    _check_name(name)
    for source in sources:
        if folder := source(name):
            return folder
    raise InputError(f"{name} is in none of the sources", _advice())


def _is_name(name: str) -> bool:
    return re.fullmatch(r"UD_\w{1,99}-\w{1,99}", name) is not None


def _check_name(name: str) -> None:
    if not _is_name(name):
        expected = "expected UD_LANGUAGE-TREEBANK, as UD_English-EWT"
        raise InputError(f"{name!r:.200} is not the name of a treebank; {expected}")


def check_split(split: str) -> None:
    """Refuse what is no split."""
    if split not in SPLITS:
        raise InputError(f"{split!r} is not a split; allowed are {', '.join(SPLITS)}")


def find_treebank(name: str, split: Split, sources: tuple[Source, ...] = SOURCES) -> Path:
    """The CoNLL-U file of a treebank's split (`train`, `dev` or `test`).

    Raises `InputError` if no source has the treebank, or the treebank has no such split, or has it in parts.
    """
    check_split(split)
    folder = treebank_folder(name, sources)
    if file := _whole_file(folder, split):
        return file
    there = ", ".join(_splits(folder)) or "no split at all"
    raise InputError(f"{name} has no {split} split: {folder} holds {there} (files named *-ud-SPLIT.conllu[.gz])")


def is_divided(name: str, split: Split, sources: tuple[Source, ...] = SOURCES) -> bool:
    """Whether a split is a part of the dev file, since the treebank has no train file."""
    return _divides_dev(treebank_folder(name, sources), split)


def split_file(name: str, split: Split, sources: tuple[Source, ...] = SOURCES) -> Path:
    """The file that `read_split` reads: the split's own, or the dev file where the treebank has no train file."""
    folder = treebank_folder(name, sources)
    return find_treebank(name, "dev" if _divides_dev(folder, split) else split, sources)


def read_split(
    name: str,
    split: Split,
    sources: tuple[Source, ...] = SOURCES,
    read: Callable[[Path, int | None], Sequence[Sentence]] = read_conllu,
    count: int | None = None,
    whole: bool = False,
) -> Sequence[Sentence]:
    """The sentences of a split, or the first `count` of them and perhaps more, as `read` gives them of a file.

    Where a treebank has no train file, its dev file takes that place: the first nine tenths are `train`, the last
    tenth is `dev`, held out for model selection, unless the `whole` is wanted. A test file is never training data.

    Raises:
        InputError: as of `find_treebank`.
        DataError: the file is malformed, or there is nothing left of it to train on.
    """
    path = split_file(name, split, sources)
    if whole or not is_divided(name, split, sources):
        return read(path, count)
    sentences = read(path, None)
    held_out = max(1, len(sentences) // 10)
    if held_out == len(sentences):
        raise DataError(path, None, "1 sentence; a dev file that is divided into train and dev takes two or more")
    return sentences[:-held_out] if split == "train" else sentences[-held_out:]


def treebank_language(name: str) -> Language:
    """The language of a treebank: `UD_English-EWT` is `en`.

    A language that is not in `babelscope.core.languages` takes its code from the files in the data folders, or else
    from CLDR's names, with the script code Zyyy (undetermined). Raises `InputError` if it is in none.
    """
    _check_name(name)
    title = name.removeprefix("UD_").rsplit("-", 1)[0].replace("_", " ")
    title = _TITLES.get(title, title)
    for language in REAL_LANGUAGES.values():
        if language.name == title:
            return language
    folder = local_folder(name)
    if file := next(folder.glob("*-ud-*.conllu*"), None) if folder else None:
        return Language(file.name.split("_", 1)[0], title, "Zyyy")
    if code := code_of_name(title):
        return Language(code, title, "Zyyy")
    known = sorted(language.name for language in REAL_LANGUAGES.values())
    near = did_you_mean(title, known)
    raise InputError(f"{name}: no language is named {title!r}{near}; known are {', '.join(known)}", _advice())


def treebank_licence(name: str) -> str:
    """The licence of a treebank that the table of public files has; empty for others."""
    return next((file.licence for file in _public_files() if file.treebank == name), "")


def available_treebanks() -> list[AvailableTreebank]:
    """The treebanks of the data folders and of the table of public files, by name; the hub has more."""
    treebanks: dict[str, AvailableTreebank] = {}
    for file in _public_files():
        split = file.file.removesuffix(".conllu").rsplit("-", 1)[1]
        splits = treebanks[file.treebank].splits if file.treebank in treebanks else ()
        in_order = tuple(s for s in SPLITS if s in (*splits, split))
        treebanks[file.treebank] = AvailableTreebank(
            file.treebank, treebank_language(file.treebank), in_order, "GitHub"
        )
    there = {folder.name for data in data_folders() for folder in (data / "ud").glob("UD_*-*") if folder.is_dir()}
    for name in filter(_is_name, there):  # copies and backups beside them have other names
        if splits := _splits(treebank_folder(name, (local_folder,))):
            treebanks[name] = AvailableTreebank(name, treebank_language(name), splits, DATA_VARIABLE)
    return [treebanks[name] for name in sorted(treebanks)]


@functools.cache
def _public_files() -> tuple[_PublicFile, ...]:
    """The table in the package: treebanks whose files are recorded complete, at one commit of their repository."""
    table = (files("babelscope.corpora") / "treebanks.csv").read_text(encoding="utf-8")
    return tuple(_PublicFile(**row) for row in csv.DictReader(table.splitlines()))


def _files(folder: Path, split: str) -> list[Path]:
    return sorted(file for suffix in ("", ".gz") for file in folder.glob(f"*-ud-{split}.conllu{suffix}"))


def _whole_file(folder: Path, split: Split) -> Path | None:
    """The file of a split; `InputError` if there are parts of it alone, of which none may be taken for all."""
    if file := the_one(_files(folder, split)):
        return file
    if parts := _files(folder, f"{split}-*"):
        names, end = ", ".join(part.name for part in parts), f"-ud-{split}.conllu"
        whole = parts[0].name.split("-ud-")[0] + end
        raise InputError(
            f"{folder}: the {split} split is in parts ({names}), and is read from one file named *{end}: join them, "
            f"unpacked, in their order: cat PARTS > {whole}"
        )
    return None


def _splits(folder: Path) -> tuple[Split, ...]:
    return tuple(split for split in SPLITS if _files(folder, split))


def _divides_dev(folder: Path, split: Split) -> bool:
    return split != "test" and _whole_file(folder, "train") is None and bool(_files(folder, "dev"))


def _hub_sentences(rows: Any) -> Iterator[Sentence]:
    """`rows` is a `datasets.Dataset` with one sentence a row; heads are strings, tags are class numbers."""
    tags = rows.features["upos"].feature
    for row in rows:
        columns = zip(row["tokens"], tags.int2str(row["upos"]), map(int, row["head"]), row["deprel"], strict=True)
        more = [row.get(name) or [NO_LABEL] * len(row["tokens"]) for name in ("lemmas", "xpos", "feats")]
        values = zip(columns, zip(*more, strict=True), strict=True)
        words = tuple(Word(*word, *(value or NO_LABEL for value in rest)) for word, rest in values)
        ranges = (([int(end) for end in token["id"].split("-")], token["form"]) for token in row["mwt"])
        multiwords = tuple(Multiword(first, last, form) for (first, last), form in ranges)
        yield Sentence(row["sent_id"], words, multiwords, row.get("text"))


def _write_splits(folder: Path, prefix: str, splits: Mapping[str, Any]) -> None:
    for split, rows in splits.items():
        write_conllu(folder / f"{prefix}-ud-{split}.conllu", _hub_sentences(rows))


def _not_fetched(name: str, what: str, error: Exception) -> InputError:
    of_language = name[: name.rfind("-") + 1]
    there = [treebank.name for treebank in available_treebanks() if treebank.name.startswith(of_language)]
    problem = f"{name} could not be fetched from {what}: {reason(error)}"
    missing = f"it is not in {DATA_VARIABLE} as ud/{name}/*-ud-SPLIT.conllu[.gz] either"
    return InputError(f"{problem}; {missing}{did_you_mean(name, there)}", _advice())


def _advice() -> str:
    folders = os.environ.get(DATA_VARIABLE)
    there = ", ".join(treebank.name for treebank in available_treebanks() if treebank.source == DATA_VARIABLE)
    state = f"is {folders}; treebanks there: {there or 'none'}" if folders else "is not set"
    return (
        f"{DATA_VARIABLE} {state}\nConnect to the network, or set {DATA_VARIABLE} to a folder that holds "
        "ud/TREEBANK/*-ud-SPLIT.conllu[.gz], such as ud/UD_Faroese-OFT/fo_oft-ud-test.conllu"
    )
