"""Qaa: the source, from which the others are told apart."""

from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register

register(Member(Language("qaa", "Qaa", "Latn"), "source", Grammar(), seen=True))
