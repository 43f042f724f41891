"""Which files a model is loaded from, and what they say of its weights. Reads no weights."""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open

from babelscope.encoders.folder import CONFIG, INDEX, read_mapping, weights_in

WHOLE = "model.safetensors"
"""The file that a model is saved in which is not divided."""


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that a model is loaded from, as transformers chooses them.

    The file or the index that config.json names; else the file by its usual name; else those that its index names.
    """
    named = read_mapping(folder / CONFIG).get("transformers_weights") or WHOLE
    file = folder / str(named)
    index = file if file.name.endswith(INDEX) else folder / f"{WHOLE}{INDEX}"
    if file.is_file() and file != index:
        return [file]
    return [folder / name for name in weights_in(index)] or sorted(folder.glob("*.safetensors"))


def weight_shapes(folder: Path) -> dict[str, list[int]]:
    """The shape of every weight, by its name.

    Raises:
        OSError, SafetensorError: a file cannot be read, or is damaged.
    """
    shapes: dict[str, list[int]] = {}
    for file in weight_files(folder):
        with safe_open(file, framework="np") as weights:
            shapes |= {name: weights.get_slice(name).get_shape() for name in weights.keys()}  # noqa: SIM118
    return shapes
