"""Objects in a bucket of S3, or of what speaks like it, by obstore (the extra `s3`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError
from obstore.store import S3Store

from babelscope.core.errors import StoreError
from babelscope.engine.disk import room_advice
from babelscope.engine.sharing.objects import Objects

PATIENCE = timedelta(minutes=5)
"""For which a request is repeated that fails, or that a server refuses for now."""
ANSWER = timedelta(seconds=60)
"""In which a server must answer a request."""
TRIES = 5
PAUSE = 0.2
"""Seconds before a request is repeated, times how often it was made."""
T = TypeVar("T")


class BucketObjects(Objects):
    """At `s3://BUCKET/FOLDER`; endpoint, region and credentials are those of the environment (`AWS_...`)."""

    def __init__(self, address: str):
        super().__init__(address)
        try:
            self._store = S3Store.from_url(
                address,
                conditional_put="etag",
                client_options={"timeout": ANSWER, "allow_http": True},
                retry_config={
                    "max_retries": 50,
                    "retry_timeout": PATIENCE,
                    "backoff": {
                        "init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=10), "base": 2.0,
                    },
                },
            )  # fmt: skip
        except (BaseError, ValueError) as error:
            raise self._in_words(error) from error

    def read(self, name: str) -> bytes | None:
        """The content; None where there is none."""
        return self._asked(lambda: bytes(obstore.get(self._store, name).bytes()), none_there=None)

    def has(self, name: str) -> bool:
        """Whether there is one."""
        return self._asked(lambda: bool(obstore.head(self._store, name)), none_there=False)

    def names(self, folder: str) -> list[str]:
        """What the names in a folder go on with, up to the next slash; in order."""

        def listed() -> list[str]:
            told = obstore.list_with_delimiter(self._store, folder or None)
            names = [*told["common_prefixes"], *(entry["path"] for entry in told["objects"])]
            return sorted(name.rpartition("/")[2] for name in names)

        return self._asked(listed, none_there=[])

    def sizes(self) -> dict[str, int]:
        """All names, and the bytes of each."""

        def listed() -> dict[str, int]:
            return {entry["path"]: entry["size"] for page in obstore.list(self._store) for entry in page}

        return self._asked(listed, none_there={})

    def write(self, name: str, content: bytes | Path) -> None:
        """Put a content, or that of a file, in place of what there is."""
        self._put(name, content)

    def fetch(self, name: str, path: Path) -> bool:
        """Write the content to a new file; False where there is none."""

        def fetched() -> bool:
            with path.open("wb") as file:
                for part in obstore.get(self._store, name):
                    file.write(part)
            return True

        return self._asked(fetched, none_there=False)

    def digest(self, name: str) -> str | None:
        """SHA-256 (hex) of the content; None where there is none."""

        def digested() -> str:
            digest = sha256()
            for part in obstore.get(self._store, name):
                digest.update(part)
            return digest.hexdigest()

        return self._asked(digested, none_there=None)

    def remove(self, name: str) -> None:
        """Remove it, if it is there."""
        self._asked(lambda: obstore.delete(self._store, name), none_there=None)

    def _create(self, name: str, content: bytes) -> bool:
        return self._put(name, content, mode="create", use_multipart=False)

    def _put(self, name: str, content: bytes | Path, **how: Any) -> bool:
        """Whether it was put; False where there is one that is to stay."""

        def put() -> bool:
            try:
                obstore.put(self._store, name, content, **how)
            except AlreadyExistsError:
                return False
            except FileNotFoundError as error:  # the bucket itself, or the file
                raise self._in_words(error) from error
            return True

        return self._asked(put, none_there=False)

    def _asked(self, request: Callable[[], T], none_there: T) -> T:
        """What a request gives; it is repeated where an answer was cut short, which obstore alone does not do."""
        began, tried = time.monotonic(), 0
        while True:
            try:
                return request()
            except FileNotFoundError:
                return none_there
            except (GenericError, OSError) as error:
                tried += 1
                has_waited = time.monotonic() - began >= PATIENCE.total_seconds()
                if tried == TRIES or has_waited or room_advice(error):
                    raise self._in_words(error) from error
            except BaseError as error:
                raise self._in_words(error) from error
            time.sleep(PAUSE * tried)

    def _in_words(self, error: Exception) -> StoreError:
        problem = str(error).partition("\n")[0]
        advice = room_advice(error) or (
            "see that the bucket is there, and that AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY are as it needs; run again to go on"
        )
        return StoreError(f"{self.address}: {problem}; {advice}")
