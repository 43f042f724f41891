"""Exported models of encoders that languages were brought into, whatever was done to these afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from transformers import AutoTokenizer

from babelscope.encoders.load import load_encoder
from babelscope.engine.brought_in import RECORD
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps, export
from babelscope.steps import Evaluate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.export import load_model
from babelscope.world import World
from command_line import babelscope, declaration, transfer

pytestmark = pytest.mark.usefixtures("in_process")

WORLD = {"qab": [{"languages": ["qaa", "qab"], "sentences": 60}]}
QAE = [{"languages": ["qaa", "qae"], "sentences": 60}]
SENTENCES = [line.split() for line in World().text("qab", 12)]


class Ran(NamedTuple):
    store: Store
    steps: list[Any]
    names: dict[str, str]
    """How rows call what the tests name."""

    def evaluation(self, encoder: str, trained: str = "qaa", **labels: str | None) -> Evaluate:
        """In qab, of a tagger without surgery, unless it is said otherwise."""
        wanted = {"encoder": self.names.get(encoder, encoder), "train_languages": trained}
        wanted |= {"task": "pos", "language": "qab", "surgery": None} | labels
        evaluations = [step for step in self.steps if isinstance(step, Evaluate)]
        (step,) = (step for step in evaluations if {name: step.labels.get(name) for name in wanted} == wanted)
        return step

    def exported(self, step: Tune | Evaluate, folder: Path) -> tuple[Any, dict[str, Any]]:
        """The model of a folder, and what it says of languages that were brought in."""
        export(self.store, step.key, folder)
        record = folder / RECORD
        return load_model(folder), json.loads(record.read_text()) if record.is_file() else {}


@pytest.fixture(scope="module")
def brought(encoder_folder, tmp_path_factory) -> Path:
    """The folder of an encoder that reads qab, too, as the command makes it."""
    folder = tmp_path_factory.mktemp("encoders")
    pairs = World().parallel_text("qaa", "qab", 60)
    (folder / "pairs.tsv").write_text("".join(f"{first}\t{other}\n" for first, other in pairs), encoding="utf-8")
    answer = babelscope(
        "bring-in", encoder_folder, "--language", "qab", "--source", "qaa", "--parallel", folder / "pairs.tsv",
        "-o", folder / "brought",
    )  # fmt: skip
    assert answer.status == 0, answer.errors
    return folder / "brought"


@pytest.fixture(scope="module")
def ran(encoder_folder, brought, tmp_path_factory) -> Ran:
    tuning = {"learning_rate": 1e-3, "steps": 6, "tokens_per_batch": 128}
    encoders = [
        str(brought),
        {"name": "twice", "encoder": str(brought), "languages": {"qae": QAE}},
        {"name": "made", "encoder": str(encoder_folder), "languages": WORLD},
        {"name": "adapted", "encoder": "made", "texts": [{"language": "qab", "sentences": 30}], "tuning": tuning},
    ]  # fmt: skip
    tasks = {
        "pos": transfer(baselines=[], evaluate=["world:qaa", "world:qab"], tuning=tuning),
        "itself": transfer(
            baselines=[], task="pos", train=["world:qab"], evaluate=["world:qab"], tuning=tuning, encoders=["made"]
        ),
        "mlm": transfer(baselines=[], evaluate=["world:qab"], tuning=tuning, encoders=["made"]),
    }
    surgeries = [None, {"name": "reversed", "operations": ["reverse"], "encoders": ["made"]}]
    plan = compile_study(
        Study.model_validate(
            declaration(encoder_folder, encoders=encoders, surgeries=surgeries, seeds=[0], tasks=tasks, retrieval=None)
        )
    )
    store = Store(tmp_path_factory.mktemp("store") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    return Ran(store, list(plan.steps.values()), {"folder": "/".join(brought.parts[-2:])})


@pytest.mark.parametrize(
    ("encoder", "trained", "surgery"),
    [
        ("folder", "qaa", None), ("twice", "qaa", None), ("made", "qaa", None), ("adapted", "qaa", None),
        ("made", "qaa", "reversed"), ("made", "qab", None),
    ],
)  # fmt: skip
def test_a_model_reads_what_it_was_evaluated_in(encoder, trained, surgery, ran, encoder_folder, tmp_path):
    step = ran.evaluation(encoder, trained, surgery=surgery)
    model, record = ran.exported(step, tmp_path / "out")
    stored = step.built(FinishedSteps(ran.store))
    for language in ("qab", "qac"):
        reading, expected = model.reading(language), stored.reading(language)
        assert reading.module.predict(SENTENCES) == expected.module.predict(SENTENCES)
        assert reading.encoder.tokenizer.get_vocab() == expected.encoder.tokenizer.get_vocab()
    first = AutoTokenizer.from_pretrained(tmp_path / "out").get_vocab()
    assert first == stored.reading("qab").encoder.tokenizer.get_vocab(), "by transformers"
    assert set(model.languages) == {"qaa", "qab"} | ({"qae"} if encoder == "twice" else set())
    assert model.languages["qaa"].get_vocab() == load_encoder(encoder_folder).tokenizer.get_vocab()
    assert (record["language"], record["source"], record["pairs"]) == ("qab", "qaa", 60)
    read = "pairs.tsv" if encoder in ("folder", "twice") else "qaa and qab of the artificial world"
    assert record["parallel"][0]["text"].endswith(read)
    assert [earlier["language"] for earlier in record["earlier"]] == (["qae"] if encoder == "twice" else [])
    assert read in (tmp_path / "out" / "README.md").read_text()


def test_a_model_that_is_scored_in_its_source_reads_that(ran, encoder_folder, tmp_path):
    model, record = ran.exported(ran.evaluation("made", language="qaa"), tmp_path / "out")
    assert list(model.languages) == ["qab"] and not record
    assert "qaa and qab of the artificial world" in (tmp_path / "out" / "README.md").read_text(), "whose sentences"
    assert model.encoder.tokenizer.get_vocab() == load_encoder(encoder_folder).tokenizer.get_vocab()


def test_a_masked_language_model_is_an_encoder_that_reads_the_source_first(ran, encoder_folder, tmp_path):
    step = ran.evaluation("made", task="mlm")
    export(ran.store, step.key, tmp_path / "out")
    encoder = load_encoder(tmp_path / "out")
    assert list(encoder.languages) == ["qab"]
    assert encoder.tokenizer.get_vocab() == load_encoder(encoder_folder).tokenizer.get_vocab()
    assert json.loads((tmp_path / "out" / RECORD).read_text())["source"] == "qaa"
