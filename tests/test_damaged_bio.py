"""Damaged files of entities: each reads to the same sentences, or is refused with file and line."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError
from babelscope.corpora.bio import read_bio, write_bio
from babelscope.corpora.lines import LONGEST_LINE
from entity_file import EXPECTED, HARMLESS, SAMPLE


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "x.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def _change_line(data: bytes, chance: random.Random, change: Callable[[bytes, bytes], bytes]) -> bytes:
    lines = data.split(b"\n")
    number = chance.choice([place for place, line in enumerate(lines) if line])
    lines[number] = change(*lines[number].split(b" "))
    return b"\n".join(lines)


def _tag(data: bytes, chance: random.Random) -> bytes:
    bad = chance.choice([b"", b"B-", b"I-", b"B", b"-", b"o", b"0", b"S-PER", b"B_PER", b"\xe2\x80\x8bO", b"B- PER"])
    return _change_line(data, chance, lambda word, tag: word + b" " + bad)


def _word(data: bytes, chance: random.Random) -> bytes:
    bad = chance.choice([b"", b" ", b"two words", b"\x00", b"a\x1bb", b"a\x7f"])
    return _change_line(data, chance, lambda word, tag: bad + b" " + tag)


def _columns(data: bytes, chance: random.Random) -> bytes:
    more = chance.choice([b" NN ", b" NN I-NP ", b"\tNN\t", b"_", b""])
    return _change_line(data, chance, lambda word, tag: word + more + tag)


def _huge(data: bytes, chance: random.Random) -> bytes:
    return _change_line(data, chance, lambda word, tag: word + b"x" * LONGEST_LINE + b" " + tag)


def _bad_byte(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([chance.randrange(0xF8, 0x100)]) + data[place:]


def _other_encoding(data: bytes, chance: random.Random) -> bytes:
    return data.decode().encode(chance.choice(["latin-1", "utf-16", "utf-16-le", "utf-32", "cp500"]))


def _cut_gzip(data: bytes, chance: random.Random) -> bytes:
    return gzip.compress(data, mtime=0)[: chance.randrange(1, 60)]


def _flip_in_gzip(data: bytes, chance: random.Random) -> bytes:
    packed = bytearray(gzip.compress(data, mtime=0))
    packed[chance.randrange(2, len(packed))] ^= 1 << chance.randrange(8)
    return bytes(packed)


def _harmless(data: bytes, chance: random.Random) -> bytes:
    changed = chance.choice(HARMLESS)(data.decode()).encode()
    return chance.choice([changed, gzip.compress(changed, mtime=0)])


MUTATIONS = [_tag, _word, _columns, _huge, _bad_byte, _other_encoding, _cut_gzip, _flip_in_gzip, _harmless]


@pytest.mark.parametrize("seed", range(180))
def test_a_damaged_file_reads_the_same_or_is_refused(file, seed):
    chance = random.Random(seed)
    mutate = MUTATIONS[seed % len(MUTATIONS)]
    path = file(mutate(SAMPLE.encode(), chance))
    try:
        read = read_bio(path, prefix="wo:")
    except DataError as error:
        assert mutate is not _harmless
        assert str(error).startswith(f"{path}:{error.line}: " if error.line else f"{path}: ")
        assert error.line is None or 1 <= error.line <= SAMPLE.count("\n") + 1 or mutate is _flip_in_gzip
    else:
        assert mutate in (_harmless, _flip_in_gzip)
        assert read == EXPECTED


@given(st.binary(max_size=60), st.integers(0, len(SAMPLE.encode())), st.integers(0, 30))
def test_any_bytes_are_read_or_refused(tmp_path_factory, noise, place, overwritten):
    data = SAMPLE.encode()
    path = tmp_path_factory.mktemp("noise") / "x.txt"
    for content in (noise, data[:place] + noise + data[place + overwritten :]):
        path.write_bytes(content)
        try:
            read = read_bio(path)
        except DataError as error:
            assert str(error).startswith(f"{path}:")
        else:
            again = path.with_name("again.txt")
            write_bio(again, read)
            assert read_bio(again) == read
