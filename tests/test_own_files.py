"""Which files and folders of the user's own a study's steps read."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.parallel import find_named_pairs, find_pairs
from babelscope.corpora.parallel_words import find_alignments, find_words
from babelscope.steps import Evaluate, Tune
from babelscope.steps.own_files import own_paths
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer


def test_treebanks_encoders_and_tables_of_letters(
    encoder_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were given, of each step what it reads itself; what is found by its name everywhere is none of them."""
    monkeypatch.chdir(tmp_path)
    write_conllu(tmp_path / "own.conllu", World(0).treebank("qaa", "train", 30))
    (tmp_path / "letters.tsv").write_text("a\to\n")
    data = ["world:qab", "treebank:mt:own.conllu", "treebank:mt:own.conllu>table:letters.tsv+permute:3"]
    own = declaration(encoder_folder, tasks={"pos": transfer(evaluate=data)}, retrieval=None)
    steps = [*compile_study(Study.model_validate(own)).steps.values()]
    assert {own_paths([step]) for step in steps if isinstance(step, Tune)} == {(str(encoder_folder),)}
    of_evaluations = {own_paths([step]) for step in steps if isinstance(step, Evaluate)}
    assert of_evaluations == {(), ("own.conllu",), ("own.conllu", "letters.tsv")}
    assert sorted(own_paths(steps)) == sorted([str(encoder_folder), "own.conllu", "letters.tsv"])
    known = compile_study(Study.model_validate(declaration("world-natural")))
    assert own_paths(known.steps.values()) == ()


def test_pairs_words_and_alignments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"en.txt": "the cat\n", "de.txt": "die Katze\n", "links": "0-0 1-1\n"}.items():
        (tmp_path / name).write_text(text * 12)
    (tmp_path / "pairs.tsv").write_text("the cat\tdie Katze\n" * 12)
    words = find_words("text:en:en.txt", "text:de:de.txt")
    values = {
        find_pairs("text:en:en.txt", "text:de:de.txt"): ("en.txt", "de.txt"),
        words: ("en.txt", "de.txt"),
        find_named_pairs("tsv:de:pairs.tsv"): ("pairs.tsv",),
        find_named_pairs("tsv:de:pairs.tsv:lines-2-9"): ("pairs.tsv",),
        find_alignments("links", words): ("links",),
    }
    for value, paths in values.items():
        assert own_paths([value]) == paths
