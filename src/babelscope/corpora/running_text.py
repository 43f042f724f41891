"""Running text as sentences, by one rule for all languages.

A line is a paragraph. In it, a sentence ends at one of the signs . ! ? … ؟ ۔ ։ with the quotation marks and brackets
that follow, where white space comes next and then no small letter; and at one of the signs of other scripts that end
nothing else (`_FULL_STOPS`), whatever comes next. No sentence ends at a full stop after a single letter or a number of
one or two digits (initials, dates, items of lists). What does not end in such a sign is left out: headings, items of
lists, captions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

EDITION = 2
"""Raise it where the sentences of a text change: the first knew no full stops of Armenian, Ethiopic, Burmese, Khmer,
Tibetan and other scripts."""
_CLOSING = "[\"'”’»)\\]」』）]*"
_FULL_STOPS = "。！？｡।॥።፧။។៕߹᱾꯫᠃᙮"
"""Of Chinese and Japanese, of Indian scripts, Ethiopic, Burmese, Khmer, N'Ko, Ol Chiki, Meetei Mayek, Mongolian and
Canadian syllabics."""
_SHAD = "[།༎](?: ?[།༎])*"
"""Of Tibetan, where one can stand apart from the next."""
_SIGNS = ".!?…؟۔։"
# A run of signs is read once, from its start and as a whole: documents of the web have lines of thousands of dots.
_END = re.compile(rf"(?<![{_SIGNS}])[{_SIGNS}]++{_CLOSING}(?=\s|$)|(?:[{_FULL_STOPS}]+|፡፡|{_SHAD}){_CLOSING}")
_ABBREVIATED = re.compile(r"(?:^|[\W_])(?:[^\W\d_]|\d{1,2})\.$")
LONGEST = 4
"""Characters that say whether a full stop is one of these."""


def running_sentences(text: str) -> Iterator[str]:
    """The sentences of a text, in its order, with single spaces for white space."""
    for paragraph in text.splitlines():
        line, start = " ".join(paragraph.split()), 0
        for end in _END.finditer(line):
            rest = line[end.end() : end.end() + 2].lstrip()
            last = line[max(start, end.end() - LONGEST) : end.end()]
            if not rest[:1].islower() and (not rest or not _ABBREVIATED.search(last)):
                yield line[start : end.end()].strip()
                start = end.end()
