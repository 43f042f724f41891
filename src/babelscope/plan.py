"""A plan: the deduplicated graph of steps that a study compiles into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from babelscope.step import Step


@dataclass(frozen=True)
class Plan:
    """Steps by key, every input before what reads it."""

    steps: dict[str, Step]
    targets: tuple[str, ...]
    """The keys whose results the study reads; the other steps are there because these need them."""

    @classmethod
    def of(cls, targets: Iterable[Step]) -> Plan:
        """The steps that `targets` need, each once."""
        ordered: dict[str, Step] = {}

        def visit(step: Step) -> None:
            if step.key not in ordered:
                for needed in step.inputs:
                    visit(needed)
                ordered[step.key] = step

        wanted = tuple(targets)
        for target in wanted:
            visit(target)
        return cls(ordered, tuple(dict.fromkeys(target.key for target in wanted)))
