"""Named bytes in a place that several machines see: a folder without locks, or a bucket. Each is whole or not there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

FOLDER, BUCKET = "file://", "s3://"


class Objects(ABC):
    """Names have parts between slashes. What goes wrong is a StoreError."""

    def __init__(self, address: str):
        self.address = address

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """The content; None where there is none."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether there is one."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """What the names in a folder go on with, up to the next slash; in order."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """All names, and the bytes of each."""

    @abstractmethod
    def write(self, name: str, content: bytes | Path) -> None:
        """Put a content, or that of a file, in place of what there is."""

    @abstractmethod
    def fetch(self, name: str, path: Path) -> bool:
        """Write the content to a new file; False where there is none."""

    @abstractmethod
    def digest(self, name: str) -> str | None:
        """SHA-256 (hex) of the content, which is never in memory as a whole; None where there is none."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove it, if it is there."""

    def create(self, name: str, content: bytes) -> bool:
        """Put a content where there is none; False if there is another.

        A request whose answer was lost is repeated, and would then find what it has put itself.
        """
        return self._create(name, content) or self.read(name) == content

    @abstractmethod
    def _create(self, name: str, content: bytes) -> bool: ...
