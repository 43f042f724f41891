"""The built-in steps: encoders that exist, are made or operated on; tuning; evaluation; and the plan they form.

A step is a declaration together with what it computes; torch is imported only where something is computed.
"""

from babelscope.steps.align import Align
from babelscope.steps.bring_in import BringIn, Distil
from babelscope.steps.encoder import EncoderStep, Load, Operate, Recurrent
from babelscope.steps.evaluate import SENTENCES, Baseline, Evaluate, keep_sentences, sums_of
from babelscope.steps.pretrain import Adapt, Learned, Pretrain
from babelscope.steps.tune import Tune

Training = Tune | Pretrain | Adapt | Distil
"""The steps that train something, with a `tuning`."""

__all__ = [
    "SENTENCES", "Adapt", "Align", "Baseline", "BringIn", "Distil", "EncoderStep", "Evaluate", "Learned", "Load",
    "Operate", "Pretrain", "Recurrent", "Training", "Tune", "keep_sentences", "sums_of",
]  # fmt: skip
