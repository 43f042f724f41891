"""Plain text to model language on: one sentence a line, the user's own or NTREX.

In the order of the file the first eight tenths are `train`, the next tenth is `dev` and the last one `test`. NTREX is
parallel, so that in all of its languages a split is the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from babelscope.core.errors import DataError, InputError
from babelscope.corpora.lines import numbered_lines
from babelscope.corpora.sources import Split, data_folder

T = TypeVar("T")

NTREX, OWN = "ntrex:", "text:"
NAMES = ("ntrex:CODE", "text:CODE:FILE")
_CODES = {
    "ar": "arb", "bm": "bam", "cs": "ces", "de": "deu", "en": "eng", "es": "spa", "eu": "eus", "fr": "fra",
    "gsw": "gsw-BE", "ha": "hau", "hi": "hin", "it": "ita", "mt": "mlt", "nl": "nld", "pt": "por", "ru": "rus",
    "sv": "swe", "sw": "swa", "tr": "tur", "ug": "uig", "vi": "vie", "wo": "wol", "yo": "yor", "zh": "zho-CN",
}  # fmt: skip
"""Codes of languages that have shorter ones than NTREX (Federmann et al., 2022) names its files by."""


def text_file(name: str) -> Path:
    """The file of a text.

    Raises:
        InputError: it is not named as texts are, or there is no such file; says where it was looked for.
    """
    if name.startswith(OWN):
        code, _, file = name.removeprefix(OWN).partition(":")
        if not (code and file):
            raise InputError(f"{name!r}: a text of one's own is named {NAMES[1]}, such as text:nl:news.txt")
        path = Path(file).expanduser()
        if not path.is_file():
            raise InputError(f"{name}: there is no file {path}")
        return path
    return _ntrex_file(name)


def available_ntrex() -> list[str]:
    """The codes of the languages whose texts are in the data folder."""
    folder = data_folder()
    files = sorted((folder / "ntrex").glob("newstest2019-*.txt*")) if folder else []
    return [text_language(f"{NTREX}{file.name.split('.')[1]}") for file in files]


def text_language(name: str) -> str:
    """The code of a text's language: `nl` of `ntrex:nl`, `ntrex:nld` and `text:nl:news.txt`."""
    code = name.split(":")[1]
    return {long: short for short, long in _CODES.items()}.get(code, code)


def read_text(name: str, split: Split) -> Sequence[str]:
    """The sentences of a split; empty lines are left out.

    Raises:
        DataError: the file is damaged, or holds fewer than ten sentences.
    """
    path = text_file(name)
    sentences = [text for line in numbered_lines(path) if (text := line.text.strip())]
    if len(sentences) < 10:
        raise DataError(path, None, f"{len(sentences)} sentences; a text to train, select and test on has ten or more")
    return divided(sentences, split)


def divided(sentences: Sequence[T], split: Split) -> Sequence[T]:
    """A split of what is in one file, in its order."""
    ends = {"train": (0.0, 0.8), "dev": (0.8, 0.9), "test": (0.9, 1.0)}[split]
    start, end = (round(share * len(sentences)) for share in ends)
    return sentences[start:end]


def _ntrex_file(name: str) -> Path:
    code = name.removeprefix(NTREX)
    folder = data_folder()
    if not re.fullmatch(r"[A-Za-z-]+", code):
        raise InputError(f"{name!r}: NTREX is named {NAMES[0]}, such as ntrex:nl")
    files = sorted((folder / "ntrex").glob(f"newstest2019-*.{_CODES.get(code, code)}.txt*")) if folder else []
    if not files:
        advice = "Set BABELSCOPE_DATA to a folder that holds ntrex/newstest2019-ref.CODE.txt (or with .gz)"
        raise InputError(f"{name} is not in the data folder", advice)
    return files[0]
