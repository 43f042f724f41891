"""Paths and files that users name: whatever they are, what is wrong with them is said, at once and in words."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.core.outside import (
    given_path,
    new_path,
    opened,
    parse_json,
    read_json,
    read_text,
    silent_where_it_fails,
    writable_path,
    writing,
)
from babelscope.corpora.lines import RATIO, UNPACKED, content_digest, numbered_lines
from command_line import within

NO_PATHS = {
    "~nosuchuser/x": "there is no such user as '~nosuchuser'",
    "x" * 300: "File name too long",
    f"absent/{'é' * 150}/x": "File name too long",
    "a\0b": "'a\\x00b': no path: it holds a NUL",
    "a\udcffb": "not UTF-8",
    "\ud800": "not UTF-8",
    "x/" * 3000: "File name too long",
}
"""What there can be no file of, and why."""


@pytest.mark.parametrize(("given", "problem"), NO_PATHS.items())
def test_a_path_that_cannot_be_is_refused_in_words(given, problem):
    for find in (given_path, new_path, writable_path):
        with pytest.raises(InputError) as caught:
            find(given)
        message = str(caught.value)
        assert problem in message and len(message) < 400 and message.encode()


@pytest.mark.parametrize("given", [3, None, b"a", ["a"], True])
def test_what_is_neither_text_nor_a_path_is_refused_in_words(given):
    with pytest.raises(InputError, match="no path: give it as text or as a Path"):
        given_path(given)


@pytest.mark.parametrize("given", ["a", "a/b", "/", "", "~", "~/a", "é" * 127, "a\nb", "\u202e", "-", "a\\b", "."])
def test_any_other_path_is_as_it_was_given(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert given_path(given) == given_path(Path(given)) == Path(os.path.expanduser(given))  # noqa: PTH111


def pipe(path: Path) -> None:
    os.mkfifo(path)


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def listener(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(str(path))


def loop(path: Path) -> None:
    path.symlink_to(path)


SPECIAL: dict[Callable[[Path], None], str] = {
    pipe: "it is no file, but a pipe",
    zeros: "it is no file, but a pipe, a device",
    listener: "a socket",
    Path.mkdir: "Is a directory",
    loop: "Too many levels of symbolic links",
}
"""What makes something that is no file, and what is said of it."""


@pytest.mark.parametrize(("make", "problem"), SPECIAL.items())
@pytest.mark.parametrize("read", [read_text, read_json, content_digest, lambda path: list(numbered_lines(path))])
def test_what_is_no_file_is_not_read(make, problem, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    make(Path("special"))
    with within(5), pytest.raises(DataError, match=f"special: cannot be read: .*{problem}"):
        read(Path("special"))


def test_a_file_is_read_up_to_a_size(tmp_path):
    path = tmp_path / "text"
    path.write_text("é" * 10, encoding="utf-8")
    assert read_text(path, largest=20) == read_text(path, largest=1 << 60) == "é" * 10
    with pytest.raises(DataError, match="text: more than 19 bytes"):
        read_text(path, largest=19)
    path.write_bytes(b"abc\xff")
    with pytest.raises(DataError, match="text: not UTF-8 at byte 3"):
        read_text(path)


@pytest.mark.parametrize("text", ["", "{", "[" * 200_000, '{"a":' * 200_000, '"\\ud800"', "9" * 5000, "'a'"])
def test_what_is_not_json_is_refused(text, tmp_path):
    with within(5), pytest.raises(DataError, match=r"x:7: not JSON"):
        parse_json(text, Path("x"), 7)
    (tmp_path / "x").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="x: not JSON"):
        read_json(tmp_path / "x")


def test_a_key_of_json_that_has_two_values_is_refused():
    assert parse_json('{"a": 1, "b": {"a": 2}, "a": 1}', Path("x")) == {"a": 1, "b": {"a": 2}}
    assert list(parse_json('{"a": NaN}', Path("x"))) == ["a"]
    for text in ('{"text": "one", "text": "other"}', '[{"b": {"a": 1, "a": [1]}}]'):
        with pytest.raises(DataError, match=r"x:7: not JSON \(the key '(text|a)' is there twice, with two values\)"):
            parse_json(text, Path("x"), 7)


def test_json_is_what_python_reads(tmp_path):
    (tmp_path / "x").write_text('{"a": ["\\ud83d\\ude00", "é", 1.5, null]}', encoding="utf-8")
    assert read_json(tmp_path / "x") == {"a": ["😀", "é", 1.5, None]}


def test_a_target_that_cannot_be_written_is_refused_beforehand(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    assert writable_path(tmp_path / "file") == tmp_path / "file"
    assert new_path(tmp_path / "new" / "folder") == tmp_path / "new" / "folder"
    with pytest.raises(InputError, match="file: already there"):
        new_path(tmp_path / "file")
    with pytest.raises(InputError, match=r"below: cannot be written: .*file is a file"):
        writable_path(tmp_path / "file" / "below")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(InputError, match=r"new/folder: cannot be written: .* cannot be written to"):
        writable_path(tmp_path / "new" / "folder")


@pytest.mark.parametrize("make", [pipe, zeros, listener])
def test_what_is_no_file_is_not_written_to(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(Path("special"))
    with pytest.raises(InputError, match="special: cannot be written: it is no file, but a pipe"):
        writable_path("special")


def test_a_refusal_while_writing_is_told_in_words(tmp_path):
    path = tmp_path / "new" / "folder" / "x"
    with writing(path):
        path.write_text("in a folder that is made")
    with pytest.raises(InputError, match=r"x/y: cannot be written: .*; choose another place"), writing(path / "y"):
        pass
    with pytest.raises(InputError, match="folder: cannot be written: Is a directory"), writing(path.parent):
        path.parent.write_text("")
    with pytest.raises(ValueError, match="mine"), writing(tmp_path):
        raise ValueError("mine")


def test_gzip_that_unpacks_to_what_no_text_does_is_refused_early(tmp_path):
    """300 MB in 300 kB: a file that is unpacked is as large as it looks."""
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress((b"a" * 10**6 + b"\n") * 10) * 30)
    for read in (content_digest, lambda path: sum(1 for _ in numbered_lines(path))):
        with within(30), pytest.raises(DataError, match=rf"becomes more than {RATIO} times as large .*gunzip "):
            read(path)


def test_gzip_of_text_is_read_however_well_it_is_packed(tmp_path):
    """Below the least size anything, above it up to the ratio."""
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"a" * UNPACKED))
    assert content_digest(path) == hashlib.sha256(b"a" * UNPACKED).hexdigest()
    path.write_bytes(gzip.compress(b"a" * (UNPACKED + 1)))
    with pytest.raises(DataError, match="times as large"):
        content_digest(path)
    varied = os.urandom(2 * UNPACKED // RATIO)
    path.write_bytes(gzip.compress(varied + b"a" * UNPACKED))
    assert content_digest(path) == hashlib.sha256(varied + b"a" * UNPACKED).hexdigest()


def test_files_are_closed_when_reading_ends(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    stream = opened(path)
    stream.close()
    assert stream.closed and next(numbered_lines(path)).text == "a"


def test_what_is_printed_before_a_failure_is_hidden(capfd: pytest.CaptureFixture[str]) -> None:
    """By whoever writes to the descriptor; and shown where nothing fails."""
    with pytest.raises(ZeroDivisionError), silent_where_it_fails():
        os.write(2, b"panicked")
        raise ZeroDivisionError
    with silent_where_it_fails():
        os.write(2, b"advice")
    os.write(2, b", after it")
    assert capfd.readouterr().err == "advice, after it"
