"""What axe-core says of a report's page, of a running study's and of the site: no serious or critical fault."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

from babelscope.core.row import Row
from babelscope.report import Report, write_report
from babelscope.report.live import Course, FailedStep, Live, render_live
from babelscope.report.section import sections_of
from babelscope.report.tables import Cell, Table
from synthetic_report import synthetic_report

AXE = find_spec("axe_playwright_python")
DOCS = Path(__file__).parent.parent / "docs"
GRAVE = ("serious", "critical")
LOOKS = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""By colour scheme, what rules are looked at, where not all."""

pytestmark = pytest.mark.skipif(not AXE, reason="no axe-playwright-python")


@pytest.fixture
def faults(browser):
    """A function that gives the grave faults of a file, in the light and in the dark, on a wide screen and on a phone.

    In the dark, where nothing but colours is another, contrast alone is looked at.
    """
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(bypass_csp=True)

    def faults_of(path: Path, *to_open: str, within: str = "html") -> list[str]:
        if page.url.partition("#")[0] != path.as_uri():
            page.goto(path.as_uri())
            page.wait_for_function(
                "[...document.querySelectorAll('.chart')].every(chart => chart.querySelector('svg'))", timeout=60_000
            )
        for selector in to_open:
            page.locator(selector).first.click()
        found = []
        for (scheme, rules), width in product(LOOKS.items(), (1280, 390)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            options = {"resultTypes": ["violations"]} | rules
            violations = Axe().run(page, within, options).response["violations"]
            grave = [fault for fault in violations if fault["impact"] in GRAVE]
            found += [f"{fault['id']}: {node['html'][:200]}" for fault in grave for node in fault["nodes"]]
        return found

    yield faults_of
    page.close()


def full_report() -> Report:
    """With run keys, warnings, a layer's slider, provenance and a declaration; of three languages."""
    made = synthetic_report()
    few = [row for row in made.rows if row.language in (None, "qaa", "qab", "qac")]
    labels = {"kind": "projection", "encoder": "e", "dataset": "d"}
    projected = [
        Row(axis, float(word + layer), **labels, layer=layer, language=code, word=word)
        for layer in range(3) for code in ("qaa", "qab") for word in range(4) for axis in ("t-SNE x", "t-SNE y")
    ]  # fmt: skip
    rows = [row.labelled(key=f"{place:012x}".ljust(64, "0")) for place, row in enumerate([*few, *projected])]
    return dataclasses.replace(
        made, rows=rows, command="babelscope run x", declaration="name: x\n", provenance={"seeds": "0, 1, 2"}
    )


def test_the_page_of_a_report(faults, tmp_path):
    write_report(full_report(), tmp_path / "page.html")
    assert faults(tmp_path / "page.html", ".filters summary", ".findings a.rows") == []
    assert faults(tmp_path / "page.html", "td.number a", within="dialog") == []  # the rows of a number


def test_the_page_of_a_running_study(faults, tmp_path):
    states = Table("Steps by kind", ["step", "done"], [[Cell("Tune"), Cell("1", 1.0)]])
    running = [Course("a" * 64, "tune x, seed 0", [(1, 40, {"loss": 2.0}), (20, 40, {"loss": 1.0})])]
    failed = [FailedStep("b" * 64, "tune x, seed 1", "ValueError: odd\n" + "a long line " * 40)]
    live = Live("mine", "What follows?", 1, 4, states, running, failed, sections_of(full_report()))
    (tmp_path / "live.html").write_text(render_live(live))
    assert faults(tmp_path / "live.html", "summary") == []


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Of the documentation's pages three, as `make site` makes them."""
    source, built = (tmp_path_factory.mktemp(name) for name in ("source", "site"))
    (source / "results").mkdir()
    for name in ("index.md", "sentence-tasks.md", "watching.md", "conf.py", "results/first-look.png"):
        shutil.copy(DOCS / name, source / name)
    subprocess.run([sys.executable, "-m", "sphinx", "-qQ", str(source), str(built)], check=True, timeout=300)
    return built


@pytest.mark.parametrize("name", ["index", "sentence-tasks", "watching"])
def test_the_site(faults, site, name):
    assert faults(site / f"{name}.html") == []


def test_a_fault_is_found(faults, tmp_path):
    """The check itself fails where it should, on both screens and in both schemes."""
    faint = "<p style='color: #777; background: #888'>faint</p>"
    odd = f"<html lang=en><title>t</title><main><button></button><img src=x>{faint}</main></html>"
    (tmp_path / "odd.html").write_text(odd)
    light, dark = ["button-name", "color-contrast", "image-alt"], ["color-contrast"]
    assert [fault.partition(":")[0] for fault in faults(tmp_path / "odd.html")] == [*light, *light, *dark, *dark]
