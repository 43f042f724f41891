"""What transformers says: nothing while it works, and in one error of ours where it cannot use an encoder's files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging

from babelscope.core.errors import EncoderError
from babelscope.core.outside import silent_where_it_fails


@contextmanager
def explained(source: str) -> Iterator[None]:
    """Turn the library's many ways to say that files are absent or unusable into one error.

    A wrong value in a file surfaces as whatever its first reader stumbles over (a TypeError, an IndexError, an
    ImportError, tokenizers' bare Exception), so every exception counts as the files' fault, and every panic of the
    libraries that are written in Rust, which is no Exception.
    """
    try:
        with silent_where_it_fails():
            yield
    except EncoderError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise EncoderError(
            f"cannot load the encoder {source!r}: {_first_line(error)}\n"
            "Give a folder with config.json, *.safetensors and a tokenizer, or a hub name and a network"
        ) from error


def _first_line(error: BaseException) -> str:
    """What an error says first; a line that ends in a colon is nothing without the next, nor is a bare name."""
    if isinstance(error, KeyError):
        return f"it names {error}, which transformers does not know; see its config.json"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no advice from transformers."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
