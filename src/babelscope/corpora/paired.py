"""Files of sentences and their translations: two files line by line, a table of two columns, TMX."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from babelscope.core.errors import DataError, InputError
from babelscope.core.outside import reading
from babelscope.corpora.codes import code_among, same_language, script_in_place, suffix
from babelscope.corpora.lines import numbered_lines, opened

T = TypeVar("T")
Pair = tuple[str, str]
"""A sentence and its translation; one of them may be empty."""
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def paired_lines(names: tuple[str, str], files: tuple[Path, Path]) -> list[Pair]:
    """Line with line, also where empty lines are.

    Raises:
        InputError: they have not equally many; calls them by `names`.
    """
    first, second = ([line.text.strip() for line in numbered_lines(file)] for file in files)
    return line_by_line(names, first, second)


def line_by_line(names: tuple[str, str], first: Sequence[T], second: Sequence[T]) -> list[tuple[T, T]]:
    """The lines of two parallel texts, each with its translation.

    Raises:
        InputError: they have not equally many; calls them by `names`.
    """
    if len(first) != len(second):
        raise InputError(
            f"{names[0]} has {len(first)} lines and {names[1]} has {len(second)}; parallel texts have equally many, "
            "and each line says what the same line of the other says"
        )
    return list(zip(first, second, strict=True))


def table_pairs(path: Path) -> list[Pair]:
    """A sentence, a tab and its translation in each line, without header; nothing is quoted.

    Raises:
        DataError: a line has no tab, or several; a line without any text is a pair without text.
    """
    return list(_table(path))


def _table(path: Path) -> Iterator[Pair]:
    for line in numbered_lines(path):
        cells = [cell.strip() for cell in line.text.split("\t")]
        if not any(cells):
            yield "", ""
        elif len(cells) == 2:
            yield cells[0], cells[1]
        else:
            tabs = f"{len(cells) - 1 or 'no'} tab{'s' if len(cells) > 2 else ''}"
            raise DataError(path, line.number, f"{tabs} in the line; expected one, between sentence and translation")


def tmx_pairs(path: Path, language: str) -> list[Pair]:
    """The units of a TMX file (1.4), in the source language that it declares and in `language`.

    A unit that lacks one of them is a pair without text there. Of the source, English is taken where the file declares
    `*all*` or `language` itself. Codes of native formatting inside a segment are no text. Of the file's document type
    nothing is read, and an entity that it declares outside of itself is an error.

    Raises:
        DataError: it is no TMX, its source is `language`, a unit has two segments in one of them, or none has both.
        InputError: a unit has `language` in several scripts or places, and none is named.
    """
    source = tmx_source(path, language)
    pairs: list[Pair] = []
    languages: set[str] = set()
    for tag, element in _elements(path):
        if tag == "tu":
            segments = _segments(path, element, (source, language))
            languages.update(segments)
            if same_language(source, language):
                raise DataError(path, None, f"its sentences are translated from {source}; name another language")
            pairs.append((_segment(segments, source), _segment(segments, language)))
            element.clear()
    if not any(map(all, pairs)):
        there = ", ".join(sorted(languages)) or "none"
        hint = "" if _declared_source(path) else "; its header names no one srclang, so that English is the source"
        raise DataError(
            path, None, f"no unit has text in both {source} and {language}; its languages are {there}{hint}"
        )
    return pairs


def tmx_source(path: Path, language: str) -> str:
    """The language of the sentences that `tmx_pairs` gives translations into `language` of.

    Raises:
        DataError: it is no TMX.
    """
    declared = _declared_source(path)
    return "en" if not declared or same_language(declared, language) else declared


def _declared_source(path: Path) -> str:
    """As the header has it; empty where that names none, or all."""
    headers = (element for tag, element in _elements(path) if tag == "header")
    declared = next((header.get("srclang", "") for header in headers), "")
    return "" if declared == "*all*" else declared


def _elements(path: Path) -> Iterator[tuple[str, ET.Element]]:
    """Headers and units, each when it is complete."""
    try:
        with reading(path), opened(path) as stream:
            for _, element in ET.iterparse(stream):  # noqa: S314 (expat loads nothing, and bounds what entities become)
                if element.tag in ("header", "tu"):
                    yield element.tag, element
    except ET.ParseError as error:
        raise DataError(path, error.position[0], f"no TMX: {error}") from None
    except (ValueError, LookupError) as error:  # of an unknown encoding
        raise DataError(path, None, f"cannot be read: {error}") from error


def _language(variant: ET.Element) -> str:
    return variant.get(_LANGUAGE) or variant.get("lang") or ""


def _segments(path: Path, unit: ET.Element, wanted: tuple[str, str]) -> dict[str, str]:
    """The segments of a unit by their languages, of which those that are wanted have one each."""
    segments: dict[str, str] = {}
    for variant in unit.iter("tuv"):
        code, text = _language(variant), _text(variant.find("seg"))
        if segments.setdefault(code, text) != text and any(same_language(code, other) for other in wanted):
            raise DataError(path, None, f"a unit has two segments in {code}, {segments[code]!r} and {text!r}: keep one")
    return segments


def _segment(segments: dict[str, str], language: str) -> str:
    """The segment in a language; a script or place must be the same where both codes have one, else fit."""
    there = [code for code in segments if same_language(code, language)]
    exact = [code for code in there if suffix(language) in ("", suffix(code)) or not suffix(code)]
    fitting = exact or [code for code in there if script_in_place(code, language)]
    if len(fitting) == 1:
        return segments[fitting[0]]
    return segments[code_among(language, fitting)] if fitting else ""


def _text(segment: ET.Element | None) -> str:
    """What is in a segment but for its native codes; text that is highlighted is text."""
    if segment is None:
        return ""
    for element in list(segment.iter()):
        if element is not segment and element.tag != "hi":
            element.text, element[:] = None, []
    return " ".join("".join(segment.itertext()).split())
