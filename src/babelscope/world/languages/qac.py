"""Qac: a near relative of the source in Cyrillic letters."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register
from babelscope.world.lexicon import sound_changes

register(Member(
    Language("qac", "Qac", "Cyrl"), "near, other script",
    Grammar(past="ta", plural="m", verb_plural="m"),
    seen=True, parent="qaa", changes=sound_changes("n$>m", "p(?=[aeiou])>f", "j>z"), replaced=0.1,
))  # fmt: skip
