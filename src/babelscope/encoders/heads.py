"""Which heads the model in an encoder's folder has. Reads the names of its weights, not the weights."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError

from babelscope.core.errors import DataError, EncoderError
from babelscope.core.outside import read_json
from babelscope.encoders.anatomy import ANATOMY, check_family
from babelscope.encoders.folder import CONFIG, read_mapping
from babelscope.encoders.footprint import SHAPE
from babelscope.encoders.weight_files import weight_shapes

TUNED = ("ForTokenClassification", "ForSequenceClassification", "ForQuestionAnswering", "ForMultipleChoice")
"""What the names of classes of transformers end with that have the head of a task."""


def has_mlm_head(path: str) -> bool | None:
    """Whether the encoder in a folder has the weights of a masked language model head; None where that cannot be seen.

    A shape is taken to have it.
    """
    if path.startswith(SHAPE):
        return True
    try:
        check_family(family := read_json(Path(path) / CONFIG)["model_type"])
        head = ANATOMY[family].head
        names = weight_shapes(Path(path))
    except (DataError, EncoderError, OSError, KeyError, SafetensorError):
        return None
    return any(name.startswith(tuple(f"{part}." for part in head)) for name in names) if names else None


def class_with_head(path: str) -> str:
    """The class that transformers has for a folder's model of a task, by its config.json; empty where it has none."""
    architectures = read_mapping(Path(path) / CONFIG).get("architectures") or [""]
    return next((str(name) for name in architectures if str(name).endswith(TUNED)), "")
