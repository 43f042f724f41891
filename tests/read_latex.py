"""What LaTeX makes of text, read token by token."""

from __future__ import annotations

import re
import unicodedata

WORDS = {
    "textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textasciitilde": "~", "textasciicircum": "^",
    "textless": "<", "textgreater": ">", "textbar": "|", "char34": '"', "char96": "`",
    "ldots": "…", "textendash": "–", "textemdash": "—", "textquotedblleft": "“", "textquotedblright": "”",
    "textquoteleft": "‘", "textquoteright": "’", "ss": "ß", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "oe": "œ",
    "OE": "Œ", "l": "ł", "L": "Ł", "i": "ı",
}  # fmt: skip
"""What LaTeX shows for commands of text."""
SIGNS = {
    "-": "−", r"\times": "×", r"\pm": "±", r"\rightarrow": "→", r"\leq": "≤", r"\geq": "≥", r"\neq": "≠",
    r"\approx": "≈", r"^\circ": "°", r"\alpha": "α", r"\beta": "β", r"\cdot": "·", r"\mathsection": "§",
}  # fmt: skip
ACCENTS = dict(
    zip("`'^~=u.\"rHvc", map(chr, (768, 769, 770, 771, 772, 774, 775, 776, 778, 779, 780, 807)), strict=True)
)
TOKEN = re.compile(
    r"\\otherletter\{(?P<number>[0-9A-F]{4,6})\}|\{\\(?P<accent>[^a-zA-Z]|[a-z])\{(?P<letter>[A-Za-z])\}\}"
    r"|\\(?P<word>[A-Za-z]+\d*)\{\}|\\(?P<special>[$&#%_])|\$(?P<sign>[^$]+)\$|(?P<nothing>\{\})|(?P<plain>[^\\{}$&#%_^])"
)


NASTY = r"50% of $x_1$ & #2 \ {a} ~^ <b> |c| -- `quoted'' [1] *, Ünïcödé ŋ 中文 कि 🙂 −3 × “x”"


def shown(latex: str) -> str:
    """What LaTeX makes of text, read token by token."""
    letters, place = [], 0
    while place < len(latex):
        token = TOKEN.match(latex, place)
        assert token, f"no LaTeX of ours: {latex[place : place + 20]!r}"
        place, kind, text = token.end(), token.lastgroup, token[token.lastgroup or 0]
        if kind == "number":
            letters.append(chr(int(text, 16)))
        elif kind == "letter":
            letters.append(unicodedata.normalize("NFC", text + ACCENTS[token["accent"]]))
        elif kind in ("word", "sign"):
            letters.append((WORDS if kind == "word" else SIGNS)[text])
        elif kind != "nothing":
            letters.append("\u00a0" if text == "~" else text)
    return "".join(letters)
