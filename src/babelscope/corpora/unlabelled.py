"""Files to predict on, and the same files with the predictions in them.

Whatever CoNLL-U and TSV have beside the predicted columns (comments, lemmas, multiword tokens, other cells) goes out
as it came in; BIO goes out with words and tags alone. Labels that a file has already are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import NO_LABEL, Tagged, Tree
from babelscope.core.outside import opened
from babelscope.corpora.bio import DOCUMENT, OUTSIDE, read_bio, repaired, split_tag, write_bio
from babelscope.corpora.conllu import COLUMNS, word_lines
from babelscope.corpora.lines import Line, at_lines, check_no_control, numbered_lines
from babelscope.corpora.pairs import check_header
from babelscope.corpora.raw_text import check_raw, kind_of_name

_NEITHER = (
    "give BIO, which begins with a word and one of the tags O, B-TYPE and I-TYPE (leave out comments, convert the tags "
    "of BIOES, BILOU or IO), or plain text, one sentence a line"
)
WORD_A_LINE = "if the file has a word a line, write each sentence on one line, its words separated by spaces"
"""What to do about what `word_a_line` says."""


class Document(Protocol):
    """A file to predict on."""

    @property
    def inputs(self) -> Sequence[Any]:
        """What a model reads: lists of words, texts, or pairs of texts."""

    def write(self, path: Path, predictions: Sequence[Any]) -> None:
        """Write the file with a prediction for each input."""


@dataclass(frozen=True)
class ConlluDocument:
    """CoNLL-U, annotated or not; the predictions are labels of words or trees."""

    lines: list[str]
    places: list[list[int]]
    """For each sentence, where in `lines` its words are."""
    label: str = "upos"
    """Where labels are written: a column, or one key of a column (`feats:Number`)."""

    @property
    def inputs(self) -> list[list[str]]:
        """The words of each sentence."""
        return [[self.lines[place].split("\t")[1] for place in places] for places in self.places]

    def write(self, path: Path, predictions: Sequence[Sequence[str] | Tree]) -> None:
        """With labels, or with heads and relations; enhanced dependencies, which no longer fit, are `_`."""
        lines = list(self.lines)
        for places, predicted in zip(self.places, predictions, strict=True):
            for place, columns in zip(places, self._columns(predicted), strict=True):
                cells = dict(zip(COLUMNS, lines[place].split("\t"), strict=True))
                lines[place] = "\t".join(columns(cells).values())
        _write(path, lines)

    def _columns(self, predicted: Sequence[str] | Tree) -> list[Callable[[dict[str, str]], dict[str, str]]]:
        """For each word of a sentence, what makes its new columns of the old ones."""
        if isinstance(predicted, Tree):
            pairs = zip(predicted.heads, predicted.deprels, strict=True)
            return [partial(_attached, head=head, deprel=deprel) for head, deprel in pairs]
        return [partial(_labelled, where=self.label, label=label) for label in predicted]


def _attached(cells: dict[str, str], head: int, deprel: str) -> dict[str, str]:
    return cells | {"head": str(head), "deprel": deprel, "deps": NO_LABEL}


def _labelled(cells: dict[str, str], where: str, label: str) -> dict[str, str]:
    column, _, key = where.partition(":")
    if not key:
        return cells | {column: label}
    others = [pair for pair in cells[column].split("|") if pair != NO_LABEL and not pair.startswith(f"{key}=")]
    pairs = others if label == NO_LABEL else sorted([*others, f"{key}={label}"], key=str.lower)
    return cells | {column: "|".join(pairs) or NO_LABEL}


def column_in_words(label: str) -> str:
    """Where labels of words stand: `the column UPOS`, `the column FEATS, as Number`."""
    column, _, key = label.partition(":")
    return f"the column {column.upper()}" + (f", as {key}" if key else "")


@dataclass(frozen=True)
class BioDocument:
    """Words to find named entities in."""

    inputs: list[list[str]]
    prefix: str = ""
    """What stands before every word of the file and is no part of it, such as `de:` in WikiANN."""

    def write(self, path: Path, predictions: Sequence[Sequence[str]]) -> None:
        """A word and its tag in each line; an entity begins with B-, as where predictions are scored."""
        written = ([self.prefix + word for word in words] for words in self.inputs)
        write_bio(path, map(Tagged, written, map(repaired, predictions)))


@dataclass(frozen=True)
class TableDocument:
    """TSV with a header that names the columns of the text."""

    header: list[str]
    rows: list[list[str]]
    texts: tuple[str, ...]
    """The column of the text, or the two of pairs."""
    label: str = "label"
    """The column that predictions are written to."""

    @property
    def inputs(self) -> list[str] | list[tuple[str, str]]:
        """The texts, or pairs of them."""
        first, *second = ([row[self.header.index(name)].strip() for row in self.rows] for name in self.texts)
        return list(zip(first, second[0], strict=True)) if second else first

    def write(self, path: Path, predictions: Sequence[str | float]) -> None:
        """With the column of labels, the last one where there was none."""
        header = self.header if self.label in self.header else [*self.header, self.label]
        place = header.index(self.label)
        lines = ["\t".join(header)]
        for row, label in zip(self.rows, predictions, strict=True):
            lines.append("\t".join([*row[:place], str(label), *row[place + 1 :]]))
        _write(path, lines)


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def read_words(path: Path, label: str = "upos") -> ConlluDocument:
    """CoNLL-U in a file named `.conllu`, or plain text in one named `.txt`; `.gz` may follow.

    Raises:
        InputError: the file is named otherwise, or is malformed.
    """
    readers = {".conllu": read_conllu_words, ".txt": read_plain_words}
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix not in readers:
        opened(path).close()  # one that is not there has no suffix to be wrong
        raise InputError(
            f"{path}: give CoNLL-U in a file named .conllu, or plain text, one sentence a line, in one named .txt"
        )
    return replace(readers[suffix](path), label=label)


def read_conllu_words(path: Path) -> ConlluDocument:
    """A CoNLL-U file, plain or gzip-compressed, that need not be annotated; `DataError` if it is malformed."""
    places = [[line - 1 for line in lines] for lines in word_lines(path)]
    lines = [line.text for line in numbered_lines(path)]
    return ConlluDocument(lines if lines[-1] == "" else [*lines, ""], places)


def read_plain_words(path: Path) -> ConlluDocument:
    """Plain text as CoNLL-U: one sentence a line, its words separated by white space. Empty lines are left out."""
    check_raw(path, "give CoNLL-U in a file named .conllu, text in one whose lines end as usual")
    lines: list[str] = []
    places: list[list[int]] = []
    for number, words in enumerate(_plain_sentences(path), start=1):
        lines += [f"# sent_id = {number}", f"# text = {' '.join(words)}"]
        places.append(list(range(len(lines), len(lines) + len(words))))
        lines += ["\t".join([str(place), word, *"________"]) for place, word in enumerate(words, start=1)]
        lines.append("")
    return ConlluDocument(lines, places)


def word_a_line(sentences: Sequence[Sequence[str]]) -> bool:
    """Whether all sentences, of more than three, have one word, as where a file has a word a line and nothing else."""
    return len(sentences) > 3 and all(len(words) == 1 for words in sentences)


def read_bio_words(path: Path) -> BioDocument:
    """BIO, or plain text: one sentence a line. It is BIO if the first line is a word and a BIO tag.

    A code before every word of BIO, as in WikiANN, is not read with it.

    Raises:
        DataError: it is neither, or malformed BIO.
    """
    if _begins_as_bio(path):
        sentences = read_bio(path)
        prefix = _code_before([word for sentence in sentences for word in sentence.words])
        return BioDocument([[word.removeprefix(prefix) for word in each.words] for each in sentences], prefix)
    check_raw(path, _NEITHER)
    return BioDocument(list(_plain_sentences(path)))


def _code_before(words: Sequence[str]) -> str:
    """`de:`, where every word begins so and goes on; else nothing."""
    code = re.match(r"[a-z][a-z-]{1,11}:", words[0]) if words else None
    prefix = code.group() if code else ""
    return prefix if all(word.startswith(prefix) and word != prefix for word in words) else ""


def read_table(path: Path, texts: tuple[str, ...] = ("first",), label: str = "label") -> TableDocument:
    """TSV with a header that has the columns of the text, or for single texts plain text: one text a line.

    A file that is named .tsv is no plain text: its header would be taken for one. So it is with .csv and JSON.

    Raises:
        DataError: it is neither; a column is missing, or with its line: another number of cells than the header has,
            no text.
    """
    is_named_table = path.name.removesuffix(".gz").endswith(".tsv")
    instead = f"give TSV with the header {' '.join(texts)}, in a file named .tsv, columns separated by tabs"
    if kind := kind_of_name(path):
        raise DataError(path, None, f"{kind}, which is not read here: {instead}")
    lines = numbered_lines(path)
    header = next(lines, Line(1, "")).text.split("\t")
    if len(texts) == 1 and texts[0] not in header and len(header) == 1 and not is_named_table:
        check_raw(path, f"{instead}, or plain text, one text a line")
        header, lines = [texts[0]], numbered_lines(path)
    check_header(path, header, [*texts, *([label] if label in header else [])])
    rows = [_row(path, line, header, texts) for line in lines]
    if not rows:
        raise DataError(path, None, "holds no text")
    return TableDocument(header, rows, texts, label)


def _row(path: Path, line: Line, header: list[str], wanted: Sequence[str]) -> list[str]:
    cells = line.text.split("\t")
    if len(cells) != len(header):
        raise DataError(path, line.number, f"{len(cells)} cells separated by tabs; expected {len(header)}")
    for column in wanted:
        if not cells[header.index(column)].strip():
            raise DataError(path, line.number, f"no text in column {column!r}")
    return cells


def _plain_sentences(path: Path) -> Iterator[list[str]]:
    """The words of each line that has some; `DataError` if none has, or a word holds what no file of words may."""
    empty = True
    with at_lines(path):
        for line in numbered_lines(path):
            if words := line.text.split():
                empty = False
                check_no_control(Line(line.number, " ".join(words)))
                yield words
    if empty:
        raise DataError(path, None, "holds no word; expected one sentence a line, its words separated by spaces")


def _begins_as_bio(path: Path) -> bool:
    lines = (line.text.split() for line in numbered_lines(path))
    cells = next((cells for cells in lines if cells and cells != [DOCUMENT]), [])
    try:
        return len(cells) > 1 and (cells[-1] == OUTSIDE or bool(split_tag(cells[-1])))
    except InputError:
        return False
