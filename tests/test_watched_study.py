"""A study with schedules, probes and projections from end to end, through the command line."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import signal
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest

from babelscope.core.row import Row
from babelscope.engine.forecast import expected_bytes
from babelscope.engine.progress import sentence_outcomes
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.measures.probing import ScoreReference
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from command_line import SOON, babelscope, write_study
from toy_runs import execute

STUDY = {
    "name": "watched",
    "encoders": ["world-natural"],
    "references": ["world-switched"],
    "schedules": ["freeze:4", "gradual:groups=2"],
    "tasks": {
        "mlm": {
            "train": ["world:qag"],
            "evaluate": ["world:qag", "world:qaa"],
            "sizes": {"train": 80, "dev": 10, "test": 10},
            "tuning": {"epochs": 2, "tokens_per_batch": 128},
            "probes": {
                "every": 5,
                "perplexity": {"target": ["world:qag"], "control": ["world:qaa", "world:qab"]},
                "distance": {"words": ["world:qag"]},
                "sentences": 8,
            },
        },
        "pos": {
            "train": ["world:qaa"],
            "evaluate": ["world:qab"],
            "sizes": {"train": 60, "dev": 10, "test": 10},
            "tuning": {"epochs": 2},
            "probes": {"scores": ["world:qab"], "sentences": 10},
        },
    },
    "seeds": [0],
    "projection": {"source": "qaa", "targets": ["qab"], "sentences": 6, "pairs": 12, "library": "scikit-learn"},
}


pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    return write_study(tmp_path_factory.mktemp("watched") / "watched.yaml", STUDY)


@pytest.fixture(scope="module")
def store(tmp_path_factory, study, in_process) -> Path:
    folder = tmp_path_factory.mktemp("store") / "store"
    answer = babelscope("run", study, "--store", folder, "--jobs", 1)
    assert answer.status == 0, answer.errors
    return folder


@pytest.fixture(scope="module")
def rows(study, store, tmp_path_factory) -> pd.DataFrame:
    file = tmp_path_factory.mktemp("rows") / "rows.csv"
    assert babelscope("rows", study, "--store", store, "-o", file).status == 0
    return pd.read_csv(file)


def test_probes_are_rows_of_every_schedule(rows):
    probed = rows[rows["split"] == "probe"]
    tuned = probed[(probed["task"] == "mlm") & (probed["measure"] == "perplexity")]
    assert set(tuned["schedule"]) == {"freeze:4", "gradual:groups=2"} and {0, 5} < set(tuned["step"])
    assert set(tuned["dataset"]) == {"target", "control"} and set(tuned["language"]) == {"qag", "qaa+qab"}
    reference = probed[probed["encoder"] == "world-switched"]
    assert set(reference["measure"]) == {"perplexity"} and set(reference["step"]) == {0}
    assert {"accuracy"} <= set(probed[probed["task"] == "pos"]["measure"])


def test_perplexities_are_made_of_the_losses_kept_of_every_sentence(study, store):
    kept, steps = Store(store), compile_study(load_study(study)).steps
    scored = {key: step for key, step in steps.items() if isinstance(step, Evaluate | ScoreReference)}
    rows_of = {key: kept.rows(key) for key in scored if kept.rows(key)[0].task == "mlm"}
    assert {type(scored[key]) for key in rows_of} == {Evaluate, ScoreReference}
    for key, (row,) in rows_of.items():
        losses, tokens = sentence_outcomes(kept)(key)["perplexity"]
        step = scored[key]
        assert len(losses) == len(tokens) == len(step.data.read()) == 10
        assert sum(losses) / sum(tokens) == pytest.approx(math.log(row.value), abs=1e-6)


def test_layers_move_when_they_are_unfrozen(rows):
    moved = rows[(rows["measure"] == "distance to start") & (rows["schedule"] == "gradual:groups=2")]
    low = moved[moved["layer"] == 2].set_index("step")["value"]
    high = moved[moved["layer"] == 6].set_index("step")["value"]
    boundary = max(low.index) / 2
    assert (low[low.index <= boundary] == 0).all() and low[max(low.index)] > 0
    assert (high[high.index > 0] > 0).all()


def test_a_killed_training_keeps_its_probes_and_ends_the_same(study, store, tmp_path):
    restless = Store(tmp_path / "store")
    restless.prepare()
    steps = compile_study(load_study(study)).steps.values()
    step = next(step for step in steps if isinstance(step, Tune) and step.task.name == "mlm")
    train_and_be_killed(step, restless, writes=4)
    assert "probe" in {row.split for row in restless.rows_so_far(step.key)}
    unfinished = tmp_path / "unfinished.csv"
    assert babelscope("rows", study, "--store", restless.folder, "-o", unfinished).status == 0
    assert "probe" in set(pd.read_csv(unfinished)["split"])
    readers = [reader for reader in steps if isinstance(reader, Evaluate) and reader.model == step]
    assert readers and not run_plan(Plan.of(readers), restless).failed
    for each in (step, *readers):
        assert restless.rows(each.key) == Store(store).rows(each.key)


def train_and_be_killed(step: Tune, store: Store, writes: int) -> None:
    """Train in a process that is killed as soon as it has written to the journal so many times."""
    process = multiprocessing.get_context("forkserver").Process(target=_train, args=(step, store.folder, writes))
    process.start()
    process.join(SOON)
    assert process.exitcode == -signal.SIGKILL


def _train(step: Tune, folder: Path, writes: int) -> None:
    add_rows, count = Store.add_rows, itertools.count(1)

    def last_of(store: Store, key: str, rows: Iterable[Row]) -> None:
        add_rows(store, key, rows)
        if next(count) == writes:
            os.kill(os.getpid(), signal.SIGKILL)

    Store.add_rows = last_of
    execute(step, Store(folder))


def test_the_report_and_the_pictures(study, store, tmp_path):
    page = tmp_path / "report.html"
    assert babelscope("report", study, "--store", store, "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    for title in ("While training", "Where the curves cross", "Words in the plane", "Distance to start, by layer"):
        assert title in text
    answer = babelscope("report", study, "--store", store, "-o", tmp_path / "words.gif")
    assert answer.status == 0 and (tmp_path / "words.gif").read_bytes()[:4] == b"GIF8"
    assert len(list((tmp_path / "words").glob("layer-*.png"))) == 7


def test_schedules_are_held_against_the_encoders_before_anything_runs(tmp_path):
    file = write_study(tmp_path / "deep.yaml", STUDY | {"schedules": ["freeze:7"]})
    answer = babelscope("run", file, "--store", tmp_path / "store")
    assert answer.status == 2 and "the encoder has 6" in answer.errors
    assert not Store(tmp_path / "store").folder.exists()


def test_the_plan_says_about_how_much_will_be_stored(study, store):
    plan = compile_study(load_study(study))
    tunings = [key for key, step in plan.steps.items() if isinstance(step, Tune)]
    stored = sum(
        file.stat().st_size
        for key in tunings
        for file in (store / "results" / key[:2] / key).rglob("*")
        if file.is_file()
    )
    expected = expected_bytes(plan)["Tune"]
    assert expected is not None and 0.6 < expected / stored < 1.6
    answer = babelscope("plan", study, "--store", store)
    assert f"{expected / 1e6:,.1f} MB" in answer.output
