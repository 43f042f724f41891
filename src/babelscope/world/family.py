"""The family: nine languages, their grammar, their descent and their script."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from babelscope.core.languages import Language
from babelscope.world.lexicon import SoundChange


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


@dataclass(frozen=True, slots=True)
class Member:
    """A language of the family. `parent` None: an isolate, whose roots are all its own.

    `replaced` is the share of the parent's roots that gave way to new ones; `lexicon_of` names a language
    whose words this one shares to the last letter, though it writes them in another script.
    """

    language: Language
    role: str
    grammar: Grammar
    seen: bool = True
    parent: str | None = None
    changes: tuple[SoundChange, ...] = ()
    replaced: float = 0.0
    lexicon_of: str | None = None


def _changes(*rules: str) -> tuple[SoundChange, ...]:
    return tuple(SoundChange(*rule.split(">")) for rule in rules)


_SOURCE = Grammar()
_RELATIVE = Grammar(adjective_plural="m", plural="m", verb_plural="m", past="da")
_MEMBERS = (
    Member(Language("qaa", "Qaa", "Latn"), "source", _SOURCE),
    Member(
        Language("qab", "Qab", "Latn"), "near", Grammar(past="da", adverb_first=True),
        parent="qaa", changes=_changes("t(?=[aeiou])>d", "u$>o", "v>b"), replaced=0.1,
    ),
    Member(
        Language("qac", "Qac", "Cyrl"), "near, other script", Grammar(past="ta", plural="m", verb_plural="m"),
        parent="qaa", changes=_changes("n$>m", "p(?=[aeiou])>f", "j>z"), replaced=0.1,
    ),
    Member(
        Language("qad", "Qad", "Latn"), "middle",
        Grammar(adjective_after=True, negation_after=True, plural="s", verb_plural="s", past="k", adjective_plural="s"),
        parent="qaa", changes=_changes("k(?=[ei])>c", "(?<=[aeiou])s(?=[aeiou])>r", "o$>u", "h>"), replaced=0.35,
    ),
    Member(
        Language("qae", "Qae", "Latn"), "far",
        Grammar("SOV", postpositions=True, possessor_first=True, relative_first=True, definite_article=False,
                indefinite_article=False, negation_after=True, adverb_first=True, plural="l", verb_plural="l",
                past="mi", accusative="k"),
        parent="qaa", changes=_changes("b>p", "d>t", "g>k", "e>y", "w>v"), replaced=0.65,
    ),
    Member(
        Language("qaf", "Qaf", "Grek"), "isolate",
        Grammar("VSO", adjective_after=True, indefinite_article=False, plural="r", verb_plural="r", past="so"),
    ),
    Member(
        Language("qag", "Qag", "Latn"), "unseen, near", _RELATIVE, seen=False,
        parent="qaa", changes=_changes("d>t", "i$>e", "f>h", "n$>m"), replaced=0.12,
    ),
    Member(
        Language("qah", "Qah", "Grek"), "unseen, near, other script", _RELATIVE, seen=False, lexicon_of="qag",
    ),
    Member(
        Language("qai", "Qai", "Cyrl"), "unseen, isolate",
        Grammar("SOV", adjective_after=True, postpositions=True, definite_article=False, negation_after=False,
                determiner_after=True, plural="z", verb_plural="d", past="ne"), seen=False,
    ),
)  # fmt: skip

FAMILY: dict[str, Member] = {member.language.code: member for member in _MEMBERS}
"""Language code -> member, the source first, by distance from it, the unseen ones last."""


def typological_distance(first: str, second: str) -> float:
    """Share of the grammar's word-order and category features (not suffixes) in which two languages differ."""
    suffixes = {"plural", "verb_plural", "past", "accusative", "adjective_plural"}
    features = [field.name for field in fields(Grammar) if field.name not in suffixes]
    one, other = FAMILY[first].grammar, FAMILY[second].grammar
    return sum(getattr(one, name) != getattr(other, name) for name in features) / len(features)
