"""The language's code and the raw text as they were given: what is odd about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean

from babelscope.advise.data import forms_of, labelled_data, text_data
from babelscope.advise.recipes import BY_LANGUAGE
from babelscope.advise.request import Request
from babelscope.advise.translated import translated
from babelscope.core.errors import InputError
from babelscope.core.languages import REAL_LANGUAGES, language_name
from babelscope.corpora.codes import same_language, shortest
from babelscope.corpora.lines import numbered_lines
from babelscope.corpora.mismatched import mismatches
from babelscope.corpora.parallel import SOURCE
from babelscope.corpora.plain import OWN, text_file
from babelscope.corpora.raw_text import FIRST, other_kind
from babelscope.corpora.scripts import check_script
from babelscope.corpora.spacing import unspaced_script
from babelscope.corpora.translations import COLLECTIONS
from babelscope.corpora.unlabelled import WORD_A_LINE, word_a_line
from babelscope.world import LANGUAGES

LONG = 1000
"""Characters of a line that is hardly one sentence."""
FEW = 1000
"""Sentences that an adaptation can hardly learn from if there are fewer."""
RELATED = 0.2
"""Share of words that labelled sentences and a text of the same language have in common at least."""


def check_text(request: Request) -> None:
    """Refuse a file that is no raw text, and data of another language.

    Raises:
        InputError: it is CoNLL-U, a table or HTML by its first lines, or cannot be read; there is no such text or
            data set; or one of them is in another language, or the text in another script.
    """
    if request.text_name.startswith(OWN):
        lines = islice(numbered_lines(text_file(request.text_name)), FIRST)
        if kind := other_kind([line.text for line in lines]):
            raise InputError(
                f"--text {request.text}: looks like {kind}; give raw text, one sentence a line, in UTF-8, and "
                "labelled sentences as --labelled"
            )
    text = text_data(request)
    _check_language("--text", request.text, text.code, request)
    check_script(request.language, text.read())
    if request.labelled_name:
        _check_language("--labelled", request.labelled or "", labelled_data(request, "train").code, request)


def _check_language(option: str, given: str, code: str, request: Request) -> None:
    if not same_language(code, request.language):
        name = language_name(code)
        raise InputError(
            f"{option} {given} is in {code}{f' ({name})' if name != code else ''}, but the advice asked for is on "
            f"{request.language}; give text in {request.language}, or --language {code}"
        )


def line_notes(request: Request) -> list[str]:
    """What the lines of the text are like, as far as it matters."""
    notes = []
    if request.text_name.startswith(OWN):
        lines = _lines(text_file(request.text_name))
        if empty := sum(not line for line in lines):
            notes.append(f"{_lines_in_words(empty)} of the text {'is' if empty == 1 else 'are'} empty and left out.")
        if longer := sum(len(line) > LONG for line in lines):
            has = "has" if longer == 1 else "have"
            notes.append(
                f"{_lines_in_words(longer)} of the text {has} more than {LONG:,} characters: a line should be one "
                "sentence, and what is longer than an encoder reads is read in parts."
            )
        if word_a_line(words := [line.split() for line in lines if line]) and not unspaced_script(lines):
            notes.append(f"Every sentence of the text has one word ({len(words):,} lines): {WORD_A_LINE}.")
    if (count := len(text_data(request).read())) < FEW:
        notes.append(
            f"The text has {count:,} sentences to learn from; below {FEW:,} or so adaptation has little effect."
        )
    return notes


def match_notes(request: Request, lines: Sequence[str]) -> list[str]:
    """A warning where hardly a word of the labelled sentences is in the lines of the text."""
    if request.labelled_name is None:
        return []
    text = _words(" ".join(lines))
    words = [word for forms in forms_of(request, "train") for form in forms for word in _words(form)]
    if not (text and words) or fmean(map(len, text)) > 2 * fmean(map(len, words)):  # written without spaces
        return []
    known = set(text)
    share = fmean(word in known for word in words)
    if share >= RELATED:
        return []
    return [f"Of the words of the labelled sentences {share:.0%} are in the text: are both of this language?"]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def parallel_notes(request: Request) -> list[str]:
    """A warning for each stretch of the translated sentences that is not in step with what it translates."""
    return [f"Of the translated sentences, {mismatch}." for mismatch in mismatches(translated(request).pairs)]


def translation_note(request: Request) -> list[str]:
    """That the text is itself a translation, which `--parallel` takes, where that is not given."""
    of_english = request.text_name.partition(":")[0] in COLLECTIONS and not same_language(request.language, SOURCE)
    if request.parallel or not of_english:
        return []
    return [
        f"The text was translated from English: --parallel {request.text_name} has the language brought into an "
        "encoder as well, which may give more than the text alone."
    ]


def code_notes(language: str) -> list[str]:
    """A note where little or nothing is known of the language."""
    if {language, shortest(language)} & (REAL_LANGUAGES.keys() | LANGUAGES.keys() | BY_LANGUAGE.keys()):
        return []
    by_name = {known.name.lower(): code for code, known in REAL_LANGUAGES.items()}
    meant = by_name.get(language.lower(), "")
    hint = f" If you mean {REAL_LANGUAGES[meant].name}, its code is {meant}." if meant in REAL_LANGUAGES else ""
    if (name := language_name(language)) != language:
        return [f"{name}: no transliteration made for the language and no published verdict are known here."]
    return [
        f"{language} is not a language code that is known here, so it is a label alone: no transliteration made for "
        f"the language and no published verdict are known for it.{hint}"
    ]


def _lines(path: Path) -> list[str]:
    return [line.text.strip() for line in numbered_lines(path)]


def _lines_in_words(count: int) -> str:
    return f"{count:,} line{'' if count == 1 else 's'}"
