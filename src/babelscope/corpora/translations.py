"""Public collections of English sentences with their translations, and where their files are.

The data folder comes first, then the public repositories at a recorded commit, whose files are kept in the user's
cache and checked against the SHA-256 in `parallel_texts.csv`.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import InputError
from babelscope.corpora.cache import fetch, reason, user_cache
from babelscope.corpora.codes import code_among
from babelscope.corpora.lines import plain_or_gzip
from babelscope.corpora.sources import GITHUB, data_folders


class Collection(NamedTuple):
    """A collection, and the names of its files; in them `{code}` is a language's, `{folder}` is in the table."""

    title: str
    licence: str
    attribution: str
    """Whom its licence, or good manners, ask to name."""
    local: tuple[str, ...]
    """In the data folder, `.gz` may follow: a table (source TAB translation), or two files, the source's first."""
    repository: str
    commit: str
    public: tuple[str, str]
    """In the repository, line by line: the source's file and the translation's."""

    @property
    def home(self) -> str:
        """Its address at the recorded commit."""
        return f"https://github.com/{self.repository}/tree/{self.commit}"


_OPUS = ("Helsinki-NLP/OPUS-MT-testsets", "ac0f19c0be3cb4e0d9450fcb2d7a9847c4bdd180")
_TATOEBA = "datasets/helsinki_nlp/tatoeba/testsets/{folder}/tatoeba-test-v2021-08-07"
COLLECTIONS = {
    "ntrex": Collection(
        "NTREX-128", "CC BY-SA 4.0", "Federmann, Kocmi and Xin (2022), Microsoft",
        ("ntrex/newstest2019-src.eng.txt", "ntrex/newstest2019-ref.{code}.txt"),
        "MicrosoftTranslator/NTREX", "8561f6a622db9edad1217683e5c83daefd8bb2bf",
        ("NTREX-128/newstest2019-src.eng.txt", "NTREX-128/newstest2019-ref.{code}.txt"),
    ),
    "flores": Collection(
        "FLORES-200 devtest", "CC BY-SA 4.0", "NLLB Team (2022), Meta",
        ("parallel/flores200/eng.devtest.txt", "parallel/flores200/{code}.devtest.txt"), *_OPUS,
        ("testsets/flores200_dataset/devtest/eng.devtest", "testsets/flores200_dataset/devtest/{code}.devtest"),
    ),
    "tico": Collection(
        "TICO-19 test", "CC0 1.0", "Anastasopoulos et al. (2020)",
        ("parallel/tico19/en-{code}.tsv",), *_OPUS,
        ("datasets/tico19/testsets/{folder}/tico19-test.en", "datasets/tico19/testsets/{folder}/tico19-test.{code}"),
    ),
    "tatoeba": Collection(
        "Tatoeba test set of 2021-08-07", "CC BY 2.0 FR", "contributors of tatoeba.org; compiled by Tiedemann (2020)",
        ("parallel/tatoeba/eng-{code}.tsv",), *_OPUS, (f"{_TATOEBA}.eng", f"{_TATOEBA}.{{code}}"),
    ),
}  # fmt: skip
"""By what their names begin with: `ntrex:de`."""


def translation_files(name: str, cache: Path | None = None, downloader: Any = None) -> tuple[Path, ...]:
    """The table of a collection in one language, such as `tico:fr`, or its two files, the source's first.

    `cache` is the folder that keeps what is fetched (default: the user's cache folder), `downloader` one of pooch's.

    Raises:
        InputError: the collection has no such language, or its files are not in the data folder and cannot be fetched.
    """
    prefix, _, given = name.partition(":")
    collection, public = COLLECTIONS[prefix], _public(prefix)
    there = _local_codes(collection)
    try:
        code = code_among(given, {*there, *public})
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    if code in there:
        return there[code]
    folder = (cache or user_cache()) / "parallel" / prefix
    try:
        return tuple(_fetched(collection, public[code], folder, downloader))
    except (OSError, ValueError) as error:
        problem = f"{name} could not be fetched from {collection.home}: {reason(error)}"
        raise InputError(problem, _advice(collection, code)) from error


def _local_codes(collection: Collection) -> dict[str, tuple[Path, ...]]:
    """The codes whose files are all in one of the data folders, and these files, of the first that has them."""
    by_folder = [_codes_in(folder, collection) for folder in data_folders()]
    return {code: files for codes in reversed(by_folder) for code, files in codes.items()}


def _codes_in(folder: Path, collection: Collection) -> dict[str, tuple[Path, ...]]:
    named = Path(collection.local[-1])
    pattern = re.compile(re.escape(named.name).replace(re.escape("{code}"), r"([\w-]+)") + r"(\.gz)?")
    matches = (pattern.fullmatch(path.name) for path in (folder / named.parent).glob("*"))
    codes = {match[1] for match in matches if match} - {"eng"}
    by_code = {code: [plain_or_gzip(folder / part.format(code=code)) for part in collection.local] for code in codes}
    return {code: tuple(path for path in paths if path) for code, paths in by_code.items() if all(paths)}


class _PublicText(NamedTuple):
    collection: str
    code: str
    folder: str
    source_sha256: str
    sha256: str


@functools.cache
def _public(collection: str) -> dict[str, _PublicText]:
    """The table in the package, by code."""
    table = (files("babelscope.corpora") / "parallel_texts.csv").read_text(encoding="utf-8")
    rows = (_PublicText(**row) for row in csv.DictReader(table.splitlines()))
    return {row.code: row for row in rows if row.collection == collection}


def _fetched(collection: Collection, text: _PublicText, folder: Path, downloader: Any) -> Sequence[Path]:
    paths = [path.format(code=text.code, folder=text.folder) for path in collection.public]
    root = f"{GITHUB}/{collection.repository}/{collection.commit}"
    return [
        fetch(f"{root}/{path}", sha256, folder / text.folder, downloader)
        for path, sha256 in zip(paths, (text.source_sha256, text.sha256), strict=True)
    ]


def _advice(collection: Collection, code: str) -> str:
    names = " and ".join(name.format(code=code) for name in collection.local)
    here = ", ".join(sorted(_local_codes(collection))) or "none"
    return (
        f"Connect to the network, or set BABELSCOPE_DATA to a folder that holds {names} (.gz may follow); "
        f"languages of {collection.title} there: {here}"
    )
