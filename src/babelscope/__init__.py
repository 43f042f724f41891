"""Babelscope: a laboratory for cross-lingual transfer of pretrained Transformer encoders.

From Python:

    import babelscope as bs

    tagger = bs.load("world-natural").operate("reverse").tune("pos", train="world:qaa", seed=0)
    tagger.score("world:qab").frame()
    bs.read_study("mine.yaml").run().report("mine.html")

Whatever is computed goes through the steps and the store of the command line, so the numbers are the same. Names are
imported when they are first used: `import babelscope` loads neither torch nor pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from babelscope.core.version import __version__

if TYPE_CHECKING:
    from babelscope import corpora, surgery
    from babelscope.core import errors
    from babelscope.core.errors import BabelscopeError
    from babelscope.core.row import Row
    from babelscope.face.bundle import read_bundle
    from babelscope.face.encoder import Encoder, load
    from babelscope.face.job import Job
    from babelscope.face.result import Result, Rows
    from babelscope.face.similarity import similarity
    from babelscope.face.study import Study, read_study
    from babelscope.face.tuned import Tuned, interpolate

_FROM = {
    "BabelscopeError": "core.errors", "Encoder": "face.encoder", "Job": "face.job", "Result": "face.result",
    "Row": "core.row", "Rows": "face.result", "Study": "face.study", "Tuned": "face.tuned",
    "interpolate": "face.tuned", "load": "face.encoder", "read_bundle": "face.bundle",
    "read_study": "face.study", "similarity": "face.similarity",
}  # fmt: skip
"""The module of each name."""
_MODULES = {"corpora": "corpora", "errors": "core.errors", "surgery": "surgery"}

__all__ = [
    "BabelscopeError", "Encoder", "Job", "Result", "Row", "Rows", "Study", "Tuned", "__version__", "corpora", "errors",
    "interpolate", "load", "read_bundle", "read_study", "similarity", "surgery",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"babelscope.{_MODULES[name]}")
    if name in _FROM:
        return getattr(import_module(f"babelscope.{_FROM[name]}"), name)
    raise AttributeError(f"module 'babelscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
