"""Tokenizers of languages beside an encoder's own: how a folder, or a name on the hub, has them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformers import PretrainedConfig, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from babelscope.core.errors import EncoderError
from babelscope.core.hashing import folder_digest
from babelscope.encoders.folder import CONFIG, LANGUAGES
from babelscope.encoders.ids import last_id

DECLARED = "babelscope_languages"
"""What config.json calls the codes of these languages, so that it is seen where their tokenizers are missing."""
FIRST = "babelscope_reads_first"
"""What config.json calls the language whose tokenizer the folder has as its own since it was brought into a tuned
model; and those that the model's own tokenizer was for, which have it as theirs: `{"language": .., "before": [..]}`."""
KEPT = 64
"""Tokenizers of languages that a process keeps, once they are read: an encoder with many is read again and again."""


def save_config(config: PretrainedConfig, languages: Iterable[str], folder: Path) -> None:
    """Write config.json, which names the languages that have tokenizers of their own in the folder."""
    config = copy.deepcopy(config)
    taken_declaration(config)  # of the folder that a model in memory is from
    if codes := sorted(languages):
        setattr(config, DECLARED, codes)
    config.save_pretrained(folder)


def taken_declaration(config: PretrainedConfig) -> tuple[list[str], Any]:
    """The codes that config.json names, and what it says of the language that is read first.

    Both are taken out of the configuration: what is in memory knows its own.
    """
    return config.__dict__.pop(DECLARED, []), config.__dict__.pop(FIRST, None)


def declare_first(folder: Path, language: str, before: Sequence[str]) -> None:
    """Say in a folder's config.json which language it reads first, and what its model's own tokenizer was for."""
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config[FIRST] = {"language": language, "before": list(before)}
    (folder / CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def with_first(
    tokenizer: PreTrainedTokenizerBase, languages: dict[str, PreTrainedTokenizerBase], first: Any
) -> tuple[PreTrainedTokenizerBase, dict[str, PreTrainedTokenizerBase]]:
    """A model's own tokenizer, and those of languages, the one that a folder reads first among them.

    Args:
        tokenizer: that the folder has as its own.
        languages: as `read_languages` reads them.
        first: as `taken_declaration` gives it.
    """
    match first:
        case {"language": str(language), "before": [str(code), *_]} if code in languages:
            return languages[code], languages | {language: tokenizer}
    return tokenizer, languages


def save_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: Path, *, pretty: bool = True) -> None:
    """Write a tokenizer's files.

    Args:
        tokenizer: stays as it is.
        folder: to write to.
        pretty: whether tokenizer.json is indented. A language's own, with an entry for every id of the encoder, is not.
    """
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.backend_tokenizer.no_truncation()  # what the last call has set would be saved too
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)
    if not pretty:
        tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def read_languages(
    source: str, declared: Iterable[str], rows: int, options: Mapping[str, Any]
) -> dict[str, PreTrainedTokenizerBase]:
    """The tokenizers of the languages that config.json names; in folders, of others that have one, too.

    Args:
        source: a folder, or a name on the hub.
        declared: what config.json names.
        rows: how many embeddings there are.
        options: of the library's `from_pretrained`, such as the revision.

    Raises:
        EncoderError: one is missing or damaged, or belongs to another encoder.
    """
    there = {file.parent.name for file in Path(source).glob(f"{LANGUAGES}/*/tokenizer.json")}
    return {code: _checked(source, code, rows, options) for code in sorted({*declared, *there})}


def _checked(source: str, language: str, rows: int, options: Mapping[str, Any]) -> PreTrainedTokenizerBase:
    place = f"{LANGUAGES}/{language}"
    try:
        tokenizer = _read(source, place, options)
    except Exception as error:  # as many kinds as there are ways to damage a file
        raise EncoderError(
            f"{source}: {language} is read with a tokenizer of its own, but {place}/tokenizer.json is missing or "
            f"damaged. Copy or upload the folder with all that is in it, {LANGUAGES} too"
        ) from error
    if (pieces := last_id(tokenizer) + 1) > rows:
        raise EncoderError(
            f"{source}/{place}: its tokenizer has {pieces} ids, but the encoder has embeddings for {rows}. It belongs "
            "to another encoder: remove that folder, or copy the encoder's files again"
        )
    return tokenizer


def _read(source: str, place: str, options: Mapping[str, Any]) -> PreTrainedTokenizerBase:
    """Of a folder's files that were read before, the tokenizer that was made of them: nobody changes one."""
    folder = Path(source, place)
    if folder.is_dir():
        return _made(_Files(folder_digest(folder), source, place))
    return _tokenizer(source, place, options)


@dataclass(frozen=True)
class _Files:
    """Those of a tokenizer, told apart by what is in them."""

    content: str
    source: str = field(compare=False)
    place: str = field(compare=False)


@lru_cache(maxsize=KEPT)
def _made(files: _Files) -> PreTrainedTokenizerBase:
    return _tokenizer(files.source, files.place, {"trust_remote_code": False})


def _tokenizer(source: str, place: str, options: Mapping[str, Any]) -> PreTrainedTokenizerBase:
    tokenizer: PreTrainedTokenizerBase = PreTrainedTokenizerFast.from_pretrained(source, subfolder=place, **options)
    return tokenizer
