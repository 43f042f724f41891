"""Running text is cut into sentences where the signs of its script end them."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.tasks import TASKS
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
