"""Words of parallel sentences as declared values: two treebanks or two texts, and a file of which words are aligned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from babelscope.core.declaration import Declaration
from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Sentence
from babelscope.core.outside import given_path
from babelscope.corpora import datasets, plain
from babelscope.corpora.datasets import FileData
from babelscope.corpora.lines import check_unchanged, content_digest, numbered_lines
from babelscope.corpora.paired import line_by_line
from babelscope.corpora.parallel_sentences import same_sentences, sentence_ids

if TYPE_CHECKING:
    from babelscope.corpora.alignment.links import Links, WordPair

MOST = 20_000
"""Lines of a text, at most: all are held, and learnt from, at once."""
LONGEST_MEAN = 15
"""Letters that a text's words have on average, at most; what is above it is not divided into words."""
ALIGNED_BY = ", aligned by "
"""Stands in rows between the data and what says which words translate each other."""
_LINK = re.compile(r"(\d{1,9})-(\d{1,9})")


class TreebankWords(Declaration):
    """The words of two treebanks whose sentences of the same `sent_id` are translations, as those of PUD are.

    Words are those that are written: a multiword token such as French `du` is one.
    """

    kind: Literal["treebanks"] = "treebanks"
    treebanks: tuple[FileData, FileData]

    @property
    def name(self) -> str:
        """What rows call the two together."""
        return "+".join(treebank.name for treebank in self.treebanks)

    @property
    def languages(self) -> tuple[str, str]:
        """The codes that rows have."""
        first, second = self.treebanks
        return first.code, second.code

    def read(self) -> list[WordPair]:
        """The sentence pairs, in the order of the first treebank.

        Raises:
            InputError: the second lacks sentences of the first.
        """
        source, target = self.treebanks
        sentences = source.read()
        translations = same_sentences(target, sentence_ids(source), source.name)
        return [
            (written_words(sentence), written_words(translation))
            for sentence, translation in zip(sentences, translations, strict=True)
        ]


class TextWords(Declaration):
    """The words, separated by white space, of two files that say the same line by line.

    `sha256` are those of the files' contents: a file and its gzip are the same data.
    """

    kind: Literal["texts"] = "texts"
    names: tuple[str, str]
    sha256: tuple[str, str]

    @property
    def name(self) -> str:
        """What rows call the two together."""
        return "+".join(self.names)

    @property
    def languages(self) -> tuple[str, str]:
        """The codes that rows have."""
        first, second = self.names
        return plain.text_language(first), plain.text_language(second)

    def read(self) -> list[WordPair]:
        """The pairs of lines, also those of which one is empty.

        Raises:
            InputError: the files have not equally many lines, or too many, or one is not divided into words.
            DataError: a file is no longer the one that the study was planned with.
        """
        first, second = (_words(*given) for given in zip(self.names, self.sha256, strict=True))
        return line_by_line(self.names, first, second)


ParallelWords = Annotated[TreebankWords | TextWords, Field(discriminator="kind")]


class AlignmentFile(Declaration):
    """Word alignments in the format of Pharaoh: a line such as `0-0 1-2` for each sentence pair, counted from 0."""

    file: str
    sha256: str

    def read(self, sentences: Sequence[WordPair]) -> list[Links]:
        """The links of each sentence pair.

        Raises:
            DataError: a line is malformed or names a word that its sentence has not; there are not as many lines as
                sentence pairs; or the file is no longer the one that the study was planned with.
        """
        path = given_path(self.file)
        check_unchanged([path], [self.sha256])
        lines = list(numbered_lines(path))
        if len(lines) != len(sentences):
            problem = f"{len(lines)} lines for {len(sentences)} sentence pairs; give a line a pair, empty if need be"
            raise DataError(path, None, problem)
        return [_links(path, *line, pair) for line, pair in zip(lines, sentences, strict=True)]


def find_words(source: str, target: str) -> TreebankWords | TextWords:
    """Words of parallel sentences by the names of two treebanks, whose test splits are taken, or of two texts.

    Raises:
        InputError: there is no such data, one is a treebank and the other is not, they are of one language, or they
            are not parallel.
    """
    texts = [name.startswith((plain.NTREX, plain.OWN)) for name in (source, target)]
    if any(texts) and not all(texts):
        raise InputError(f"{source} and {target}: one is a text and the other is not; give two of a kind")
    words: TreebankWords | TextWords
    if any(texts):
        digests = [content_digest(plain.text_file(name)) for name in (source, target)]
        words = TextWords(names=(source, target), sha256=(digests[0], digests[1]))
    else:
        treebanks = [datasets.find_file("pos", name, "test") for name in (source, target)]
        words = TreebankWords(treebanks=(treebanks[0], treebanks[1]))
    if len(set(words.languages)) == 1:
        raise InputError(f"{source} and {target} are both {words.languages[0]}; words of two languages are compared")
    words.read()
    return words


def find_alignments(file: str, words: TreebankWords | TextWords) -> AlignmentFile:
    """A file of alignments of these words.

    Raises:
        DataError: it cannot be read, or does not fit the words; names the line.
    """
    alignments = AlignmentFile(file=file, sha256=content_digest(given_path(file)))
    alignments.read(words.read())
    return alignments


def written_words(sentence: Sentence) -> list[str]:
    """The words of a sentence as they are written, with multiword tokens in place of the words that they hold."""
    by_first = {multiword.first: multiword for multiword in sentence.multiwords}
    words, number = [], 1
    while number <= len(sentence.words):
        multiword = by_first.get(number)
        words.append(multiword.form if multiword else sentence.words[number - 1].form)
        number = (multiword.last if multiword else number) + 1
    return words


def _words(name: str, sha256: str) -> list[list[str]]:
    path = plain.text_file(name)
    check_unchanged([path], [sha256])
    lines = [line.text.split() for line in numbered_lines(path)]
    if len(lines) > MOST:
        raise InputError(f"{name} has {len(lines)} lines, and {MOST} are read at most; cut both texts: head -n {MOST}")
    lengths = [len(word) for word in chain.from_iterable(lines)]
    if not lengths:
        raise InputError(f"{name} has no words")
    if (mean := fmean(lengths)) > LONGEST_MEAN:
        raise InputError(
            f"{name}: its words have {mean:.0f} letters on average, so that it is hardly divided into words; put a "
            "space between words first, as a segmenter of the language does"
        )
    return lines


def _links(path: Path, number: int, text: str, pair: WordPair) -> Links:
    links = []
    for part in text.split():
        if not (match := _LINK.fullmatch(part)):
            raise DataError(path, number, f"{part!r:.100} is no link; links are pairs of numbers such as 0-0 1-2")
        link = (int(match[1]), int(match[2]))
        for which, index, words in zip(("first", "second"), link, pair, strict=True):
            if index >= len(words):
                problem = f"{part}: the {which} sentence has {len(words)} words, counted from 0"
                raise DataError(path, number, problem)
        links.append(link)
    return links
