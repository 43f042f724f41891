"""The artificial world: a family of languages built from shared meanings, whose relatedness is known."""

from babelscope.world.family import FAMILY
from babelscope.world.world import World

__all__ = ["FAMILY", "World"]
