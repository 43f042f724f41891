"""The page of the languages: up to date, and its drawn trees are the trees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.world import FAMILY
from babelscope.world.chance import Chance
from babelscope.world.meaning import draw_sentence
from babelscope.world.realise import realise, write
from babelscope.world.showcase import align, branches

PAGE = Path(__file__).parents[2] / "docs" / "languages.md"
COMMAND = "python -m babelscope.world.showcase"


def test_the_page_is_what_its_command_prints():
    printed = subprocess.check_output([sys.executable, *COMMAND.split()[1:]], text=True, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == printed, f"docs/languages.md is stale: {COMMAND} > docs/languages.md"
    assert COMMAND in printed and all(f"\n{code}  1 " in printed for code in FAMILY)


@given(number=st.integers(0, 10**9), code=st.sampled_from(list(FAMILY)))
@settings(max_examples=100, deadline=None)
def test_every_branch_leads_from_a_word_to_its_head(number, code):
    """Three columns a level; the head is the nearest word one level up, on the side that the branch turns to."""
    tree = realise(draw_sentence(Chance("drawn", number)), FAMILY[code].grammar)
    words = write(tree, lambda concept, features: concept.name, "drawn").words
    lines = list(branches(tree))
    levels = [len(line) // 3 for line in lines]
    assert len(lines) == len(words)
    for place, (line, word) in enumerate(zip(lines, words, strict=True)):
        if not word.head:
            assert line == ""
            continue
        step = 1 if word.head - 1 > place else -1
        head = place + step
        while levels[head] != levels[place] - 1:
            head += step
        assert head == word.head - 1
        assert line[-3:] in (("┌─ ", "├─ ") if step > 0 else ("└─ ", "├─ "))
        column = 3 * (levels[place] - 1)  # an unbroken line joins the word with its head
        assert all(lines[k][column : column + 1] in ("│", "├") for k in range(place + step, head, step))


def test_columns_start_at_one_place():
    assert align([("a", "bb", "c"), ("ddd", "e", "")]) == ["a    bb  c", "ddd  e"]
