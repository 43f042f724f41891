"""Objects in a folder that several machines see, without locks."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from uuid import uuid4

from babelscope.core.errors import StoreError
from babelscope.core.hashing import file_digest
from babelscope.core.outside import given_path
from babelscope.engine.disk import MISPLACED, explained, names_in, read_file, sizes_in, sync
from babelscope.engine.sharing.objects import FOLDER, Objects

UPLOADS = ".uploads"
"""The folder of files that are not whole yet."""
TRIES = 5
NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
LINKS = (
    "this file system has no hard links, by which one of those who create a file is the first: give --store a folder "
    "on another one, or s3://BUCKET/FOLDER"
)


class FolderObjects(Objects):
    """Files in a folder, by moves and links, which every file system does at once for all machines."""

    def __init__(self, address: str):
        self._folder = given_path(address.removeprefix(FOLDER)).absolute()
        super().__init__(f"{FOLDER}{self._folder}")  # the same for all who mean this folder

    def read(self, name: str) -> bytes | None:
        """The content; None where there is none."""
        with explained(self._folder):
            try:
                return read_file(self._folder / name)
            except MISPLACED:
                return None

    def has(self, name: str) -> bool:
        """Whether there is one."""
        with explained(self._folder):
            try:
                return S_ISREG((self._folder / name).stat().st_mode)
            except MISPLACED:
                return False

    def names(self, folder: str) -> list[str]:
        """What the names in a folder go on with, up to the next slash; in order."""
        names = names_in(self._folder / folder)
        return sorted(name for name in names if not name.startswith("."))  # uploads, and what file systems hide

    def sizes(self) -> dict[str, int]:
        """All names, and the bytes of each."""
        with explained(self._folder):
            return {path.relative_to(self._folder).as_posix(): size for path, size in sizes_in(self._folder)}

    def write(self, name: str, content: bytes | Path) -> None:
        """Put a content, or that of a file, in place of what there is."""
        with explained(self._folder), self._upload(content) as unfinished:
            self._place(name, unfinished.replace)

    def fetch(self, name: str, path: Path) -> bool:
        """Write the content to a new file; False where there is none."""
        with explained(self._folder):
            try:
                shutil.copyfile(self._folder / name, path)
            except MISPLACED:
                return False
        return True

    def digest(self, name: str) -> str | None:
        """SHA-256 (hex) of the content; None where there is none."""
        with explained(self._folder):
            try:
                return file_digest(self._folder / name)
            except MISPLACED:
                return None

    def remove(self, name: str) -> None:
        """Remove it, if it is there."""
        with explained(self._folder):
            path = self._folder / name
            path.unlink(missing_ok=True)
            with suppress(OSError):  # something else is in it
                path.parent.rmdir()

    def _create(self, name: str, content: bytes) -> bool:
        with explained(self._folder), self._upload(content) as unfinished:
            try:
                self._place(name, lambda path: path.hardlink_to(unfinished))
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno in NO_LINKS:
                    raise StoreError(f"{self.address}: {LINKS}") from None
                raise
        return True

    @contextmanager
    def _upload(self, content: bytes | Path) -> Iterator[Path]:
        """A file with a content, on the disk; what is left of it in the end goes."""
        path = self._folder / UPLOADS / uuid4().hex
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if isinstance(content, Path):
                shutil.copyfile(content, path)
            else:
                path.write_bytes(content)
            sync(path)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _place(self, name: str, put: Callable[[Path], object]) -> None:
        """Put a file in its place, and make the folder, which another process may remove when it finds it empty."""
        path = self._folder / name
        for tried in range(TRIES):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                put(path)
            except FileNotFoundError:
                if tried == TRIES - 1:
                    raise
            else:
                with suppress(FileNotFoundError):
                    sync(path.parent)
                return
