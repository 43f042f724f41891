"""What a freezing strategy is: which depths of an encoder are trained, and from when. Loads no torch."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, PositiveInt, SerializeAsAny

from babelscope.core.errors import InputError
from babelscope.core.grammar import arguments_of, declare, read_arguments, read_kind
from babelscope.core.registry import Registered, reader

Duration = Literal["epoch"] | PositiveInt
"""An epoch, or a number of steps."""


class Strategy(Registered):
    """Which depths of an encoder are trained, and from when. Depth 0 is the embeddings, depth 1 the first layer."""

    by: ClassVar[str] = "strategy"
    strategy: str

    @property
    def stages(self) -> int:
        """How many stages a training has; depths can be let in at the beginning of each."""
        return 1

    @property
    def stage_length(self) -> Duration:
        """How long each stage is, but for the last."""
        return "epoch"

    def entry_stages(self, layers: int) -> tuple[int | None, ...]:
        """[layers + 1]: the stage from which each depth is trained, 0 for the start; None: never."""
        raise NotImplementedError

    def check(self, layers: int) -> None:
        """Refuse an encoder of so many layers if it has too few.

        Raises:
            InputError: says what the strategy does with layers that are not there.
        """


def check_at_most(layers: int, number: int, problem: str, argument: str) -> None:
    """Refuse a number of layers that is larger than there are."""
    if number > layers:
        raise InputError(f"it {problem}, but the encoder has {layers}; give at most {layers} for {argument}")


def parse_strategy(text: str) -> Strategy:
    """Read a strategy from text, such as `freeze:8`, without what a schedule adds to it.

    Raises:
        InputError: no such strategy or argument, or a value that is not allowed; says what is.
    """
    kind = read_kind(text, Strategy, "strategy", "babelscope list schedules")
    fields = arguments_of(kind)
    given = {"strategy": kind.model_fields["strategy"].default, **read_arguments(text, fields, "strategy")}
    return declare(kind, given, text, fields, "strategy")


AnyStrategy = Annotated[SerializeAsAny[Strategy], BeforeValidator(reader(Strategy, parse_strategy))]
"""A field of this type takes a strategy as a mapping or as text."""
