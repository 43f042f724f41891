"""What a language of the world is: its grammar, its descent and its script; and the table of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from babelscope.core.errors import InputError
from babelscope.core.languages import Language
from babelscope.core.plugins import import_plugins
from babelscope.world.lexicon import SCRIPTS, SoundChange


@dataclass(frozen=True, slots=True)
class Grammar:
    """Word order and morphology. Suffixes are Latin letters, attached to the root before it is written."""

    order: Literal["SVO", "SOV", "VSO"] = "SVO"
    adjective_after: bool = False
    postpositions: bool = False
    possessor_first: bool = False
    relative_first: bool = False
    definite_article: bool = True
    indefinite_article: bool = True
    determiner_after: bool = False
    negation_after: bool = False
    adverb_first: bool = False
    plural: str = "n"
    verb_plural: str = "n"
    past: str = "ta"
    accusative: str = ""
    adjective_plural: str = ""

    def ending(self, upos: str, feature: str) -> str:
        """What a feature adds to a part of speech; adjectives agree where the language has it."""
        endings = {
            ("NOUN", "plural"): self.plural,
            ("ADJ", "plural"): self.adjective_plural,
            ("VERB", "plural"): self.verb_plural,
            ("AUX", "plural"): self.verb_plural,
            ("VERB", "past"): self.past,
            ("AUX", "past"): self.past,
            ("NOUN", "accusative"): self.accusative,
        }
        return endings[upos, feature]


@dataclass(frozen=True, slots=True)
class Member:
    """A language of the world. `parent` None: an isolate, whose roots are all its own.

    `replaced` is the share of the parent's roots that gave way to new ones; `lexicon_of` names a language
    whose words this one shares to the last letter, though it writes them in another script. `seen`: whether
    encoders are pre-trained on it.
    """

    language: Language
    role: str
    """In a few words, what it is to the source; tables and labels show it."""
    grammar: Grammar
    seen: bool = False
    parent: str | None = None
    changes: tuple[SoundChange, ...] = ()
    replaced: float = 0.0
    lexicon_of: str | None = None


class Languages(Mapping[str, Member]):
    """Language code -> language, in alphabetical order, those that other installed packages bring included."""

    def __init__(self) -> None:
        self.registered: dict[str, Member] = {}
        """Those that are there so far; other packages are not asked for theirs."""

    def __getitem__(self, code: str) -> Member:
        import_plugins()
        return self.registered[code]

    def __iter__(self) -> Iterator[str]:
        import_plugins()
        return iter(self.registered)

    def __len__(self) -> int:
        import_plugins()
        return len(self.registered)

    def register(self, member: Member) -> Member:
        """Add a language. What is made of the others stays as it is: every language has streams of chance of its own.

        Raises:
            InputError: its code is none for an artificial language, or taken by another; its script or its parent is
                not known.
        """
        _check(member, self.registered)
        self.registered = dict(sorted((self.registered | {member.language.code: member}).items()))
        return member


LANGUAGES = Languages()
register = LANGUAGES.register


def _check(member: Member, known: Mapping[str, Member]) -> None:
    code = member.language.code
    if not re.fullmatch("q[a-t][a-z]", code):
        raise InputError(f"{code!r}: not the code of an artificial language; those are qaa to qtz, such as qaj")
    if known.get(code, member) != member:
        raise InputError(f"{code}: there is another language of that code; take the next one that is free")
    if member.language.script not in SCRIPTS:
        raise InputError(f"{code}: no script {member.language.script!r}; there are {', '.join(SCRIPTS)}")
    for other in filter(None, (member.parent, member.lexicon_of)):
        if other not in known or other == code:
            raise InputError(f"{code}: no language {other!r} to take words from; there are {', '.join(known)}")


def typological_distance(first: str, second: str) -> float:
    """Share of the grammar's word-order and category features (not suffixes) in which two languages differ."""
    suffixes = {"plural", "verb_plural", "past", "accusative", "adjective_plural"}
    features = [field.name for field in fields(Grammar) if field.name not in suffixes]
    grammar, other = LANGUAGES[first].grammar, LANGUAGES[second].grammar
    return sum(getattr(grammar, name) != getattr(other, name) for name in features) / len(features)
