"""An operation and a schedule that others add: one file each, in the package's folder or in a package of its own."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.core.registry import import_modules
from babelscope.encoders.load import load_encoder
from babelscope.encoders.state import weights_of
from babelscope.surgery import Operation, apply, check_operations, operations, parse_operation
from babelscope.tasks.tag import Tagging
from babelscope.tuning import Strategy, schedules
from babelscope.tuning.loop import tune
from babelscope.tuning.schedule import Schedule, parse_schedule
from command_line import SOON, babelscope, declaration, transfer, write_study
from taggers import a_tagger, changed, copied, family_encoder
from test_scheduled_training import QUICK

pytestmark = pytest.mark.usefixtures("in_process")

DOCS = Path(__file__).parent.parent / "docs"


def example(name: str) -> str:
    """The file on the page on extensions that defines a class of that name."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if f"class {name}(" in block)
    return block


SWAP_HALVES, EMBEDDINGS = example("SwapHalves"), example("Embeddings")
ADDED = ((operations, "swap_halves", SWAP_HALVES, Operation), (schedules, "embeddings", EMBEDDINGS, Strategy))


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Both files, each in the folder of its kind as far as imports can tell; nothing of them stays."""
    for package, name, text, family in ADDED:
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.setattr(family, "kinds", dict(family.kinds))
        import_modules(package.__name__, package.__path__)
    yield tmp_path
    for package, name, *_ in ADDED:
        del sys.modules[f"{package.__name__}.{name}"]
        delattr(package, name)


def test_a_file_in_the_folder_is_an_operation(added, encoder_folder):
    assert "Exchange the lower and the upper half" in " ".join(babelscope("list", "surgeries").output.split())
    answer = babelscope("operate", encoder_folder, "--op", "swap_halves", "-o", added / "made")
    assert answer.status == 0
    before, after = weights_of(load_encoder(encoder_folder)), weights_of(load_encoder(added / "made"))
    assert not all(weight.equal(after[name]) for name, weight in before.items())
    for name, weight in before.items():
        swapped = name.replace(".layer.0.", ".layer.x.").replace(".layer.1.", ".layer.0.").replace(".x.", ".1.")
        assert weight.equal(after[swapped]), name
    twice = apply(load_encoder(encoder_folder), ["swap_halves", "swap_halves"])
    assert all(weight.equal(before[name]) for name, weight in weights_of(twice).items())
    assert str(parse_operation("swap_halves")) == "swap_halves"
    assert babelscope("operate", encoder_folder, "--op", "swap_halves:by=2", "-o", added / "no").status == 2


def test_a_file_in_the_folder_is_a_schedule(added):
    assert "Train the embeddings alone." in " ".join(babelscope("list", "schedules").output.split())
    schedule = parse_schedule("embeddings:decay=0.5,frozen_dropout")
    assert schedule.name == "embeddings:decay=0.5,frozen_dropout"
    assert schedule.entry_stages(3) == (0, None, None, None)
    assert schedule.rate_factors(1) == (0.5, 1.0)
    assert schedule.constant_layers(3) == 0
    declared = Schedule.model_validate({"name": "words", "strategy": "embeddings"})
    assert declared == Schedule.model_validate({"name": "words", "strategy": {"strategy": "embeddings"}})
    assert declared.chosen == schedule.chosen
    assert Schedule.model_validate(declared.model_dump(mode="json")) == declared


def test_the_embeddings_alone_are_trained(added, tokenizer, tagged, tmp_path):
    tagger = a_tagger(family_encoder("bert", tokenizer))
    before = copied(tagger)
    tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path / "run", schedule=parse_schedule("embeddings"))
    moved = {name.removeprefix("backbone.").partition(".")[0] for name in changed(before, tagger)}
    assert moved == {"embeddings", "classifier"}


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Path:
    """Both in a package of its own, whose entry point names the module."""
    (tmp_path / "added_by_others.py").write_text(SWAP_HALVES + EMBEDDINGS)
    about = tmp_path / "added_by_others-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: added-by-others\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[babelscope.plugins]\nadded = added_by_others\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    return tmp_path


def command(*arguments: object) -> str:
    """What the command prints, in a process that has the environment of now."""
    program = [sys.executable, "-c", "from babelscope.face.cli import main; main()", *map(str, arguments)]
    return subprocess.check_output(program, text=True, timeout=SOON)


def test_a_study_has_what_another_package_brings(installed, encoder_folder):
    assert "swap_halves" in command("list", "surgeries")
    tasks = {"pos": transfer(baselines=[])}
    declared = declaration(encoder_folder, tasks=tasks, surgeries=["swap_halves"], schedules=["embeddings"], seeds=[0])
    del declared["retrieval"]
    study, store = write_study(installed / "study.yaml", declared), installed / "store"
    command("run", study, "--store", store, "--jobs", 1)
    command("rows", study, "--store", store, "-o", installed / "rows.csv")
    with (installed / "rows.csv").open(encoding="utf-8") as stream:
        found = {(row["surgery"], row["schedule"]) for row in csv.DictReader(stream)}
    assert found == {("swap_halves", "embeddings")}


def test_how_many_layers_come_out_is_asked_before_anything_runs(monkeypatch):
    monkeypatch.setattr(Operation, "kinds", dict(Operation.kinds))

    class Twin(Operation):
        operation: str = "twin"

        def layers_after(self, count: int, name: str) -> int:
            return 2 * count

    check_operations("six", [Twin(), parse_operation("drop:layers=11")], 6, None, {})
    with pytest.raises(InputError, match="layer 12: six after twin has 12 layers"):
        check_operations("six", [Twin(), parse_operation("drop:layers=12")], 6, None, {})
