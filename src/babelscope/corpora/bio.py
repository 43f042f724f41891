"""BIO files of named entities: a word and its tag in each line, an empty line between sentences.

A tag is `O` (outside), `B-TYPE` (an entity begins) or `I-TYPE` (it goes on). The word is the first column and the tag
the last, as in MasakhaNER (`word TAG`), WikiANN (tabs) and CoNLL-2003 (`word POS chunk TAG`): Tjong Kim Sang and De
Meulder (2003), https://aclanthology.org/W03-0419.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Tagged
from babelscope.corpora.lines import CONTROL, Line, LineError, at_lines, check_no_control, numbered_lines

OUTSIDE = "O"
DOCUMENT = "-DOCSTART-"
_SPACES = re.compile(" +")


def read_bio(
    path: Path,
    labels: Sequence[str] | None = None,
    mapping: Mapping[str, str] | None = None,
    prefix: str = "",
) -> list[Tagged]:
    """All sentences of a BIO file, plain or gzip-compressed (told apart by content, not by name).

    Tags are repaired (`repaired`), so that CoNLL-2003's own scheme, where an entity begins with I-, reads as BIO.
    Columns are separated by tabs, or by spaces where the line has no tab; all words have the same number of them.
    `-DOCSTART-` lines end a sentence and are left out.

    Args:
        path: the file.
        labels: the entity types allowed, such as `("LOC", "ORG", "PER")`; None: any.
        mapping: entity type of the file -> what it counts as, `O` for no entity, such as `{"DATE": "O"}`.
        prefix: what stands before every word of the file, such as `de:` in WikiANN, and is taken off. A file whose
            first word lacks it is read as it is.

    Raises:
        DataError: any part of the file is not well-formed, or an entity type is not allowed after the mapping.
        InputError: the mapping leads to a type that is not allowed.
    """
    mapping = mapping or {}
    if labels is not None and (strange := sorted(set(mapping.values()) - {*labels, OUTSIDE})):
        raise InputError(f"the mapping leads to entity type {strange[0]!r}; allowed are {', '.join(labels)}, or O")
    with at_lines(path):
        blocks = list(_blocks(path))
        _check_words(blocks)
        _take_off(prefix, blocks)
        sentences = [_sentence(block, labels, mapping) for block in blocks]
    if not sentences:
        raise DataError(path, None, "holds no sentence; expected BIO, a word and its tag in each line")
    return sentences


def write_bio(path: Path, sentences: Iterable[Tagged]) -> None:
    """Write sentences as plain BIO, word and tag separated by a tab.

    Raises `InputError`, and writes nothing, for what could not be read back: a sentence without words, a tag that is
    not BIO, a word that is empty, has a space at an end, holds a control character, or is `-DOCSTART-`.
    """
    text = "".join(f"{_block_of(number, *sentence)}\n" for number, sentence in enumerate(sentences, start=1))
    # Reading takes a byte order mark off the file, so a first word that begins with that character needs one before.
    path.write_text(text, encoding="utf-8-sig" if text.startswith("\ufeff") else "utf-8", newline="\n")


def _block_of(number: int, words: Sequence[str], tags: Sequence[str]) -> str:
    problem = "" if words else "it has no word"
    if len(words) != len(tags):
        problem = f"it has {len(words)} words, but {len(tags)} tags"
    problem = problem or next(filter(None, [*map(_word_problem, words), *map(_tag_problem, tags)]), "")
    if problem:
        raise InputError(f"sentence {number} cannot be written as BIO: {problem}")
    return "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True))


def split_tag(tag: str) -> tuple[str, str]:
    """`B-PER` is `("B", "PER")`, `O` is `("O", "")`; `InputError` for what is no BIO tag."""
    if problem := _tag_problem(tag):
        raise InputError(problem)
    position, _, entity_type = tag.partition("-")
    return position, entity_type


def entity_types(sentences: Iterable[Tagged]) -> tuple[str, ...]:
    """The types of the entities in sentences, in alphabetical order."""
    labels = {label for sentence in sentences for label in sentence.labels} - {OUTSIDE}
    return tuple(sorted({split_tag(label)[1] for label in labels}))


def repaired(tags: Sequence[str]) -> list[str]:
    """The tags of a sentence with I- turned into B- where the tag before is neither B- nor I- of the same type."""
    return [
        f"B-{tag[2:]}" if tag.startswith("I-") and before[2:] != tag[2:] else tag
        for before, tag in pairwise([OUTSIDE, *tags])
    ]


class _Word:
    """A word's line: what stands in its first and its last column."""

    def __init__(self, line: Line):
        columns = _columns(line)
        self.line, self.count = line.number, len(columns)
        self.form, self.tag = columns[0], columns[-1]


def _columns(line: Line) -> list[str]:
    check_no_control(line)
    if "\t" in line.text:
        return [column.strip(" ") for column in line.text.split("\t")]
    return _SPACES.split(line.text.strip(" "))


def _blocks(path: Path) -> Iterator[list[_Word]]:
    """The words of each sentence, checked to have equally many columns."""
    block: list[_Word] = []
    first: _Word | None = None
    for line in numbered_lines(path):
        word = _Word(line) if line.text.strip(" \t") else None
        if word and word.form != DOCUMENT:
            first = first or word
            _check_columns(word, first)
            block.append(word)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _check_columns(word: _Word, first: _Word) -> None:
    if word.count == 1:
        raise LineError(word.line, f"expected a word and its tag, found {word.form[:100]!r} alone; which is missing?")
    if word.count != first.count:
        problem = f"{word.count} columns, but line {first.line} has {first.count}; does a word contain a space?"
        raise LineError(word.line, f"{problem} Then separate the columns by tabs")


def _check_words(blocks: list[list[_Word]]) -> None:
    """The first column, which is read as the words, must not count them, as it does in GermEval and CoNLL-U."""
    forms = [[word.form for word in block] for block in blocks]
    if any(len(one) > 1 for one in forms) and all(one == list(map(str, range(1, len(one) + 1))) for one in forms):
        problem = "the first column counts the words (1, 2, 3 in every sentence), and is read as the words"
        raise LineError(blocks[0][0].line, f"{problem}; take it away, so that the words come first")


def _take_off(prefix: str, blocks: list[list[_Word]]) -> None:
    if not prefix or not blocks or not blocks[0][0].form.startswith(prefix):
        return
    for word in (word for block in blocks for word in block):
        if not word.form.startswith(prefix):
            raise LineError(word.line, f"the word {word.form!r} lacks the {prefix!r} that the file's first word has")
        word.form = word.form.removeprefix(prefix)


def _sentence(block: list[_Word], labels: Sequence[str] | None, mapping: Mapping[str, str]) -> Tagged:
    for word in block:
        if problem := _word_problem(word.form) or _tag_problem(word.tag):
            raise LineError(word.line, problem)
    tags = [_mapped(tag, mapping) for tag in repaired([word.tag for word in block])]
    for word, tag in zip(block, tags, strict=True):
        if labels is not None and tag != OUTSIDE and tag[2:] not in labels:
            allowed = f"one of {', '.join(labels)}; say what it counts as, or O, under entity_types"
            raise LineError(word.line, f"entity type {tag[2:]!r} is not {allowed}")
    return Tagged([word.form for word in block], tags)


def _mapped(tag: str, mapping: Mapping[str, str]) -> str:
    entity_type = mapping.get(tag[2:], tag[2:])
    return OUTSIDE if tag == OUTSIDE or entity_type == OUTSIDE else f"{tag[:2]}{entity_type}"


def _word_problem(word: str) -> str:
    if not word or word != word.strip(" "):
        return f"the word {word!r} is empty, or has a space at an end"
    if CONTROL.search(word) or "\t" in word:
        return f"the word {word!r} holds a control character"
    return f"the word is {DOCUMENT}, which marks a new document" if word == DOCUMENT else ""


def _tag_problem(tag: str) -> str:
    """Empty if it is a BIO tag."""
    if tag == OUTSIDE or (tag[:2] in ("B-", "I-") and tag[2:].strip() and not re.search(r"\s", tag[2:])):
        return ""
    hint = "; convert tags of BIOES or BILOU to BIO" if tag[:2] in ("S-", "E-", "L-", "U-") else ""
    return f"{tag!r} is not a BIO tag; allowed are O, B-TYPE and I-TYPE, such as B-PER{hint}"
