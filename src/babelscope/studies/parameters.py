"""What `--with` can change in every built-in study."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from babelscope.declaration import Declaration


class StudyParameters(Declaration):
    """The parameters that all studies share."""

    seeds: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Default: 3, or 2 if small."""
    scale: Literal["full", "small"] = "full"
    """small: less data and fewer seeds, for a first look and for tests."""

    @property
    def small(self) -> bool:
        """Whether the scale is."""
        return self.scale == "small"

    @property
    def seeds_to_run(self) -> tuple[int, ...]:
        """0, 1 and so on."""
        return tuple(range(self.seeds or (2 if self.small else 3)))
