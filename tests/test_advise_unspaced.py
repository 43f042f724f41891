"""Text without spaces between words, by its characters: whether there is such text, and what is said of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from babelscope.advise.facts import facts
from babelscope.advise.page import seen_section
from babelscope.advise.plan import planned
from babelscope.advise.recipes import EXTENDED, fertility_limit
from babelscope.advise.request import Request
from babelscope.corpora.spacing import unspaced_script
from babelscope.encoders.load import Encoder
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.steps.align import _sizes
from families import byte_level_tokenizer, family_model

CHINESE = ["猫在树下睡觉而狗在河边喝水。", "狗在河边睡觉而猫在树下喝水。", "河边的猫在树下喝水的狗旁边睡觉。"]
CUT = ["猫 在 树 下 睡觉 。", "狗 在 河边 喝水 。"]
THAI = ["แมวนอนอยู่ใต้ต้นไม้", "สุนัขดื่มน้ำอยู่ริมแม่น้ำ"]
REQUEST = Request(language="zh", text="ntrex:zh", encoders=("tiny",))


def seen_with(tokenizer, lines=CHINESE, others=None):
    encoder = Encoder(family_model("bert", vocabulary=len(tokenizer)), tokenizer, "tiny")
    (fact,) = facts("zh", lines, encoder, "tiny", (), others or {})
    return fact


@pytest.mark.parametrize(
    ("lines", "script"),
    [
        (CHINESE, "Hani"),
        (THAI, "Thai"),
        (["ねこはきのしたでねている。いぬはかわでみずをのむ。"], "Hira"),
        (CUT, None),
        (["the cat sleeps"], None),
        (["Donaudampfschifffahrtsgesellschaftskapitän"], None),
        (["고양이가 나무 아래에서 잔다"], None),
        ([], None),
    ],
)
def test_text_has_no_spaces_by_its_letters_and_by_what_stands_between_them(lines, script):
    assert unspaced_script(lines) == script


def test_characters_are_counted_where_there_are_no_words():
    """One that the vocabulary lacks is unknown, and the sentence that it stands in is not."""
    fact = seen_with(train_wordpiece(CHINESE[:2], 100), others={"xx": CHINESE[:2]})
    length, lacked = sum(map(len, CHINESE)), CHINESE[2].count("的") + CHINESE[2].count("旁")
    assert (fact.unit, fact.coverage.words) == ("character", length)
    assert fact.coverage.unknown == pytest.approx(lacked / length)
    assert fact.coverage.fertility == pytest.approx(1.0)  # BERT's tokenizers set each of these signs apart
    assert fact.nearest[0][1] > 0.8
    section = seen_section({"Hani": 1.0}, [fact], [], [])
    assert not any("cannot read" in said for said in section.findings)
    assert section.tables[0].headers[2:4] == ["Unknown characters %", "Subwords a character"]
    assert "its characters are counted instead" in section.tables[0].note


def test_each_character_of_an_unknown_run_is_unknown():
    """A WordPiece takes what stands between spaces as one, and where it does not know a letter, knows none of it."""
    fact = seen_with(train_wordpiece(CHINESE, 100), THAI)
    assert (fact.coverage.unknown, fact.coverage.fertility, fact.nearest) == (1.0, 1.0, [])
    section = seen_section({"Thai": 1.0}, [fact], [], [])
    said = "tiny cannot read this text: 100% of the characters are unknown to it. It can hardly"
    assert any(found.startswith(said) for found in section.findings)


def test_words_are_counted_where_a_text_is_cut_into_them():
    fact = seen_with(train_wordpiece(CUT, 100), CUT)
    assert (fact.unit, fact.coverage.words, fact.limit) == ("word", 11, fertility_limit(None))
    assert seen_section({"Hani": 1.0}, [fact], [], []).tables[0].headers[2:4] == ["Unknown words %", "Subwords a word"]


def test_signs_that_are_cut_into_bytes_are_covered_badly_and_signs_alone_are_not():
    whole, in_bytes = seen_with(train_wordpiece(CHINESE, 100)), seen_with(byte_level_tokenizer(["the cat"], 300))
    assert (whole.coverage.unknown, in_bytes.coverage.unknown) == (0, 0)
    assert whole.coverage.fertility == 1 < whole.limit < 3 == pytest.approx(in_bytes.coverage.fertility)
    kinds = [{step.recipe.kind for step in planned(REQUEST, [fact], {})} for fact in (whole, in_bytes)]
    assert [EXTENDED in each for each in kinds] == [False, True]
    assert fertility_limit("Thai") < 1  # its words have more letters


@pytest.mark.parametrize(("translations", "told"), [(CUT, True), (CHINESE, False)])
def test_an_alignment_tells_pieces_a_word_only_where_there_are_words(translations, told):
    language = SimpleNamespace(
        counts=lambda encoder: np.ones((5, 2)), text=SimpleNamespace(targets=[[1, 2]] * len(translations))
    )
    rows = {row.measure for row in _sizes(None, language, [("the cat", each) for each in translations])}
    assert rows == {"pairs", "own pieces", "linked pieces", *(["fertility"] if told else [])}
