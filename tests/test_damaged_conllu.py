"""Damaged treebanks: each reads to the same sentences, or is refused with file and line."""

import gzip
import random
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError
from babelscope.core.examples import Sentence
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.lines import LONGEST_LINE
from treebank import EXPECTED, SAMPLE


def _lines(data: bytes) -> list[bytes]:
    return data.split(b"\n")


def _change_word(data: bytes, chance: random.Random, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    """Change the columns of one word's line."""
    lines = _lines(data)
    number = chance.choice([i for i, line in enumerate(lines) if re.match(rb"\d+\t", line)])
    lines[number] = b"\t".join(change(lines[number].split(b"\t")))
    return b"\n".join(lines)


def _set(column: int, values: list[bytes]) -> Callable[[bytes, random.Random], bytes]:
    def mutate(data: bytes, chance: random.Random) -> bytes:
        value = chance.choice(values)
        return _change_word(data, chance, lambda c: [*c[:column], value, *c[column + 1 :]])

    return mutate


def _drop_column(data: bytes, chance: random.Random) -> bytes:
    return _change_word(data, chance, lambda columns: columns[: chance.randrange(1, 10)])


def _add_column(data: bytes, chance: random.Random) -> bytes:
    return _change_word(data, chance, lambda columns: [*columns, *[b"_"] * chance.randrange(1, 5)])


def _spaces(data: bytes, chance: random.Random) -> bytes:
    return _change_word(data, chance, lambda columns: [b" ".join(columns)])


def _own_head(data: bytes, chance: random.Random) -> bytes:
    return _change_word(data, chance, lambda c: [*c[:6], c[0], *c[7:]])


def _huge(data: bytes, chance: random.Random) -> bytes:
    return _change_word(data, chance, lambda c: [*c[:9], b"x" * (LONGEST_LINE + chance.randrange(100))])


def _drop_line(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    del lines[chance.choice([i for i, line in enumerate(lines) if re.match(rb"\d", line)])]
    return b"\n".join(lines)


def _repeat_line(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    number = chance.randrange(len(lines))
    return b"\n".join([*lines[: number + 1], *lines[number:]])


def _swap_lines(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    i, j = chance.sample([i for i, line in enumerate(lines) if re.match(rb"\d", line)], 2)
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _join_sentences(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n\n", b"\n", 1)


def _repeat_sentence(data: bytes, chance: random.Random) -> bytes:
    blocks = data.strip().split(b"\n\n")
    return b"\n\n".join([*blocks, chance.choice(blocks)]) + b"\n\n"


def _bad_byte(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([chance.randrange(0xF8, 0x100)]) + data[place:]


def _other_encoding(data: bytes, chance: random.Random) -> bytes:
    return data.decode().encode(chance.choice(["latin-1", "utf-16", "utf-16-le", "utf-32", "cp500"]))


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _cut_gzip(data: bytes, chance: random.Random) -> bytes:
    return _cut(gzip.compress(data, mtime=0), chance)


def _flip_in_gzip(data: bytes, chance: random.Random) -> bytes:
    packed = bytearray(gzip.compress(data, mtime=0))
    packed[chance.randrange(len(packed))] ^= 1 << chance.randrange(8)
    return bytes(packed)


def _harmless(data: bytes, chance: random.Random) -> bytes:
    changed = chance.choice([data, data.replace(b"\n", b"\r\n"), data + b"\n" * 5, data.rstrip()])
    return chance.choice([changed, gzip.compress(changed, mtime=0)])


MUTATIONS = [
    _cut, _cut_gzip, _flip_in_gzip, _bad_byte, _other_encoding, _drop_column, _add_column, _spaces, _own_head, _huge,
    _drop_line, _repeat_line, _swap_lines, _join_sentences, _repeat_sentence, _harmless,
    _set(0, [b"0", b"99", b"1-1", b"1.1", b"", b"_", b"a", b"-3", b"9" * 5000]),
    _set(1, [b"", b" ", b"no such word"]),
    _set(3, [b"_", b"", b"noun", b"NN", b"\xc3\x89"]),
    _set(6, [b"_", b"", b"-1", b"77", b"1.5", b"+2", "٣".encode(), b"9" * 5000]),
]  # fmt: skip


def _read_within(path: Path, calls: int) -> list[Sentence]:
    """Read, and fail once more than `calls` functions have been called: a hang would show here."""
    left = calls

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal left
        left -= event in ("call", "c_call")
        assert left > 0, "reading takes too many steps"

    sys.setprofile(count)
    try:
        return read_conllu(path)
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("seed", range(320))
def test_a_damaged_file_reads_the_same_or_is_refused(tmp_path, seed):
    chance = random.Random(seed)
    mutate = MUTATIONS[seed % len(MUTATIONS)]
    damaged = mutate(SAMPLE.encode(), chance)
    path = tmp_path / "x.conllu"
    path.write_bytes(damaged)
    try:
        read = _read_within(path, calls=5_000)
    except DataError as error:
        assert mutate is not _harmless
        assert str(error).startswith(f"{path}:{error.line}: " if error.line else f"{path}: ")
        assert error.line is None or 1 <= error.line <= SAMPLE.count("\n") + 2 or mutate is _flip_in_gzip
    else:
        # A file cut between two sentences is a smaller file without a fault; nothing but comments may be lost.
        assert _trees(read) == _trees(EXPECTED[: len(read)] if mutate is _cut else EXPECTED)


def _trees(sentences: list[Sentence]) -> list[Sentence]:
    """Without the text, which is a comment: lost or in other spaces, it is no damage."""
    return [replace(sentence, text=None) for sentence in sentences]


@given(st.binary(max_size=60), st.integers(0, len(SAMPLE.encode())), st.integers(0, 30))
def test_any_bytes_are_read_or_refused(tmp_path_factory, noise, place, overwritten):
    data = SAMPLE.encode()
    path = tmp_path_factory.mktemp("noise") / "x.conllu"
    for content in (noise, data[:place] + noise + data[place + overwritten :]):
        path.write_bytes(content)
        try:
            assert _read_within(path, calls=10_000)
        except DataError as error:
            assert str(error).startswith(f"{path}:")
