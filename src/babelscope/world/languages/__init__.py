"""The languages of the world, one file each, named by its code; every module in this folder is imported.

A new one is a file that calls `register`, like those that are here; see `Member` for what there is to choose. It is
`unseen` unless it says otherwise, and it changes nothing of the others: neither their words nor their text.

What is computed is kept by the code of the language. Whoever changes a language that was used before gives it another
code, or uses another store.
"""

from importlib import import_module
from pkgutil import iter_modules

from babelscope.world.family import LANGUAGES

for _module in sorted(iter_modules(__path__)):
    import_module(f"{__name__}.{_module.name}")

FAMILY = {code: LANGUAGES.registered[code] for code in ("qaa", "qab", "qac", "qad", "qae", "qaf", "qag", "qah", "qai")}
"""The languages that built-in studies and shipped encoders are about: the source, the others by distance from it, the
unseen ones last. Code-switched text mixes those of them that encoders have seen. A new language is not among them."""
