"""Models as small files, to hand them on, and back."""

from __future__ import annotations

from pathlib import Path

from babelscope.core.errors import InputError
from babelscope.core.files import replacing
from babelscope.core.outside import given_path, new_path, opened
from babelscope.encoders.folder import CONFIG
from babelscope.encoders.places import installed_folder
from babelscope.engine.disk import bytes_in


def write_packed(source: str, file: Path) -> str:
    """Pack a model's folder into one file, which must not exist yet; gives one line for the user.

    Raises:
        InputError: there is no such folder, or the file is there.
    """
    from babelscope.encoders.packed import pack

    file, folder = new_path(file), installed_folder(source) or given_path(source)
    if not folder.is_dir():
        problem = "a file; what is packed is a model's folder" if folder.is_file() else "no such folder"
        raise InputError(f"{source}: {problem}; `babelscope export KEY -o FOLDER` writes a study's model as one")
    given_path(folder / CONFIG)  # a folder that may not be read is refused here: it is no fault of the file's
    with replacing(file) as draft:
        left_out = pack(folder, draft)
    told = f"{file}: {file.stat().st_size / 1e6:,.1f} MB, of {bytes_in(folder) / 1e6:,.1f}"
    return f"{told}; left out: {', '.join(left_out)}" if left_out else told


def write_unpacked(file: Path, folder: Path) -> str:
    """Write a packed model as a Hugging Face folder, which must not exist yet; gives one line for the user.

    Raises:
        InputError: the file is no packed model, or the folder is there.
    """
    from babelscope.encoders.packed import unpack

    folder, file = new_path(folder), given_path(file)
    opened(file).close()  # one that cannot be read is refused here: it is no fault of the folder's
    with replacing(folder) as draft:
        draft.mkdir()
        unpack(file, draft)
    return f"{folder}: a model that babelscope and transformers load"
