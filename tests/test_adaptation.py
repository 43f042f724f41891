"""Encoders that a study makes of text: a new one, and one that goes on learning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from babelscope.compiler import compile_study
from babelscope.encoders.anatomy import ANATOMY
from babelscope.encoders.load import Encoder, load_encoder, save_encoder, with_mlm_head
from babelscope.engine import run_plan
from babelscope.errors import EncoderError, StudyError
from babelscope.recall import recall
from babelscope.steps import Adapt, Pretrain
from babelscope.store import Store
from babelscope.study import Study
from babelscope.tasks.mlm import HeldOut
from babelscope.trained import FinishedSteps, export
from babelscope.world import World
from command_line import declaration, transfer
from families import DECODERS, FAMILIES, family_model

QUICK = {"learning_rate": 3e-3, "epochs": 4, "tokens_per_batch": 128}


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("text") / "text.txt"
    file.write_text("".join(f"{line}\n" for line in World().text("qab", 150)), encoding="utf-8")
    return f"text:qab:{file}"


@pytest.fixture(scope="module")
def headless(tmp_path_factory, encoder_folder) -> Path:
    encoder = load_encoder(encoder_folder)
    folder = tmp_path_factory.mktemp("headless") / "backbone"
    save_encoder(replace(encoder, model=encoder.backbone), folder)
    assert not load_encoder(folder).has_mlm_head
    return folder


def study(text: str, headless: Path) -> Study:
    shape = {"hidden": 16, "layers": 1, "feed_forward": 16}
    new = {"name": "new", "texts": [text], "vocabulary_size": 300, "shape": shape, "tuning": QUICK}
    further = {"name": "further", "encoder": "new", "texts": [{"language": "qaa", "sentences": 30}], "tuning": QUICK}
    given = {"name": "given-a-head", "encoder": str(headless), "texts": [text], "sentences": 90, "tuning": QUICK}
    return Study.model_validate(declared(headless, [new, further, given]))


def declared(folder: Path, encoders: list[Any], **changes: Any) -> dict[str, Any]:
    tasks = {"pos": transfer(baselines=[])}
    return declaration(folder, encoders=encoders, surgeries=[None], seeds=[0], tasks=tasks, retrieval=None) | changes


@pytest.fixture(scope="module")
def ran(text, headless, tmp_path_factory) -> tuple[Store, dict[str, Any]]:
    plan = compile_study(study(text, headless))
    store = Store(tmp_path_factory.mktemp("store") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    made = {step.name: step for step in plan.steps.values() if isinstance(step, Pretrain | Adapt)}
    return store, made


def perplexity(encoder: Encoder, language: str) -> float:
    return HeldOut.of(encoder.tokenizer, World().text(language, 190)[150:], encoder.max_length).perplexity(
        encoder.model
    )


def test_an_adaptation_teaches_its_text(ran, headless):
    store, made = ran
    encoders = {name: step.build(FinishedSteps(store)) for name, step in made.items()}
    assert perplexity(encoders["further"], "qaa") < 0.9 * perplexity(encoders["new"], "qaa")
    start = with_mlm_head(load_encoder(headless), 0)
    assert perplexity(encoders["given-a-head"], "qab") < 0.9 * perplexity(start, "qab")
    assert encoders["given-a-head"].tokenizer.get_vocab() == start.tokenizer.get_vocab()


def test_its_rows_are_the_curve_of_its_loss(ran):
    store, made = ran
    rows = store.rows(made["further"].key)
    assert {(row.measure, row.encoder, row.task) for row in rows} == {("loss", "further", "mlm")}


def test_it_is_recalled_and_exported_by_its_key(ran, tmp_path):
    store, made = ran
    assert recall(store, made["further"].key) == made["further"]
    assert export(store, made["further"].key, tmp_path / "out") == f"encoder: {tmp_path / 'out'}"
    assert load_encoder(tmp_path / "out").has_mlm_head


def test_every_missing_text_and_encoder_is_reported_at_once(text, headless):
    encoders = [
        {"name": "one", "texts": [text + "x", "world:qaa"], "tuning": QUICK},
        {"name": "two", "encoder": "nowhere/at/all", "texts": ["glue:RTE"], "tuning": QUICK},
    ]
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declared(headless, encoders)))
    first, second, third, fourth = caught.value.faults
    assert first.startswith("encoders.0.texts.0: text:qab:") and "there is no file" in first
    assert (
        second == "encoders.0.texts.1: world:qaa: spell text of the world out, such as {language: qaa, sentences: 9000}"
    )
    assert third.startswith("encoders.1.texts.0: 'glue:RTE' is no data of mlm")
    assert fourth.startswith("encoders.1.encoder: nowhere/at/all: no such folder")


def test_layers_of_schedules_are_counted_through_an_adaptation(text, headless):
    further = {"name": "further", "encoder": str(headless), "texts": [text], "tuning": QUICK}
    with pytest.raises(StudyError, match=r"schedules\.0: .*freeze:3"):
        compile_study(Study.model_validate(declared(headless, [further], schedules=["freeze:3"])))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in DECODERS])
def test_a_head_is_added_and_nothing_else(family, tokenizer):
    backbone = family_model(family, vocabulary=len(tokenizer)).base_model
    before = {name: weight.clone() for name, weight in backbone.state_dict().items()}
    first, again = (with_mlm_head(Encoder(backbone, tokenizer, family), 5) for _ in range(2))
    other = with_mlm_head(Encoder(backbone, tokenizer, family), 6)
    assert first.has_mlm_head
    for name, weight in first.backbone.state_dict().items():
        assert torch.equal(weight, before[name]), name
    weights, same, others = (dict(one.model.named_parameters()) for one in (first, again, other))
    assert all(torch.equal(weight, same[name]) for name, weight in weights.items())
    assert any(not torch.equal(weight, others[name]) for name, weight in weights.items())
    table = first.backbone.get_submodule(ANATOMY[family].word_embeddings).weight
    assert first.model.get_output_embeddings().weight is table
    assert with_mlm_head(first, 7) is first


def test_a_decoder_has_no_such_head(tokenizer):
    backbone = family_model("gpt2", vocabulary=len(tokenizer))
    with pytest.raises(EncoderError, match="reads from left to right"):
        with_mlm_head(Encoder(backbone.base_model, tokenizer, "gpt2"), 0)
