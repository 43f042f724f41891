"""What the figures of a page can be filtered by, and what a page knows of the languages in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from babelscope.core.languages import family_of, script_of
from babelscope.corpora.letters import split_name
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.world import LANGUAGES


class Filter(NamedTuple):
    """A column that figures can be filtered by, and its values as people read them."""

    name: str
    options: list[str]


def filters_of(report: Report) -> list[Filter]:
    """Languages, scripts, families, tasks, layers and seeds of the rows."""
    facts = facts_of(report).values()

    def of_rows(column: str) -> list[Any]:
        return sorted({value for row in report.rows if (value := getattr(row, column)) is not None})

    return [
        Filter("language", _distinct(fact["language"] for fact in facts)),
        Filter("script", sorted(_distinct(fact["script"] for fact in facts))),
        Filter("family", sorted(_distinct(fact["family"] for fact in facts))),
        Filter("task", _distinct(map(title_of, of_rows("task")))),
        Filter("layer", list(map(str, of_rows("layer")))),
        Filter("seed", list(map(str, of_rows("seed")))),
    ]


def facts_of(report: Report) -> Mapping[str, Mapping[str, str]]:
    """Label of a language, as figures have it -> language, script and family; empty where that is not known."""
    codes = dict.fromkeys(row.language for row in report.rows if row.language)
    order = {code: place for place, code in enumerate(report.labels)}
    listed = sorted(codes, key=lambda code: order.get(code, len(order)))
    return {label: _facts(code, label) for code in listed for label in [report.labels.get(code, code)]}


def _facts(name: str, label: str) -> dict[str, str]:
    code, letters = split_name(name)
    member = LANGUAGES.get(code)
    script = (member.language.script if member else script_of(code)) or ""
    family = _world_family(code) if member else family_of(code) or ""
    return {"language": label, "script": "" if letters else script, "family": family}


def _world_family(code: str) -> str:
    """The language that all of its family come from."""
    while (member := LANGUAGES[code]).parent or member.lexicon_of:
        code = member.parent or member.lexicon_of or code
    return f"of {code}"


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
