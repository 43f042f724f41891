"""One strategy a file: which depths are trained when. Every file in this folder is imported.

A new class of `Strategy` in a new file is all that a new schedule takes: it is then known by its name, as text with
the options that all schedules have (`embeddings:decay=0.9`), and as `strategy` of a schedule in YAML.
"""

from babelscope.core.registry import import_modules

import_modules(__name__, __path__)
