"""The ways to serve a language with an encoder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from babelscope.advise.names import in_letters
from babelscope.corpora.codes import shortest
from babelscope.encoders.places import display_name
from babelscope.measures.formulas.overlap import Coverage
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.world import LANGUAGES

BY_SCRIPT = {"Cyrl": ("cyrillic",), "Geor": ("georgian",), "Grek": ("greek",), "Arab": ("buckwalter",)}
"""Script -> tables that write it in Latin letters."""
BY_LANGUAGE = {"ug": ("uyghur",), "ckb": ("sorani",)}
"""Languages in Arabic script with tables of their own, toward the orthography of a relative."""


EXTENDED = "adapted with new subwords"
"""Adapted after its vocabulary was extended by subwords of the text."""
BROUGHT_IN = "with the language brought in"
"""Read with a vocabulary of the language's own, made from translated sentences, and tuned on labelled ones."""
ZERO_SHOT = "zero-shot, the language brought in"
"""Tuned on labelled sentences of what the translations are from alone; the language is brought in afterwards."""
BRINGING = (BROUGHT_IN, ZERO_SHOT)
UNKNOWN, FERTILITY = 0.01, 2.0
"""A vocabulary covers a text badly above this share of words with something unknown, or so many subwords a word."""
_CHARACTERS = {"Hani": 1.6, "Hira": 1.6, "Kana": 1.6}
"""Characters a word of text without spaces between words, by script; of the others, which have alphabets, four."""


class Recipe(NamedTuple):
    """An encoder, what is done to it before it is tuned, and the letters of what it reads."""

    encoder: str
    """As the request names it; BiLSTM: none."""
    kind: str
    letters: str | None = None

    @property
    def name(self) -> str:
        """For people."""
        return BILSTM if self.encoder == BILSTM else f"{display_name(self.encoder)} {self.done}"

    @property
    def done(self) -> str:
        """For people, what is done to the encoder and in which letters it reads."""
        return f"{self.kind}, {in_letters(self.letters)}" if self.letters else self.kind

    @property
    def row_name(self) -> str:
        """What rows call the encoder that it tunes."""
        if self.encoder == BILSTM:
            return "bilstm"
        if self.kind == AS_IT_IS:
            return display_name(self.encoder)
        kind = self.kind.replace("subwords", "pieces")  # the words in the keys of results that there are
        return f"{display_name(self.encoder)} {kind}{f', in {self.letters} letters' if self.letters else ''}"

    def may_be_exported(self, tags: bool) -> bool:
        """Whether its model may be exported: it reads the language as it is written; of taggers, with an encoder."""
        return self.letters is None and (self.encoder != BILSTM or not tags)


def letters_for(language: str, script: str | None) -> tuple[str, ...]:
    """Transliterations to try of text in a script."""
    if language in LANGUAGES:
        return () if script == "Latn" else ("world",)
    own = BY_LANGUAGE.get(shortest(language), ()) if script == "Arab" else ()
    return own or BY_SCRIPT.get(script or "", ())


def fertility_limit(unspaced: str | None) -> float:
    """The most subwords a word that cover a text well; a character where it is in a script without spaces."""
    return FERTILITY / _CHARACTERS.get(unspaced, 4) if unspaced else FERTILITY


def recipes(
    covered: Mapping[tuple[str, str | None], Coverage],
    decoders: Collection[str] = (),
    bringing: Collection[str] = (),
    limit: float = FERTILITY,
) -> list[Recipe]:
    """All that are tried: every encoder as it is and adapted, in all letters; with the language; and the BiLSTM.

    Args:
        covered: by encoder and letters, how its subwords cover the text; where they do badly, new ones are tried too.
        decoders: those that read from left to right, which masked language modelling cannot adapt.
        bringing: of `BROUGHT_IN` and `ZERO_SHOT` those that there is data for. They are tried in the language's own
            letters, with every encoder.
        limit: the most subwords a word, or a character, that cover the text well.
    """
    tried = []
    for (encoder, letters), coverage in covered.items():
        badly = coverage.unknown > UNKNOWN or coverage.fertility > limit
        adapted = () if encoder in decoders else (ADAPTED, EXTENDED) if badly else (ADAPTED,)
        tried += [Recipe(encoder, kind, letters) for kind in (AS_IT_IS, *adapted)]
        tried += [Recipe(encoder, kind) for kind in bringing if letters is None]
    return [*tried, Recipe(BILSTM, AS_IT_IS)]
