"""CoNLL-U that no tool writes: control characters, a sentence with two ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import DataError
from babelscope.corpora.conllu import read_conllu, word_lines


def treebank(folder: Path, form: str = "yes", comment: str = "") -> Path:
    path = folder / "x.conllu"
    line = f"1\t{form}\t_\tINTJ\t_\t_\t0\troot\t_\t_\n"
    path.write_bytes(f"# sent_id = a\n{comment}{line}\n# sent_id = b\n{line}\n".encode())
    return path


@pytest.mark.parametrize("letter", ["\0", "\x07", "\x0b", "\x1b", "\x7f", "\r"])
@pytest.mark.parametrize("read", [read_conllu, word_lines])
def test_a_control_character_is_refused_with_its_place(tmp_path: Path, letter: str, read):
    with pytest.raises(DataError, match=r"x\.conllu:2: control character '\\x?\w+' at position 5.*; remove it, or"):
        read(treebank(tmp_path, f"ye{letter}s"))
    with pytest.raises(DataError, match=r"x\.conllu:2: control character '\\x?\w+' at position 4"):
        read(treebank(tmp_path, comment=f"# x{letter} = y\n"))


@pytest.mark.parametrize("letter", ["\x80", "\x85", "\x9f", "\u200b", "\u2028", "\xad"])
def test_what_real_text_has_is_read(tmp_path: Path, letter: str):
    assert read_conllu(treebank(tmp_path, f"ye{letter}s"))[0].forms == [f"ye{letter}s"]


def test_a_treebank_without_its_text_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match=r"x\.conllu: every word is _: the treebank is published without its text"):
        read_conllu(treebank(tmp_path, "_"))
    assert read_conllu(treebank(tmp_path, "_"), count=1)[0].forms == ["_"]


def test_a_second_id_of_a_sentence_is_refused_with_its_line(tmp_path: Path):
    with pytest.raises(DataError, match=r"x\.conllu:2: a second sent_id of the sentence, 'c' after 'a'; is the empty"):
        read_conllu(treebank(tmp_path, comment="# sent_id = c\n"))
    with pytest.raises(DataError, match=r"x\.conllu:3: a second sent_id"):
        read_conllu(treebank(tmp_path, comment="# x = y\n# sent_id = a\n"))
    assert len(read_conllu(treebank(tmp_path, comment="# x = y\n# x = z\n"))) == 2
