"""What the folder of an encoder holds, by its config.json and the names of its files. Reads no weights."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import DataError, EncoderError
from babelscope.core.hashing import folder_digest
from babelscope.core.outside import LARGEST_TEXT, given_path, read_json
from babelscope.encoders.anatomy import ANATOMY, check_family
from babelscope.encoders.footprint import known_config
from babelscope.encoders.sizes import LAYERS, WIDTH, check_not_quantised, check_sizes, check_tokenizer

CONFIG = "config.json"
LARGEST_CONFIG = 1 << 22
"""Bytes: room for the names of a hundred thousand labels."""
CARD = "README.md"
"""The file in a model's folder that says to people what it is; the Hugging Face hub shows it."""
LANGUAGES = "languages"
"""The folder in an encoder's that has a folder with a tokenizer for each language that has one of its own."""
FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.bin", f"{LANGUAGES}/*/*.json")
"""The files of a Hugging Face folder that determine an encoder, but for weights that are named elsewhere in it."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""The files that families keep their pieces in; a folder has one of them."""
INDEX = ".index.json"
"""What the names of files end with that say which weights are in which file."""
ADAPTER = "adapter_config.json"
"""The file in which peft says what an adapter changes, and of which encoder."""
MODEL_FILE = "babelscope.json"
"""The file in which the folder of a tuned model says what it was made for."""
OURS = "babelscope."
"""What the names of weights begin with that are of a head that transformers does not have."""
TUNED_ON = "babelscope_tuned_on"
"""What config.json calls the data that a model was tuned on. Whatever is made of its encoder keeps them."""


class TunedOn(NamedTuple):
    """What a model was tuned on before."""

    task: str
    data: str
    """As studies name it."""
    language: str


def encoder_digest(folder: Path, *more: str) -> str:
    """Hash of every file that is read of an encoder's folder, and of those that match `more` patterns."""
    return folder_digest(folder, (*FILES, *more), (folder / name for name in named_weights(folder)))


def named_weights(folder: Path) -> list[str]:
    """The files that config.json and indices of weights name, which may be in folders inside of this one."""
    configured = str(read_mapping(folder / CONFIG).get("transformers_weights", ""))
    indices = [*folder.glob(f"*{INDEX}"), *([folder / configured] if configured.endswith(INDEX) else [])]
    return sorted({name for name in (configured, *chain.from_iterable(map(weights_in, indices))) if name})


def weights_in(index: Path) -> list[str]:
    """The files that an index of weights names, each once."""
    weights = read_mapping(index).get("weight_map")
    return sorted({name for name in weights.values() if isinstance(name, str)}) if isinstance(weights, dict) else []


def read_mapping(file: Path) -> dict[str, Any]:
    """A JSON mapping; an empty one of a file that holds none."""
    try:
        value = read_json(file, LARGEST_CONFIG if file.name == CONFIG else LARGEST_TEXT)
    except DataError:
        return {}
    return value if isinstance(value, dict) else {}


def tuned_on(path: str) -> list[TunedOn]:
    """What the model in a folder was tuned on, as far as its config.json says."""
    return told_of(read_mapping(Path(path) / CONFIG).get(TUNED_ON))


def told_of(given: object) -> list[TunedOn]:
    """What a configuration says that its model was tuned on; what is malformed says nothing."""
    told = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return [TunedOn(**each) for each in told if each.keys() == set(TunedOn._fields)]


def check_named(source: str, names: Iterable[str]) -> None:
    """Refuse weights that config.json or an index names in other files than those of safetensors (`EncoderError`)."""
    if strange := [name for name in names if not name.endswith((".safetensors", INDEX))]:
        raise EncoderError(
            f"{source}: names weights in {strange[0]}, which is no *.safetensors file. Pickled weights can run code "
            "when they are read; save the encoder again, as safetensors"
        )


def layer_count(path: str) -> int | None:
    """How many layers the encoder in a folder has, by its config.json; None where that is not at hand."""
    return _configured(path, *LAYERS)


def word_width(path: str) -> int | None:
    """The width of its word embeddings, likewise."""
    return _configured(path, "embedding_size", *WIDTH)


def hidden_width(path: str) -> int | None:
    """The width of its layers, likewise."""
    return _configured(path, *WIDTH)


def _configured(path: str, *names: str) -> int | None:
    """The first number in a folder's config.json that has one of the names that families have for it."""
    try:
        config = known_config(path) or read_json(Path(path) / CONFIG, LARGEST_CONFIG)
    except DataError:
        return None
    return next((config[name] for name in names if isinstance(config.get(name), int)), None)


def check_folder(folder: Path, allow_pickle: bool = False) -> None:
    """Refuse what cannot be an encoder's folder, by the names of its files and by its config.json alone.

    Raises:
        EncoderError: no config.json, or not JSON; a number in it that is none; a family that is not known; no
            safetensors file, or one elsewhere; an adapter; no tokenizer.
    """
    config = _checked_config(folder)
    _check_weights(folder, allow_pickle)
    if (folder / ADAPTER).is_file():
        raise EncoderError(
            f"{folder}: an adapter ({ADAPTER}), which changes weights in memory alone. Merge it into them: in Python, "
            "load it with peft, model.merge_and_unload().save_pretrained('new-folder'), and copy the tokenizer"
        )
    if not any(file for pattern in TOKENIZERS for file in folder.glob(pattern)):
        raise EncoderError(
            f"{folder}: no tokenizer ({', '.join(TOKENIZERS)}), so no text can be read. Save the encoder's own with "
            "it: in Python, tokenizer.save_pretrained(folder)"
        )
    try:
        check_sizes(config, folder, ("max_position_embeddings",) if ANATOMY[config["model_type"]].positions else ())
    except EncoderError as error:
        raise EncoderError(f"{folder / CONFIG}: {error}. Download or save the encoder again") from None
    for tokenizer in (folder, *folder.glob(f"{LANGUAGES}/*")):
        check_tokenizer(tokenizer)
    for file in sorted(folder.glob("*.safetensors")):
        check_not_quantised(file)


def _checked_config(folder: Path) -> dict[str, Any]:
    path = given_path(folder / CONFIG)
    if not path.is_file():
        raise EncoderError(f"{folder}: not an encoder's folder, it has no {CONFIG}")
    try:
        config = read_json(path, LARGEST_CONFIG)
    except DataError as error:
        raise EncoderError(f"{error}. Download or save the encoder again") from None
    try:
        check_family(config.get("model_type") if isinstance(config, dict) else None)
    except EncoderError as error:
        raise EncoderError(f"{path}: {error}") from None
    for name, value in config.items():
        if isinstance(value, float) and not isfinite(value):
            raise EncoderError(f"{path}: {name} is {value}, with which nothing can be computed; correct it")
    return dict(config)


def _check_weights(folder: Path, allow_pickle: bool) -> None:
    in_safetensors = any(folder.glob("*.safetensors"))
    if not in_safetensors and not any(folder.glob("*.bin")):
        raise EncoderError(f"{folder}: no weights; copy the encoder's model.safetensors into it, or save it again")
    if not in_safetensors and not allow_pickle:
        raise EncoderError(
            f"{folder}: no *.safetensors file. Pickled weights can run code when they are read; if you trust whoever "
            "made these, convert them in Python, with load_encoder and save_encoder of babelscope.encoders.load: "
            f"save_encoder(load_encoder({str(folder)!r}, allow_pickle=True), 'new-folder')"
        )
    names = named_weights(folder)
    for name in names:
        if not Path(os.path.normpath(folder / name)).is_relative_to(os.path.normpath(folder)):
            raise EncoderError(f"{folder}: names weights in {name}; copy them into the folder, and name them there")
    if not allow_pickle:
        check_named(str(folder), names)
