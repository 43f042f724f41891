"""Predictions written back in the format that their gold data came in.

Trees and parts of speech go through `with_upos` and `with_trees` to `write_conllu`, entities to `write_bio`, sentence
pairs to `write_pairs`. Nothing is left out: every word, multiword token, `sent_id` and text that came in goes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from babelscope.errors import InputError
from babelscope.text import Sentence, SentencePair


def with_upos(sentences: Sequence[Sentence], upos: Sequence[Sequence[str]]) -> list[Sentence]:
    """Sentences with other parts of speech: one for each word.

    Raises `InputError` if their number is not that of the sentences, or of a sentence's words.
    """
    _check_count("sentences", len(sentences), len(upos), "predictions")
    return [_retagged(sentence, tags) for sentence, tags in zip(sentences, upos, strict=True)]


def with_trees(sentences: Sequence[Sentence], trees: Sequence[tuple[Sequence[int], Sequence[str]]]) -> list[Sentence]:
    """Sentences with other trees: a pair of heads (1-based, 0 the root) and dependency relations for each.

    Raises `InputError` if their number is not that of the sentences, or of a sentence's words.
    """
    _check_count("sentences", len(sentences), len(trees), "trees")
    return [_rehung(sentence, *tree) for sentence, tree in zip(sentences, trees, strict=True)]


def write_pairs(path: Path, pairs: Sequence[SentencePair]) -> None:
    """Write texts with their labels as TSV with a header: `first second label`, or `first label` for single texts.

    Nothing is quoted or escaped. Raises `InputError`, and writes nothing, if a text or label holds a tab or the end of
    a line, or only some of the texts are pairs.
    """
    single = {pair.second is None for pair in pairs}
    if len(single) > 1:
        raise InputError("cannot write pairs and single texts into one file; write them apart")
    header = "first\tlabel" if single == {True} else "first\tsecond\tlabel"
    lines = [_pair_line(number, pair) for number, pair in enumerate(pairs, start=1)]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8", newline="\n")


def _retagged(sentence: Sentence, upos: Sequence[str]) -> Sentence:
    _check_count(f"sentence {sentence.id}: words", len(sentence.words), len(upos), "parts of speech")
    words = (word._replace(upos=tag) for word, tag in zip(sentence.words, upos, strict=True))
    return replace(sentence, words=tuple(words))


def _rehung(sentence: Sentence, heads: Sequence[int], deprels: Sequence[str]) -> Sentence:
    _check_count(f"sentence {sentence.id}: words", len(sentence.words), len(heads), "heads")
    _check_count(f"sentence {sentence.id}: words", len(sentence.words), len(deprels), "dependency relations")
    columns = zip(sentence.words, heads, deprels, strict=True)
    return replace(
        sentence, words=tuple(word._replace(head=int(head), deprel=deprel) for word, head, deprel in columns)
    )


def _check_count(what: str, wanted: int, given: int, of_what: str) -> None:
    if wanted != given:
        raise InputError(f"{what}: {wanted}, but {given} {of_what}; every one needs its prediction")


def _pair_line(number: int, pair: SentencePair) -> str:
    columns = [str(column) for column in pair if column is not None]
    for column in columns:
        if any(mark in column for mark in "\t\n\r"):
            problem = "holds a tab or the end of a line, which would break the table; replace these by spaces"
            raise InputError(f"example {number} cannot be written as TSV: {column[:100]!r} {problem}")
    return "\t".join(columns)
