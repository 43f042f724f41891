"""Sources of data sets, one a file: how their names begin, which examples they have, where the files are, how read.

What comes in: a module with a class derived from `DataSource`, or from `OwnFile` for a format of one's own. Every
module here is imported, so that nothing else names it.
"""

from babelscope.core.registry import import_modules
from babelscope.corpora.data_sources.base import DataSource, OwnFile, Wanted, source_names, source_of

import_modules(__name__, __path__)

__all__ = ["DataSource", "OwnFile", "Wanted", "source_names", "source_of"]
