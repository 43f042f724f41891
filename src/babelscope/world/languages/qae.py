"""Qae: a far relative of the source, the verb last, without articles, two thirds of its roots replaced."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register
from babelscope.world.lexicon import sound_changes

register(Member(
    Language("qae", "Qae", "Latn"), "far",
    Grammar("SOV", postpositions=True, possessor_first=True, relative_first=True, definite_article=False,
            indefinite_article=False, negation_after=True, adverb_first=True, plural="l", verb_plural="l", past="mi",
            accusative="k"),
    seen=True, parent="qaa", changes=sound_changes("b>p", "d>t", "g>k", "e>y", "w>v"), replaced=0.65,
))  # fmt: skip
