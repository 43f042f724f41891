"""Whether a file that is read as raw text is something else, by its first lines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from babelscope.core.errors import DataError
from babelscope.corpora.lines import numbered_lines

FIRST = 100
"""Lines that are looked at."""
_WORD_LINE = re.compile(r"\d+\t([^\t]*\t){8}[^\t]*")
_TABLE, _JSON = ".csv", (".json", ".jsonl", ".ndjson")
"""How the names of files end that are no raw text, whatever is in them."""
_BIO_LINE = re.compile(r"\S.*[ \t]([Oo]|[BI]-\S+|[ESLU]-[A-Z]\S*)")
"""Of BIO, with columns between word and tag or without; or of BIOES, BILOU or IO, most of whose words are no entity."""
_MARKUP = re.compile(r"<(!doctype|html|\?xml)", re.IGNORECASE)


def check_raw(path: Path, instead: str) -> None:
    """Refuse what is no raw text; `instead` says what to do with it.

    Raises:
        DataError: it is CoNLL-U, BIO, JSON, a table, HTML or XML, or its lines end in CR alone; or it cannot be read.
    """
    if kind := kind_of_name(path) or other_kind([line.text for line in islice(numbered_lines(path), FIRST)]):
        raise DataError(path, None, f"looks like {kind}, and is read as raw text here: {instead}")


def kind_of_name(path: Path) -> str:
    """What a file is by its name, where that is no raw text; `.gz` may follow."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_TABLE):
        return "a table, by its name"
    return "JSON, by its name" if name.endswith(_JSON) else ""


def other_kind(lines: Sequence[str]) -> str:
    """What lines are instead of raw text; empty if they may well be that."""
    written = [line.strip() for line in lines if line.strip()]
    most = len(written) / 2
    if any(_WORD_LINE.fullmatch(line) for line in written):
        return "CoNLL-U"
    if written and _MARKUP.match(written[0]):
        return "HTML or XML"
    if any("\r" in line for line in written):
        return "text whose lines end in CR alone"
    if sum(bool(_BIO_LINE.fullmatch(line)) for line in written) > most:
        return "BIO"
    if sum(map(_is_object, written)) > most:
        return "JSON"
    return "a table, with tabs in most lines" if sum("\t" in line for line in written) > most else ""


def _is_object(line: str) -> bool:
    """Whether a line is a JSON object."""
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
