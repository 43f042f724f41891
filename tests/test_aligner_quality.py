"""The tool that compares aligned words with gold alignments, on a few sentences."""

from __future__ import annotations

import pytest
from aligner_quality import main, of_people, of_world

HEADER = "| test set | pairs | aligner | precision | recall | error rate | seconds |"


def test_links_of_people_and_of_another_aligner_are_judged(tmp_path, monkeypatch, capsys):
    """The gold sentences come first; those of the text are learnt from, and not judged."""
    (tmp_path / "gold" / "nl").mkdir(parents=True)
    (tmp_path / "gold" / "nl" / "dev.tsv").write_text("The house .\tHet huis .\t0-0 1-1 2-2\na\tb\n", encoding="utf-8")
    (tmp_path / "gold" / "nl" / "test.tsv").write_text("The book\tHet boek\t0-0 1-1\n", encoding="utf-8")
    (tmp_path / "ntrex").mkdir()
    (tmp_path / "ntrex" / "newstest2019-src.eng.txt").write_text("The house.\nA book.\n", encoding="utf-8")
    (tmp_path / "ntrex" / "newstest2019-ref.nld.txt").write_text("Het huis.\nEen boek.\n", encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "nl.align").write_text("0-0 1-1\n\n1-1 0-1\n", encoding="utf-8")

    words = of_people(tmp_path / "gold", "nl", ["ntrex"])
    assert words.pairs[-1] == (["A", "book", "."], ["Een", "boek", "."]) and words.sure[1] == []
    given = ["--world", "--gold", str(tmp_path / "gold"), "--languages", "nl", "--text", "ntrex"]
    main([*given, "--links", f"other={tmp_path / 'other'}"])
    header, _, own, other = capsys.readouterr().out.splitlines()
    assert header == HEADER and own.startswith("| nl | 5 | Babelscope | ")
    assert other == "| nl | 5 | other | 75.0 | 60.0 | 33.3 |  |"
    main([*given, "--write", str(tmp_path / "texts")])
    text = (tmp_path / "texts" / "nl.txt").read_text(encoding="utf-8")
    assert text.splitlines()[0] == "the house . ||| het huis ." and len(text.splitlines()) == 5


def test_links_in_the_world_are_judged_by_meanings(tmp_path, capsys):
    words = of_world("qab", 30)
    right = "\n".join(" ".join(f"{i}-{j}" for i, j in links) for links in words.sure)
    (tmp_path / "world-qab-30.align").write_text(right, encoding="utf-8")
    assert all(words.pairs[0][0][i] == words.pairs[0][1][j] == "." for i, j in words.possible[0])
    main(["--world", "qab", "--sizes", "30", "--links", f"gold={tmp_path}", f"none={tmp_path / 'none'}"])
    *_, own, gold = capsys.readouterr().out.splitlines()
    assert own.startswith("| world-qab-30 | 30 | Babelscope | ")
    assert gold == "| world-qab-30 | 30 | gold | 100.0 | 100.0 | 0.0 |  |"


def test_languages_need_a_folder(capsys):
    with pytest.raises(SystemExit):
        main(["--languages", "nl"])
    assert "--languages nl: give the folder that they are in with --gold" in capsys.readouterr().err
