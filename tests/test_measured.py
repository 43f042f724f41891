"""A model measured again and again: the scores of an evaluation, and the loss of training, from one pass."""

from __future__ import annotations

import math

import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.core.tasks import TASKS
from babelscope.corpora.datasets import find
from babelscope.encoders.load import load_encoder
from babelscope.tasks.design import Design
from babelscope.tasks.measured import measured
from babelscope.tasks.models import known_words, recurrent_model, task_model
from babelscope.world.meaning import NAME_CLASS

TYPES = tuple(sorted(set(NAME_CLASS.values())))

TASK_NAMES = ["pos", "ner", "parsing", "inference", "acceptability", "similarity", "mlm"]


@pytest.fixture(scope="module")
def models(encoder_folder):
    made = {}
    for task in TASK_NAMES:
        torch.manual_seed(1)
        design = Design(task, entity_types=TYPES if task == "ner" else ())
        made[task] = task_model(load_encoder(encoder_folder), design)
        with torch.no_grad():  # a fresh head says nearly the same of everything
            for weight in made[task].module.parameters():
                weight.add_(0.3 * torch.randn_like(weight))
    return made


def examples(task, count=40):
    return find(task, "world:qab", "test", count).read()


def mean_loss(model, data):
    """One example at a time, as the training loop would see it; words count in tagging and parsing, else texts."""
    total, count = 0.0, 0
    model.module.eval()
    for one in data:
        task = model.training([one], {})
        for index in range(len(task.lengths)):
            batch = task.batch(torch.tensor([index]).numpy(), torch.Generator())
            labels = {"pos": "labels", "ner": "labels"}.get(model.design.task.name)
            size = (
                len(getattr(batch, labels)) if labels else len(one.words) if model.design.task.name == "parsing" else 1
            )
            with torch.no_grad():
                total += size * float(task.loss(model.module, batch))
            count += size
    return total / count


@pytest.mark.parametrize("task", TASK_NAMES)
def test_scores_are_those_of_an_evaluation(task, models):
    model, data = models[task], examples(task)
    found = measured(model, data)()
    scores = {score.measure: score.value for score in model.scores(data)}
    assert set(found) == {*TASKS[task].measures, "loss"}
    for name in TASKS[task].measures:
        assert found[name] == pytest.approx(scores[name], rel=1e-12, abs=1e-12), name


def test_a_task_with_another_main_measure_is_measured_by_that_too(models, encoder_folder):
    task = TASKS["parsing"].scored_by("las.nopunct")
    model = task_model(load_encoder(encoder_folder), Design(task))
    model.module.load_state_dict(models["parsing"].module.state_dict())
    found = measured(model, examples("parsing"))()
    scores = {score.measure: score.value for score in models["parsing"].scores(examples("parsing"))}
    assert list(found) == ["las.nopunct", "las", "uas", "loss"]
    assert all(found[name] == pytest.approx(scores[name], rel=1e-12) for name in task.measures)


@pytest.mark.parametrize("task", [task for task in TASK_NAMES if task != "mlm"])
def test_the_loss_is_that_of_training_example_by_example(task, models):
    model, data = models[task], examples(task, 15)
    assert measured(model, data)()["loss"] == pytest.approx(mean_loss(model, data), rel=1e-5)


def test_the_loss_of_a_language_model_is_the_logarithm_of_its_perplexity(models):
    found = measured(models["mlm"], examples("mlm"))()
    assert found["loss"] == pytest.approx(math.log(found["perplexity"]))


@pytest.mark.parametrize("task", TASK_NAMES)
def test_it_measures_the_model_as_it_is_now(task, models):
    measure = measured(models[task], examples(task))
    before = measure()
    assert measure() == before
    weight = next(models[task].module.parameters())
    kept = weight.detach().clone()
    with torch.no_grad():
        weight.mul_(-1)
    assert measure()["loss"] != before["loss"]
    with torch.no_grad():
        weight.copy_(kept)
    assert measure() == before


def test_what_cannot_be_measured_is_refused(models):
    with pytest.raises(InputError, match="the evaluation data is empty"):
        measured(models["pos"], [])
    data = examples("pos")
    with pytest.raises(InputError, match="BiLstmTagger: only models of encoders"):
        measured(recurrent_model(Design("pos"), known_words(data)), data)
