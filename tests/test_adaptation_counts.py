"""How many steps an adaptation has: as many as are planned, with whatever tokenizers its texts are read."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import pytest

from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.engine.events import Finished
from babelscope.engine.store import Store
from babelscope.steps import Adapt
from babelscope.steps.duration import duration_of
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import declaration, transfer
from languages_brought_in import with_language
from test_own_vocabulary import GERMAN
from toy_runs import execute

LINES = {"de": 13, "en": 10, "fr": 11}
TRAINED_ON = {"de": 10, "en": 8, "fr": 9}
"""Eight tenths of them."""


def adapted(folder: Path, encoder: Encoder, **tuning: object) -> Adapt:
    """An adaptation to text in German, which has a tokenizer of its own, English and French."""
    save_encoder(with_language(encoder, "de", GERMAN), folder / "german")
    for code, count in LINES.items():
        (folder / f"{code}.txt").write_text("".join(f"the small cat sees the tree {k} .\n" for k in range(count)))
    made = {
        "name": "further", "encoder": str(folder / "german"), "tuning": {"learning_rate": 1e-3} | tuning,
        "texts": [f"text:{code}:{folder}/{code}.txt" for code in LINES],
    }  # fmt: skip
    declared = declaration(
        folder / "german", encoders=[made], surgeries=[None], retrieval=None, seeds=[0], tasks={"pos": transfer()}
    )
    steps = compile_study(Study.model_validate(declared)).steps.values()
    (step,) = (step for step in steps if isinstance(step, Adapt))
    return step


@pytest.mark.parametrize("batches", ["mixed", "one-language"])
def test_an_adaptation_of_several_tokenizers_has_the_steps_that_are_planned(tmp_path, encoder_folder, batches):
    """It went on after them, at learning rates below 0, and kept what was there before."""
    step = adapted(tmp_path, load_encoder(encoder_folder), epochs=3, examples_per_batch=4, batches=batches)
    planned = duration_of(step)
    german, others = TRAINED_ON["de"], TRAINED_ON["en"] + TRAINED_ON["fr"]
    assert planned.exact and planned.steps == 3 * (ceil(german / 4) + ceil(others / 4))
    store = Store(tmp_path / "store")
    store.prepare()
    assert isinstance(execute(step, store), Finished)
    assert max(row.step or 0 for row in store.rows(step.key)) == planned.steps
    assert step.edition == (2 if batches == "mixed" else 1)


@pytest.mark.parametrize(
    "tuning", [{"epochs": 3, "tokens_per_batch": 64}, {"steps": 4, "examples_per_batch": 4}], ids=str
)
def test_adaptations_that_were_counted_rightly_keep_their_keys(tmp_path, encoder_folder, tuning):
    assert adapted(tmp_path, load_encoder(encoder_folder), **tuning).edition == 1
