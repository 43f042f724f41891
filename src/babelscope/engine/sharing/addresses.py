"""What is at an address of several machines: a folder without locks, or a bucket."""

from __future__ import annotations

from babelscope.core.errors import StoreError
from babelscope.engine.sharing.folder import FolderObjects
from babelscope.engine.sharing.objects import BUCKET, FOLDER, Objects


def is_remote(address: str) -> bool:
    """Whether an address is none of a folder as it stands."""
    return address.startswith((FOLDER, BUCKET))


def objects_at(address: str) -> Objects:
    """What there is at `file://FOLDER` or `s3://BUCKET/FOLDER`.

    Raises:
        StoreError: there can be nothing, or what is needed for it is not installed.
    """
    if address.startswith(FOLDER):
        return FolderObjects(address)
    try:
        from babelscope.engine.sharing.bucket import BucketObjects
    except ImportError as error:
        raise StoreError(f"{address}: {error}: pip install 'babelscope[s3]'") from None
    return BucketObjects(address)
