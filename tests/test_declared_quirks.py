"""How a study declares quirks: with probes of language modelling, as the paper has them, and as the docs name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import StudyError
from babelscope.steps import Tune
from babelscope.studies import find_study
from babelscope.studies.published_numbers import published_rows
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.as_published import OF_LANGUAGE
from babelscope.tuning.probes import QUIRKS


def test_quirks_are_declared_with_probes_of_language_modelling(encoder_folder):
    probes = {"perplexity": {"all": ["world:qaa"]}, "quirks": ["two-batches"]}
    tasks = {"pos": {"train": ["world:qaa"], "evaluate": ["world:qaa"], "probes": probes}}
    study = Study.model_validate({"name": "s", "encoders": [str(encoder_folder)], "tasks": tasks})
    with pytest.raises(StudyError) as caught:
        compile_study(study)
    assert caught.value.faults == (
        "tasks.pos.probes.quirks: these are of language modelling, task mlm, not of pos; leave them out",
    )


def test_a_corpus_has_as_many_sentences_as_is_said_of_it(encoder_folder):
    probes = {
        "perplexity": {"target": ["world:qaa"], "control": ["world:qab", "world:qac"], "third": ["world:qad"]},
        "distance": {"target": ["world:qaa"]}, "sentences": {"target": 9, "control": 4}, "distance_sentences": 3,
    }  # fmt: skip
    tasks = {"mlm": {"train": ["world:qaa"], "evaluate": ["world:qaa"], "probes": probes}}
    base = {"name": "s", "encoders": ["world-natural"], "tasks": tasks}
    (found,) = {
        step.probes for step in compile_study(Study.model_validate(base)).steps.values() if isinstance(step, Tune)
    }
    sizes = {corpus.name: [data.examples for data in corpus.data] for corpus in found.perplexity}
    assert sizes == {"target": [9], "control": [4, 4], "third": [200]}
    assert [data.examples for data in found.distance[0].data] == [3]
    without = probes | {"distance": {}}
    with pytest.raises(ValueError, match="distance_sentences are of distance, which is not measured; leave them out"):
        Study.model_validate(base | {"tasks": {"mlm": tasks["mlm"] | {"probes": without}}})
    probes["sentences"] = {"nobody": 3}
    with pytest.raises(ValueError, match=r"sentences\.nobody: no corpus is named so; there are target, control, third"):
        Study.model_validate(base)


def test_the_paper_is_repeated_with_its_quirks_unless_told_otherwise():
    published, corrected = (find_study("evolution@paper", given) for given in ({}, {"quirks": []}))
    assert set(QUIRKS) - set(published.tasks["mlm"].probes.quirks) == {"dropout-on"}
    assert published.tasks["mlm"].quirks == tuple(OF_LANGUAGE)
    assert corrected.tasks["mlm"].probes.quirks == corrected.tasks["mlm"].quirks == ()
    assert (published.tasks["mlm"].tuning.encoder_dropout, corrected.tasks["mlm"].tuning.encoder_dropout) == (
        False,
        True,
    )
    few = find_study("evolution@paper", {"quirks": ["dropout-on", "padding-as-text"]}).tasks["mlm"]
    assert (few.probes.quirks, few.quirks) == (("dropout-on",), ("padding-as-text",))
    names = {row.schedule for row in published_rows("evolution@paper") if row.schedule}
    assert {schedule.name for schedule in published.schedules} == names
    assert {row.dataset for row in published_rows("evolution@paper") if row.split == "test"} == {"wikipedia:nl"}
    assert published.tasks["mlm"].evaluate == ("wikipedia:nl",)
    measures = {row.measure for row in published_rows("evolution@paper")}
    assert measures == {"perplexity", f"distance to {published.references[0]}"}


def test_the_docs_name_every_quirk():
    page = (Path(__file__).parents[1] / "docs" / "evolution.md").read_text(encoding="utf-8")
    for quirk, what in (QUIRKS | OF_LANGUAGE).items():
        assert f"| `{quirk}` | {what} |" in page
