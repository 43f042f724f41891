"""Qab: a near relative of the source."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register
from babelscope.world.lexicon import sound_changes

register(Member(
    Language("qab", "Qab", "Latn"), "near",
    Grammar(past="da", adverb_first=True),
    seen=True, parent="qaa", changes=sound_changes("t(?=[aeiou])>d", "u$>o", "v>b"), replaced=0.1,
))  # fmt: skip
