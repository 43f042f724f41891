"""Surgery: operations on an encoder's weights, each a value whose `apply` is a pure function of an encoder and a seed.

An operation is a class in a file of its own in `operations/`. A new file there is all that a new operation takes:
studies, the text form, `babelscope list surgeries` and `babelscope operate` then know it. Loads no torch.
"""

from importlib import import_module

from babelscope.surgery.operation import AnyOperation, OnPart, Operation, parse_operation
from babelscope.surgery.sequence import apply, check_operations, count_layers, describe, donors_of

import_module("babelscope.surgery.operations")  # at the end, so that the files there can import from here

__all__ = [
    "AnyOperation", "OnPart", "Operation", "apply", "check_operations", "count_layers", "describe", "donors_of",
    "parse_operation",
]  # fmt: skip
