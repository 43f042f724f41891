"""Every worked example of docs/extending.md, as a file in the package's folder, in one small study with its report."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import babelscope
from command_line import SOON

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`src/(babelscope/[\w/]+\.(?:py|yaml))`\n\n```(?:python|yaml)\n(.*?)```", PAGE, re.DOTALL))
KINDS = {
    "surgery/operations", "tuning/schedules", "measures", "measures/similarities", "tasks/baselines",
    "tasks/kinds", "corpora/data_sources", "world/languages", "studies", "report/sections",
}  # fmt: skip
STUDY = """
name: extended
encoders: [world-natural]
surgeries: [swap_halves]
schedules: [embeddings]
tasks:
  tags:
    task: tagging
    label: upos
    train: ["columns:qaa:{words}"]
    evaluate: ["world:qaj"]
    sizes: {{train: 20, dev: 5, test: 10}}
    tuning: {{epochs: 1}}
    baselines: [last-letter]
  content:
    task: content-words
    train: ["world:qaa"]
    evaluate: ["world:qaj"]
    sizes: {{train: 20, dev: 5, test: 10}}
    tuning: {{epochs: 1}}
    baselines: [most-frequent-tag]
measures:
  - {{measure: anisotropy, texts: ["world:qaj"], sentences: 10}}
  - {{measure: similarity, source: "world:qaa", targets: ["world:qaj"], sentences: 10, measures: [RSA]}}
seeds: [0]
"""


def code_lines(text: str) -> int:
    """Lines beside docstrings, imports and empty ones."""
    kept = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(('"""', "from ", "import "))
    ]
    return len(kept)


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Path:
    """A copy of the package with all the files of the page in it."""
    folder = tmp_path_factory.mktemp("extended")
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(babelscope.__file__).parent, folder / "babelscope", ignore=unwanted)
    for name, text in FILES.items():
        assert not (folder / name).exists(), f"{name} would replace a file"
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "additions.py").write_text(
        "\n".join(re.findall(r"```python\n(from babelscope.encoders.anatomy.*?)```", PAGE, re.DOTALL))
    )
    return folder


def command(folder: Path, *arguments: object) -> str:
    """What the command of the extended package prints."""
    program = [sys.executable, "-c", "from babelscope.face.cli import main; main()", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.check_output(program, cwd=folder, env=environment, text=True, timeout=SOON)


def test_every_kind_has_an_example_of_fifteen_lines_at_most():
    assert {Path(name).parent.relative_to("babelscope").as_posix() for name in FILES} == KINDS
    assert {name: code_lines(text) for name, text in FILES.items() if code_lines(text) > 15} == {}


def test_lists_know_what_is_new(extended):
    for kind, name in (
        ("surgeries", "swap_halves"), ("schedules", "embeddings"), ("measures", "anisotropy"), ("measures", "RSA"),
        ("tasks", "last-letter"), ("tasks", "content-words"), ("sources", "columns"), ("languages", "world:qaj"),
        ("studies", "daughter"),
    ):  # fmt: skip
        assert name in "".join(command(extended, "list", kind).split())
    assert "6 steps, 0 cached" in command(extended, "plan", "daughter")


def test_a_study_of_all_of_them_has_rows_and_a_report(extended):
    sentences = ["ba\tNOUN\nde\tVERB\n.\tPUNCT", "de\tVERB\nba\tNOUN"] * 20
    (extended / "words.tsv").write_text("\n\n".join(sentences) + "\n")
    (extended / "study.yaml").write_text(STUDY.format(words="words.tsv"))
    command(extended, "run", "study.yaml", "--jobs", 1)
    command(extended, "rows", "study.yaml", "-o", "rows.csv")
    with (extended / "rows.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    scored = [row for row in rows if row["measure"] == "accuracy" and row["split"] == "test"]
    assert {(row["encoder"], row["surgery"], row["schedule"], row["task"], row["language"]) for row in scored} == {
        ("world-natural", "swap_halves", "embeddings", "tags", "qaj"), ("last-letter", "", "", "tags", "qaj"),
        ("world-natural", "swap_halves", "embeddings", "content", "qaj"),
        ("most-frequent-tag", "", "", "content", "qaj"),
    }  # fmt: skip
    layers = {(row["kind"], row["measure"]): row["unit"] for row in rows if row["layer"]}
    assert layers == {("anisotropy", "anisotropy"): "cosine", ("similarity", "RSA"): ""}
    command(extended, "report", "study.yaml", "-o", "report.md")
    report = (extended / "report.md").read_text(encoding="utf-8")
    assert "States of sentences are most alike in layer" in report
    assert re.search(r"RSA \|.*swap_halves", report), "what is measured of an operated encoder is nowhere"


def test_a_file_that_an_own_source_cannot_read_is_named(extended):
    (extended / "odd.tsv").write_text("no tab here\n")
    (extended / "odd.yaml").write_text(STUDY.format(words="odd.tsv"))
    program = [sys.executable, "-c", "from babelscope.face.cli import main; main()", "plan", "odd.yaml"]
    environment = os.environ | {"PYTHONPATH": str(extended)}
    answer = subprocess.run(program, cwd=extended, env=environment, capture_output=True, text=True, timeout=SOON)
    assert answer.returncode == 2 and "odd.tsv: not in the format of columns" in answer.stderr


def test_a_measure_of_layers_is_drawn_without_a_section(extended):
    (extended / "babelscope/report/sections/anisotropy.py").unlink()
    (extended / "layers.yaml").write_text(
        "name: layers\nencoders: [world-natural]\nseeds: [0]\n"
        'measures: [{measure: anisotropy, texts: ["world:qaa"], sentences: 10}]\n'
    )
    command(extended, "run", "layers.yaml", "--jobs", 1)
    command(extended, "report", "layers.yaml", "-o", "layers.md")
    command(extended, "report", "layers.yaml", "-o", "layers.svg")
    assert "anisotropy" in (extended / "layers.md").read_text(encoding="utf-8").lower()
    assert list(extended.glob("layers*.svg"))


def test_a_family_of_encoders_is_a_line(extended):
    code = "import additions; from babelscope.encoders.anatomy import check_family; check_family('camembert')"
    environment = os.environ | {"PYTHONPATH": str(extended)}
    assert subprocess.run([sys.executable, "-c", code], cwd=extended, env=environment, timeout=SOON).returncode == 0
