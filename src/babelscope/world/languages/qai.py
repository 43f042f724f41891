"""Qai: an isolate in Cyrillic letters that no encoder has seen."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register

register(Member(
    Language("qai", "Qai", "Cyrl"), "unseen, isolate",
    Grammar("SOV", adjective_after=True, postpositions=True, definite_article=False, determiner_after=True, plural="z",
            verb_plural="d", past="ne"),
))  # fmt: skip
