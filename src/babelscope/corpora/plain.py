"""Plain text to model language on, the user's own or NTREX.

A text of one's own is a file, or the files of a folder in the order of their names: one sentence a line (`.txt`), or
JSON with a document a line (`.jsonl`), as OSCAR is distributed, whose documents are cut into sentences. In this order
the first eight tenths are `train`, the next tenth is `dev` and the last one `test`. NTREX is parallel, so that in all
of its languages a split is the same sentences.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from babelscope.core.errors import DataError, InputError
from babelscope.core.hashing import digest
from babelscope.core.names import check_name
from babelscope.core.outside import given_path, parse_json, reading
from babelscope.corpora.codes import code_among
from babelscope.corpora.lines import Line, content_digest, numbered_lines, the_one
from babelscope.corpora.raw_text import check_raw
from babelscope.corpora.running_text import EDITION, running_sentences
from babelscope.corpora.sources import Split, data_folders

T = TypeVar("T")

NTREX, OWN = "ntrex:", "text:"
NAMES = ("ntrex:CODE", "text:CODE:FILE")
_CODES = {
    "ar": "arb", "bm": "bam", "cs": "ces", "de": "deu", "en": "eng", "es": "spa", "eu": "eus", "fr": "fra",
    "gsw": "gsw-BE", "ha": "hau", "hi": "hin", "it": "ita", "mt": "mlt", "nl": "nld", "pt": "por", "ru": "rus",
    "sv": "swe", "sw": "swa", "tr": "tur", "ug": "uig", "vi": "vie", "wo": "wol", "yo": "yor", "zh": "zho-CN",
}  # fmt: skip
"""What languages are called in rows, by the codes that NTREX (Federmann et al., 2022) names its files by."""
_LINES, _DOCUMENTS = (".txt", ".txt.gz"), (".jsonl", ".jsonl.gz")
"""How files in a folder end. A file that is named by itself is lines of text unless it ends as documents do."""
_TEXT_KEYS = ("content", "text")
"""Where a document's text is: `content` in OSCAR from 2021 on, `text` in most others."""
LINES_OR_JSON = (
    "give one sentence a line, in a file named .txt, or JSON with a document a line and its text in 'content' or "
    "'text', in one named .jsonl"
)
"""What to give in place of what is no text."""
_LONGEST_DOCUMENT = 1 << 26


def text_file(name: str) -> Path:
    """The file of a text that is a sentence a line.

    Raises:
        InputError: it is not named as texts are, or there is no such file; says where it was looked for.
    """
    path = text_place(name)
    if not path.is_file() or path.name.endswith(_DOCUMENTS):
        raise InputError(f"{name}: {path} is not a file with a sentence a line, which is what is read here")
    return path


def text_place(name: str) -> Path:
    """The file or the folder of a text; raises as `text_file` does."""
    if not name.startswith(OWN):
        return _ntrex_file(name)
    code, _, file = name.removeprefix(OWN).partition(":")
    if not (code and file):
        raise InputError(f"{name!r}: a text of one's own is named {NAMES[1]}, such as text:nl:news.txt")
    check_name(code, name)
    path = given_path(file)
    if not path.exists():
        raise InputError(f"{name}: there is no file {path}, nor a folder")
    return path


def text_digest(name: str) -> str:
    """What a text's content is known by: of lines that of the file, else one of all files and of how they are read."""
    files = _files(text_place(name))
    if len(files) == 1 and not files[0].name.endswith(_DOCUMENTS):
        return content_digest(files[0])
    texts = {"texts": [[file.name.removesuffix(".gz"), content_digest(file)] for file in files]}
    cut = {"cut": EDITION} if any(file.name.endswith(_DOCUMENTS) for file in files) else {}
    return digest(texts | cut)


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    with reading(place):
        if files := sorted(file for file in place.iterdir() if file.name.endswith((*_LINES, *_DOCUMENTS))):
            return _once(files)
    raise InputError(f"{place}: the folder has no file of text, whose name ends in {', '.join((*_LINES, *_DOCUMENTS))}")


def _once(files: Sequence[Path]) -> list[Path]:
    """Each text once, of which a folder may have the file and its gzip."""
    named = defaultdict[str, list[Path]](list)
    for file in files:
        named[file.name.removesuffix(".gz")].append(file)
    return [path for same in named.values() if (path := the_one(same))]


def available_ntrex() -> list[str]:
    """The codes of the languages whose texts are in the data folders."""
    return list(dict.fromkeys(text_language(f"{NTREX}{file.name.split('.')[1]}") for file in _ntrex_files()))


def text_language(name: str) -> str:
    """The code of a text's language: `nl` of `ntrex:nl`, `ntrex:nld` and `text:nl:news.txt`."""
    code = name.split(":")[1]
    return {long: short for short, long in _CODES.items()}.get(code, code)


def read_text(name: str, split: Split) -> Sequence[str]:
    """The sentences of a split; empty lines are left out.

    Raises:
        DataError: a file is damaged, is neither a sentence a line nor JSON, or the text has fewer than ten sentences.
    """
    place = text_place(name)
    sentences = [sentence for file in _files(place) for sentence in _sentences(file)]
    if len(sentences) < 10:
        raise DataError(place, None, f"{len(sentences)} sentences; a text to train, select and test on has ten or more")
    return divided(sentences, split)


def _sentences(file: Path) -> Iterator[str]:
    if file.name.endswith(_DOCUMENTS):
        for line in numbered_lines(file, _LONGEST_DOCUMENT):
            yield from running_sentences(_document(file, line)) if line.text.strip() else ()
        return
    check_raw(file, LINES_OR_JSON)
    yield from (text for line in numbered_lines(file) if (text := line.text.strip()))


def _document(file: Path, line: Line) -> str:
    document = parse_json(line.text, file, line.number)
    texts = [document[key] for key in _TEXT_KEYS if key in document] if isinstance(document, dict) else []
    if not texts or not isinstance(texts[0], str):
        raise DataError(file, line.number, f"no object with text in {' or '.join(map(repr, _TEXT_KEYS))}")
    return texts[0]


def divided(sentences: Sequence[T], split: Split, tenths: tuple[int, int, int] = (8, 1, 1)) -> Sequence[T]:
    """A split of what is in one file, in its order; `tenths` are those of `train`, `dev` and `test`."""
    train, dev, _ = tenths
    ends = {"train": (0, train), "dev": (train, train + dev), "test": (train + dev, 10)}[split]
    start, end = (round(place / 10 * len(sentences)) for place in ends)
    return sentences[start:end]


def _ntrex_file(name: str) -> Path:
    code = name.removeprefix(NTREX)
    if not re.fullmatch(r"[A-Za-z-]+", code):
        raise InputError(f"{name!r}: NTREX is named {NAMES[0]}, such as ntrex:nl")
    by_code = defaultdict[str, list[Path]](list)
    for file in _ntrex_files():
        by_code[file.name.split(".")[1]].append(file)
    if not by_code:
        advice = "Set BABELSCOPE_DATA to a folder that holds ntrex/newstest2019-ref.CODE.txt (or with .gz)"
        raise InputError(f"{name} is not in the data folder", advice)
    try:
        files = by_code[code_among(_CODES.get(code, code), by_code)]
    except InputError as error:
        raise InputError(f"{name} is not in the data folder: {error}") from None
    return the_one([file for file in files if file.parent == files[0].parent]) or files[0]


def _ntrex_files() -> list[Path]:
    """Those of the data folders, the first folder's first."""
    return [file for folder in data_folders() for file in sorted((folder / "ntrex").glob("newstest2019-*.txt*"))]
