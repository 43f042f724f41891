"""What a study measures besides the scores of its tasks, one file a measure.

A measure's file has its declaration, as it stands in a study's `measures`, the step that computes it, and its formula;
long formulas are in `formulas/`. Files here are imported when the package is, so they import torch in methods only. How
alike two languages' states are is said by functions in `similarities/`, one file each. A measure of each layer's states
is a few lines: see `LayerMeasure`.
"""

from babelscope.core.registry import import_modules
from babelscope.measures.compiled import Compiled
from babelscope.measures.layers import LayerMeasure
from babelscope.measures.measure import AnyMeasure, Measure

import_modules(__name__, __path__)

__all__ = ["AnyMeasure", "Compiled", "LayerMeasure", "Measure"]
