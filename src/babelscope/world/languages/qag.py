"""Qag: a near relative of the source that no encoder has seen."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register
from babelscope.world.lexicon import sound_changes

register(Member(
    Language("qag", "Qag", "Latn"), "unseen, near",
    Grammar(adjective_plural="m", plural="m", verb_plural="m", past="da"),
    parent="qaa", changes=sound_changes("d>t", "i$>e", "f>h", "n$>m"), replaced=0.12,
))  # fmt: skip
