"""Files with their text in other letters: CoNLL-U, whose annotation stays as it is, and plain text.

In CoNLL-U what was there is kept, so that it can be put back: a form in MISC as `OrigForm=`, the sentence in a comment
`orig_text`. There is no `text` then: rules with contexts change a sentence in other ways than its words one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import DataError, InputError
from babelscope.core.outside import new_path, opened, write_text
from babelscope.core.words import counted
from babelscope.corpora.lines import Line, numbered_lines
from babelscope.corpora.raw_text import check_raw
from babelscope.corpora.transliteration import Change

KEPT, KEPT_TEXT = "OrigForm", "orig_text"
_WORD_ID = re.compile(r"[0-9]+\t")
"""With which lines of words begin in CoNLL-U, and no others."""
_COMMENT = re.compile(r"(?P<before>#\s*)(?P<name>text|orig_text)(?P<after>\s*=.*)")
"""With whatever spaces, as the reader of CoNLL-U takes it."""
_AGAIN = "the file is transliterated, restore it first"
_FORM, _MISC, _COLUMNS = 1, 9, 10


class Changed(NamedTuple):
    """How much of a file was changed."""

    number: int
    total: int
    unit: str
    """Words of CoNLL-U, or lines that have something in them."""

    @property
    def in_words(self) -> str:
        """`339 of 400 words`."""
        return f"{self.number:,} of {counted(self.total, self.unit)}"


def rewrite(source: Path, target: Path, change: Change) -> Changed:
    """Write a file with its text changed; one whose name ends in .conllu (or .conllu.gz) is CoNLL-U, others are text.

    Returns:
        How many words, or lines of text, were changed, of how many there are.

    Raises:
        DataError: the source cannot be read, or a line of CoNLL-U has not ten columns, or is changed already.
        InputError: the target exists, or cannot be written.
    """
    if _is_conllu(source):
        return _write(source, target, lambda line: _changed(source, line, change))
    check_raw(
        source,
        "its labels and keys would be changed, too; name CoNLL-U .conllu, and give text alone of what else it is",
    )
    return _write(source, target, lambda line: change(line.text), conllu=False)


def restore(source: Path, target: Path) -> Changed:
    """Write a CoNLL-U file that `rewrite` has made with what was there before; returns how many words were put back.

    Raises:
        DataError, InputError: as of `rewrite`; or the source is no CoNLL-U, in which alone it is kept.
    """
    if not _is_conllu(source):
        opened(source).close()
        raise InputError(f"{source}: only CoNLL-U, in a file named .conllu, keeps what was there before")
    return _write(source, target, lambda line: _restored(source, line))


def _is_conllu(source: Path) -> bool:
    return re.search(r"\.conllu(\.gz)?$", source.name, re.IGNORECASE) is not None


def _write(source: Path, target: Path, rewritten: Callable[[Line], str], conllu: bool = True) -> Changed:
    """Each line as `rewritten` gives it; how many changed, of CoNLL-U those of words alone."""
    target = new_path(target)
    count = total = 0

    def lines() -> Iterator[str]:
        nonlocal count, total
        for line in numbered_lines(source):
            text = rewritten(line)
            counts = bool(_WORD_ID.match(line.text) if conllu else line.text.strip())
            count, total = count + (counts and text != line.text), total + counts
            yield f"{text}\n"

    text = "".join(lines())  # all of it first, so that a fault leaves no half of a file
    write_text(target, text)
    return Changed(count, total, "word" if conllu else "line")


def _changed(path: Path, line: Line, change: Change) -> str:
    if comment := _COMMENT.fullmatch(line.text):
        if comment["name"] == KEPT_TEXT:
            raise DataError(path, line.number, f"{KEPT_TEXT} is kept for text that was changed: {_AGAIN}")
        return f"{comment['before']}{KEPT_TEXT}{comment['after']}"
    if not line.text or line.text.startswith("#"):
        return line.text
    columns = _columns(path, line)
    if f"{KEPT}=" in columns[_MISC]:
        raise DataError(path, line.number, f"MISC has {KEPT} already: {_AGAIN}")
    form = change(columns[_FORM])
    if not form.strip() or form == columns[_FORM]:  # a word cannot be nothing: a lone sign that has no sound stays
        return line.text
    kept = f"{KEPT}={_escaped(columns[_FORM])}"
    misc = kept if columns[_MISC] == "_" else f"{columns[_MISC]}|{kept}"
    return "\t".join([columns[0], form, *columns[2:_MISC], misc])


def _restored(path: Path, line: Line) -> str:
    if (comment := _COMMENT.fullmatch(line.text)) and comment["name"] == KEPT_TEXT:
        return f"{comment['before']}text{comment['after']}"
    if not line.text or line.text.startswith("#"):
        return line.text
    columns = _columns(path, line)
    parts = columns[_MISC].split("|")
    kept = [part for part in parts if part.startswith(f"{KEPT}=")]
    if not kept:
        return line.text
    others = "|".join(part for part in parts if part not in kept) or "_"
    return "\t".join([columns[0], _unescaped(kept[0].removeprefix(f"{KEPT}=")), *columns[2:_MISC], others])


def _columns(path: Path, line: Line) -> list[str]:
    columns = line.text.split("\t")
    if len(columns) != _COLUMNS:
        raise DataError(path, line.number, f"{len(columns)} columns separated by tabs; CoNLL-U has {_COLUMNS}")
    return columns


def _escaped(text: str) -> str:
    """As Universal Dependencies writes a bar in MISC."""
    return text.replace("\\", "\\\\").replace("|", "\\p")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "|" if match[1] == "p" else match[1], text)
