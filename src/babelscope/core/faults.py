"""What is wrong with a study, gathered while its names are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from babelscope.core.errors import InputError, StudyError, first_of

T = TypeVar("T")
MOST_ADVICE = 5
"""Lines of it that are told."""


class Faults:
    """Faults with the paths of their keys, and advice on them."""

    def __init__(self) -> None:
        self._within, self._told = "", ""
        self._noted: dict[str, None] = {}  # in order, each once
        self._advice: dict[str, None] = {}

    def within(self, path: str, told: str = "") -> Faults:
        """The same faults, for who gives paths that begin at this one; an empty path then means the whole of it.

        `told` is told as advice where anything is wrong there.
        """
        inner = Faults()
        inner._within, inner._noted, inner._advice = self._path(path), self._noted, self._advice
        inner._told = told
        return inner

    def add(self, path: str, problem: str) -> None:
        """Note one."""
        self._noted[f"{self._path(path)}: {problem}"] = None
        if self._told:
            self._advice[self._told] = None

    def resolve(self, path: str, find: Callable[..., T], *given: object) -> T | None:
        """What `find` returns; None, and the fault is noted, if it raises an `InputError`."""
        try:
            return find(*given)
        except InputError as error:
            self.add(path, error.args[0])
            if error.advice:
                self._advice[error.advice] = None
            return None

    def resolve_all(self, path: str, find: Callable[[str], T], names: Iterable[str]) -> tuple[T, ...]:
        """What `find` returns of each name, those left out that it does not find."""
        resolved = (self.resolve(f"{path}.{k}", find, name) for k, name in enumerate(names))
        return tuple(value for value in resolved if value is not None)

    def report(self, study: str) -> None:
        """End with all that was noted, if anything was.

        Raises:
            StudyError: lists the faults.
        """
        if self._noted:
            advice = first_of(list(self._advice), MOST_ADVICE)
            raise StudyError(f"study {study}", list(self._noted), "\n".join(advice))

    def _path(self, path: str) -> str:
        return ".".join(filter(None, [self._within, path]))
