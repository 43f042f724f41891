"""Ids of a tokenizer, and tokenizers of languages that a process has read before."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from transformers import PreTrainedTokenizerFast

from babelscope.encoders.beside import read_languages, save_tokenizer
from babelscope.encoders.folder import LANGUAGES
from babelscope.encoders.ids import ids_of, last_id
from babelscope.encoders.segmenter import Segmenter, filler
from babelscope.encoders.tokenizer import train_wordpiece


@pytest.fixture
def own():
    """A tokenizer whose first ids are others', as those of languages that are brought in."""
    tokenizer = train_wordpiece(["ein Hund und eine Katze"], 60)
    segmenter = Segmenter.of(tokenizer)
    return segmenter.moved(10, 7).put_into(tokenizer)


def test_ids_are_those_of_the_vocabulary(own):
    vocabulary = own.get_vocab()
    assert ids_of(own).all.tolist() == sorted(vocabulary.values())
    expected = sorted(number for piece, number in vocabulary.items() if piece != filler(number))
    assert ids_of(own).pieces.tolist() == expected and len(expected) < len(vocabulary)
    assert last_id(own) == max(vocabulary.values())


def test_pieces_that_are_added_later_count(own):
    before = last_id(own)
    own.add_tokens(["Maus"])
    assert last_id(own) == before + 1 and ids_of(own).pieces[-1] == before + 1


def test_a_tokenizer_is_read_once_and_again_when_its_file_changes(own, tmp_path, monkeypatch):
    read = Counter[str]()
    reading = PreTrainedTokenizerFast.from_pretrained
    monkeypatch.setattr(
        PreTrainedTokenizerFast, "from_pretrained", lambda *given, **named: read.update("x") or reading(*given, **named)
    )
    own.add_tokens([str(tmp_path)])  # which no other test has
    for place in ("one", "other"):
        save_tokenizer(own, tmp_path / place / LANGUAGES / "de")
    first, other = (read_languages(str(tmp_path / place), ["de"], 1000, {})["de"] for place in ("one", "other"))
    assert first is other and read.total() == 1
    file = tmp_path / "one" / LANGUAGES / "de" / "tokenizer.json"
    changed = json.loads(file.read_text())
    changed["added_tokens"][-1]["content"] = "Maus"
    file.write_text(json.dumps(changed))
    again = read_languages(str(tmp_path / "one"), ["de"], 1000, {})["de"]
    assert read.total() == 2 and "Maus" in again.get_vocab() and "Maus" not in first.get_vocab()
