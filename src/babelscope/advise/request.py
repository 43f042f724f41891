"""What is asked: a language, text in it, labelled sentences, encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveInt

from babelscope.corpora.own_treebanks import PREFIX
from babelscope.corpora.plain import OWN
from babelscope.declaration import Declaration

SMALL = 128
"""Width up to which an encoder counts as small, and is tuned with other settings."""


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
    device: Literal["cpu", "cuda"] = "cpu"
    precision: Literal["float32", "bfloat16"] = "float32"

    @property
    def text_name(self) -> str:
        """As data sets are named."""
        return f"{OWN}{self.language}:{self.text}" if Path(self.text).expanduser().is_file() else self.text

    @property
    def treebank_name(self) -> str | None:
        """As data sets are named."""
        if self.treebank is None or not Path(self.treebank).expanduser().exists():
            return self.treebank
        return f"{PREFIX}{self.language}:{self.treebank}"
