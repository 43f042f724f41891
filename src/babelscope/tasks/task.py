"""What the training loop is given of a task, examples with a loss, and what an evaluation gives, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelscope.core.errors import InputError
from babelscope.core.intervals import bca_interval
from babelscope.core.scores import MEASURES

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Score(NamedTuple):
    """A number on a test set, with its BCa bootstrap interval over sentences where there is one."""

    measure: str
    value: float
    unit: str = "share"
    low: float | None = None
    high: float | None = None
    numerators: tuple[float, ...] = ()
    """[sentences]: of a ratio of two sums over sentences, what is summed above the line; of a perplexity that of its
    logarithm, the losses of the masked tokens; of another measure, what each sentence adds to it (see `influences`)."""
    denominators: tuple[float, ...] = ()
    """[sentences]: and below it."""


def ratio_score(measure: str, numerators: ArrayLike, denominators: ArrayLike) -> Score:
    """A score that is the ratio of two sums over sentences, such as accuracy, F1, UAS or LAS.

    Args:
        measure: its name.
        numerators: [sentences], such as the words that were right.
        denominators: [sentences], such as all words; at least as much.
    """
    interval = bca_interval(numerators, denominators)
    above, below = (tuple(np.asarray(counts, dtype=np.int64).tolist()) for counts in (numerators, denominators))
    return Score(measure, interval.mean, "share", interval.low, interval.high, above, below)


class Objective(Protocol):
    """Training examples, a loss over some of them, and a measure on the dev sets.

    Models and batches are values that the task alone looks into; random choices come from the generator it is given.
    """

    @property
    def measure(self) -> str:
        """The name of what `evaluate` returns, such as accuracy."""

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the measure is better."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[examples]: pieces of each training example, special pieces included."""

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> Any:
        """The training examples at `indices` [examples of the batch] as tensors, in any form that `loss` reads.

        Whatever is drawn comes from `generator`.
        """

    def loss(self, model: Any, batch: Any) -> Tensor:
        """The mean loss of a batch, a scalar that can be differentiated."""

    def evaluate(self, model: Any) -> dict[str, float]:
        """The measure on each dev set, by its name. The model is in evaluation mode, without gradients."""


@runtime_checkable
class InPortions(Protocol):
    """An objective whose loss is a mean, so that that of a batch can be put together from those of its portions."""

    def portion(self, indices: NDArray[np.int64], seed: int) -> tuple[Any, int]:
        """The training examples at `indices` as tensors, and how many words, texts or pieces their loss is a mean of.

        What is drawn for an example follows from it and the seed, and not from the examples beside it.
        """


def divisible(objective: Objective) -> InPortions | None:
    """The objective as one in portions; None where it is none, or says so by a `portion` that is None.

    `isinstance` does not look at the value of a property as of Python 3.12.
    """
    return objective if isinstance(objective, InPortions) and objective.portion is not None else None


@runtime_checkable
class InParts(Protocol):
    """An objective whose sequences can be parts of one example: windows of a long sentence, say."""

    @property
    def owners(self) -> NDArray[np.int64]:
        """[sequences], ascending: the number of the example that each belongs to."""


def check_direction(objective: Objective) -> None:
    """Refuse an objective that takes the worse for the better, as another package's kind of task may have it.

    Raises:
        InputError: it would keep the worst step.
    """
    known = MEASURES.get(objective.measure)
    if known and (known.sign == 1) is not objective.higher_is_better:
        raise InputError(
            f"{type(objective).__name__}: higher_is_better is {objective.higher_is_better}, but of {objective.measure} "
            f"{known.better} is better; make the two agree, or the worst step would be kept"
        )
