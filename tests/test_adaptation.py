"""Encoders that a study makes of text: a new one, and one that goes on learning."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from babelscope.core.errors import DataError, EncoderError, StudyError
from babelscope.corpora.parallel import WorldPairs, find_pairs
from babelscope.encoders.anatomy import ANATOMY
from babelscope.encoders.load import Encoder, load_encoder, save_encoder, with_mlm_head
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps, export
from babelscope.face.notes import notes
from babelscope.steps import Adapt, Load, Pretrain
from babelscope.steps.duration import duration_of
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.study.encoders import Adaptation
from babelscope.tasks.mlm import HeldOut
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
def ran(text, headless, tmp_path_factory, in_process) -> tuple[Store, dict[str, Any]]:
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


# New pieces, and pairs of parallel lines


@pytest.fixture(scope="module")
def extended(text, headless, tmp_path_factory, in_process) -> tuple[Store, Adapt]:
    georgian = tmp_path_factory.mktemp("text") / "georgian.txt"
    georgian.write_text("კატა ხედავს ჩიტს\nჩიტი ხედავს კატას\n" * 10, encoding="utf-8")
    given = {
        "name": "extended", "encoder": str(headless), "texts": [f"text:ka:{georgian}"], "new_pieces": 30,
        "parallel": [{"languages": ["qaa", "qab"], "sentences": 60}], "tuning": QUICK,
    }  # fmt: skip
    plan = compile_study(Study.model_validate(declared(headless, [given])))
    store = Store(tmp_path_factory.mktemp("store") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    (step,) = (step for step in plan.steps.values() if isinstance(step, Adapt))
    return store, step


def test_an_extended_encoder_reads_what_it_could_not(extended, headless):
    store, step = extended
    before, after = load_encoder(headless), step.build(FinishedSteps(store))
    assert after.has_mlm_head and after.max_length == before.max_length
    old = before.tokenizer.get_vocab()
    assert {piece: after.tokenizer.get_vocab()[piece] for piece in old} == old
    assert len(after.tokenizer) == len(old) + 30 == after.model.config.vocab_size
    line = "კატა ხედავს ჩიტს"
    assert after.tokenizer.unk_token_id not in after.tokenizer(line)["input_ids"]
    assert before.tokenizer.unk_token_id in before.tokenizer(line)["input_ids"]
    assert HeldOut.of(after.tokenizer, [line] * 5, 30).perplexity(after.model) < 0.9 * len(after.tokenizer)


def test_it_is_recalled_with_its_options(extended):
    store, step = extended
    assert recall(store, step.key) == step
    assert (step.new_pieces, step.parallel) == (30, (WorldPairs(languages=("qaa", "qab"), sentences=60),))


def test_without_the_options_keys_are_as_before_there_were_any():
    given = {
        "name": "a", "encoder": Load(name="e", content="c", place="p"), "texts": (), "masking": 0.15, "seed": 0,
        "tuning": {"learning_rate": 1e-3, "epochs": 1},
    }  # fmt: skip
    pairs = WorldPairs(languages=("qaa", "qab"), sentences=60)
    key, *others = (Adapt(**given, **more).key for more in ({}, {"new_pieces": 5}, {"parallel": (pairs,)}))
    assert key == "bce3c2dc9a2383ffc07a3cb6661065e2eb66fc3ed55b5855491e1fde9894dc61"
    assert len({key, *others}) == 3


def test_something_must_be_read():
    with pytest.raises(ValueError, match="nothing to read: give texts, parallel, or both"):
        Adaptation(name="a", encoder="b", tuning=QUICK)


def written(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return f"text:{name}:{folder / name}"


def test_lines_are_paired_by_number_and_in_full(tmp_path):
    first = written(tmp_path, "en", [f"line {number}" for number in range(20)])
    second = written(tmp_path, "nl", ["" if number in (3, 9) else f" regel {number} " for number in range(20)])
    pairs = find_pairs(first, second).read()
    assert pairs == [(f"line {number}", f"regel {number}") for number in range(20) if number not in (3, 9)]
    assert find_pairs(first, second, 4).read() == pairs[:4]
    found = find_pairs(first, second)
    written(tmp_path, "nl", ["other"] * 20)
    with pytest.raises(DataError, match="has changed since the study was planned"):
        found.read()


def test_texts_that_are_not_parallel_are_refused_before_anything_is_computed(headless, tmp_path):
    first, second = written(tmp_path, "en", ["a"] * 20), written(tmp_path, "nl", ["b"] * 19)
    empty = written(tmp_path, "no", [""] * 20)
    parallel = [[first, second], [first, empty], ["UD_English-PUD", first], [first, first + "x"]]
    given = {"name": "a", "encoder": str(headless), "parallel": parallel, "tuning": QUICK}
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declared(headless, [given])))
    lengths, nothing, treebank, absent = caught.value.faults
    assert lengths.startswith("encoders.0.parallel.0: text:en:") and "has 20 lines and text:nl:" in lengths
    assert "has 19; parallel texts have equally many" in lengths
    assert nothing.startswith("encoders.0.parallel.1: ") and "have no line with text in both" in nothing
    assert treebank.startswith("encoders.0.parallel.2: 'UD_English-PUD' is no text whose lines can be paired")
    assert absent.startswith("encoders.0.parallel.3: ") and "there is no file" in absent


def test_a_text_with_its_translation_is_named_once(headless, tmp_path):
    table = tmp_path / "table.tsv"
    table.write_text("one\teins\ntwo\t\none\teins\nthree\tdrei\n", encoding="utf-8")
    name = f"tsv:de:{table}"
    given = {"name": "a", "encoder": str(headless), "parallel": [name, f"{name}:lines-1-1"], "tuning": QUICK}
    plan = compile_study(Study.model_validate(declared(headless, [given])))
    (step,) = (step for step in plan.steps.values() if isinstance(step, Adapt))
    assert [text.read() for text in step.parallel] == [[("one", "eins"), ("three", "drei")], [("one", "eins")]]
    assert Adapt.model_validate(step.model_dump() | {"encoder": step.encoder}).parallel == step.parallel
    assert notes([step]) == [f"{name}: 2 pairs; left out: 1 without text on a side, 1 repeated"]
    assert duration_of(step).examples == 3

    tasks = {"mlm": transfer(train=[f"text:de:{table}"], evaluate=[f"text:de:{table}"], baselines=[])}
    faulty = given | {"parallel": ["tico:xx", f"{name}:lines-3-5", "text:de:x"]}
    for study, faults in (
        (
            declared(headless, [given], tasks=tasks),
            [r"tasks\.mlm\.evaluate\.0: text:de:.* is read, in full or in part"],
        ),
        (
            declared(headless, [faulty]),
            [
                r"encoders\.0\.parallel\.0: tico:xx: there is no language 'xx'; there are am, ar",
                r"encoders\.0\.parallel\.1: tsv:de:.* has the lines 1 to 4",
                r"encoders\.0\.parallel\.2: 'text:de:x' is no text in two languages; such are named ntrex:CODE",
            ],
        ),
    ):
        with pytest.raises(StudyError) as caught:
            compile_study(Study.model_validate(study))
        assert len(caught.value.faults) == len(faults)
        assert all(re.match(fault, told) for fault, told in zip(faults, caught.value.faults, strict=True))


def test_nothing_is_scored_on_pairs_that_were_read(headless, tmp_path):
    first, second = written(tmp_path, "en", ["a"] * 20), written(tmp_path, "nl", ["b"] * 20)
    given = {"name": "a", "encoder": str(headless), "parallel": [[first, second]], "tuning": QUICK}
    further = {"name": "b", "encoder": "a", "texts": [first], "tuning": QUICK}
    tasks = {"mlm": transfer(train=[first], evaluate=[second], baselines=[])}
    with pytest.raises(StudyError, match=r"tasks\.mlm\.evaluate\.0: text:nl:.* is read, in full .*parallel"):
        compile_study(Study.model_validate(declared(headless, [given, further], tasks=tasks)))


def test_several_artificial_worlds_are_told_of(encoder_folder):
    """Their languages have no words in common, so that nothing would carry over from one to the other."""

    def said(**changes: Any) -> list[str]:
        given = declaration(encoder_folder, surgeries=[None], retrieval=None, **changes)
        told = notes(compile_study(Study.model_validate(given)).steps.values())
        return [note for note in told if note.startswith("artificial worlds of the seeds 0, 3 are read")]

    def made(seed: int) -> dict[str, Any]:
        return {"name": "made", "texts": [{"language": "qaa", "sentences": 50, "seed": seed}], "tuning": QUICK}

    assert said(encoders=["world-natural"], world_seed=3) and said(encoders=[made(0)], world_seed=3)
    assert said(encoders=[made(3)])
    assert not said(encoders=["world-natural", made(0)]) and not said(encoders=[made(3)], world_seed=3)
    assert not said(world_seed=3)
