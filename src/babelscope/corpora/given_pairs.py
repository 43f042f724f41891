"""Sentences and their translations as a person gives them: by a name, a file of pairs, or two files of lines."""

from __future__ import annotations

from pathlib import Path

from babelscope.core import outside
from babelscope.core.errors import InputError, did_you_mean
from babelscope.corpora import plain
from babelscope.corpora.parallel import (
    OWN,
    SOURCE,
    FilePairs,
    NamedPairs,
    check_language,
    find_named_pairs,
    find_pairs,
    prefix_of,
)
from babelscope.corpora.translations import COLLECTIONS

ENDINGS = {".tsv": "tsv", ".tmx": "tmx"}
"""What names of files of pairs begin with, by the files' endings."""


def given_pairs(given: str, language: str, source: str = SOURCE) -> NamedPairs | FilePairs:
    """The text with its translations that a person has given for a language.

    Args:
        given: a name such as `ntrex:it`; a file of pairs, FILE.tsv or FILE.tmx; or two files of lines joined by a
            comma, `english.txt,italian.txt`, whose own names may have commas, too.
        language: the code of the translations.
        source: the code of what they are from, by which two files are named.

    Raises:
        InputError: as of `find_named_pairs` and `find_pairs`; the translations are named as in another language; or
            the commas can be read in several ways.
    """
    text = _found(given, language, source)
    check_language(text, language, f"{given}: ")
    return text


def _found(given: str, language: str, source: str) -> NamedPairs | FilePairs:
    if prefix_of(given) in (*COLLECTIONS, *OWN):
        return find_named_pairs(given)
    if "," in given and not _is_file(given):
        first, second = _two_files(given)
        return find_pairs(f"{plain.OWN}{source}:{_whole(first)}", f"{plain.OWN}{language}:{_whole(second)}")
    path = outside.given_path(given)
    kind = ENDINGS.get((path.with_suffix("") if path.suffix == ".gz" else path).suffix)
    if kind is None and _is_file(given):
        raise InputError(
            f"{given}: pairs are in a file named .tsv, a sentence, a tab and its translation in each line, or in .tmx. "
            "Save a table as tab-separated text; of two files of lines give both, with a comma between them"
        )
    if kind is None and ":" not in given:
        near = did_you_mean(given, (*COLLECTIONS, *OWN))
        advice = "Give a file of pairs, FILE.tsv or FILE.tmx; two files of lines, en.txt,it.txt; or a name, ntrex:it"
        raise InputError(f"{given}: {'is a folder' if path.is_dir() else 'there is no such file'}{near}", advice)
    return find_named_pairs(f"{kind}:{language}:{_whole(given)}" if kind else given)


def _two_files(given: str) -> tuple[str, str]:
    """What stands before and behind the comma between two files; where neither is there, the first comma."""
    commas = [place for place, character in enumerate(given) if character == ","]
    splits = [(given[:comma], given[comma + 1 :]) for comma in commas]
    there = [split for split in splits if all(map(_is_file, split))]
    if len(there) > 1:
        ways = "; or ".join(" and ".join(split) for split in there)
        raise InputError(f"{given}: this can be {ways}. Rename a file, so that no comma is in its name")
    return (there or splits)[0]


def _is_file(given: str) -> bool:
    try:
        return outside.given_path(given).is_file()
    except InputError:  # two names can be longer than one may be
        return False


def _whole(path: str) -> Path:
    """So that it is the same text when it is read again from another folder."""
    return outside.given_path(path).resolve()
