"""Qah: Qag to the last letter, written in Greek letters."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register

register(Member(
    Language("qah", "Qah", "Grek"), "unseen, near, other script",
    Grammar(adjective_plural="m", plural="m", verb_plural="m", past="da"),
    lexicon_of="qag",
))  # fmt: skip
