"""Qaf: an isolate in Greek letters, the verb first."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register

register(Member(
    Language("qaf", "Qaf", "Grek"), "isolate",
    Grammar("VSO", adjective_after=True, indefinite_article=False, plural="r", verb_plural="r", past="so"),
    seen=True,
))  # fmt: skip
