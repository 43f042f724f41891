"""What `--with` can change in every built-in study."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, PrivateAttr

from babelscope.core.declaration import Declaration
from babelscope.core.devices import Device
from babelscope.study.declare import Keep, Study
from babelscope.tuning.settings import Tuning

Layers = Annotated[int, Field(ge=1, le=1000)]
"""How many an encoder has."""


class StudyParameters(Declaration):
    """The parameters that all studies share."""

    seeds: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Default: 3, or 2 if small."""
    scale: Literal["full", "small"] = "full"
    """small: less data and fewer seeds, for a first look and for tests."""

    learning_rate: PositiveFloat | None = None
    """That encoders are tuned with, on every task; what comes before, such as pre-training, and BiLSTMs keep theirs.
    Default: the study's; in profiles `@real` 5e-5 where an encoder is given."""

    keep: Keep = "best"
    """Of a tuning: its best weights and its rows; its rows alone, once nothing reads the weights any more; or its best
    weights rounded, in a quarter of the bytes, and its rows (`compact`)."""

    _read: set[str] = PrivateAttr(default_factory=set)

    def __getattribute__(self, name: str) -> Any:
        """Notes which parameters a study's profile reads."""
        if name in type(self).model_fields:
            self._read.add(name)
        return super().__getattribute__(name)

    def unused(self) -> list[str]:
        """What was given, but has not been read."""
        return sorted(self.model_fields_set - self._read)

    def applied_to(self, study: Study) -> Study:
        """A profile's study with `keep`, and with `learning_rate` on every task where that is given."""
        changes: dict[str, Any] = {"keep": self.keep}
        if self.learning_rate is not None:
            rate = {"learning_rate": self.learning_rate}
            changes["tasks"] = {
                name: task.model_copy(update={"tuning": task.tuning.model_copy(update=rate)})
                for name, task in study.tasks.items()
            }
        return Study(**dict(study) | changes)

    @property
    def small(self) -> bool:
        """Whether the scale is."""
        return self.scale == "small"

    @property
    def seeds_to_run(self) -> tuple[int, ...]:
        """0, 1 and so on."""
        return tuple(range(self.seeds or (2 if self.small else 3)))


class DeviceParameters(StudyParameters):
    """Those of studies that also run on accelerators."""

    device: Device | None = None
    """Default: cuda on paper, else cpu."""
    precision: Literal["float32", "bfloat16"] | None = None
    """Default: float32, as the papers and their code have it where they say."""

    def tuning(
        self, device: str, precision: str, epochs: int, *, small_epochs: int = 1, warmup: float = 0.1, **settings: Any
    ) -> Tuning:
        """Of an encoder of the size of BERT; device and precision are those of the profile unless others are given."""
        return Tuning(
            epochs=small_epochs if self.small else epochs, warmup=warmup, device=self.device or device,
            precision=self.precision or precision, **{"max_length": 128} | settings,
        )  # fmt: skip
