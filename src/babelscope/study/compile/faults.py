"""What is wrong with a study, gathered while its names are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from babelscope.core.errors import InputError, StudyError

T = TypeVar("T")


class Faults:
    """Faults with the paths of their keys, and advice on them."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}  # in order, each once
        self._advice: dict[str, None] = {}

    def add(self, path: str, problem: str) -> None:
        """Note one."""
        self._found[f"{path}: {problem}"] = None

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
        found = (self.resolve(f"{path}.{k}", find, name) for k, name in enumerate(names))
        return tuple(one for one in found if one is not None)

    def report(self, study: str) -> None:
        """End with all that was found, if anything was.

        Raises:
            StudyError: lists the faults.
        """
        if self._found:
            raise StudyError(f"study {study}", list(self._found), "\n".join(self._advice))
