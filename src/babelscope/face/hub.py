"""Model folders on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from babelscope.core.errors import InputError
from babelscope.encoders.folder import CARD

LOGIN = "Log in with `hf auth login`, or set HF_TOKEN to a token that may write"


def push(folder: Path, name: str, public: bool = False) -> str:
    """Upload a model folder, which must have a card; gives its address. What is there of other files stays.

    Args:
        folder: as exports write it.
        name: NAMESPACE/NAME; the repository is made if there is none.
        public: whether one that is made is for all to see.

    Raises:
        InputError: there is no such folder, it has no card, the name cannot be one, nobody is logged in, or the hub
            refuses or cannot be reached.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError, OfflineModeIsEnabled

    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give one that an export has written")
    if not (folder / CARD).is_file():
        raise InputError(f"{folder}: has no {CARD}, by which people know what a model is; write one, or export again")
    if "/" not in name:
        raise InputError(f"{name}: give NAMESPACE/NAME, such as your name on the hub and maltese-tagger")
    if not get_token():
        raise InputError("nobody is logged in to the Hugging Face hub", LOGIN)
    hub = HfApi()
    try:
        address = hub.create_repo(name, private=not public, exist_ok=True)
        hub.upload_folder(repo_id=name, folder_path=folder, commit_message="Model and card")
    except HFValidationError as error:
        raise InputError(f"{name}: {error}") from None
    except (HfHubHTTPError, HTTPError, OSError, OfflineModeIsEnabled) as error:
        problem = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{name}: the Hugging Face hub has not taken it ({problem})", LOGIN) from None
    return str(address)
