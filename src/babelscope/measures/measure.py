"""What every measure of a study has in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, SerializeAsAny

from babelscope.core.errors import InputError
from babelscope.core.faults import Faults
from babelscope.core.registry import Registered, reader
from babelscope.core.step import Step
from babelscope.measures.compiled import Compiled


class Measure(Registered):
    """What a study measures besides the scores of its tasks. The key `measure` says which kind it is."""

    by: ClassVar[str] = "measure"
    unit: ClassVar[str] = ""
    """Of its numbers, where all have the same."""
    per_layer: ClassVar[bool] = False
    """Whether there is a number for every layer."""
    reads_weights: ClassVar[bool] = False
    """Whether it is of the very weights of tuned models, which are not to be rounded then."""
    before_tuning: ClassVar[bool] = False
    """Whether its steps stand in the plan before those of the tasks; for measures of encoders that are not tuned."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        """Note what is wrong with the declaration, each fault with the key that is at fault.

        All that the study names has been looked up; nothing is computed. What is noted here ends the planning.
        """

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        """The steps that compute it, of a study without faults; one that comes several times is computed once."""
        raise NotImplementedError


AnyMeasure = Annotated[SerializeAsAny[Measure], BeforeValidator(reader(Measure))]
"""A field that holds a measure of any kind."""


def check_layers_of(name: str, values: int, layers: int) -> None:
    """Refuse another number of values than there are layers.

    Raises:
        InputError: names the measure.
    """
    if values != layers:
        raise InputError(f"{name} gives {values} values for the states of {layers} layers; it has to give one for each")
