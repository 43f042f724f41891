"""Probes: when they are taken, and what they measure."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError, OtherRunError
from babelscope.core.row import Row
from babelscope.corpora.datasets import find
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.surgery import apply
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tuning.loop import tune
from babelscope.tuning.observer import Observer
from babelscope.tuning.probes import Corpus, Probes
from babelscope.tuning.settings import Tuning

pytestmark = pytest.mark.usefixtures("in_process")


class Journal:
    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write_rows(self, rows) -> None:
        self.rows = list(rows)

    def add_rows(self, rows) -> None:
        self.rows += list(rows)

    def rows_so_far(self) -> list[Row]:
        return list(self.rows)


@given(st.integers(1, 5000))
def test_probes_are_taken_at_both_ends_and_between(total: int) -> None:
    every, growing = Probes(every=7), Probes()
    assert [step for step in range(total + 1) if every.due(step, total)] == sorted({*range(0, total + 1, 7), total})
    steps = [step for step in range(total + 1) if growing.due(step, total)]
    assert steps[0] == 0 and steps[-1] == total and set(steps) >= {1, min(2, total)}
    assert set(steps) == {0, total} | {s for k in range(40) if (s := round(math.sqrt(2) ** k)) <= total}


@pytest.fixture(scope="module")
def watched(tmp_path_factory) -> tuple[list[Row], dict[str, float]]:
    """Rows of a short training of the upper layers, and the perplexity that the evaluation gives afterwards."""
    from babelscope.tuning.schedule import parse_schedule

    encoder, start = (load_encoder(SHIPPED / "world-natural") for _ in range(2))
    corpora = {name: find("mlm", f"world:{code}", "dev", 12) for name, code in (("target", "qag"), ("control", "qaa"))}
    probes = Probes(
        every=2,
        perplexity=tuple(Corpus(name=name, data=(data,)) for name, data in corpora.items()),
        distance=(Corpus(name="target", data=(corpora["target"],)),),
    )
    model = task_model(encoder, Design("mlm"))
    journal = Journal()
    observer = Observer(probes, model, encoder, {"other": start}, journal, {"encoder": "e", "seed": 0})
    training = model.training(find("mlm", "world:qag", "train", 60).read(), {})
    tune(
        model.module, training, Tuning(steps=4), 0, tmp_path_factory.mktemp("run"),
        schedule=parse_schedule("freeze:4"), watch=observer,
    )  # fmt: skip
    scores = {name: model.scores(data.read())[0].value for name, data in corpora.items()}
    return journal.rows, scores


def test_perplexity_by_probe_is_perplexity_by_evaluation(watched) -> None:
    rows, scores = watched
    last = {row.dataset: row.value for row in rows if row.measure == "perplexity" and row.step == 4}
    assert last == scores


def test_frozen_layers_stay_where_they_are(watched) -> None:
    rows, _ = watched
    for measure in ("distance to start", "relative distance to start", "cosine distance to start"):
        values = {(row.step, row.layer): row.value for row in rows if row.measure == measure}
        assert {layer for _, layer in values} == set(range(7)) and {step for step, _ in values} == {0, 2, 4}
        assert all(values[step, layer] == 0 for step, layer in values if layer <= 4 or step == 0)
        assert all(values[step, layer] > 0 for step, layer in values if layer > 4 and step > 0)


def test_every_reference_is_measured(watched) -> None:
    rows, _ = watched
    measures = {row.measure for row in rows if row.layer is not None}
    kinds = ("distance", "relative distance", "cosine distance", "aligned distance")
    assert measures == {f"{kind} to {name}" for kind in kinds for name in ("start", "other")} | {
        "CKA with start", "CKA with other",
    }  # fmt: skip
    likeness = {(row.step, row.layer): row.value for row in rows if row.measure == "CKA with start"}
    assert all(math.isclose(likeness[0, layer], 1, abs_tol=1e-9) for layer in range(7))
    assert likeness[4, 6] < 1


def test_a_reference_of_another_depth_is_refused() -> None:
    """Where its depth, or that of the encoder, was not known before."""
    encoder = load_encoder(SHIPPED / "world-natural")
    model, other = task_model(encoder, Design("mlm")), apply(encoder, "drop:last=2")
    corpus = (Corpus(name="target", data=(find("mlm", "world:qag", "dev", 3),)),)
    with pytest.raises(InputError, match=r"other has 4 layers, but world-natural has 6; .*\nProbes of `distance` need"):
        Observer(Probes(distance=corpus), model, encoder, {"other": other}, Journal(), {})
    Observer(Probes(perplexity=corpus), model, encoder, {"other": other}, Journal(), {})


def test_after_a_kill_later_probes_are_forgotten() -> None:
    encoder = load_encoder(SHIPPED / "world-natural")
    journal = Journal()
    observer = Observer(Probes(every=1), task_model(encoder, Design("mlm")), encoder, {}, journal, {})
    rows = [Row("perplexity", float(step), step=step) for step in range(5)]
    journal.rows = rows
    observer.resume(3)
    assert journal.rows == rows[:4]
    observer.resume(0)
    assert journal.rows == []


@pytest.mark.parametrize("left", [[], [Row("accuracy", 0.5, step=2)]])
def test_a_training_does_not_go_on_whose_first_probes_are_gone(left: list[Row]) -> None:
    """With the rows of a draft both their file and its digest may go; their checkpoint says that there were some."""
    encoder = load_encoder(SHIPPED / "world-natural")
    journal = Journal()
    probes = Probes(every=1, scores=(find("pos", "world:qab", "dev", 5),))
    observer = Observer(probes, task_model(encoder, Design("pos")), encoder, {}, journal, {})
    journal.rows = left
    with pytest.raises(OtherRunError, match="the probes of step 0 are gone"):
        observer.resume(3)
    observer.resume(0)
