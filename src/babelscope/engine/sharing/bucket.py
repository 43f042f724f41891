"""Objects in a bucket of S3, or of what speaks like it, by obstore (the extra `s3`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from babelscope.core.errors import StoreError
from babelscope.engine.sharing.objects import Objects

PATIENCE = timedelta(minutes=5)
"""For which a request is repeated that fails, or that a server refuses for now."""
ANSWER = timedelta(seconds=60)
"""In which a server must answer a request."""


class BucketObjects(Objects):
    """At `s3://BUCKET/FOLDER`; endpoint, region and credentials are those of the environment (`AWS_...`)."""

    def __init__(self, address: str):
        super().__init__(address)
        with self._explained():
            self._store = S3Store.from_url(
                address,
                conditional_put="etag",
                client_options={"timeout": ANSWER, "allow_http": True},
                retry_config={
                    "max_retries": 30,
                    "retry_timeout": PATIENCE,
                    "backoff": {
                        "init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=10), "base": 2.0,
                    },
                },
            )  # fmt: skip

    def read(self, name: str) -> bytes | None:
        """The content; None where there is none."""
        with self._explained():
            try:
                return bytes(obstore.get(self._store, name).bytes())
            except FileNotFoundError:
                return None

    def has(self, name: str) -> bool:
        """Whether there is one."""
        with self._explained():
            try:
                obstore.head(self._store, name)
            except FileNotFoundError:
                return False
            return True

    def names(self, folder: str) -> list[str]:
        """What the names in a folder go on with, up to the next slash; in order."""
        with self._explained():
            listed = obstore.list_with_delimiter(self._store, folder)
            names = [*listed["common_prefixes"], *(entry["path"] for entry in listed["objects"])]
            return sorted(name.rpartition("/")[2] for name in names)

    def write(self, name: str, content: bytes | Path) -> None:
        """Put a content, or that of a file, in place of what there is."""
        with self._explained():
            obstore.put(self._store, name, content)

    def fetch(self, name: str, path: Path) -> bool:
        """Write the content to a new file; False where there is none."""
        with self._explained():
            try:
                with path.open("wb") as file:
                    for part in obstore.get(self._store, name):
                        file.write(part)
            except FileNotFoundError:
                return False
            return True

    def remove(self, name: str) -> None:
        """Remove it, if it is there."""
        with self._explained():
            obstore.delete(self._store, name)

    def _create(self, name: str, content: bytes) -> bool:
        with self._explained():
            try:
                obstore.put(self._store, name, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
            return True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            problem = str(error).partition("\n")[0]
            raise StoreError(
                f"{self.address}: {problem}; see that the bucket is there, and that AWS_ENDPOINT_URL, AWS_REGION, "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set as it needs; run again to go on"
            ) from error
