"""Text and tables in LaTeX: any text goes through, and is shown as it is."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from babelscope.report.paper.latex import LONG, escaped, table_float
from babelscope.report.tables import Cell, Table
from read_latex import NASTY, SIGNS, WORDS, shown

pytestmark = pytest.mark.usefixtures("in_process")


def expected(text: str) -> str:
    """White space is a space; what is no character is shown as one that stands for it."""
    spaced = ("\u00a0" if letter == "\u00a0" else " " if letter.isspace() else letter for letter in text)
    return "".join("\ufffd" if unicodedata.category(x) in ("Cc", "Cs", "Cn") else x for x in spaced)


@given(st.text(st.characters() | st.sampled_from("\\{}$&#%_~^<>|\"`'-,[]*\n\t é\u00a0−×“Å")))
@example(NASTY)
@example("--,,''``\0\n")
def test_any_text_goes_through(text):
    latex = escaped(text)
    assert latex.isascii() and latex.isprintable()
    assert shown(latex) == expected(text)
    # TeX joins these to other signs, and BibTeX takes braces that do not match for the end of a field.
    assert not re.search(r"--|''|,,|``", latex)
    depths = [latex[:k].count("{") - latex[:k].count("}") for k in range(len(latex) + 1)]
    assert min(depths) == depths[-1] == 0


def test_signs_of_reports_and_latin_letters_are_in_tex_own_fonts():
    """pdfLaTeX shows the number of any other letter in its place."""
    latin = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿčďěňřšťžĀāēīōūăğŁłőűœß"
    assert "otherletter" not in escaped("".join([*WORDS.values(), *SIGNS.values(), latin]))


cells = st.text(max_size=60) | st.sampled_from(["[1.0, 2.0]", "*", "&", ""])


@given(st.data(), st.integers(1, 4), st.integers(0, 3) | st.just(LONG + 1))
def test_any_table_has_lines_of_as_many_cells(data, columns, count):
    line = st.lists(cells, min_size=columns, max_size=columns)
    headers, *lines = (data.draw(line) for _ in range(min(count, 3) + 1))
    lines = (lines * LONG)[:count] if lines else []
    table = Table("t", headers, [[Cell(text) for text in each] for each in lines], note=NASTY)
    written = table_float(table, "tab:t").splitlines()
    body = [each.removesuffix(r" \\") for each in written if each.endswith(r" \\")]
    assert [[shown(cell) for cell in re.split(r"(?<!\\)&", each)] for each in body if "\\caption" not in each] == [
        [f"{' ' * (k > 0)}{expected(text)}{' ' * (k < columns - 1)}" for k, text in enumerate(each)]
        for each in ([headers, headers] if count > LONG else [headers]) + lines
    ]
    assert not any(each.startswith(("[", "*")) for each in written)
