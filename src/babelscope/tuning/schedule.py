"""Schedules: which part of an encoder is trained, from when, and how fast. Loads no torch.

In YAML as keys and values, or as text: `freeze:8`, `upper:half`, `layers:6-12`, `gradual:groups=3,every=200`, each with
more arguments after commas: `freeze:8,decay=0.9,lora=8`. The grammar is that of `core.grammar`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PositiveInt, model_validator
from pydantic.fields import FieldInfo

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.grammar import arguments_of, declare, read_arguments, read_kind
from babelscope.tuning.schedules.freeze import FrozenLayers
from babelscope.tuning.schedules.layers import Ends
from babelscope.tuning.schedules.upper import UpperPart
from babelscope.tuning.strategy import AnyStrategy, Duration, Strategy


class Schedule(Declaration):
    """Which layers of an encoder are trained, and from when. What is outside the backbone is always trained.

    Give one of `freeze`, `upper`, `layers`, `gradual` and `strategy`; the other keys are options. A schedule can also
    be written as text, such as `freeze:8` or `gradual:groups=3,every=200`. The text is then its name. A decoder that is
    tied to the word embeddings is frozen with them. Frozen parts are in evaluation mode.
    """

    name: str = Field(min_length=1)
    """Its name in rows and reports. Of a schedule that is given as text it is the text."""
    freeze: FrozenLayers | None = None
    """-1: nothing is frozen; 0: the embeddings; N: the embeddings and the first N layers."""
    upper: UpperPart | None = None
    """These layers are trained. The embeddings and all layers below are frozen. Halves and quarters are rounded up."""
    layers: Ends | None = None
    """(M, K): only layers M to K-1 are trained, counted from 0."""
    gradual: PositiveInt | None = None
    """Number of groups of layers in gradual unfreezing (Howard and Ruder, 2018). The embeddings are frozen.

    The top group is trained from the start. At each boundary the next group below joins.
    """
    every: Duration = "epoch"
    """Boundaries of gradual unfreezing: the ends of epochs, or every so many steps."""
    decay: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Each layer's learning rate is this times that of the layer above.

    The top layer and the head have the full rate. The embeddings count as a layer below the first.
    """
    lora: Annotated[int, Field(gt=0, le=4096)] | None = None
    """Rank of low-rank adapters (Hu et al., 2022), which are trained in place of the layers' own matrices.

    The adapters are merged into these matrices at the end. The embeddings have no adapters.
    """
    frozen_dropout: bool = False
    """Whether the frozen part has dropout too. Its output then cannot be cached."""
    strategy: AnyStrategy | None = None
    """Any strategy that `babelscope list schedules` names, as text or as a mapping, also those without a key above."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Schedule:
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            raise ValueError(f"{' and '.join(ways) or 'nothing'} given: give one of {', '.join(_WAYS)}")
        if self.every != "epoch" and self.gradual is None:
            raise ValueError("every is for gradual schedules only")
        return self

    @property
    def chosen(self) -> Strategy:
        """The strategy that it was declared with, by whatever key."""
        if self.strategy is not None:
            return self.strategy
        kind = Strategy.named(next(way for way in _WAYS if getattr(self, way) is not None))
        return kind(**{name: getattr(self, _KEYS.get(name, name)) for name in arguments_of(kind)})

    @property
    def without_name(self) -> tuple[Strategy, float, int | None, bool]:
        """What it does, whatever it is called, and by whatever key it was declared."""
        return self.chosen, self.decay, self.lora, self.frozen_dropout

    def entry_stages(self, layers: int) -> tuple[int | None, ...]:
        """[layers + 1]: the stage from which the embeddings (0) and each layer (1 ...) are trained; None: never.

        Stage 0 is the start; only a gradual schedule has more, one after each boundary.
        """
        strategy = self.chosen
        try:
            stages = tuple(strategy.entry_stages(layers))
        except InputError:
            raise
        except Exception as error:  # whatever somebody else's class raises
            raise InputError(f"schedule {self.name}: {type(error).__name__}: {error}") from error
        if len(stages) != layers + 1 or not all(stage is None or 0 <= stage < strategy.stages for stage in stages):
            raise InputError(
                f"schedule {self.name}: {type(strategy).__name__}.entry_stages({layers}) gives {list(stages)}; it has "
                f"to give {layers + 1} stages, the embeddings' first, each None or below {strategy.stages}"
            )
        return stages

    def rate_factors(self, layers: int) -> tuple[float, ...]:
        """[layers + 1]: what the learning rate of the embeddings (0) and of each layer (1 ...) is multiplied by."""
        return tuple(self.decay ** (layers - depth) for depth in range(layers + 1))

    def constant_layers(self, layers: int) -> int:
        """How many of the first layers give the same states for a sequence during the whole run, dropout included."""
        stages = self.entry_stages(layers)
        if self.frozen_dropout or stages[0] is not None:
            return 0
        return next((layer for layer, stage in enumerate(stages[1:]) if stage is not None), layers)

    def check(self, layers: int) -> None:
        """Refuse an encoder of so many layers if the schedule does not fit it.

        Raises:
            InputError: names the schedule and says how many layers there are.
        """
        try:
            self.chosen.check(layers)
        except InputError as error:
            raise InputError(f"schedule {self.name}: {error.args[0]}", error.advice) from None
        if self.lora and set(self.entry_stages(layers)[1:]) == {None}:
            raise InputError(f"schedule {self.name}: all {layers} layers are frozen, so lora has none to adapt")

    def check_duration(self, epochs: int | None, steps: int | None) -> None:
        """Refuse a run of so many epochs or steps that would never reach the last stage.

        Raises:
            InputError: names the schedule and says how long the run is.
        """
        stages, length = self.chosen.stages, self.chosen.stage_length
        unit, reached, each = ("epochs", epochs, 1) if length == "epoch" else ("steps", steps, length)
        if stages > 1 and reached is not None and (stages - 1) * each >= reached:
            raise InputError(
                f"schedule {self.name}: {stages} groups, one more after every {length}, are not all trained in "
                f"{reached} {unit}; train for longer or give fewer groups"
            )


_WAYS = ("freeze", "upper", "layers", "gradual", "strategy")
_KEYS = {"groups": "gradual"}
"""What a schedule calls arguments of its strategies that have another name there."""
_OPTIONS = ("decay", "lora", "frozen_dropout")


def schedule_arguments(kind: type[Strategy]) -> dict[str, FieldInfo]:
    """What can stand in the text of a schedule: the strategy's own arguments, and the options of all schedules."""
    return arguments_of(kind) | {name: Schedule.model_fields[name] for name in _OPTIONS}


def parse_schedule(text: str) -> Schedule:
    """Read a schedule from text, which becomes its name.

    Raises:
        InputError: no such schedule or argument, or a value that is not allowed; says what is.
    """
    kind = read_kind(text, Strategy, "schedule", "babelscope list schedules")
    fields = schedule_arguments(kind)
    arguments = read_arguments(text, fields, "schedule")
    own = {name: arguments.pop(name) for name in arguments_of(kind) if name in arguments}
    strategy = declare(kind, own, text, fields, "schedule")
    given: dict[str, Any] = {"name": re.sub(r"\s*([:,=])\s*", r"\1", text.strip()), **arguments}
    if strategy.kind in _WAYS:
        given |= {_KEYS.get(name, name): getattr(strategy, name) for name in arguments_of(kind)}
    else:
        given["strategy"] = strategy
    return declare(Schedule, given, text, fields, "schedule")


def _read(given: Any) -> Any:
    """A schedule given as text; anything else is left to validation."""
    try:
        return parse_schedule(given) if isinstance(given, str) else given
    except InputError as error:
        raise ValueError(error.in_a_line) from None


DeclaredSchedule = Annotated[Schedule, BeforeValidator(_read)]
"""A field of this type takes a schedule as a mapping (`{name: top, freeze: 8}`) or as text (`freeze:8`)."""
