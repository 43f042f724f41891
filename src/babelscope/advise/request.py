"""What is asked: a language, text in it, labelled sentences, encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveInt

from babelscope.corpora.letters import LETTERS
from babelscope.corpora.own_treebanks import PREFIX
from babelscope.corpora.plain import OWN
from babelscope.declaration import Declaration
from babelscope.errors import InputError


class Request(Declaration):
    """What a person with a language has."""

    language: str = Field(pattern=r"^[A-Za-z][\w-]*$")
    """Its code, such as `mt`."""
    text: str
    """A file of raw text, a sentence a line, or the name of a data set such as `ntrex:mt`."""
    treebank: str | None = None
    """A file or folder of CoNLL-U, or the name of a treebank such as `UD_Maltese-MUDT`."""
    encoders: tuple[str, ...] = Field(min_length=1)
    """Shipped names, folders or hub names."""
    task: Literal["pos", "parsing"] = "pos"
    seeds: PositiveInt = 3
    """Rounds: every recipe that is still in the race is tuned once a round."""
    adaptation_steps: PositiveInt = 300
    """Of masked language modelling on the text."""
    new_pieces: PositiveInt = 1000
    """How many are added at most to a vocabulary that covers the text badly."""
    device: Literal["cpu", "cuda"] = "cpu"
    precision: Literal["float32", "bfloat16"] = "float32"

    @property
    def text_name(self) -> str:
        """As data sets are named; `InputError` if there is no such file."""
        return _named(self.text, f"{OWN}{self.language}:", ("ntrex:", "xnli:", "UD_", PREFIX, OWN), "ntrex:mt")

    @property
    def treebank_name(self) -> str | None:
        """As data sets are named; `InputError` if there is no such file."""
        if self.treebank is None:
            return None
        return _named(self.treebank, f"{PREFIX}{self.language}:", ("UD_", PREFIX), "UD_Maltese-MUDT")


def _named(given: str, prefix: str, known: tuple[str, ...], example: str) -> str:
    if LETTERS in given:
        raise InputError(f"{given}: {LETTERS} in a name stands for a transliteration, which is tried where it can help")
    if given.startswith(known):
        return given
    path = Path(given).expanduser()
    if not path.exists():
        raise InputError(f"{given}: there is no such file, and data sets have names such as {example}")
    return f"{prefix}{path.resolve()}"  # so that a model can be read again from another folder
