"""Surgery outside of studies: an operated encoder as a Hugging Face folder."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING

from babelscope.core.errors import BabelscopeError, InputError, told
from babelscope.core.files import replacing
from babelscope.core.outside import writable_path
from babelscope.core.version import __version__
from babelscope.encoders.folder import MODEL_FILE
from babelscope.encoders.heads import class_with_head
from babelscope.encoders.places import Place, locate
from babelscope.surgery import Operation, apply, describe, donors_of, parse_operation

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder

RECORD = "surgery.json"
Sizes = tuple[int, int]
"""Parameters before and after."""


def write_operated(source: str, texts: Sequence[str], folder: Path, seed: int) -> str:
    """Operate on an encoder and write the result, with a record of what was done in `surgery.json`.

    Args:
        source: a shipped name, a folder, or a hub name; so are the donors that operations name.
        texts: operations such as `drop:last=6`, in the order in which they are done.
        folder: to write; must not hold anything yet.
        seed: of what is drawn.

    Returns:
        One line for the user: parameters before and after; another one if a head is left out.

    Raises:
        InputError: an operation or an encoder cannot be used, or the folder is not empty.
    """
    from babelscope.encoders.load import save_encoder

    operations = [parse_operation(text) for text in texts]
    if not operations:
        raise InputError("no operation given: give --op at least once, such as --op reverse --op drop:last=6")
    folder = writable_path(folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{folder}: already there and not an empty folder; give one that does not exist yet")
    if folder.resolve() == Path.cwd():
        raise InputError(f"{folder}: the folder that this runs in; give one that does not exist yet")
    place = locate(source)
    donors = {name: locate(name) for name in donors_of(operations)}
    encoder, sizes = _operated(place, donors, operations, seed)
    with replacing(folder) as draft:
        draft.mkdir()
        save_encoder(encoder, draft)
        _write_record(draft / RECORD, place, list(donors.values()), operations, seed, sizes)
    told = f"{folder}: {place.name}, {sizes[0]:,} parameters before, {sizes[1]:,} after"
    return told + without_head(place)


def without_head(place: Place) -> str:
    """A line of its own where an encoder was taken out of a model of a task."""
    head = class_with_head(place.path)
    if not head and not (Path(place.path) / MODEL_FILE).is_file():
        return ""
    return (
        f"\nnote: its head is left out{f', of {head}' if head else ''}: the folder has an encoder, not tuned on a task"
    )


def _operated(
    place: Place, donors: dict[str, Place], operations: Sequence[Operation], seed: int
) -> tuple[Encoder, Sizes]:
    from babelscope.encoders.load import load_located
    from babelscope.encoders.state import weights_of

    encoder = load_located(place)
    loaded = {name: load_located(donor) for name, donor in donors.items()}
    try:
        operated = apply(encoder, operations, seed, loaded)
    except (BabelscopeError, MemoryError):
        raise
    except Exception as error:  # whatever somebody else's operation raises
        several = "one of the operations " if len(operations) > 1 else "operation "
        raise InputError(f"{several}{describe(operations)}: {told(error)}{_place(error, operations)}") from error
    before, after = (sum(weight.numel() for weight in weights_of(each).values()) for each in (encoder, operated))
    return operated, (before, after)


def _place(error: Exception, operations: Sequence[Operation]) -> str:
    """Where in an operation's file it was raised."""
    files = {inspect.unwrap(type(operation).apply).__code__.co_filename for operation in operations}
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename in files]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _write_record(
    path: Path, source: Place, donors: Sequence[Place], operations: Sequence[Operation], seed: int, sizes: Sizes
) -> None:
    record = {
        "encoder": {"name": source.name, "content": source.content},
        "donors": [{"name": donor.name, "content": donor.content} for donor in donors],
        "operations": [str(operation) for operation in operations],
        "seed": seed,
        "parameters": {"before": sizes[0], "after": sizes[1]},
        "babelscope": __version__,
    }
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
