"""How long trainings are, counted before they run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from babelscope.steps import Adapt, Distil, Pretrain, Tune
from babelscope.steps.duration import PIECES_A_WORD, duration_of
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import babelscope, declaration, transfer, write_study

pytestmark = pytest.mark.usefixtures("in_process")


def trained(encoder: Path, **of_transfer) -> list[Tune]:
    tasks = {"pos": transfer(baselines=[], **of_transfer)}
    plan = compile_study(Study.model_validate(declaration(encoder, tasks=tasks, surgeries=[None], seeds=[0])))
    return [step for step in plan.steps.values() if isinstance(step, Tune)]


@pytest.mark.parametrize(
    ("batches", "expected"),
    [("mixed", 2 * -(-(41 + 30) // 8)), ("one-language", 2 * (-(-41 // 8) + -(-30 // 8)))],
)
def test_steps_of_batches_of_examples(encoder_folder, batches, expected):
    tuning = {"epochs": 2, "examples_per_batch": 8, "batches": batches}
    sizes = {"train": [41, 30], "dev": 5, "test": 5}
    (step,) = trained(encoder_folder, train=["world:qaa", "world:qab"], sizes=sizes, tuning=tuning)
    assert duration_of(step) == (71, expected, True)


def test_steps_of_windows_that_count_as_examples_are_estimated(encoder_folder):
    tuning = {"epochs": 2, "examples_per_batch": 8, "max_length": 10}
    sizes = {"train": 41, "dev": 5, "test": 5}
    (step,) = trained(encoder_folder, sizes=sizes, tuning=tuning, quirks=["repeating-windows"])
    assert duration_of(step) == (41, 2 * -(-41 // 8), False)


def test_an_epoch_is_a_step_at_least(encoder_folder):
    (step,) = trained(encoder_folder, sizes={"train": 3, "dev": 2, "test": 2}, tuning={"epochs": 6})
    assert duration_of(step) == (3, 6, False)


def test_steps_of_batches_of_tokens_are_estimated_from_words(encoder_folder):
    tuning = {"epochs": 3, "tokens_per_batch": 64}
    (step,) = trained(encoder_folder, sizes={"train": 50, "dev": 5, "test": 5}, tuning=tuning)
    words = sum(len(sentence.words) for sentence in step.train[0].read())
    assert duration_of(step) == (50, round(3 * words * PIECES_A_WORD / 64), False)


def test_of_much_data_of_the_world_little_is_made_to_count_its_words(encoder_folder):
    many = {"language": "qaa", "sentences": 10**7, "pairs": 5 * 10**6}
    made = {"name": "made", "texts": [many], "tuning": {"epochs": 1, "tokens_per_batch": 1000}}
    study = Study.model_validate(declaration(encoder_folder) | {"encoders": [made], "measures": []})
    (step,) = (step for step in compile_study(study).steps.values() if isinstance(step, Pretrain))
    (text,) = step.texts
    words = sum(len(line.split()) for line in text.model_copy(update={"sentences": 2000, "pairs": 1000}).read())
    examples, steps, exact = duration_of(step)
    assert examples == 15 * 10**6 and not exact
    assert steps == pytest.approx(words * 5000 * PIECES_A_WORD / 1000, rel=0.1)


@pytest.mark.parametrize(("pairs", "expected"), [(70, 70 + 60), (30, 30 + 30), (None, 90 + 60)])
def test_a_distillation_reads_as_many_pairs_as_its_languages_are_aligned_in(encoder_folder, pairs, expected):
    texts = {"qab": [{"languages": ["qaa", "qab"], "sentences": 60}, {"languages": ["qac", "qab"], "sentences": 30}]}
    texts |= {"qae": [{"languages": ["qaa", "qae"], "sentences": 60}]}
    brought = {"name": "brought", "encoder": str(encoder_folder), "languages": texts, "pairs": pairs}
    for tuning, steps, exact in (({"epochs": 2}, 2 * -(-expected // 8), False), ({"steps": 5}, 5, True)):
        distil = {"tuning": {"examples_per_batch": 8} | tuning}
        study = declaration(encoder_folder) | {"encoders": [brought | {"distil": distil}], "measures": []}
        compiled = compile_study(Study.model_validate(study)).steps.values()
        (step,) = (step for step in compiled if isinstance(step, Distil))
        assert duration_of(step) == (expected, steps, exact)


def test_steps_of_language_modelling(encoder_folder, tmp_path):
    text = tmp_path / "news.txt"
    text.write_text("".join(f"een zin met nummer {number}\n" for number in range(37)))
    lines = {"texts": [f"text:nl:{text}"], "tuning": {"epochs": 2, "examples_per_batch": 4}}
    made = {"name": "made", "texts": [{"language": "qaa", "sentences": 30, "pairs": 12}], "tuning": {"steps": 7}}
    told = {"name": "told", "encoder": str(encoder_folder), **lines}
    tasks = {"pos": transfer(baselines=[])}
    study = Study.model_validate(declaration(encoder_folder, tasks=tasks) | {"encoders": [made, told], "measures": []})
    steps = compile_study(study).steps.values()
    (pretrained,) = {duration_of(step) for step in steps if isinstance(step, Pretrain)}
    (adapted,) = {duration_of(step) for step in steps if isinstance(step, Adapt)}
    assert pretrained == (42, 7, True)
    assert adapted.exact and adapted.steps == 2 * -(-adapted.examples // 4)
    assert adapted.examples == len(next(step for step in steps if isinstance(step, Adapt)).texts[0].read())


def test_a_plan_has_as_many_steps_as_are_trained(encoder_folder, tmp_path):
    """The numbers that `plan` prints, and those of the trainings themselves."""
    tuning = {"epochs": 2, "examples_per_batch": 8, "validations_per_epoch": 2}
    tasks = {"pos": transfer(sizes={"train": 41, "dev": 10, "test": 10}, tuning=tuning)}
    study = write_study(tmp_path / "tiny.yaml", declaration(encoder_folder, tasks=tasks))
    planned = babelscope("plan", study, "--store", tmp_path / "store")
    assert planned.status == 0, planned.errors
    table = planned.output.partition("optimizer steps")[2].splitlines()
    assert [line.split() for line in table[2:4]] == [
        ["pos", "on", "qaa", "41", "8", "2", "epochs", "12", "4", "48"], ["all", "4", "48"],
    ]  # fmt: skip
    assert babelscope("run", study, "--store", tmp_path / "store", "--jobs", 1).status == 0
    histories = [json.loads(file.read_text()) for file in (tmp_path / "store").rglob("history.json")]
    assert [history["planned_steps"] for history in histories] == [12] * 4
