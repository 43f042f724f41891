"""Sentences and translations that have lost step are named."""

from __future__ import annotations

import re

import pytest

import babelscope
from babelscope.corpora.mismatched import FEWEST, mismatches
from babelscope.corpora.parallel import find_named_pairs
from babelscope.face.notes import notes
from babelscope.steps import Align, Load
from babelscope.world import World
from command_line import babelscope as command

PAIRS = World().parallel_text("qaa", "qae", 400)


def shifted(pairs, first, end):
    """The translations from one place to another come a line too late, and that of the last line is in front."""
    sources, translations = zip(*pairs, strict=True)
    moved = [*translations[:first], translations[end - 1], *translations[first : end - 1], *translations[end:]]
    return list(zip(sources, moved, strict=True))


def written(pairs, file):
    file.write_text("".join(f"{sentence}\t{translation}\n" for sentence, translation in pairs), encoding="utf-8")
    return file


@pytest.mark.parametrize("language", ["qab", "qae", "qah", "qai"])
def test_what_is_in_step_is_not_named(language):
    assert mismatches(World().parallel_text("qaa", language, 400)) == []


@pytest.mark.parametrize("first, end", [(0, 400), (0, 100), (100, 300), (300, 400)])
def test_a_stretch_that_is_out_of_step_is_named_with_its_places_and_a_sentence_to_find_it_by(first, end):
    (told,) = mismatches(shifted(PAIRS, first, end))
    assert told.startswith(f"pairs {first + 1} to {end} of 400 ")
    assert told.endswith(repr(PAIRS[first][0]))


def test_each_stretch_is_named():
    told = mismatches(shifted(shifted(PAIRS, 0, 100), 200, 400))
    assert [re.match("pairs ([0-9]+) to ([0-9]+)", line).groups() for line in told] == [("1", "100"), ("201", "400")]


def test_sentences_that_are_not_translated_and_one_translation_of_many_are_named():
    same = [(sentence, sentence) for sentence, _ in PAIRS[:100]] + PAIRS[100:]
    assert mismatches(same) == ["100 of 400 sentences are the same on both sides, and say nothing of a language"]
    one = [(sentence, "always") for sentence, _ in PAIRS[:50]] + PAIRS[50:200]
    assert "50 of 200 sentences have one translation, 'always'" in mismatches(one)
    assert mismatches([(sentence, sentence) for sentence, _ in PAIRS[:20]] + PAIRS[20:]) == []


def test_a_long_sentence_is_cut():
    (told,) = mismatches(shifted([(f"{sentence} {'word ' * 20}", text) for sentence, text in PAIRS], 0, 400))
    assert told.endswith("…'") and len(told) < 250


@pytest.mark.parametrize(
    "pairs",
    [[], shifted(PAIRS, 0, 400)[: FEWEST - 1], [("abc", translation) for _, translation in PAIRS]],
    ids=["none", "few", "one length"],
)
def test_what_lengths_say_nothing_of_is_not_named(pairs):
    assert mismatches(pairs) == []


def test_bring_in_says_it_on_the_command_line_and_in_python(encoder_folder, tmp_path):
    table = written(shifted(PAIRS, 0, 400), tmp_path / "pairs.tsv")
    answer = command(
        "bring-in", encoder_folder, "--language", "qae", "--source", "qaa", "--parallel", table, "-o", tmp_path / "new"
    )
    assert answer.status == 0, answer.errors
    assert "note: pairs 1 to 400 of 400 hardly translate each other" in " ".join(answer.output.split())
    encoder = babelscope.load(encoder_folder, store=tmp_path / "store")
    with pytest.warns(UserWarning, match="pairs 1 to 400 of 400 hardly translate each other") as warned:
        encoder.bring_in("qae", str(table), source="qaa")
    assert warned[0].filename == __file__


def test_a_plan_says_it(encoder_folder, tmp_path):
    texts = [find_named_pairs(f"tsv:qae:{written(pairs, tmp_path / name)}") for pairs, name in given()]
    steps = [
        Align(encoder=Load(name="tiny", content="any", place=str(encoder_folder)), language="qae", parallel=(text,))
        for text in texts
    ]
    (told,) = notes(steps)
    assert "shifted.tsv: pairs 101 to 200 of 400 hardly translate each other" in told


def test_a_plan_says_which_translations_are_not_in_nfc(encoder_folder, tmp_path):
    """As a treebank's sentences; a few of them are passed over."""
    marked = [
        (sentence, f"e\u0301 {translation}" if k < 100 else translation)
        for k, (sentence, translation) in enumerate(PAIRS)
    ]
    load = Load(name="tiny", content="any", place=str(encoder_folder))
    texts = [
        find_named_pairs(f"tsv:qae:{written(pairs, tmp_path / name)}")
        for pairs, name in ((PAIRS, "as-they-are.tsv"), (marked, "marked.tsv"))
    ]
    told = notes([Align(encoder=load, language="qae", parallel=(text,)) for text in texts])
    assert len(told) == 1 and "marked.tsv: 100 of 400 pairs are not in Unicode NFC" in told[0]


def given():
    return [(PAIRS, "as-they-are.tsv"), (shifted(PAIRS, 100, 200), "shifted.tsv")]
