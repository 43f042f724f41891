"""The table of similarities, and how a function enters it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from babelscope.core.errors import did_you_mean
from babelscope.core.registry import import_plugins

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.measures.formulas.states import LanguageStates

    Function = Callable[[LanguageStates, LanguageStates], Tensor]


@dataclass(frozen=True)
class SimilarityFunction:
    """A function with what studies and reports have to know of it."""

    name: str
    """As studies and rows name it."""
    compute: Function
    unit: str = ""
    """Of its values: `share`, where they say how many sentences are found, or none."""
    variant: bool = False
    """Whether it is a variant of another: reports have it in tables, and draw the other."""
    revision: int = 1
    """Raised where what it computes has changed: then results with it have other keys."""

    @property
    def meaning(self) -> str:
        """What it is, in a line."""
        return (self.compute.__doc__ or "").partition("\n")[0]

    @property
    def place(self) -> str:
        """The function's module and name."""
        return f"{self.compute.__module__}.{self.compute.__qualname__}"

    def __call__(self, source: LanguageStates, target: LanguageStates) -> Tensor:
        """[layers]: how alike like layers are.

        Raises:
            InputError: states that cannot be compared, such as those of a layer that do not vary.
        """
        return self.compute(source, target)


SIMILARITIES: dict[str, SimilarityFunction] = {}
"""By name."""


def similarity(
    name: str, *, unit: str = "", variant: bool = False, revision: int = 1
) -> Callable[[Function], Function]:
    """Enters the function below it in the table; see `SimilarityFunction`."""

    def enter(compute: Function) -> Function:
        entry = SimilarityFunction(name, compute, unit, variant, revision)
        if (other := SIMILARITIES.get(name)) and other.place != entry.place:
            raise TypeError(f"{entry.place} and {other.place} are both called {name}: rename one")
        SIMILARITIES[name] = entry
        return compute

    return enter


def check_similarity(name: str) -> str:
    """The name itself, where there is such a similarity.

    Raises:
        ValueError: there is none; says which there are.
    """
    import_plugins()
    if name not in SIMILARITIES:
        near = did_you_mean(name, SIMILARITIES)
        raise ValueError(f"no similarity has this name{near}; there are {', '.join(SIMILARITIES)}")
    return name
