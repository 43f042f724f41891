"""The artificial world: languages built from shared meanings, whose relatedness is known.

Here is what makes text, treebanks and labelled sentences of meanings. A new language is a file in `languages/`.
Needs the standard library alone.
"""

from babelscope.world.family import LANGUAGES
from babelscope.world.languages import FAMILY
from babelscope.world.world import World

__all__ = ["FAMILY", "LANGUAGES", "World"]
