"""Sentences that a parser can be trained and scored on: universal relations, and no more words than fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, Sentence
from babelscope.tasks.attachment import universal

MOST_WORDS = 2_000
"""Of a sentence. A parser holds each word against each other one; the longest of treebanks have some hundred."""


def check_sentences(sentences: Iterable[Sentence]) -> None:
    """Refuse sentences that are too long, or have a relation that no parser gives.

    Raises:
        InputError: names the sentence by its id, and the relation.
    """
    known = frozenset(DEPREL)
    for sentence in sentences:
        _check_length(f"sentence {sentence.id!r:.200}", len(sentence.words))
        for number, word in enumerate(sentence.words, start=1):
            if universal(word.deprel) not in known:
                raise InputError(
                    f"sentence {sentence.id!r:.200}: relation {word.deprel!r:.100} of word {number}; the universal "
                    f"ones are {', '.join(DEPREL)}, with a subtype after a colon or without"
                )


def check_lengths(sentences: Sequence[Sequence[str]]) -> None:
    """Refuse words without a tree that are too many for a sentence (`InputError`)."""
    for number, words in enumerate(sentences, start=1):
        _check_length(f"sentence {number}, which begins with {' '.join(words[:3])!r:.100},", len(words))


def _check_length(which: str, words: int) -> None:
    if words > MOST_WORDS:
        raise InputError(
            f"{which} has {words:,} words, and a parser reads {MOST_WORDS:,} at most; cut it into sentences"
        )
