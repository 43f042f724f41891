"""Which script a transliteration writes."""

from __future__ import annotations

from functools import lru_cache

from babelscope.core.outside import given_path
from babelscope.corpora.scripts import script_shares
from babelscope.corpora.transliteration import PERMUTE, TABLES, read_table, table_file, table_of
from babelscope.world.lexicon import SCRIPTS

_ROMANISERS = ("uroman", "kana")


@lru_cache(maxsize=64)
def target_script(by: str) -> str | None:
    """The ISO 15924 code: of a table, of the letters that its rules write most; None where the name does not say it.

    Raises:
        DataError: the file of a table cannot be used.
    """
    name = by.partition(PERMUTE)[0]
    if name in _ROMANISERS:
        return "Latn"
    if name == "world":
        return _most("".join(chr(letter) for letters in SCRIPTS.values() for letter in letters))
    own = table_file(by)
    if name not in TABLES and own is None:
        return None
    path = table_of(name) if own is None else given_path(own)
    return _most("".join(rule.to for rule in read_table(path)))


def _most(letters: str) -> str | None:
    return next(iter(script_shares(letters)), None)
