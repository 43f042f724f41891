"""CoNLL-U, the file format of Universal Dependencies: https://universaldependencies.org/format.html.

Comments, ids and heads are parsed by the `conllu` library. What is added here is the number of the line at fault, and
the checks that tell a dependency tree from a damaged file: what is read is right, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from conllu.exceptions import ParseException
from conllu.models import Metadata, Token, TokenList
from conllu.parser import parse_comment_line, parse_id_value, parse_int_value

from babelscope.core.errors import DataError
from babelscope.core.examples import NO_HEAD, NO_LABEL, UPOS, Multiword, Sentence, Word
from babelscope.corpora.lines import Line, LineError, at_lines, check_no_control, numbered_lines

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
Annotation = Literal["trees", "tags", "any"]
"""What words must have: heads, relations and universal parts of speech; these parts of speech; or nothing."""
KNOWN_TAGS = frozenset(UPOS)
_WITHOUT_TEXT = (
    "every word is _: the treebank is published without its text; put the words in, as its README says, or give another"
)
_REPEATED_SPACE = "  "  # `conllu` would take it for the end of a column
_SPACE = re.compile(r"\s").search
_PLAIN_NUMBER = re.compile("[1-9][0-9]{0,8}").fullmatch


class _Row(NamedTuple):
    """A line that is no comment: the number of the line, and its ten columns, id and head parsed."""

    line: int
    id: Any
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str
    deps: str
    misc: str


def read_conllu(path: Path | str, count: int | None = None, annotation: Annotation = "trees") -> list[Sentence]:
    """The sentences of a CoNLL-U file, plain or gzip-compressed (told apart by content, not by name).

    `count` is how many are read at most, from the first; what comes after them is not looked at. With less
    `annotation` than trees, the words of a sentence may all be without head and relation (`NO_HEAD`, `_`); with any,
    they may have other tags than universal ones, or none (`_`).

    Multiword tokens become `Sentence.multiwords`. Empty nodes (8.1) are left out; heads never point to them. A sentence
    without `sent_id` is named by its ordinal in the file, from 1.

    Raises `DataError`, with the line where there is one, if any part of what is read is not well-formed.
    """
    path = Path(path)
    with at_lines(path):
        sentences = list(islice(_sentences(path, annotation), count))
    if not sentences:
        raise DataError(path, None, "holds no sentence; expected CoNLL-U, ten tab-separated columns a word")
    if len(sentences) > 1 and all(word.form == "_" for sentence in sentences for word in sentence.words):
        raise DataError(path, None, _WITHOUT_TEXT)
    return sentences


def given_ids(path: Path) -> set[str]:
    """The ids of sentences that a file gives itself, in comments `sent_id`; others are ordinals."""
    comments = (line.text for line in numbered_lines(path) if line.text.startswith("#"))
    return {value for text in comments for key, value in parse_comment_line(text) if key == "sent_id" and value}


def word_lines(path: Path) -> list[list[int]]:
    """The lines of the words of each sentence, numbered from 1, of a CoNLL-U file that need not be annotated.

    Raises `DataError` if a line is not well-formed or the words are not numbered; the annotation is not looked at.
    """
    sentences = []
    with at_lines(path):
        for block in _blocks(path):
            rows = [_parsed(line) for line in block if not line.text.startswith("#")]
            _check_ids(rows)
            sentences.append([row.line for row in rows if isinstance(row.id, int)])
            if not sentences[-1]:
                raise LineError(block[-1].number, "a sentence without words ends here")
    if not sentences:
        raise DataError(path, None, "holds no sentence; expected CoNLL-U, ten tab-separated columns a word")
    return sentences


def write_conllu(path: Path | str, sentences: Iterable[Sentence]) -> None:
    """Write sentences as plain CoNLL-U."""
    with Path(path).open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_token_list(sentence).serialize() for sentence in sentences)


def _token_list(sentence: Sentence) -> TokenList:
    starts = {token.first: token for token in sentence.multiwords}
    tokens = []
    for number, word in enumerate(sentence.words, start=1):
        if number in starts:
            covers = {"id": f"{number}-{starts[number].last}", "form": starts[number].form}
            tokens.append(Token(dict.fromkeys(COLUMNS, "_") | covers | {"misc": starts[number].misc}))
        cells = {name: getattr(word, name) for name in COLUMNS[1:]}
        tokens.append(Token({"id": number, **cells} | ({"head": NO_LABEL} if word.head == NO_HEAD else {})))
    text = {} if sentence.text is None else {"text": sentence.text}
    return TokenList(tokens, Metadata(sent_id=sentence.id, **text))


def _sentences(path: Path, annotation: Annotation) -> Iterator[Sentence]:
    seen: dict[str, int] = {}
    for ordinal, block in enumerate(_blocks(path), start=1):
        sentence = _sentence(block, ordinal, annotation)
        line = block[0].number
        if (first := seen.setdefault(sentence.id, line)) != line:
            raise LineError(line, f"the sentence at line {first} has the same id, {sentence.id!r}")
        yield sentence


def _blocks(path: Path) -> Iterator[list[Line]]:
    """The lines of each sentence, without the empty line that ends it (which the last one may lack)."""
    block: list[Line] = []
    for line in numbered_lines(path):
        check_no_control(line)
        if line.text:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _sentence(block: list[Line], ordinal: int, annotation: Annotation) -> Sentence:
    rows = [_parsed(line) for line in block if not line.text.startswith("#")]
    _check_ids(rows)
    comments = _comments(block)
    numbered = [(row.line, _word(row, annotation)) for row in rows if isinstance(row.id, int)]
    if not numbered:
        raise LineError(block[-1].number, "a sentence without words ends here")
    if annotation == "trees" or any(word.head != NO_HEAD for _, word in numbered):
        _check_tree(numbered)
    multiwords = tuple(Multiword(row.id[0], row.id[2], row.form, row.misc) for row in rows if _is_range(row.id))
    words, text = tuple(word for _, word in numbered), comments.get("text") or None
    sentence = Sentence(comments.get("sent_id") or str(ordinal), words, multiwords, text)
    if text:
        _check_spelling(block[-1].number, sentence, text)
    return sentence


def _comments(block: list[Line]) -> dict[str, str | None]:
    """What comments `key = value` say of a sentence."""
    said: dict[str, str | None] = {}
    for line in block:
        for key, value in parse_comment_line(line.text) if line.text.startswith("#") else ():
            if key == "sent_id" and key in said:
                problem = f"a second sent_id of the sentence, {value!r:.100} after {said[key]!r:.100}"
                raise LineError(line.number, f"{problem}; is the empty line between two sentences missing?")
            said[key] = value
    return said


def _parsed(line: Line) -> _Row:
    cells = line.text.split("\t")
    if len(cells) != len(COLUMNS):
        hint = "; are they separated by spaces instead of tabs?" if len(cells) == 1 and " " in line.text else ""
        if not line.text.strip():
            hint = ": the line has white space alone, where an empty line ends a sentence"
        raise LineError(line.number, f"expected {len(COLUMNS)} tab-separated columns, found {len(cells)}{hint}")
    if _REPEATED_SPACE in line.text:
        raise LineError(line.number, "two spaces in a row inside a column; columns are separated by tabs")
    id, form, lemma, upos, xpos, feats, head, deprel, deps, misc = cells
    try:
        numbers = _number(id, parse_id_value), _number(head, parse_int_value)
        if numbers[0] is None:  # `_`
            raise ParseException
    except (ParseException, ValueError):  # ValueError: a number of thousands of digits
        problem = f"the id is {id!r} and the head {head!r}; an id is like 8, 8-9 or 8.1, a head a number from 0"
        raise LineError(line.number, problem) from None
    if not form.strip():
        raise LineError(line.number, "the form (second column) is empty")
    return _Row(line.number, numbers[0], form, lemma, upos, xpos, feats, numbers[1], deprel, deps, misc)


def _number(text: str, parse: Callable[[str], Any]) -> Any:
    """What the library's `parse` gives, which takes longer where text is a number alone, as it is nearly always."""
    return int(text) if _PLAIN_NUMBER(text) else parse(text)


def _is_range(id: object) -> bool:
    return isinstance(id, tuple) and id[1] == "-"


def _check_ids(rows: list[_Row]) -> None:
    """Words count 1, 2, 3; empty nodes count 8.1, 8.2 after word 8; ranges begin at the next word, don't overlap."""
    words, empty, covered, last_line = 0, 0, 0, 0
    for row in rows:
        id, line = row.id, row.line
        if isinstance(id, int):
            words, empty = words + 1, 0
            _expect(line, id, words)
        elif _is_range(id):
            _expect(line, id, (max(words, covered) + 1, "-", id[2]))
            covered, last_line = id[2], line
        else:
            empty += 1
            _expect(line, id, (words, ".", empty))
    if covered > words:
        raise LineError(last_line, f"a multiword token up to word {covered}, but the sentence has {words} words")


def _expect(line: int, id: object, expected: object) -> None:
    if id != expected:
        shown = ["".join(map(str, i)) if isinstance(i, tuple) else i for i in (id, expected)]
        hint = "; is the empty line between two sentences missing?" if id == 1 else ""
        raise LineError(line, f"the id is {shown[0]} where {shown[1]} is expected{hint}")


def _word(row: _Row, annotation: Annotation) -> Word:
    if annotation != "any" and row.upos not in KNOWN_TAGS:
        raise LineError(row.line, _wrong_tag(row.upos, annotation))
    if problem := _wrong_features(row.feats):
        raise LineError(row.line, problem)
    if row.head is not None and row.head < 0:
        raise LineError(row.line, f"the head is {row.head}; allowed are 0 (root) and the numbers of words")
    attached = row.head is not None, row.deprel not in ("", NO_LABEL)
    if not all(attached) and (annotation == "trees" or any(attached)):
        raise LineError(row.line, "no head or no dependency relation (seventh and eighth column): not annotated")
    head, deprel = (NO_HEAD, NO_LABEL) if row.head is None else (row.head, row.deprel)
    return Word(row.form, row.upos, head, deprel, row.lemma, row.xpos, row.feats, row.deps, row.misc)


def _wrong_tag(upos: str, annotation: Annotation) -> str:
    if upos == NO_LABEL:
        return "no universal part of speech (fourth column is _): not annotated"
    problem = f"{upos!r} is not a universal part of speech; allowed are {', '.join(UPOS)}"
    own = ". Tags of your own are labels of a task that you declare: task: tagging, label: upos"
    return problem + own if annotation == "tags" else problem


@lru_cache(10_000)  # a treebank has few that differ
def _wrong_features(feats: str) -> str:
    """What is wrong with a cell of features: its labels would be what nobody wrote. Empty if nothing is."""
    pairs = [] if feats == "_" else [pair.partition("=") for pair in feats.split("|")]
    names = [name for name, _, _ in pairs]
    if all(name and value and not _SPACE(name + value) for name, _, value in pairs) and len(set(names)) == len(names):
        return ""
    return f"the features (sixth column) are {feats!r}; they are _ or such as Case=Nom|Number=Sing, each name once"


def _check_tree(numbered: list[tuple[int, Word]]) -> None:
    """Exactly one word has head 0, and from every word the heads lead there."""
    heads = [0, *(word.head for _, word in numbered)]
    for line, word in numbered:
        if word.head == NO_HEAD:
            raise LineError(line, "no head (seventh column), though other words of the sentence have one")
        if not 0 <= word.head < len(heads):
            raise LineError(line, f"the head is {word.head}; allowed are 0 (root) to {len(numbered)} (last word)")
    roots = [line for line, word in numbered if word.head == 0]
    if not roots:
        raise LineError(numbered[0][0], "the sentence that begins here has no root: no head is 0")
    if len(roots) > 1:
        raise LineError(roots[1], f"a second root; the first is at line {roots[0]}")
    if (cyclic := _cyclic(heads)) is not None:
        raise LineError(numbered[cyclic - 1][0], f"word {cyclic} is its own ancestor: the heads form a cycle")


def _cyclic(heads: list[int]) -> int | None:
    """A word on a cycle of `heads` (index 0 is the root), if there is one; looks at each word once."""
    rooted = {0}
    for word in range(1, len(heads)):
        path: dict[int, None] = {}
        while word not in rooted:
            if word in path:
                return word
            path[word] = None
            word = heads[word]
        rooted.update(path)
    return None


def _check_spelling(line: int, sentence: Sentence, text: str) -> None:
    """The tokens spell the sentence's `# text` but for white space, as UD demands: no line is missing."""
    covered = {word for token in sentence.multiwords for word in range(token.first, token.last + 1)}
    tokens = [(number, word.form) for number, word in enumerate(sentence.words, start=1) if number not in covered]
    tokens += [(token.first, token.form) for token in sentence.multiwords]
    spelled = "".join(form for _, form in sorted(tokens))
    if "".join(spelled.split()) != "".join(text.split()):
        problem = "the sentence that ends here does not spell its # text; is a line missing, or the file cut short?"
        raise LineError(line, f"{problem} Its words: {spelled[:100]!r}; its text: {text[:100]!r}")
