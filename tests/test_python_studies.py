"""Studies in Python: planned as by the command line, run, shown and reported; and readers of files."""

from __future__ import annotations

import pytest
import torch

import babelscope as bs
from babelscope.core.row import COLUMNS
from babelscope.engine.store import Store
from command_line import babelscope, transfer
from python_models import SMALL

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def tiny(encoder_folder, tmp_path_factory) -> bs.Encoder:
    return bs.load(encoder_folder, store=tmp_path_factory.mktemp("python") / "store")


def test_a_built_in_study_has_the_plan_of_the_command_line(tmp_path):
    job = bs.read_study("first-look", {"scale": "small"}).plan(tmp_path / "store")
    assert job.title == "first-look@world with scale=small"
    said = babelscope("plan", "first-look", "--with", "scale=small", "--store", tmp_path / "store").output
    assert said.endswith(f"{job.summary}\n")


def test_a_study_runs_is_shown_and_reported(tiny, tmp_path, capfd):
    study = bs.Study(
        name="shown", question="Is <it> shown?", encoders=[tiny], surgeries=[None, "reinit"], seeds=[0],
        tasks={"pos": transfer(tuning={"steps": 2})},
    )  # fmt: skip
    store = tmp_path / "store"
    with pytest.raises(bs.errors.InputError, match="there is no such store yet"):
        study.rows(store)
    assert study.plan(store).done == 0
    result = study.run(store)
    assert "[8/8]" in capfd.readouterr().err
    assert result.job.done == len(result.job.plan.steps) == 8
    assert tuple(result.frame().columns) == COLUMNS
    assert list(study.rows(store)) == list(result)
    names = {path.name for suffix in ("html", "md", "svg") for path in result.report(tmp_path / f"report.{suffix}")}
    assert {"report.html", "report.md"} < names
    assert "&lt;it&gt; shown?" in study._repr_html_()
    shown = result._repr_html_()
    assert "<svg" in shown and "<td>world:qab</td>" in shown and "first 20 of them" in shown
    assert result.write(tmp_path / "rows.csv").read_text(encoding="utf-8").count("\n") == len(result) + 1
    for write in (result.write, result.report, result[:1].write):
        with pytest.raises(bs.errors.InputError, match="3: no path: give it as text or as a Path"):
            write(3)
    assert study.run(store).frame().equals(result.frame())
    assert "steps" not in capfd.readouterr().err


def test_a_step_that_fails_is_an_error_that_says_which(encoder_folder, tmp_path):
    built = bs.load(encoder_folder, store=tmp_path / "store").build()
    with torch.no_grad():
        built.model.get_input_embeddings().weight.fill_(3e38)  # whose squares are beyond the numbers
    broken = bs.load(built, name="broken", store=tmp_path / "store")
    with pytest.raises(bs.errors.StepError, match="1 step failed\n  - tune broken on qaa, pos, seed 0: "):
        broken.tune("pos", train="world:qaa", **SMALL)
    study = bs.Study(name="tiny", encoders=[broken], seeds=[0], tasks={"pos": transfer(baselines=[])})
    with pytest.raises(bs.errors.StepError, match="1 step failed; 2 more have not begun"):
        study.run(tmp_path / "store")


def test_results_go_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert bs.load("world-natural").store.folder == tmp_path / "babelscope-store"
    monkeypatch.setenv("BABELSCOPE_STORE", str(tmp_path / "elsewhere"))
    assert bs.load("world-natural").store.folder == tmp_path / "elsewhere"
    store = Store(tmp_path / "third")
    assert bs.load("world-natural", store=store).store is store
    assert not list(tmp_path.iterdir())


def test_readers_take_names_of_files(tmp_path):
    columns = ["1", "Cats", "cat", "NOUN", "_", "_", "0", "root", "_", "_"]
    (tmp_path / "one.conllu").write_text("\t".join(columns) + "\n\n", encoding="utf-8")
    (sentence,) = bs.corpora.read_conllu(str(tmp_path / "one.conllu"))
    assert sentence.forms == ["Cats"]
    (tmp_path / "one.bio").write_text("Riga\tB-LOC\n\n", encoding="utf-8")
    (tagged,) = bs.corpora.read_bio(str(tmp_path / "one.bio"))
    assert list(tagged.labels) == ["B-LOC"]
    with pytest.raises(bs.errors.DataError, match="cannot be read"):
        bs.corpora.read_conllu(str(tmp_path / "none.conllu"))
