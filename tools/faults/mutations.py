"""Files and values that are wrong in some way, made at random of right ones."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from typing import Any

NUMBERS = [
    "0", "-1", "1", "2", "7", "1e39", "1e400", "nan", "-inf", "0.5", "0x1f", "٣", "1_0", "1,5", "9" * 20, "9" * 5000,
]  # fmt: skip
TEXTS = [
    "[bold]", "%s", "{}", "{0.__class__}", "<script>", "'", '"', "\\", "null", "true", "CON", "-", "--", "@", ":", "::",
    ",", ">", "+", "*", "?", "[", "(", "a:b:c:d:e", "~", "~/x", "~nosuchuser/x", ".", "..", "../..", "/", "//",
    "/dev/zero", "/dev/null", "/proc/self/mem", "http://127.0.0.1:1/x", "!!python/name:os.system", "&a [*a]",
    "", " ", "\t", "\0", "\udcff", "\ud800", "\u202e", "\ufeff", "é", "a\nb", "\r", "\x85", "\x1b[31m",
    "x" * 300, "x" * 70_000, "(a+)+$", "[" * 3000, "{a: " * 500, "(" * 3000,
]  # fmt: skip
"""What is odd somewhere: in paths, names, patterns, YAML, JSON, terminals or pages."""
ODD = [*NUMBERS, *TEXTS]
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 10**9, 10**18, -(10**18), 0.5, 1e308, -1e-320, [], {}, [None], {"": None}, [[[]]],
    *TEXTS,
]  # fmt: skip
MOST = 10_000_000
"""Letters of a file; one that is longer is read in the same way."""
DEEP = "[" * 200_000


def odd_file(text: str, chance: random.Random) -> bytes:
    """The bytes of a file that is like a right one but for some faults."""
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        text = chance.choice(EDITS)(text, chance)[:MOST]
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    if chance.random() < 0.2 and raw:
        for _ in range(chance.randint(1, 3)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
    if chance.random() < 0.05:
        raw = bytearray(text.encode(chance.choice(["utf-16", "utf-32", "utf-7"]), "ignore"))
    if chance.random() < 0.1:
        raw = bytearray(gzip.compress(bytes(raw))[: chance.choice([None, -1, 12])])
    return bytes(raw)


def odd_bytes(raw: bytes, chance: random.Random) -> bytes:
    """Bytes like others, but for some, or cut short, or longer."""
    if chance.random() < 0.2:
        return raw[: chance.randrange(len(raw))] + chance.choice([b"", raw, b"\0" * 512])
    changed = bytearray(raw)
    for _ in range(chance.choice([1, 1, 4, 50])):
        changed[chance.randrange(len(raw))] = chance.randrange(256)
    return bytes(changed)


def odd_json(value: Any, chance: random.Random) -> Any:
    """A value like another but for some places in it."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice([1, 1, 2, 4])):
        value = _elsewhere(value, chance)
    return value


def odd_json_file(value: Any, chance: random.Random) -> bytes:
    """Mostly JSON that says odd things, sometimes text that is none."""
    if chance.random() < 0.05:
        return chance.choice([DEEP, '{"a":' * 100_000, ""]).encode()
    text = json.dumps(odd_json(value, chance))
    return odd_file(text, chance) if chance.random() < 0.2 else text.encode()


def _elsewhere(value: Any, chance: random.Random) -> Any:
    """The value with one place in it replaced, removed, repeated or added to."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if (fate := chance.random()) < 0.05:
            del value[key]
        elif fate < 0.1:
            value[chance.choice(ODD)] = value[key]
        else:
            value[key] = _elsewhere(value[key], chance)
        return value
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        if (fate := chance.random()) < 0.1:
            del value[place]
        elif fate < 0.2:
            value *= chance.choice([2, 50])
        else:
            value[place] = _elsewhere(value[place], chance)
        return value
    if isinstance(value, int) and chance.random() < 0.5:
        return value + chance.choice([-1, 1, 10**3, 10**6, 10**12, -2 * value])
    return copy.deepcopy(chance.choice(VALUES))  # what comes after may change it


def _replaced(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + chance.choice(ODD) + text[start + chance.choice([0, 0, 1, 5, 50]) :]


def _on_lines(change: Callable[[list[str], random.Random], None]) -> Callable[[str, random.Random], str]:
    def edit(text: str, chance: random.Random) -> str:
        lines = text.splitlines(keepends=True) or [""]
        change(lines, chance)
        return "".join(lines)

    return edit


def _cell(lines: list[str], chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    cells = lines[place].split("\t")
    cells[chance.randrange(len(cells))] = chance.choice(ODD)
    lines[place] = "\t".join(cells)


def _moved(lines: list[str], chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), lines.pop(chance.randrange(len(lines))))


def _repeated(lines: list[str], chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    line, times = lines[place], chance.choice([1, 1, 3, 2000])
    lines[place:place] = [line] * min(times, MOST // len(line) if line else times)


def _removed(lines: list[str], chance: random.Random) -> None:
    del lines[chance.randrange(len(lines))]


EDITS: list[Callable[[str, random.Random], str]] = [
    _replaced, _replaced, *map(_on_lines, [_cell, _cell, _moved, _repeated, _removed]),
    lambda text, chance: text[: chance.randrange(len(text) + 1)],
    lambda text, chance: text.replace("\n", chance.choice(["\r\n", "\r", " ", "\n\n", "\x85"])),
    lambda text, chance: "",
]  # fmt: skip
