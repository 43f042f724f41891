"""Kinds of tasks, one a file: what models, baselines and scores a task of a kind has, and what `predict` writes.

What comes in: a module with a class derived from `TaskKind`. Every module here is imported, so that nothing else names
it. None of them imports torch at the top, since plans and reports ask kinds too; models come from the modules beside.
"""

from babelscope.core.registry import import_modules
from babelscope.tasks.kinds.base import BILSTM, TaskKind, kind_of

import_modules(__name__, __path__)

__all__ = ["BILSTM", "TaskKind", "kind_of"]
