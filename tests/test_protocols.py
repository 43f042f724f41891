"""The paper profiles against the published protocols: settings, training examples, steps."""

from __future__ import annotations

import fnmatch
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from published_settings import Line, compared, groups, paper_study, studies_with_paper
from training_sizes import reads, sizes

from babelscope.core.errors import StudyError
from babelscope.studies import find_study
from babelscope.studies.published_numbers import read_table
from babelscope.study.trainings import Training, settings, trainings
from babelscope.tuning.batches import Order
from babelscope.tuning.settings import Tuning

ROOT = Path(__file__).parent.parent
STUDIES = studies_with_paper()
OTHER: dict[str, Any] = {
    "learning_rate": 1.0, "epochs": 99, "tokens_per_batch": 77, "examples_per_batch": 7, "batches": "one-language",
    "warmup": 0.5, "weight_decay": 0.5, "betas": (0.1, 0.2), "epsilon": 0.1, "bias_correction": False,
    "epsilon_before_correction": True, "clip": 9.0,
    "dropout": 0.9, "encoder_dropout": False, "max_length": 9, "validate_every": 7, "validations_per_epoch": 7,
    "patience": 3, "precision": "bfloat16", "steps": 7,
}  # fmt: skip
"""Another value of every field that can change a result, in principle; `device` and `threads` change last digits."""


@pytest.mark.parametrize("study", STUDIES)
def test_nothing_differs_without_a_reason_and_no_reason_stands_where_nothing_differs(study):
    """It fails, too, where a training has a setting that the published table says nothing of."""
    faults = [f"{names[0]}: {line.fault}" for lines, names in groups(study).items() for line in lines if line.fault]
    assert not faults, "\n".join(faults)


def test_every_published_setting_is_one_of_a_training():
    declared = {name: list(trainings(paper_study(name))) for name in STUDIES}
    for line in read_table("protocols"):
        assert None not in line and None not in line.values(), line
        for pattern in line["study"].split():
            of_study = [training for name in fnmatch.filter(STUDIES, pattern) for training in declared[name]]
            named = [training for training in of_study if fnmatch.fnmatchcase(training.name, line["training"])]
            assert any(line["setting"] in settings(training) for training in named), line


def test_every_published_number_of_examples_is_of_data_that_a_study_reads():
    declared = {name: {training: each.data for training, each in reads(paper_study(name)).items()} for name in STUDIES}
    for line in read_table("training_examples"):
        for name in line["study"].split():
            named = [
                data for training, data in declared[name].items() if fnmatch.fnmatchcase(training, line["training"])
            ]
            assert any(not line["data"] or line["data"] in data for data in named), line


def test_every_field_of_a_tuning_shows_in_a_setting():
    what_fits = {
        "device",
        "threads",
        "micro_tokens",
        "recompute",
        "compile",
    }  # of the machine at hand, and of no protocol
    assert OTHER.keys() == Tuning.model_fields.keys() - what_fits
    for field, value in OTHER.items():
        alone = {"steps": "epochs", "epochs": "steps", "tokens_per_batch": "examples_per_batch"}.get(field)
        plain = Tuning() if field != "examples_per_batch" else Tuning(examples_per_batch=3)
        changed = plain.model_copy(update={field: value} | ({alone: None} if alone else {}))
        assert settings(Training("a", plain, "best", 3)) != settings(Training("a", changed, "best", 3)), field


@pytest.mark.parametrize(
    ("published", "declared", "reason", "fault"),
    [
        ("32 examples", "32 examples", "", ""),
        ("32 examples", "16 examples", "less memory", ""),
        ("32 examples", "16 examples", "", "the paper has 32 examples, the study declares 16 examples, and no reason"),
        ("32 examples", "32 examples", "less memory", "is what the paper has, but there is a reason"),
        ("", "16 examples", "usual", ""),
        ("", "16 examples", "", "the paper says nothing"),
    ],
)
def test_what_is_a_fault(published, declared, reason, fault):
    line = Line("batch", published, "A", declared, reason)
    assert fault in line.fault if fault else line.fault == ""
    expected = f"not stated: {reason}" if not published else "same" if published == declared else f"differs: {reason}"
    assert line.verdict == expected


def test_a_training_without_an_entry_is_refused():
    with pytest.raises(StudyError, match="no published batch"):
        compared("another-study", Training("tasks.pos", Tuning(), "best", 3))


def test_a_value_that_drifts_is_a_fault():
    (training, *_) = trainings(paper_study("underspecified"))
    drifted = training._replace(tuning=training.tuning.model_copy(update={"examples_per_batch": 16}))
    assert [line.setting for line in compared("underspecified", drifted) if line.fault] == ["batch"]


@pytest.mark.parametrize("study", STUDIES)
def test_the_loop_has_as_many_steps_as_the_papers_sizes_give(study):
    """What the training loop counts with, over as many examples as published, against plain arithmetic."""
    known, _ = sizes(study)
    assert known
    for size in known:
        tuning, counts = size.tuning, size.examples
        groups_of_languages = np.repeat(np.arange(len(counts)), counts) if len(counts) > 1 else None
        whole = tuning.batches == "drawn" and len(counts) > 1
        an_epoch = sum(
            (count if whole else count + tuning.examples_per_batch - 1) // tuning.examples_per_batch for count in counts
        )
        counted = Order(np.ones(sum(counts)), tuning, 0, groups_of_languages).count_steps()
        assert counted == size.steps == tuning.epochs * an_epoch, size.training
        assert size.steps_an_epoch == an_epoch


def test_steps_of_the_papers():
    """Worked out by hand from the papers' tables."""
    steps = {study: {size.training: size.steps for size in sizes(study)[0]} for study in STUDIES}
    assert steps["evolution"]["tasks.mlm"] == 3 * 10_000
    assert steps["monolingual-benefits"]["tasks.sst2"] == 3 * 2105
    assert steps["underspecified"]["tasks.pos-en"] == 5 * 392
    assert steps["underspecified"]["tasks.pos-en-ar"] == 5 * (391 + 189)
    assert steps["underspecified"]["tasks.ner-en-hi"] == 5 * (625 + 156)
    assert steps["unseen-languages"]["tasks.pos with all in wo"] == 20 * 38
    assert steps["unseen-languages"]["tasks.pos with 1000 in wo"] == 20 * 32
    assert steps["unseen-languages"]["tasks.ner with 0 from wikiann:en"] == 5 * 625
    assert steps["unseen-languages"]["tasks.pos with all in bm"] == 20 * 26  # 821 sentences
    assert steps["unseen-languages"]["encoders.adapted fo"] == 20 * 37_125
    assert steps["unseen-languages"]["encoders.from scratch ug>uyghur-published"] == 20 * 13_125


def _selections(study):
    return {training.selection for training in trainings(study)}


def test_selection_is_what_a_study_declares():
    """The quirks of evolution's perplexity, and the sets that the thesis selected on; without them the usual way."""
    (published,) = _selections(paper_study("evolution"))
    assert "the higher perplexity counting as better" in published and "of 32 sentences" in published
    assert "masked anew each time" in published
    some = find_study("evolution@paper", {"quirks": ["two-batches", "dropout-on"]})
    assert _selections(some) == {"best on the dev sets, of 32 sentences"}
    assert _selections(find_study("evolution@paper", {"quirks": []})) == {"best on the dev sets"}
    assert _selections(paper_study("monolingual-benefits")) == {"best on the sets that are scored"}
    assert _selections(find_study("monolingual-benefits@paper", {"quirks": []})) == {"best on the dev sets"}
    assert _selections(paper_study("unseen-languages")) == {"best on the dev sets", None}


def test_settings_that_only_some_trainings_have():
    found = {study: settings(next(trainings(paper_study(study)))) for study in STUDIES}
    masked = {study for study, has in found.items() if "masking rate" in has}
    assert masked == {study for study, has in found.items() if "unit of text" in has} == {"evolution"}
    frozen = {
        study: has["dropout of frozen layers"] for study, has in found.items() if "dropout of frozen layers" in has
    }
    assert frozen == {"evolution": "off", "alignment-by-layer": "on, but off in freeze:8"}
    assert [study for study, has in found.items() if "dropout of the encoder" in has] == ["evolution"]
    assert {study: has["head"] for study, has in found.items() if "head" in has} == dict.fromkeys(
        ("alignment-by-layer", "monolingual-benefits", "underspecified"), "from the first state"
    )
    world = settings(next(trainings(find_study("evolution@world", {}))))
    assert world["dropout of frozen layers"] == "off"
    made = [
        training for training in trainings(paper_study("unseen-languages")) if training.name.startswith("encoders.")
    ]
    assert {settings(training)["masking rate"] for training in made} == {"15%"}


@pytest.mark.parametrize("study", STUDIES)
def test_every_training_has_a_number_of_examples(study):
    assert sizes(study)[1] == []


def test_the_page_is_what_the_code_says():
    printed = subprocess.check_output([sys.executable, "tools/protocol_page.py"], cwd=ROOT, text=True, encoding="utf-8")
    assert (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8") == printed, (
        "docs/protocols.md is stale: make docs"
    )


def test_more_labelled_sentences_are_trained_for_as_many_epochs_as_fewer():
    """Of an unseen language: otherwise it would look hard for want of training."""
    for profile in ("paper", "real"):
        tasks = find_study(f"unseen-languages@{profile}", {} if profile == "paper" else {"shots": [100, 1000]}).tasks
        epochs = {transfer.shots: transfer.tuning.epochs for transfer in tasks.values() if transfer.shots}
        many = [count for shots, count in epochs.items() if shots > 200]
        assert set(many) == {20 if profile == "paper" else 8}
        assert all(t.recurrent.epochs >= t.tuning.epochs for t in tasks.values() if t.shots and t.baselines)


@pytest.mark.parametrize(("profile", "least"), [("world", 8_000), ("paper", 8_000), ("real", 4_000)])
@pytest.mark.parametrize("shots", [7, 100, 1000])
def test_few_labelled_sentences_are_read_again_and_again(profile, least, shots):
    """By the encoders and by the BiLSTM beside them: a verdict on either that has hardly learned is worth nothing."""
    tasks = find_study(f"unseen-languages@{profile}", {"shots": [shots]}).tasks.values()
    few = [transfer for transfer in tasks if transfer.shots]
    assert few and all(t.tuning.epochs * shots >= least for t in few)
    assert all(t.recurrent.epochs * shots >= 8_000 for t in few)
    assert shots == 1000 or all(t.tuning.epochs == math.ceil(least / shots) for t in few)
