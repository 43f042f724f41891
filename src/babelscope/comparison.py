"""The step that compares two models sentence by sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from babelscope.core.row import Row
from babelscope.core.step import Results, Step, Workspace
from babelscope.steps import SENTENCES, Evaluate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GAIN = "gain: "
"""In measures, before the claim of a comparison."""


class Compare(Step):
    """How much better one model scores than another on the same sentences; each tuned once with every seed."""

    row_kind: ClassVar[str] = "comparison"

    claim: str
    first: tuple[Evaluate, ...]
    """One a seed."""
    second: tuple[Evaluate, ...]
    """With the same seeds, in the same order, on the same sentences; perhaps in other letters."""

    @property
    def title(self) -> str:
        """Where, and the claim."""
        return f"compare on {self.first[0].data.code}: {self.claim}"

    def execute(self, workspace: Workspace) -> None:
        """Write the gain in each measure that is counted sentence by sentence, and its 95% interval."""
        from babelscope.core.intervals import paired_gain

        one, other = (counts(side, workspace) for side in (self.first, self.second))
        scored = self.first[0]
        labels = scored.labels | {"seed": None}
        rows = []
        for measure in one.keys() & other.keys():
            found = paired_gain(one[measure], other[measure])
            numbers = {"": found.mean, ".low": found.low, ".high": found.high}
            rows += [
                Row(f"{measure} {GAIN}{self.claim}{end}", value, "share").labelled(**labels)
                for end, value in numbers.items()
                if value is not None
            ]
        workspace.write_rows(sorted(rows, key=lambda row: row.measure))


def counts(side: Sequence[Evaluate], results: Results) -> dict[str, NDArray[np.float64]]:
    """Measure -> [2, seeds, sentences]: the numerators and denominators of its ratio."""
    import numpy as np

    files = [json.loads((results.result(one) / SENTENCES).read_bytes()) for one in side]
    return {measure: np.stack([file[measure] for file in files], axis=1).astype(np.float64) for measure in files[0]}
