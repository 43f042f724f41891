"""Signs of punctuation that stand at words, as in running text; in treebanks they are words of their own."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SIGNS = '.,;:!?…"“”„‟«»‹›()[]{}¿¡،؛؟۔。、，；：！？（）「」।॥։'
"""Apostrophes and hyphens are not among them, which belong to words, nor is what stands at numbers, such as %."""
MANY = 0.05
"""Share of the words from which on a text is not one of words that stand apart: twenty sentences in a row of a treebank
have at most 4.5% (old Uyghur quotes), whole treebanks at most 0.2%, and running text 9% or more (NTREX)."""


class Attached(NamedTuple):
    """Words that have a sign attached."""

    number: int
    words: int
    """Of so many that have a letter or a digit."""
    example: str


def attached_signs(sentences: Sequence[Sequence[str]]) -> Attached | None:
    """How many words have a sign at their beginning or end; None where few have, as in a treebank.

    A full stop within a sentence is not counted, since it may be one of an abbreviation.
    """
    words = sum(any(map(str.isalnum, word)) for sentence in sentences for word in sentence)
    found = [word for sentence in sentences for word in _with_signs(sentence)]
    return Attached(len(found), words, found[0]) if found and len(found) > MANY * words else None


def _with_signs(sentence: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(sentence, start=1):
        core = word.strip(SIGNS)
        is_abbreviated = word == f"{core}." and place < len(sentence)
        if core != word and not is_abbreviated and len(core) > 1 and all(map(_is_of_a_word, core)):
            yield word


def _is_of_a_word(character: str) -> bool:
    """Whether it is a letter, a mark on one, an apostrophe or a hyphen."""
    return unicodedata.category(character)[0] in "LM" or character in "'’-"
