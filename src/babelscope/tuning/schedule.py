"""Schedules: which part of an encoder is trained, from when, and how fast. Loads no torch.

In YAML as keys and values, or as text: `freeze:8`, `upper:half`, `layers:6-12`, `gradual:groups=3,every=200`, each with
more arguments after commas: `freeze:8,decay=0.9,lora=8`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, NonNegativeInt, PositiveInt, ValidationError, model_validator

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError

_UPPER = {"half": 2, "quarter": 4}
_USAGE = (
    "Schedules are freeze:N (-1: nothing is frozen, 0: the embeddings, N: the first N layers too), "
    "upper:half|quarter|last, layers:M-K (layers M to K-1 alone are trained, counted from 0) and "
    "gradual:groups=N,every=epoch (or a number of steps). Each takes decay=SHARE, lora=RANK and frozen_dropout=true, "
    "such as freeze:8,decay=0.9"
)


def _ends(given: Any) -> Any:
    ends = given.split("-") if isinstance(given, str) else given
    if isinstance(ends, list | tuple) and (len(ends) != 2 or "" in ends):
        raise ValueError("should be a first layer and the one after the last, such as 6-12")
    return ends


class Schedule(Declaration):
    """One way to say which layers are trained, and options. What is outside the backbone is trained in any case.

    In YAML also as text, such as `freeze:8` or `gradual:groups=3,every=200`, which is then the name too. A decoder
    tied to the word embeddings is frozen with them. What is frozen is in evaluation mode.
    """

    name: str = Field(min_length=1)
    """What rows and reports call it; of a schedule given as text, the text."""
    freeze: Annotated[int, Field(ge=-1)] | None = None
    """-1: nothing is frozen; 0: the embeddings; N: the embeddings and the first N layers."""
    upper: Literal["half", "quarter", "last"] | None = None
    """These layers are trained; the embeddings and all layers below are frozen. Halves and quarters are rounded up."""
    layers: Annotated[tuple[NonNegativeInt, NonNegativeInt], BeforeValidator(_ends)] | None = None
    """(M, K): layers M to K-1 alone are trained, counted from 0."""
    gradual: PositiveInt | None = None
    """Groups of layers: the top one is trained from the start, the next below joins at each boundary (Howard and
    Ruder, 2018). The embeddings are frozen."""
    every: Literal["epoch"] | PositiveInt = "epoch"
    """Boundaries of gradual unfreezing: the ends of epochs, or every so many steps."""
    decay: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Each layer's learning rate is this times that of the layer above; the embeddings count as a layer below the
    first. The top layer and the head have the full rate."""
    lora: PositiveInt | None = None
    """Train low-rank adapters of this rank (Hu et al., 2022) in place of the layers' own matrices; they are merged
    into these at the end. The embeddings have none."""
    frozen_dropout: bool = False
    """Dropout in the frozen part too; then what it computes cannot be kept."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Schedule:
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            raise ValueError(f"{' and '.join(ways) or 'nothing'} given: give one of {', '.join(_WAYS)}")
        if self.every != "epoch" and self.gradual is None:
            raise ValueError("every is for gradual schedules only")
        if self.layers and self.layers[0] >= self.layers[1]:
            raise ValueError(f"layers {self.layers[0]}-{self.layers[1]}: the end, not included, must be greater")
        return self


_WAYS = ("freeze", "upper", "layers", "gradual")


def parse_schedule(text: str) -> Schedule:
    """Read a schedule from text, which becomes its name.

    Raises:
        InputError: no such schedule or argument, or a value that is not allowed; says what is.
    """
    fields = _fields(text)
    try:
        return Schedule.model_validate({"name": "".join(text.split()), **fields})
    except ValidationError as error:
        raise InputError(f"schedule {text!r}: {_fault(error)}") from None


def _fields(text: str) -> dict[str, str]:
    way, _, rest = (part.strip() for part in text.partition(":"))
    if way not in _WAYS:
        raise InputError(f"schedule {text!r}: no such schedule", _USAGE)
    first, *others = rest.split(",")
    if not first:
        raise InputError(f"schedule {text!r}: {way} of what? It goes on after a colon", _USAGE)
    fields: dict[str, str] = {}
    for argument in [first if way == "gradual" else f"{way}={first}", *others]:
        key, equals, value = (part.strip() for part in argument.partition("="))
        key = "gradual" if (way, key) == ("gradual", "groups") else key
        if not (key and equals and value):
            raise InputError(
                f"schedule {text!r}: {argument!r} is not an argument; expected NAME=VALUE, such as groups=3"
            )
        if key in fields:
            raise InputError(f"schedule {text!r}: {key} is given twice")
        fields[key] = value
    return fields


def _fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    key = str(fault["loc"][0]) if fault["loc"] else ""
    if fault["type"] == "extra_forbidden":
        return f"no argument {key!r}"
    message = fault["msg"].removeprefix("Value error, ").replace("Input should be", "should be")
    if key == "every":
        message = "should be epoch or a number of steps"
    elif fault["type"] == "int_parsing":
        message = "should be a whole number"
    return f"{'groups' if key == 'gradual' else key}: {message}" if key else message


def _read(given: Any) -> Any:
    """A schedule given as text; anything else is left to validation."""
    try:
        return parse_schedule(given) if isinstance(given, str) else given
    except InputError as error:
        raise ValueError(". ".join(filter(None, (error.args[0], error.advice)))) from None


DeclaredSchedule = Annotated[Schedule, BeforeValidator(_read)]
"""A field of this type takes a schedule as a mapping (`{name: top, freeze: 8}`) or as text (`freeze:8`)."""


def check_schedule(schedule: Schedule, layers: int) -> None:
    """Refuse a schedule that does not fit an encoder of so many layers.

    Raises:
        InputError: names the schedule and says how many layers there are.
    """
    most = {
        "freeze": (schedule.freeze or 0, f"freezes the first {schedule.freeze} layers"),
        "layers": ((schedule.layers or (0, 0))[1], "trains layers that are not there"),
        "gradual": (schedule.gradual or 0, f"has {schedule.gradual} groups of layers"),
    }
    for way, (number, problem) in most.items():
        if number > layers:
            raise InputError(
                f"schedule {schedule.name}: it {problem}, but the encoder has {layers}; give at most {layers} "
                f"for {'groups' if way == 'gradual' else way}"
            )
    if schedule.lora and set(entry_stages(schedule, layers)[1:]) == {None}:
        raise InputError(f"schedule {schedule.name}: all {layers} layers are frozen, so lora has none to adapt")


def check_duration(schedule: Schedule, epochs: int | None, steps: int | None) -> None:
    """Refuse a gradual schedule whose last groups a run of so many epochs or steps would never reach.

    Raises:
        InputError: names the schedule and says how long the run is.
    """
    boundaries = (schedule.gradual or 1) - 1
    by_epoch = schedule.every == "epoch"
    reached = epochs if by_epoch else steps
    if boundaries and reached is not None and boundaries * (1 if by_epoch else int(schedule.every)) >= reached:
        raise InputError(
            f"schedule {schedule.name}: {boundaries + 1} groups, one more after every {schedule.every}, are not all "
            f"trained in {reached} {'epochs' if by_epoch else 'steps'}; train for longer or give fewer groups"
        )


def entry_stages(schedule: Schedule, layers: int) -> tuple[int | None, ...]:
    """[layers + 1]: the stage from which the embeddings (0) and each layer (1 ...) are trained; None: never.

    Stage 0 is the start; only a gradual schedule has more, one after each boundary. For 12 layers in 3 groups the top
    4, 8 and 12 are trained in stages 0, 1 and 2.
    """
    if schedule.gradual is not None:
        return (None, *((layers - 1 - layer) * schedule.gradual // layers for layer in range(layers)))
    if schedule.layers is not None:
        return (None, *(0 if layer in range(*schedule.layers) else None for layer in range(layers)))
    frozen = schedule.freeze if schedule.freeze is not None else layers - _upper(schedule.upper, layers)
    return tuple(None if depth <= frozen else 0 for depth in range(layers + 1))


def _upper(part: str | None, layers: int) -> int:
    return -(-layers // _UPPER[part]) if part in _UPPER else 1


def rate_factors(schedule: Schedule, layers: int) -> tuple[float, ...]:
    """[layers + 1]: what the learning rate of the embeddings (0) and of each layer (1 ...) is multiplied by."""
    return tuple(schedule.decay ** (layers - depth) for depth in range(layers + 1))


def constant_layers(schedule: Schedule, layers: int) -> int:
    """How many of the first layers give the same states for a sequence during the whole run, dropout included."""
    stages = entry_stages(schedule, layers)
    if schedule.frozen_dropout or stages[0] is not None:
        return 0
    return next((layer for layer, stage in enumerate(stages[1:]) if stage is not None), layers)
