"""One operation a file. Every file in this folder is imported, and what it defines enters `Operation.kinds`.

Torch and what needs it are imported inside `apply`, so that declaring an operation stays fast.
"""

from babelscope.core.registry import import_modules

import_modules(__name__, __path__)
