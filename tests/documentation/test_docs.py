"""The documents: links lead somewhere, the page of studies has every key, and its example is a study."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from babelscope.advise.card import TAG_WORDS
from babelscope.core.errors import StudyError
from babelscope.core.version import __version__
from babelscope.core.yaml import parse_value
from babelscope.measures import Measure
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, load_study
from babelscope.surgery import Operation
from babelscope.tuning.strategy import Strategy

ROOT = Path(__file__).parents[2]
PAGE, EXAMPLE = ROOT / "docs" / "studies.md", ROOT / "docs" / "study.yaml"
FILLED_IN = {
    "name": "example",
    "encoders": ["world-natural"],
    "tasks": {"pos": {"train": ["world:qaa"], "evaluate": ["world:qaa"]}},
}
"""What pieces of studies on pages leave out."""
SCHEMA = Study.model_json_schema()
FAMILIES = (Measure, Operation, Strategy)
"""Open families: their kinds stand on the page, and not what other tests define."""
DECLARED: dict[str, dict[str, Any]] = {"Study": SCHEMA} | SCHEMA["$defs"]
for family in FAMILIES:
    DECLARED.pop(family.__name__, None)
    for kind in family.all_kinds().values():
        if kind.__module__.startswith("babelscope."):
            DECLARED |= {kind.__name__: (schema := kind.model_json_schema())} | schema.get("$defs", {})


def editors_schema() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "study.schema.json").read_text(encoding="utf-8"))


def sections() -> dict[str, str]:
    """The page's sections by their headings, without spaces and in lower case."""
    _, *parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading.replace(" ", "").lower(): text for heading, _, text in (part.partition("\n") for part in parts)}


def lines_of(declaration: str) -> dict[str, list[str]]:
    """The cells about a declaration's keys, by key. Those of one family, such as operations, share a section."""
    properties = DECLARED[declaration]["properties"]
    tag, name = next(((key, f"`{given['const']}`") for key, given in properties.items() if "const" in given), ("", ""))
    if own := sections().get(declaration.lower()):
        told = {tag: [name, name, "above the table"]} if f"with `{tag}: {name.strip('`')}`" in own else {}
        return told | dict(key_lines(own))
    shared = next(text for text in sections().values() if f"| {tag} | meaning |" in text and f"| {name} |" in text)
    mine = {key: cells[1:] for key, cells in key_lines(shared) if name in cells[0].split(", ")}
    return {tag: [name, name.strip("`"), "in the table of names"], **mine}


def key_lines(text: str) -> list[tuple[str, list[str]]]:
    return [(key, cells.split(" | ")) for key, cells in re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)]


def test_the_page_of_studies_is_what_the_code_says():
    printed = subprocess.check_output([sys.executable, "tools/study_page.py"], cwd=ROOT, text=True, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == printed, "docs/studies.md is stale: make docs"


@pytest.mark.parametrize("declaration", DECLARED)
def test_the_page_has_every_key_with_its_default_and_a_meaning(declaration):
    """Against the schema, which pydantic writes by itself."""
    lines, schema = lines_of(declaration), DECLARED[declaration]
    assert lines.keys() == schema["properties"].keys()
    for key, (value, default, meaning) in lines.items():
        given = schema["properties"][key]
        assert value
        assert meaning or declaration.lower() not in sections(), f"{declaration}.{key}: write a docstring below it"
        assert (default == "required") == (key in schema.get("required", ()))
        if default != "required" and not isinstance(given["default"], dict):
            assert parse_value(default.strip("`")) == given["default"]
        assert all(f"`{choice}`" in value for choice in given.get("enum", ()))


def test_the_example_is_on_the_page_and_can_be_planned():
    text = EXAMPLE.read_text(encoding="utf-8")
    assert f"```yaml\n{text}```" in PAGE.read_text(encoding="utf-8")
    plan = compile_study(load_study(EXAMPLE))
    kinds = {type(step).__name__ for step in plan.steps.values()}
    assert {"Pretrain", "Tune", "Evaluate", "Baseline", "Retrieve", "Vocabulary", "Cost"} <= kinds


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings], target


def examples() -> list[tuple[str, str]]:
    """Name of the page, and YAML that stands on it."""
    pages = [page for page in sorted((ROOT / "docs").glob("*.md")) if page != PAGE]
    return [
        (page.stem, text) for page in pages for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    ]


def compiled(text: str, tmp_path: Path) -> None:
    file = tmp_path / "example.yaml"
    with file.open("w", encoding="utf-8") as stream:
        YAML().dump(FILLED_IN | YAML(typ="safe", pure=True).load(text), stream)
    assert compile_study(load_study(file)).steps


@pytest.mark.parametrize(("page", "text"), examples())
def test_examples_on_pages_are_studies(page, text, tmp_path, monkeypatch):
    """They compile, but for data and encoders that are not at hand."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.txt").write_text("\n".join(f"zin {number}" for number in range(20)))
    absent = "is not in the data folder|there is no file|cannot be reached|could not be fetched|no such folder|neither"
    try:
        compiled(text, tmp_path)
    except StudyError as error:
        assert all(re.search(absent, fault) for fault in error.faults), error.faults


def test_the_example_of_lines_compiles_as_it_stands(tmp_path):
    (text,) = (text for page, text in examples() if page == "underspecified")
    compiled(text, tmp_path)


def test_the_page_of_tasks_tags_words_as_model_cards_do():
    assert TAG_WORDS.replace('model="."', 'model="FOLDER"') in (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")


def test_the_citation_names_this_version():
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert citation["version"] == __version__ and citation["type"] == "software"


@pytest.mark.parametrize(
    "place", [*sorted((ROOT / "docs").glob("*.yaml")), *sorted((ROOT / "examples").glob("*.yaml"))]
)
def test_the_schema_for_editors_accepts_studies(place):
    jsonschema.validate(YAML(typ="safe").load(place), editors_schema())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sedes": [0]}, "sedes"),
        ({"measures": [{"measure": "cka", "samples": 3, "nonsense": 1}]}, "nonsense"),
        ({"surgeries": [5]}, "5"),
        ({"tasks": {"pos": {**FILLED_IN["tasks"]["pos"], "tuning": {"epochs": "many"}}}}, "many"),
    ],
)
def test_the_schema_for_editors_refuses_mistakes(change, said):
    jsonschema.validate(FILLED_IN, editors_schema())
    with pytest.raises(jsonschema.ValidationError, match=said):
        jsonschema.validate({**FILLED_IN, **change}, editors_schema())


def test_pages_written_by_tools_are_fresh():
    """The schema for editors, and the page of commands."""
    schema = subprocess.check_output([sys.executable, "tools/study_schema.py"], cwd=ROOT, text=True, encoding="utf-8")
    assert (ROOT / "docs" / "study.schema.json").read_text(encoding="utf-8") == schema, "stale: make docs"
    command = [sys.executable, "-m", "typer", "babelscope.face.cli", "utils", "docs", "--name", "babelscope"]
    commands = subprocess.check_output([*command, "--title", "Commands"], cwd=ROOT, text=True, encoding="utf-8")
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == commands, "stale: make docs"


def test_the_gallery_has_the_picture_of_every_page_of_results():
    docs = ROOT / "docs"
    pictures = r"\[!\[.+?\]\(results/(.+?)\.png\)\]\(results/\1\.md\)"
    shown = set(re.findall(pictures, (docs / "gallery.md").read_text(encoding="utf-8")))
    assert shown == {page.stem for page in (docs / "results").glob("*.md")}
    assert all((docs / "results" / f"{name}.png").is_file() for name in shown)
