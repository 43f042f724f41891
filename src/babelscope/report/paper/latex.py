"""Text and tables as LaTeX. What is written is ASCII, so that it compiles with pdfLaTeX, XeLaTeX and LuaLaTeX alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from babelscope.report.tables import Cell, Table

PREAMBLE = r"""% What tables, figures and text of this folder need: \input{preamble} before \begin{document}.
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{longtable}
\usepackage{url}
\ifdefined\pdfminorversion\pdfminorversion=7\fi  % that of the figures
% A letter that TeX's own fonts lack: itself in XeLaTeX and LuaLaTeX, else its number.
\DeclareRobustCommand*{\otherletter}[1]{%
  \ifdefined\XeTeXversion\char"#1\relax\else\ifdefined\directlua\char"#1\relax\else U+#1\fi\fi}
"""
LONG = 40
"""Lines of a table; a longer one may be broken between pages."""
WIDE = 60
"""Characters of a table's line; a wider one takes both columns of a page."""
TEXT = 40
"""Characters of a cell; longer ones are broken into lines."""
_REPLACED = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}", "`": r"\char96{}", "\u00a0": "~",
    "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "·": r"$\cdot$", "…": r"\ldots{}", "–": r"\textendash{}",
    "—": r"\textemdash{}", "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}", "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}", "→": r"$\rightarrow$", "≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$",
    "≈": r"$\approx$", "°": r"$^\circ$", "α": r"$\alpha$", "β": r"$\beta$", "ß": r"\ss{}",
    "ø": r"\o{}", "Ø": r"\O{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ł": r"\l{}",
    "Ł": r"\L{}", "ı": r"\i{}", "§": r"$\mathsection$",
}  # fmt: skip
"""Braces are words, since BibTeX counts all others."""
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip
"""Combining marks, and the commands that put them on a letter."""
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")
"""Between what TeX would make one sign of."""


def escaped(text: str) -> str:
    """Any text, as LaTeX that shows it; white space becomes a space."""
    return "".join(map(_letter, _LIGATURES.sub("\0", text.replace("\0", "\ufffd")))).replace("\0", "{}")


def _letter(letter: str) -> str:
    if letter in _REPLACED:
        return _REPLACED[letter]
    if letter == "\0" or (letter.isascii() and letter.isprintable()):
        return letter
    if letter.isspace():
        return " "
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if len(marks) == 1 and base.isascii() and base.isalpha() and marks[0] in _ACCENTS:
        return f"{{\\{_ACCENTS[marks[0]]}{{{base}}}}}"
    shown = letter if unicodedata.category(letter) not in ("Cc", "Cs", "Cn") else "\ufffd"
    return f"\\otherletter{{{ord(shown):04X}}}"


def table_float(table: Table, label: str) -> str:
    """A table with its caption, ready for \\input; a long one can be broken between pages, in one column alone."""
    caption = f"\\caption{{{escaped(_caption(table))}}}\\label{{{label}}}"
    if len(table.lines) > LONG:
        return _long(table, caption)
    place = "table" if _width(table) <= WIDE else "table*"
    fitted = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
    body = "\n".join(["\\toprule", _line(table.headers), "\\midrule", *_lines(table), "\\bottomrule"])
    return "\n".join([
        f"\\begin{{{place}}}[tp]", "\\centering", "\\small", fitted, f"\\begin{{tabular}}{{{_columns(table)}}}", body,
        "\\end{tabular}}", caption, f"\\end{{{place}}}", "",
    ])  # fmt: skip


def _long(table: Table, caption: str) -> str:
    head = ["\\toprule", _line(table.headers), "\\midrule"]
    return "\n".join([
        "{\\footnotesize", f"\\begin{{longtable}}{{{_columns(table)}}}", f"{caption}\\\\", *head, "\\endfirsthead",
        *head, "\\endhead", "\\bottomrule", "\\endlastfoot", *_lines(table), "\\end{longtable}}", "",
    ])  # fmt: skip


def _caption(table: Table) -> str:
    return f"{table.title}. {table.note}".strip() if table.note else f"{table.title}."


def _columns(table: Table) -> str:
    """Numbers to the right, text to the left, long text in lines."""
    letters = []
    for column in range(len(table.headers)):
        longest = max((len(line[column].text) for line in table.lines), default=0)
        text = "p{0.3\\linewidth}" if longest > TEXT else "l"
        letters.append("r" if column in table.numeric else text)
    return "@{}" + "".join(letters) + "@{}"


def _width(table: Table) -> int:
    columns = zip(table.headers, *([cell.text for cell in line] for line in table.lines), strict=True)
    return sum(min(TEXT, max(map(len, column))) + 2 for column in columns)


def _lines(table: Table) -> list[str]:
    return [_line([cell.text for cell in line]) for line in table.lines]


def _line(cells: Sequence[str]) -> str:
    """A line of a table. What begins like an option of the line before it does not count as one."""
    line = " & ".join(map(escaped, cells))
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def text_table(title: str, headers: Sequence[str], lines: Sequence[Sequence[str]], note: str = "") -> Table:
    """A table of texts alone."""
    return Table(title, headers, [[Cell(text) for text in line] for line in lines], note)
