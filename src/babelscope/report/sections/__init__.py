"""The sections of a report, one file or folder each: what it says, shows and lists of some of the rows.

A new one is a new file: a function with the decorator `section`, which says the kinds of row that it shows. Page,
Markdown and picture files go through all of them; rows that none claims are in the last one, `other`.
"""

from babelscope.core.registry import import_modules
from babelscope.report.section import Section, section, sections_of

__all__ = ["Section", "section", "sections_of"]

import_modules(__name__, __path__)
