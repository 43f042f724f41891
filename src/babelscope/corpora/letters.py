"""Examples of tasks in other letters; what is annotated stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Protocol, TypeVar

from babelscope.core.errors import InputError
from babelscope.core.examples import Sentence, SentencePair, Tagged
from babelscope.corpora.transliteration import Change, rules_digest, transliteration

LETTERS = ">"
"""Between the name of a data set and how it is transliterated: `UD_Uyghur-UDT>uyghur`."""


def split_name(name: str) -> tuple[str, str | None]:
    """The data set's own name, and how it is transliterated, if it is."""
    own, _, letters = name.partition(LETTERS)
    return own, letters or None


def lettered(name: str, letters: str | None) -> str:
    """The name of a data set, transliterated or not."""
    return f"{name}{LETTERS}{letters}" if letters else name


class Lettered(Protocol):
    """Data that may be declared to be transliterated."""

    @property
    def name(self) -> str:
        """As studies name it."""

    @property
    def letters(self) -> str | None:
        """How; None: it is not."""

    @property
    def rules(self) -> str | None:
        """The digest of the rules when that was declared."""


D = TypeVar("D", bound=Lettered)


def in_its_letters(read: Callable[[D], tuple[Any, ...]]) -> Callable[[D], tuple[Any, ...]]:
    """What is read, transliterated where that is declared.

    Raises:
        InputError: the rules are no longer those that were declared.
    """

    @wraps(read)
    def changed(data: D) -> tuple[Any, ...]:
        if data.letters is None:
            return read(data)
        if rules_digest(data.letters) != data.rules:
            problem = f"the rules of {data.letters} have changed since the study was planned; run the study again"
            raise InputError(f"{data.name}: {problem}")
        return relettered(read(data), transliteration(data.letters))

    return changed


def relettered(examples: Iterable[Any], change: Change) -> tuple[Any, ...]:
    """Examples of any task with their words changed, one by one; texts, and the text of a tree, as a whole.

    A word that nothing would be left of stays as it is.
    """
    return tuple(_CHANGES[type(example)](example, lambda text: change(text).strip() or text) for example in examples)


def _sentence(sentence: Sentence, change: Change) -> Sentence:
    words = tuple(word._replace(form=change(word.form)) for word in sentence.words)
    multiwords = tuple(multiword._replace(form=change(multiword.form)) for multiword in sentence.multiwords)
    text = None if sentence.text is None else change(sentence.text)
    return Sentence(sentence.id, words, multiwords, text)


def _tagged(sentence: Tagged, change: Change) -> Tagged:
    return Tagged([change(word) for word in sentence.words], sentence.labels)


def _pair(pair: SentencePair, change: Change) -> SentencePair:
    return pair._replace(first=change(pair.first), second=None if pair.second is None else change(pair.second))


_CHANGES: dict[type, Callable[[Any, Change], Any]] = {
    Sentence: _sentence, Tagged: _tagged, SentencePair: _pair, str: lambda text, change: change(text),
}  # fmt: skip
