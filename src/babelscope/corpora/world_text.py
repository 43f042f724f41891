"""Text of the artificial world as a declared value, to pre-train on."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, NonNegativeInt

from babelscope.core.declaration import Declaration
from babelscope.corpora.letters import lettered
from babelscope.corpora.transliteration import transliteration
from babelscope.world import LANGUAGES, World
from babelscope.world.world import VERSION


def _in_the_world(code: str) -> str:
    if code not in LANGUAGES:
        raise ValueError(f"the world has no language {code!r}; there are {', '.join(LANGUAGES)}")
    return code


def _current(version: int) -> int:
    if version != VERSION:
        raise ValueError(f"this Babelscope makes version {VERSION} of the world; leave the version out, or give that")
    return version


MOST = 10_000_000
"""Sentences of a text, which is held in memory."""
SEPARATOR = "[SEP]"
"""Between the sentences of a pair; a piece of the tokenizer, not text."""

WorldLanguage = Annotated[str, AfterValidator(_in_the_world)]
WorldVersion = Annotated[int, AfterValidator(_current)]
"""The data's version is in every key; data of another version cannot be made."""


class WorldText(Declaration):
    """Non-parallel sentences of one language of the world. Some of the words may be another language's.

    Pairs of related sentences can be added. Each pair is a line with `[SEP]` between its sentences.
    """

    language: WorldLanguage
    """Its code, such as `qaa`."""
    sentences: Annotated[int, Field(gt=0, le=MOST)]
    """How many sentences."""
    # Text without pairs keeps the keys it had before there were any.
    pairs: Annotated[int, Field(ge=0, le=MOST, exclude_if=lambda pairs: not pairs)] = 0
    """Lines of pairs in addition to the sentences."""
    switched: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of the words that are another language's."""
    letters: Annotated[
        str | None, Field(pattern=r"^world(\+permute:\d+)?$", exclude_if=lambda letters: letters is None)
    ] = None
    """`world`: in the script of the source. `world+permute:SEED`: the same, with its letters exchanged at random."""
    seed: NonNegativeInt = 0
    """The seed of the world."""
    world_version: WorldVersion = VERSION
    """This Babelscope makes no other version; leave it out."""

    @property
    def code(self) -> str:
        """As data sets have it: `qah`, or `qah>world` in other letters."""
        return lettered(self.language, self.letters)

    def read(self) -> list[str]:
        """The sentences, then the pairs; words separated by spaces."""
        world = World(self.seed)
        sentences = world.text(self.language, self.sentences, self.switched)
        lines = sentences + world.text_pairs(self.language, self.pairs, self.switched)
        if self.letters is None:
            return lines
        change = transliteration(self.letters)
        return [SEPARATOR.join(map(change, line.split(SEPARATOR))) for line in lines]

    def natural(self) -> WorldText:
        """The same sentences without code-switching and without pairs."""
        return self.model_copy(update={"switched": 0.0, "pairs": 0})
