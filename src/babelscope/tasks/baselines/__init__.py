"""Baselines that need no encoder, one a file: what a number must beat to mean something.

What comes in: a module with a class derived from `BaselineRule`. Every module here is imported, so that nothing else
names it. None of them imports torch.
"""

from babelscope.core.registry import import_modules
from babelscope.tasks.baselines.base import BaselineRule

import_modules(__name__, __path__)

__all__ = ["BaselineRule"]
