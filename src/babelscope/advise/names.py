"""What pages of advice call languages, scripts and transliterations. Keys and rows have names of their own."""

from __future__ import annotations

from babelscope.core.languages import language_name, script_name, script_of
from babelscope.corpora.target_script import target_script
from babelscope.corpora.transliteration import PERMUTE, TABLES
from babelscope.world import LANGUAGES


def shown_language(code: str) -> str:
    """`Uyghur (Arabic script)`; of the artificial world `qah unseen, far (Greek script)`."""
    if member := LANGUAGES.get(code):
        return f"{code} {member.role} ({script_name(member.language.script)} script)"
    name, script = language_name(code), script_of(code)
    return f"{name} ({script_name(script)} script)" if script and "(" not in name else name


def language_and_code(code: str) -> str:
    """`Maltese (mt)`; the code alone where the language has no name."""
    name = language_name(code)
    return name if name == code else f"{name} ({code})"


def shown_letters(by: str) -> str:
    """What a transliteration writes, and which it is: `Latin (table uyghur)`."""
    script = target_script(by)
    name = script_name(script) if script else "other"
    rules, permuted, _ = by.partition(PERMUTE)
    which = f"table {rules}" if rules in (*TABLES, "world") else rules
    return f"{name} ({which}{', letters exchanged at random' if permuted else ''})"


def in_letters(by: str) -> str:
    """The same within a sentence: `in Latin letters (table uyghur)`."""
    name, _, which = shown_letters(by).partition(" (")
    return f"in {name} letters ({which}"
