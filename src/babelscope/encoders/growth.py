"""How much longer a tokenizer makes text before it cuts it into pieces: a file of it can ask for any length."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from re import _parser  # type: ignore[attr-defined]  # alike in all versions from 3.11 on
from typing import Any

MOST_GROWTH = 10_000
"""Letters that one may become. Those of tokenizers become a few, and 18 by Unicode's normalisation at most."""
INNER = ("normalizers", "pretokenizers", "decoders")
"""What a sequence of steps has its steps under."""

_CLASS = re.compile(r"\\[pP]\{\^?\w+\}|\[:\^?\w+:\]")
"""A class of letters that Python has no name for."""


def growth(*steps: Any) -> int:
    """How many letters one letter of text may become, at most; above `MOST_GROWTH` it is not counted on.

    From the last step to the first, so that what replaces a letter counts as what becomes of it later.

    Args:
        steps: parts of a tokenizer.json that text goes through, in this order, each of any form.
    """
    named: dict[str, int] = {}
    others = 1
    for step in reversed([*_steps(list(steps))]):
        most = max([others, *named.values()])
        if most > MOST_GROWTH:
            return most
        content, pattern = _content(step), step.get("pattern")
        becomes = sum(named.get(letter, others) for letter in content)
        if literal := _literal(pattern):
            named |= {letter: max(becomes, named.get(letter, others)) for letter in literal}
        elif content:  # in the place of any letter, or beside it
            named, others = {}, max(most, becomes) if _is_in_place(pattern) else most + 2 * becomes
        else:  # any letter becomes others
            named, others = {}, most * _factor(step)
    return max([others, *named.values()])


def _steps(value: Any) -> Iterator[Mapping[str, Any]]:
    """The steps in sequences of sequences, in their order."""
    waiting = [value]
    while waiting:
        step = waiting.pop()
        if isinstance(step, list):
            waiting.extend(reversed(step))
        elif isinstance(step, dict):
            inner = [step[name] for name in INNER if name in step]
            waiting.extend(inner)
            if not inner:
                yield step


def _content(step: Mapping[str, Any]) -> str:
    content = step.get("content", step.get("prepend"))
    return content if isinstance(content, str) else ""


def _literal(pattern: Any) -> str:
    """The text that is replaced, where that is one text; else nothing."""
    text = pattern.get("String") if isinstance(pattern, dict) else None
    return text if isinstance(text, str) else ""


def _is_in_place(pattern: Any) -> bool:
    """Whether what is replaced has a letter or more; what Python does not read, or is prepended, may have none."""
    try:
        return bool(_parser.parse(_CLASS.sub(".", pattern["Regex"])).getwidth()[0])
    except (re.error, KeyError, TypeError, RecursionError, OverflowError):
        return False


def _factor(step: Mapping[str, Any]) -> int:
    """Of a step that is no replacement: bytes as letters, which have two bytes themselves; and tables of letters."""
    if step.get("type") == "ByteLevel":
        return 2
    table = step.get("precompiled_charsmap")
    if not isinstance(table, str):
        return 1
    try:
        held = b64decode(table)
    except (NotBase64, ValueError):
        return 1  # loading says what that is
    texts = held[4 + int.from_bytes(held[:4], "little") :].split(b"\0")
    return max(1, *(len(text.decode(errors="replace")) for text in texts))
