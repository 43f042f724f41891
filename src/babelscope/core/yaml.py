"""YAML, version 1.2: `no` is Norwegian, and 1e-5 a number."""

from __future__ import annotations

import re
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.representer import SafeRepresenter

from babelscope.core.errors import DataError
from babelscope.core.outside import read_text

LARGEST_FILE = 100_000
"""Bytes; a study is a page or two."""
VERSION = "1.2"
"""In others 010 is 8, `no` is false and 1:30 is 90."""
_OTHER_VERSION = re.compile(rf"^%YAML[ \t]+(?!{re.escape(VERSION)}\b)\S+", re.MULTILINE)
DEEPEST = 50
"""Lists and mappings in each other."""
MOST_VALUES = 100_000
"""That a file or an argument can stand for, with what its aliases repeat."""


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a file.

    Raises:
        DataError: the file cannot be read, or is not a mapping in YAML; the message names the line.
    """
    text = read_text(path, LARGEST_FILE)
    if other := _OTHER_VERSION.search(text):
        line = text.count("\n", 0, other.start()) + 1
        raise DataError(path, line, f"studies are YAML {VERSION}, in which {other[0]!r} would be wrong: leave it out")
    try:
        declared = _yaml().load(text)
    except DuplicateKeyError as error:
        problem = str(error.problem).partition(" with value")[0]  # which it has not read
        raise DataError(path, _line(error), f"{problem}; give each key once") from None
    except MaxDepthExceededError as error:
        raise DataError(path, _line(error), f"nested more than {DEEPEST} deep, as no study is") from None
    except MarkedYAMLError as error:
        raise DataError(path, _line(error), f"not YAML: {error.problem}") from None
    except ReaderError as error:
        raise DataError(path, None, f"not YAML: {error.reason} at character {error.position}") from None
    except _NOT_YAML as error:
        problem = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(path, None, f"not YAML: {problem}") from None
    if not isinstance(declared, dict):
        this = "the file is empty" if declared is None else f"this is {type(declared).__name__}"
        raise DataError(path, None, f"a study is a mapping of keys to values; {this}")
    return declared


def _line(error: MarkedYAMLError) -> int | None:
    return error.problem_mark.line + 1 if error.problem_mark else None


def parse_value(text: str) -> Any:
    """A value given on the command line, read as YAML (numbers, true, null, lists); what is not YAML is text.

    So is a whole number beyond 64 bits, in a list too, where what it is for can say what is wrong with it.
    """
    yaml = _yaml()
    yaml.Constructor = _WithLargeAsText
    try:
        return yaml.load(text)
    except _NOT_YAML:
        return text


def to_yaml(value: Any) -> str:
    """A value of mappings, lists, text and numbers as YAML; short lists on one line."""
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = None
    yaml.representer.sort_base_mapping_type_on_output = False
    yaml.width = 100
    yaml.dump(value, stream)
    return stream.getvalue()


class _TooLargeError(ValueError):
    """A whole number that nothing here counts to."""


class _Constructor(SafeConstructor):
    """Python prints, and files of rows hold, no whole number without bound; nor is there memory for all aliases."""

    def construct_document(self, node: Any) -> Any:
        if _size(node, {}) > MOST_VALUES:
            raise ValueError(f"its aliases make it stand for more than {MOST_VALUES:,} values")
        return super().construct_document(node)

    def construct_yaml_int(self, node: Any) -> int:
        number: int = super().construct_yaml_int(node)
        if number.bit_length() > 63:
            raise _TooLargeError("a whole number beyond 64 bits")
        return number


def _size(node: Node, known: dict[int, int]) -> int:
    """How many values are in a node, each as often as it is repeated; a node inside itself counts as one."""
    if id(node) not in known:
        known[id(node)] = 1
        inside = chain.from_iterable(node.value) if isinstance(node, MappingNode) else node.value
        if isinstance(node, CollectionNode):
            known[id(node)] += sum(_size(value, known) for value in inside)
    return known[id(node)]


class _WithLargeAsText(_Constructor):
    def construct_yaml_int(self, node: Any) -> Any:
        try:
            return super().construct_yaml_int(node)
        except _TooLargeError:
            return str(node.value)


for _constructor in (_Constructor, _WithLargeAsText):
    _constructor.add_constructor("tag:yaml.org,2002:int", _constructor.construct_yaml_int)

_NOT_YAML = (YAMLError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""What the constructors of values raise: for the month 13, a list as a key, an empty `!!int`, a far too large code."""


def _yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = DEEPEST
    yaml.Constructor = _Constructor
    return yaml


class _Representer(SafeRepresenter):
    """Plain text as it is, all else in quotes: some marks (a leading `?`) the library writes, but reads otherwise."""

    def represent_str(self, text: str) -> Any:
        style = None if re.fullmatch(r"\w[\w @./:-]*", text, re.ASCII) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Representer.add_representer(str, _Representer.represent_str)
