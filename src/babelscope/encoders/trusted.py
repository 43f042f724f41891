"""What an encoder's files may not do when it is loaded: have other code run than that of transformers and torch."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import try_to_load_from_cache
from transformers import PretrainedConfig
from transformers.utils import cached_file

from babelscope.core.errors import EncoderError
from babelscope.encoders.folder import INDEX, check_named, weights_in
from babelscope.encoders.weight_files import WHOLE

OWN_CODE = (None, "eager", "sdpa")
"""What attention and experts are computed with: code of transformers and torch alone."""
ASKED = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
"""A file that is not there, nor in the cache without a network, is none: most encoders have no index."""


def check_trusted(source: str, config: PretrainedConfig, revision: str | None, allow_pickle: bool) -> None:
    """Refuse what may run code, of a folder or of an encoder on the hub, before its weights are loaded.

    Raises:
        EncoderError: config.json chooses what computes attention or experts, which can be code from the hub; or it, or
            an index, names weights in files that are not of safetensors, though pickled ones are not allowed.
    """
    for name in ("attn_implementation", "experts_implementation"):
        if (chosen := getattr(config, f"_{name}", None)) not in OWN_CODE:
            raise EncoderError(
                f"{source}: config.json chooses {name} {chosen!r:.100}, whose code may be fetched; take that out of it"
            )
    if not allow_pickle:
        check_named(source, _named(source, config, revision))


def _named(source: str, config: PretrainedConfig, revision: str | None) -> list[str]:
    """The files that an encoder's weights are said to be in."""
    configured = str(getattr(config, "transformers_weights", None) or "")
    if not configured and _is_whole(source, revision):
        return []
    name = configured if configured.endswith(INDEX) else f"{WHOLE}{INDEX}"
    index = cached_file(source, name, revision=revision, **ASKED)
    return [*([configured] if configured else []), *(weights_in(Path(index)) if index else [])]


def _is_whole(source: str, revision: str | None) -> bool:
    """Whether the file by the usual name is at hand, which comes before an index; asks no network."""
    if Path(source).is_dir():
        return (Path(source) / WHOLE).is_file()
    return isinstance(try_to_load_from_cache(source, WHOLE, revision=revision), str)
