"""YAML, version 1.2: `no` is Norwegian, and 1e-5 a number."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.representer import SafeRepresenter

from babelscope.core.errors import DataError, InputError

LARGEST_FILE = 100_000


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a file.

    Raises:
        DataError: the file is not a mapping in YAML; the message names the line.
        InputError: the file cannot be read.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(path, None, f"a study of more than {LARGEST_FILE:,} bytes; it should be a page of YAML")
        declared = _yaml().load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(path, None, f"not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    except DuplicateKeyError as error:
        raise DataError(path, _line(error), f"{str(error.problem).splitlines()[0]}; give each key once") from None
    except MarkedYAMLError as error:
        raise DataError(path, _line(error), f"not YAML: {error.problem}") from None
    except ReaderError as error:
        raise DataError(path, None, f"not YAML: {error.reason} at character {error.position}") from None
    except _NOT_YAML as error:
        problem = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(path, None, f"not YAML: {problem}") from None
    if not isinstance(declared, dict):
        raise DataError(path, None, f"a study is a mapping of keys to values; this is {type(declared).__name__}")
    return declared


def _line(error: MarkedYAMLError) -> int | None:
    return error.problem_mark.line + 1 if error.problem_mark else None


def parse_value(text: str) -> Any:
    """A value given on the command line, read as YAML (numbers, true, null, lists); what is not YAML is text."""
    try:
        return _yaml().load(text)
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


class _Constructor(SafeConstructor):
    """Python prints, and files of rows hold, no whole number without bound."""

    def construct_yaml_int(self, node: Any) -> int:
        number: int = super().construct_yaml_int(node)
        if number.bit_length() > 63:
            raise ValueError("a whole number beyond 64 bits")
        return number


_Constructor.add_constructor("tag:yaml.org,2002:int", _Constructor.construct_yaml_int)

_NOT_YAML = (YAMLError, ValueError, TypeError, LookupError, RecursionError)
"""What the constructors of values raise: for the month 13, a list as a key, an empty `!!int`, brackets without end."""


def _yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    return yaml


class _Representer(SafeRepresenter):
    """Plain text as it is, all else in quotes: some marks (a leading `?`) the library writes, but reads otherwise."""

    def represent_str(self, text: str) -> Any:
        style = None if re.fullmatch(r"\w[\w @./:-]*", text, re.ASCII) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Representer.add_representer(str, _Representer.represent_str)
