"""Running text is cut into sentences where the signs of its script end them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.tasks import TASKS
from babelscope.corpora import running_text
from babelscope.corpora.data_sources.plain_text import PlainText
from babelscope.corpora.data_sources.wikipedia import Wikipedia
from babelscope.corpora.lines import content_digest
from babelscope.corpora.plain import text_digest
from babelscope.corpora.running_text import running_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Ես տուն եմ։", "Դու գնում ես։"],
        ["ቤት ነው።", "ማን ነው፧", "ሰው ነው፡፡"],
        ["ကျောင်းသွားသည်။", "စာဖတ်သည်။"],
        ["ខ្ញុំទៅផ្ទះ។", "គាត់មក៕"],
        ["བཀྲ་ཤིས་ །", "བདེ་ལེགས། །", "ཡིན་ནོ༎"],
        ["ｱﾒﾀﾞ｡", "ﾕｷﾀﾞ｡"],
        ["ߌ ߣߌ ߗߋ߹", "ߌ ߣߌ߹"],
        ["ᱡᱚᱦᱟᱨ᱾", "ᱟᱢ᱾"],
        ["राम जाता है।", "गच्छति॥"],
    ],
)
def test_a_sentence_ends_at_the_full_stops_of_its_script(sentences):
    assert list(running_sentences(" ".join(sentences))) == sentences


LETTERS = "aA1. .!?…؟\"')」。།፡x\n"


@given(st.text(LETTERS, max_size=40))
def test_sentences_are_those_of_a_plain_reading(text):
    """Sign by sign, with all of the rest of the line at hand."""
    closing = running_text._CLOSING
    others = rf"(?:[{running_text._FULL_STOPS}]+|፡፡|{running_text._SHAD}){closing}"
    end = re.compile(rf"[.!?…؟۔։]+{closing}(?=\s|$)|{others}")
    expected = []
    for paragraph in text.splitlines():
        line, start = " ".join(paragraph.split()), 0
        for found in end.finditer(line):
            rest = line[found.end() :].lstrip()
            short = running_text._ABBREVIATED.search(line[start : found.end()])
            if not rest[:1].islower() and (not rest or not short):
                expected.append(line[start : found.end()].strip())
                start = found.end()
    assert list(running_sentences(text)) == expected


def test_a_line_of_signs_is_read_in_one_go():
    """Each sign was looked at from every other one, which takes hours of so many."""
    assert list(running_sentences("x " + "." * 200_000 + "x")) == []
    assert list(running_sentences("a. b" + " a." * 100_000)) == ["a. b" + " a." * 100_000]


def test_a_full_stop_after_a_number_ends_none_and_a_heading_is_left_out():
    text = "Он пришёл 5. мая. Да! «Нет?»\nИстория"
    assert list(running_sentences(text)) == ["Он пришёл 5. мая.", "Да!", "«Нет?»"]


def test_what_is_cut_is_known_by_how_it_is_cut_and_lines_are_known_as_before(tmp_path: Path, monkeypatch):
    task = TASKS["mlm"]
    assert (Wikipedia().edition(task), PlainText().edition(task)) == (2, 1)
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "a.jsonl").write_text('{"text": "one."}\n')
    assert text_digest(f"text:en:{tmp_path / 'a.txt'}") == content_digest(tmp_path / "a.txt")
    name = f"text:en:{tmp_path / 'a.jsonl'}"
    before = text_digest(name)
    monkeypatch.setattr("babelscope.corpora.plain.EDITION", 3)
    assert text_digest(name) != before
