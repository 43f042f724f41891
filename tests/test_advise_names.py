"""What pages of advice call languages and letters; what keys and rows have is as it was."""

from __future__ import annotations

import pytest

from babelscope.advise.names import in_letters, language_and_code, shown_language, shown_letters
from babelscope.advise.recipes import BY_LANGUAGE, BY_SCRIPT, EXTENDED, Recipe
from babelscope.core.languages import script_name
from babelscope.corpora.target_script import target_script
from babelscope.corpora.transliteration import TABLES


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("ug", "Uyghur (Arabic script)"),
        ("mt", "Maltese (Latin script)"),
        ("sr-Latn", "Serbian (Latin)"),
        ("qah", "qah unseen, near, other script (Greek script)"),
        ("xx", "xx"),
    ],
)
def test_scripts_have_their_names(code, shown):
    assert shown_language(code) == shown


def test_a_script_without_a_name_keeps_its_code():
    assert (script_name("Cyrl"), script_name("Zzzz"), script_name("Xxxx")) == ("Cyrillic", "Zzzz", "Xxxx")
    assert (language_and_code("mt"), language_and_code("qag")) == ("Maltese (mt)", "qag")


def test_all_tables_that_advice_tries_write_latin():
    tried = {table for tables in (*BY_SCRIPT.values(), *BY_LANGUAGE.values()) for table in tables}
    assert {target_script(table) for table in (*tried, *TABLES, "world", "uroman", "kana")} == {"Latn"}


def test_a_table_of_ones_own_writes_what_its_rules_write(tmp_path):
    (tmp_path / "own.tsv").write_text("a\tа\nb\tб\n", encoding="utf-8")
    assert shown_letters(f"table:{tmp_path / 'own.tsv'}") == f"Cyrillic (table:{tmp_path / 'own.tsv'})"
    assert target_script("icu:Any-Latin") is None and shown_letters("icu:Any-Latin") == "other (icu:Any-Latin)"


def test_letters_are_those_of_the_text_that_comes_out():
    assert in_letters("uyghur") == "in Latin letters (table uyghur)"
    assert in_letters("world+permute:1") == "in Latin letters (table world, letters exchanged at random)"
    recipe = Recipe("world-natural", EXTENDED, "uyghur")
    assert recipe.name == "world-natural adapted with new subwords, in Latin letters (table uyghur)"
    assert recipe.row_name == "world-natural adapted with new pieces, in uyghur letters", (
        "the name in rows that there are"
    )
