"""Which files a model is loaded from, and what they say of its weights. Reads no weights."""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open

from babelscope.encoders.folder import named_weights, read_mapping

WHOLE = "model.safetensors"
"""The file that a model is saved in which is not divided."""


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that a model is loaded from, as transformers chooses them.

    What config.json names comes first, then the file by its usual name, then those that an index names.
    """
    configured = read_mapping(folder / "config.json").get("transformers_weights")
    if not configured and (folder / WHOLE).is_file():
        return [folder / WHOLE]
    named = [folder / name for name in named_weights(folder) if name.endswith(".safetensors")]
    return named or sorted(folder.glob("*.safetensors"))


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
