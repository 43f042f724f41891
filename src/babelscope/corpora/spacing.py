"""Text that is written without spaces between words, where what stands between two spaces is no word."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.core.languages import UNSPACED
from babelscope.corpora.scripts import FIRST, script_shares

SCRIPTS = UNSPACED | {"Hira", "Kana"}
"""By what letters are called; a Japanese text has more than one script."""
CUT = 8
"""Letters between spaces, at most, of text in such a script that was cut into words: Chinese words have 1.6, Thai ones
about four. Uncut, Chinese in NTREX has 15, Thai 19 and Japanese 43."""


def unspaced_script(lines: Sequence[str]) -> str | None:
    """The script of most letters, if it puts no spaces between words and the text has none there; else None."""
    first = "\n".join(lines[:FIRST])
    script, words = next(iter(script_shares(first)), None), first.split()
    return script if script in SCRIPTS and sum(map(len, words)) > CUT * len(words) else None
