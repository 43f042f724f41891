"""Verbs of the command line on a small study, from end to end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from babelscope.core.row import COLUMNS
from babelscope.engine.store import Store
from babelscope.studies import STUDIES
from command_line import SOON, babelscope, declaration, start, transfer, write_study
from rows_file import read_rows

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def study(tmp_path_factory, encoder_folder) -> Path:
    return write_study(tmp_path_factory.mktemp("study") / "tiny.yaml", declaration(encoder_folder))


@pytest.fixture(scope="module")
def store(tmp_path_factory, study, in_process) -> Path:
    """A store that holds the whole study, from a run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("calm") / "store"
    answer = babelscope("run", study, "--store", folder, "--jobs", 1)
    assert answer.status == 0, answer.errors
    assert answer.output.startswith("tiny: 17 steps computed, 0 cached, 0 failed, 0 blocked")
    assert len(re.findall(r"^\[\d+/17\] .*: [\d.]+ s$", answer.errors, re.MULTILINE)) == 17
    return folder


def test_a_second_run_computes_nothing(study, store):
    answer = babelscope("run", study, "--store", store)
    assert (answer.status, answer.errors) == (0, "")
    assert answer.output.startswith("tiny: 0 steps computed, 17 cached, 0 failed, 0 blocked")


def test_a_run_goes_on_after_ctrl_c_and_after_kill_9(study, store, tmp_path):
    """Interrupted, then killed, each time with some steps done, and run again: the same bytes as in a calm run."""
    restless, done = tmp_path / "store", []
    for number, status in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        with start("run", study, "--store", restless, "--jobs", 1) as process:
            assert process.stderr is not None
            assert re.match(r"\[1/\d+\] ", process.stderr.readline())
            os.killpg(process.pid, number)
            _, errors = process.communicate(timeout=SOON)
            assert process.returncode == status
        done.append(sum(1 for _ in (restless / "results").glob("*/*")))
        if number == signal.SIGINT:
            assert errors.endswith("interrupted; run the same command again to go on\n")
    assert 0 < done[0] < done[1] < 17
    assert babelscope("run", study, "--store", restless).output.startswith(f"tiny: {17 - done[1]} steps computed")
    files = [tmp_path / "calm.csv", tmp_path / "restless.csv"]
    for file, folder in zip(files, (store, restless), strict=True):
        assert babelscope("rows", study, "--store", folder, "-o", file).status == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_rows_as_csv_and_parquet_are_the_same(study, store, tmp_path):
    for name in ("rows.csv", "rows.parquet"):
        answer = babelscope("rows", study, "--store", store, "-o", tmp_path / name)
        assert re.fullmatch(r"\d+ rows in .*\n", answer.output)
    csv, parquet = read_rows(tmp_path / "rows.csv"), pd.read_parquet(tmp_path / "rows.parquet")
    assert tuple(csv.columns) == tuple(parquet.columns) == COLUMNS
    assert csv["value"].tolist() == parquet["value"].tolist()
    tested = csv[(csv["measure"] == "accuracy") & (csv["split"] == "test")]
    # Two surgeries by two seeds by two languages, and a baseline in each language.
    assert len(tested) == 10 and tested["value"].between(0, 1).all()
    assert set(csv["study"]) == {"tiny"} and csv["key"].nunique() == 17


def test_rows_of_a_split_and_a_line_a_model(study, store, tmp_path):
    answer = babelscope("rows", study, "--store", store, "--split", "test", "-o", tmp_path / "test.csv")
    assert answer.status == 0 and set(pd.read_csv(tmp_path / "test.csv")["split"]) == {"test"}
    wide = ("--split", "test", "--wide", "language", "-o", tmp_path / "wide.csv")
    answer = babelscope("rows", study, "--store", store, *wide)
    assert re.fullmatch(r"\d+ lines in .*\n", answer.output), answer.errors
    table = pd.read_csv(tmp_path / "wide.csv")
    accuracies = table[table["measure"] == "accuracy"]
    # Two surgeries by two seeds, and a baseline.
    assert len(accuracies) == 5 and accuracies[["qaa", "qab"]].notna().all(axis=None)
    wrong = (
        (("--split", "tset"), "there are dev, test, train"), (("--wide", "seed"), "'seed' is not one of"),
        (("--wide",), "'-o' is not one of"),
    )  # fmt: skip
    for option, problem in wrong:
        answer = babelscope("rows", study, "--store", store, *option, "-o", tmp_path / "x.csv")
        assert answer.status == 2 and problem in answer.errors


def test_a_report_for_a_paper_is_a_folder(study, store, tmp_path):
    answer = babelscope("report", study, "--store", store, "-o", f"{tmp_path / 'paper'}/")
    assert answer.status == 0, answer.errors
    text = (tmp_path / "paper" / "methods.tex").read_text(encoding="utf-8")
    assert "with the seeds 0 and 1." in text and "torch" in text and "learning rate 0.001" in text


def test_a_report_says_what_was_declared(study, store, tmp_path):
    answer = babelscope("report", study, "--store", store, "-o", tmp_path / "report.html")
    assert answer.status == 0, answer.errors
    assert str(tmp_path / "report.html") in answer.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Does anything carry over?" in page and "learning_rate: 0.001" in page


def test_a_report_knows_which_surgeries_draw_all_weights_anew(store, tmp_path, encoder_folder, monkeypatch):
    surgeries = [None, {"name": "reinit", "operations": ["reverse"]}, {"name": "clean", "operations": ["reinit"]}]
    study = write_study(tmp_path / "tiny.yaml", declaration(encoder_folder, surgeries=surgeries))
    written = []
    monkeypatch.setattr("babelscope.report.write_report", lambda report, path: written.append(report) or [path])
    answer = babelscope("report", study, "--store", store, "-o", tmp_path / "report.html")
    assert answer.status == 0, answer.errors
    assert written[0].rows and list(written[0].untrained) == ["clean"]


def test_a_report_says_when_it_was_computed(study, store):
    from babelscope.engine.progress import provenance
    from babelscope.study.compile import compile_study
    from babelscope.study.declare import load_study

    plan = compile_study(load_study(study))
    manifests = [Store(store).manifest(key) for key in plan.steps]
    told = provenance(plan, Store(store))
    assert pd.Timestamp(told["last step finished"]) == max(pd.Timestamp(m["finished"]) for m in manifests).floor("s")
    starts = [pd.Timestamp(manifest["finished"]) - pd.Timedelta(manifest["seconds"], "s") for manifest in manifests]
    assert pd.Timestamp(told["first step started"]) == min(starts).floor("s")
    assert told["seconds of computing, all steps together"] == round(sum(m["seconds"] for m in manifests), 1)
    empty = provenance(plan, Store(store.parent / "none"))
    assert empty["first step started"] == empty["last step finished"] == "nothing yet"


def test_status_and_plan_tell_done_from_pending(study, store, tmp_path):
    kinds = {"Retrieve": 3, "Baseline": 2, "Tune": 4, "Evaluate": 8}
    status = babelscope("status", study, "--store", store).output.splitlines()
    assert status[0].split() == ["step", "done", "running", "pending", "failed"]
    assert [line.split() for line in status[1:]] == [[k, str(n), "0", "0", "0"] for k, n in kinds.items()]
    watched = babelscope("status", study, "--store", store, "--watch").output
    assert [line.split() for line in watched.splitlines()] == [line.split() for line in status]

    here = babelscope("plan", study, "--store", store).output
    planned = [line.split() for line in here.splitlines()[1:5]]
    assert [line[:6] for line in planned] == [[k, "cpu", str(n), "0", "0", "s"] for k, n in kinds.items()]
    assert ["little" in line for line in planned] == [True, True, False, True]
    changed = babelscope("plan", study, "--store", store, "--with", "seeds=[0, 5]").output
    assert re.search(r"^Tune +cpu +2 +2 +\d+ s\b", changed, re.MULTILINE)
    elsewhere = babelscope("plan", study, "--store", tmp_path / "new")
    assert elsewhere.output.endswith(f"17 steps, 0 cached, in {tmp_path / 'new'}\n")
    assert not (tmp_path / "new").exists()


def test_status_of_all_built_in_studies(tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    answer = babelscope("status", "--store", tmp_path / "store")
    assert answer.status == 0
    assert {line.split()[0] for line in answer.output.splitlines()} == {"study", *STUDIES}


def test_export_copies_an_encoder_out_of_the_store(encoder_folder, tmp_path):
    pretraining = {
        "name": "fresh", "texts": [{"language": "qaa", "sentences": 20}], "vocabulary_size": 200,
        "shape": {"layers": 1, "hidden": 16, "feed_forward": 16}, "tuning": {"steps": 2},
    }  # fmt: skip
    declared = declaration(
        encoder_folder, encoders=[pretraining], surgeries=[None], seeds=[0], tasks={"pos": transfer(baselines=[])}
    )
    path, store = write_study(tmp_path / "study.yaml", declared), tmp_path / "store"
    assert babelscope("run", path, "--store", store, "--jobs", 1).status == 0
    keys = {name: key for key in _keys(store) for name in [Store(store).manifest(key)["step"]]}
    answer = babelscope("export", keys["Pretrain"][:12], "-o", tmp_path / "fresh", "--store", store)
    assert answer.status == 0
    config = json.loads((tmp_path / "fresh" / "config.json").read_text(encoding="utf-8"))
    assert (config["hidden_size"], config["num_hidden_layers"]) == (16, 1)
    for key, problem in (
        (keys["Pretrain"], "already there"),
        ("ff00", "no results"),
        ("*", "'*' is neither a folder nor the key of a result: 4 to 64 of the digits"),
        (f"{keys['Pretrain'][:2]}/../*", "neither a folder nor the key of a result"),
        ("abc", "neither a folder nor the key of a result"),
        ("", "neither a folder nor the key of a result"),
    ):
        refused = babelscope("export", key, "-o", tmp_path / "fresh", "--store", store)
        assert refused.status == 2 and problem in refused.errors
    refused = babelscope("export", encoder_folder, "-o", tmp_path / "other", "--store", store)
    assert refused.status == 2 and f"{encoder_folder}: is a folder; give the key of a result" in refused.errors


def _keys(store: Path) -> list[str]:
    return [path.name for path in (store / "results").glob("*/*")]


# What is wrong


def test_a_store_that_cannot_be_used_is_exit_status_2(study, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "thesis.tex").touch()
    for verb in ("run", "status", "plan"):
        answer = babelscope(verb, study, "--store", tmp_path / "store")
        assert answer.status == 2 and "neither empty nor a store" in answer.errors


def test_rows_and_reports_need_a_result(study, tmp_path):
    for verb in ("rows", "report"):
        answer = babelscope(verb, study, "--store", tmp_path / "store", "-o", tmp_path / "x.html")
        assert answer.status == 2 and "there is no such store yet: run the study first" in answer.errors
    assert not (tmp_path / "x.html").exists()


def test_results_with_other_parameters_are_hinted_at(study, store, tmp_path):
    others = ("--with", "encoders=[world-natural]", "--with", "world_seed=7")
    answer = babelscope("rows", study, "--store", store, *others, "-o", tmp_path / "x.csv")
    assert answer.status == 2 and "no results of tiny for these parameters: run it first" in answer.errors
    assert "--with scale=small" not in answer.errors  # which a file does not have
    answer = babelscope("rows", "first-look", "--store", store, "-o", tmp_path / "x.csv")
    assert answer.status == 2 and "such as --with scale=small" in answer.errors


def test_one_study_is_watched(store):
    answer = babelscope("status", "--watch", "--store", store)
    assert answer.status == 2 and "--watch: is of one study, and none is named here" in answer.errors


def test_letters_that_a_terminal_has_not_are_no_error(encoder_folder, tmp_path):
    path = write_study(tmp_path / "s.yaml", declaration(encoder_folder, seeds=[0]))
    code = "from babelscope.face.cli import main; main()"
    command = [sys.executable, "-c", code, "plan", str(path), "--store", str(tmp_path / "ж")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SOON)
    assert answer.returncode == 0 and r"\u0436" in answer.stdout and not answer.stderr


@pytest.mark.parametrize("name", ["rows.xlsx", "rows", "file/rows.csv"])
def test_a_file_that_rows_cannot_be_written_to_is_refused(study, store, tmp_path, name):
    (tmp_path / "file").touch()
    answer = babelscope("rows", study, "--store", store, "-o", tmp_path / name)
    assert answer.status == 2 and name in answer.errors


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["--help"], ["list"], ["list", "encoders"], ["status", "STUDY"], ["plan", "STUDY"], ["run", "STUDY"],
        ["rows", "STUDY", "-o", "rows.csv"], ["report", "STUDY", "-o", "report.html"],
        ["report", "STUDY", "-o", "paper"],
    ],
    ids=lambda arguments: arguments[0] if arguments else "import",
)  # fmt: skip
def test_no_torch_is_loaded_where_nothing_is_computed(study, store, tmp_path, arguments):
    code = "import babelscope, sys\n"
    if arguments:
        code += "from babelscope.face.cli import main\n"
        code += "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
    code += "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    given = [str(study) if argument == "STUDY" else argument for argument in arguments]
    command = [sys.executable, "-c", code, *given, *(["--store", str(store)] if "STUDY" in arguments else [])]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SOON)
    assert answer.returncode == 0, answer.stderr


def test_what_status_does_not_need_is_not_loaded(tmp_path):
    """A study is looked at often, and these take longer to load than a thousand steps to plan."""
    study = write_study(tmp_path / "study.yaml", declaration("world-natural"))
    code = "from babelscope.face.cli import main\ntry: main()\nexcept SystemExit as end: assert not end.code\n"
    code += "import sys; print({'numpy', 'langcodes', 'rich.progress'} & sys.modules.keys(), file=sys.stderr)"
    command = [sys.executable, "-c", code, "status", str(study), "--store", str(tmp_path / "store")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=SOON)
    assert (answer.returncode, answer.stderr) == (0, f"note: {tmp_path}/store: there is no such store yet\nset()\n")


def test_what_is_computed_again_counts_among_what_is_to_do(tmp_path, study, store) -> None:
    """It had been counted as done: `[1/0]`."""
    damaged = shutil.copytree(store, tmp_path / "store")
    next(damaged.glob("results/*/*/sentences.json")).with_name("rows.jsonl").write_text("")
    answer = babelscope("run", study, "--store", damaged, "--jobs", 1)
    assert "computing again" in answer.errors and re.findall(r"^\[.*?\]", answer.errors, re.MULTILINE) == ["[1/1]"]
