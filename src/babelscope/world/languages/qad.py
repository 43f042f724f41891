"""Qad: a relative of the source with another order within phrases, a third of its roots replaced."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register
from babelscope.world.lexicon import sound_changes

register(Member(
    Language("qad", "Qad", "Latn"), "middle",
    Grammar(adjective_after=True, negation_after=True, plural="s", verb_plural="s", past="k", adjective_plural="s"),
    seen=True, parent="qaa", replaced=0.35,
    changes=sound_changes("k(?=[ei])>c", "(?<=[aeiou])s(?=[aeiou])>r", "o$>u", "h>"),
))  # fmt: skip
