"""The report as one HTML file that opens without network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import altair as alt
from jinja2 import Environment, PackageLoader, StrictUndefined

from babelscope.core.files import replacing
from babelscope.core.row_table import row_table
from babelscope.report.figures import CONFIG, Figure, svg
from babelscope.report.filters import facts_of, filters_of
from babelscope.report.first import first_screen
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.report.sources import sources


def write_page(report: Report, path: Path) -> list[Path]:
    """Write the report as one self-contained HTML file of about 1 MB; gives the file.

    Raises InputError when the file cannot be written.
    """
    text = render(report)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return [path]


def render(report: Report) -> str:
    """The page. All text from outside is escaped, and the page's own policy lets only its two scripts run."""
    environment = templates()
    environment.filters |= {"plain": _plain, "script_json": _script_json}
    scripts = [_vega_bundle(), asset("page.js")]
    sections = sections_of(report)
    filters, told = filters_of(report), sources(report, sections)
    return environment.get_template("page.html.j2").render(
        report=report,
        first=first_screen(sections),
        sections=sections,
        filters={filter_.name: filter_.options for filter_ in filters if len(filter_.options) > 1},
        facts=_json(facts_of(report)),
        sources=_json(told),
        sourced=list(map(bool, told["groups"])),
        rows_link=_rows_link(report),
        style=asset("page.css"),
        scripts=scripts,
        script_hashes=" ".join(hash_of(script) for script in scripts),
    )


def templates() -> Environment:
    """The templates of pages: they escape all text."""
    environment = Environment(loader=PackageLoader("babelscope", "report"), autoescape=True, undefined=StrictUndefined)
    environment.filters["svg"] = svg
    return environment


def asset(name: str) -> str:
    """A style sheet or script of the package."""
    return (files("babelscope.report") / name).read_text(encoding="utf-8")


@cache
def _vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, of the version that altair writes for."""
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)


def hash_of(script: str) -> str:
    """What a page's policy names a script by that may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _script_json(figure: Figure) -> str:
    """The chart of a figure, with what describes it to who cannot see it."""
    described = {"config": CONFIG, "description": f"{figure.title}. {figure.caption}"}
    # Not validated, which takes a quarter of the time of a page; where charts become files, altair does it.
    return _json(figure.chart.to_dict(validate=False) | described)


def _json(value: Any) -> str:
    """JSON that nothing inside can end the script element of."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> str:
    """A provenance value as text: lists with commas, mappings as `name value`."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_plain(part) for part in value)
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def _rows_link(report: Report) -> str:
    """Compressed, since a study can have a hundred thousand rows; the same rows give the same bytes."""
    content = gzip.compress(row_table(report.rows).to_csv(index=False).encode(), mtime=0)
    return "data:application/gzip;base64," + base64.b64encode(content).decode()
