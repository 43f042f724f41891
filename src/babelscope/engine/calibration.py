"""How fast machines compute, as `babelscope doctor` has measured it, for plans of what has not run yet."""

from __future__ import annotations

from datetime import UTC, datetime
from math import log
from pathlib import Path

from pydantic import PositiveFloat, PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.outside import read_json, write_text
from babelscope.core.validation import validate
from babelscope.corpora.cache import user_cache
from babelscope.engine.environment import gpu_names, processor


class Rate(Declaration):
    """What one training computes in a second."""

    device: str
    precision: str
    threads: PositiveInt
    width: PositiveInt
    """Of the encoder's layers."""
    operations: PositiveFloat
    """Floating-point operations, as `Footprint.forward` counts them."""


class Calibration(Declaration):
    """Rates that were measured on a machine."""

    processor: str
    gpus: tuple[str, ...]
    date: str
    """When, as 2026-11-23."""
    rates: tuple[Rate, ...]

    @classmethod
    def of_this_machine(cls, rates: tuple[Rate, ...]) -> Calibration:
        """With its names, and the date of today."""
        return cls(processor=processor(), gpus=gpu_names(), date=f"{datetime.now(UTC):%Y-%m-%d}", rates=rates)

    @property
    def source(self) -> str:
        """Which machine's it is, in words."""
        ours = (self.processor, self.gpus) == (processor(), gpu_names())
        named = ", ".join((self.processor, *self.gpus, self.date))
        return f"the calibration of {'this' if ours else 'another'} machine ({named})"

    def operations(self, device: str, precision: str, threads: int, width: int) -> float | None:
        """What is computed in a second, by the measurement that is nearest; None if the device was not measured."""

        def distance(rate: Rate) -> tuple[bool, float, float]:
            return rate.precision != precision, abs(log(rate.threads / threads)), abs(log(rate.width / width))

        measured = [rate for rate in self.rates if rate.device == device]
        return min(measured, key=distance).operations if measured else None


def own_calibration() -> Path:
    """Where `doctor` keeps that of this machine."""
    return user_cache() / "calibration.json"


def read_calibration(path: Path) -> Calibration:
    """What `write_calibration` has written.

    Raises:
        InputError: there is no such file, or it holds something else.
    """
    return validate(Calibration, read_json(path), f"{path}, which babelscope doctor writes anew")


def write_calibration(calibration: Calibration, path: Path) -> None:
    """Keep it in a file of JSON.

    Raises:
        InputError: it cannot be written.
    """
    write_text(path, calibration.model_dump_json(indent=1) + "\n")
