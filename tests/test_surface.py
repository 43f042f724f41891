"""Models between tuned models: the ends are the tuned ones, a plane holds its paths, and a killed run goes on."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from babelscope.core.step import Step
from babelscope.core.validation import validate
from babelscope.engine.events import Failed, Finished
from babelscope.engine.store import Store
from babelscope.measures.angle import Angle
from babelscope.measures.surface import Surface
from babelscope.steps import Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, load_study
from between_study import (
    ALPHAS,
    PARTS,
    TASK_NAMES,
    TRAINED,
    Between,
    complete,
    declared,
    interpolation,
    languages_of,
)
from command_line import SOON, babelscope, write_study
from slow_surface import expected_angles, slow_scores
from toy_runs import execute
from toy_steps import note

pytestmark = pytest.mark.usefixtures("in_process")

CELLS = 21 * 21


@pytest.fixture(scope="module")
def between(tmp_path_factory, encoder_folder) -> Between:
    folder = tmp_path_factory.mktemp("between")
    file = write_study(folder / "between.yaml", declared(encoder_folder))
    plan, store = compile_study(load_study(file)), Store(folder / "store")
    last = (Surface, Angle)
    complete([step for step in plan.steps.values() if not isinstance(step, last)], store)
    digests = {path: sha256(path) for path in store.folder.glob("results/*/*/best.safetensors")}
    complete([step for step in plan.steps.values() if isinstance(step, last)], store)
    return Between(file, plan, store, digests)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Lines and planes


@pytest.mark.parametrize("task", TASK_NAMES)
@pytest.mark.parametrize(("place", "letter"), [(0.0, "a"), (1.0, "b")])
def test_the_ends_are_the_tuned_models_to_the_last_bit(between, task, place, letter):
    rows = [row for row in between.store.rows(between.surface(f"{task} a", f"{task} b").key) if row.alpha1 == place]
    expected = between.evaluation(f"{task} {letter}")
    assert {row.measure for row in rows} == {row.measure for row in expected} | {"loss"}
    assert {(row.measure, row.value, row.unit) for row in expected} <= {(r.measure, r.value, r.unit) for r in rows}
    for row in rows:
        assert (row.language, row.dataset, row.split, row.task) == ("qab", "world:qab", "test", task)
        assert (row.train_languages, row.shots, row.path, row.part) == ("qaa", None, "qaa > qab", None)
        assert row.seed == 0 and row.alpha2 is None


@pytest.mark.parametrize("task", TASK_NAMES)
def test_the_models_between_are_others(between, task):
    losses = [values["loss"] for values in between.scores(between.surface(f"{task} a", f"{task} b")).values()]
    assert len(set(losses)) == len(losses) >= 3


def test_the_plane_holds_the_paths(between):
    plane = between.scores(between.surface("pos a", "pos b", "pos c", points=36))
    first, second, third = (
        between.scores(between.surface(f"pos {one}", f"pos {two}")) for one, two in ("ab", "ac", "bc")
    )
    assert len(plane) == 36 and len(first) == len(second) == len(third) == len(ALPHAS)
    for alpha in ALPHAS:
        assert plane[alpha, 0.0] == first[alpha,]
        assert plane[0.0, alpha] == second[alpha,]
        assert plane[round(1 - alpha, 10), alpha] == third[alpha,]  # from one direction's end to the other's


def test_a_plane_is_the_same_from_another_origin(between):
    names = ("pos a", "pos b", "pos c")
    plane = between.scores(between.surface(*names, points=36))
    turned = between.scores(between.surface(*names[1:], names[0]))
    places = {(x, y): (y, round(1 - x - y, 10)) for x, y in plane}
    shared = [place for place in places if places[place] in turned]
    assert (0.7, 0.7) in shared and (-0.4, 0.7) in shared  # of three models, not of two
    assert all(plane[place] == turned[places[place]] for place in shared)


def test_a_line_is_the_same_from_both_ends(between):
    there, back = (between.scores(between.surface(*names)) for names in (("pos a", "pos b"), ("pos b", "pos a")))
    assert len(there) == len(ALPHAS)
    assert there == {(round(1 - alpha, 10),): values for (alpha,), values in back.items()}


def test_a_study_has_the_published_grid_unless_it_says_otherwise(between):
    plane = between.surface("pos a", "pos b", "pos c", points=CELLS)
    assert set(plane.points) == {(i / 10, j / 10) for i in range(-5, 16) for j in range(-5, 16)}
    [data] = plane.data
    assert (data.split, data.examples) == ("dev", 8)
    assert len(between.scores(plane)) == CELLS


def test_a_place_that_is_given_twice_is_measured_once(between, encoder_folder):
    study = declared(encoder_folder) | {"measures": [interpolation("pos a", "pos b", alphas=[0, 1, 0.0])]}
    plan = compile_study(validate(Study, study, "test"))
    [step] = [step for step in plan.steps.values() if isinstance(step, Surface)]
    assert step.points == ((0.0,), (1.0,))


# Against the slow way


@pytest.mark.parametrize("task", TASK_NAMES)
def test_a_model_between_scores_as_the_slow_way_says(between, encoder_folder, task):
    """Weights are rounded once there and up to three times here, in the seventh digit, which the loss inherits."""
    found = between.scores(between.surface(f"{task} a", f"{task} b"))[0.3,]
    first, second = between.weights(f"{task} a"), between.weights(f"{task} b")
    scores, with_loss = slow_scores(encoder_folder, task, first, second, 0.3)
    assert found["loss"] == pytest.approx(with_loss["loss"], rel=1e-5)
    for name, value in scores.items():
        assert found[name] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize(("task", "part"), PARTS)
def test_a_part_moves_and_the_rest_is_the_origin(between, encoder_folder, task, part):
    step = between.surface(f"{task} a", f"{task} b", part=part)
    first, second = between.weights(f"{task} a"), between.weights(f"{task} b")
    found = between.scores(step)
    assert {(row.path, row.part) for row in between.store.rows(step.key)} == {("qaa > qab", part)}
    for alpha, precision in ((1.0, 0.0), (0.3, 1e-5)):
        scores, with_loss = slow_scores(encoder_folder, task, first, second, alpha, part)
        assert found[alpha,] == pytest.approx(with_loss | scores, rel=precision, abs=0)
    whole = between.scores(between.surface(f"{task} a", f"{task} b"))
    assert len({whole[0.0,]["loss"], whole[1.0,]["loss"], found[1.0,]["loss"]}) == 3


def test_the_tuned_models_are_not_changed(between):
    assert len(between.digests) == len(TRAINED)
    assert {path: sha256(path) for path in between.digests} == between.digests


# Angles


@pytest.mark.parametrize("names", [("pos a", "pos b", "pos c"), ("mlm c", "mlm a", "mlm b")])
def test_angles_are_those_of_plain_vectors(between, names):
    models = tuple(between.tuned(name) for name in names)
    [step] = [step for step in between.plan.steps.values() if isinstance(step, Angle) and step.models == models]
    rows = between.store.rows(step.key)
    expected = expected_angles(*(between.weights(name) for name in names))
    assert {group for group, _ in expected} >= {"all", "layer 1", "layer 2", "attention", "head", "word-embeddings"}
    assert {(row.part, row.measure): row.value for row in rows} == pytest.approx(expected, rel=1e-7)
    assert len(rows) == len(expected)
    for row in rows:
        assert row.layer == (int(row.part.split()[1]) if row.part.startswith("layer ") else None)
        assert row.dataset is None and row.path == " > ".join("+".join(languages_of(name)) for name in names)
        assert row.unit == ("degrees" if row.measure == "angle" else "")


# Runs that are cut short


def without(between: Between, step: Step, folder: Path) -> Store:
    """A copy of the store that does not have the step's result."""
    store = Store(shutil.copytree(between.store.folder, folder / "store"))
    shutil.rmtree(results_of(store, step))
    return store


def results_of(store: Store, step: Step) -> Path:
    return store.folder / "results" / step.key[:2] / step.key


def test_a_journal_goes_on_from_wherever_it_was_cut(between, tmp_path):
    """In the middle of a line, between two rows of a model, between two models; in the first, the second and later."""
    step = between.surface("pos a", "pos b", points=6)
    store = without(between, step, tmp_path)
    whole = (results_of(between.store, step) / "rows.jsonl").read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    assert len(ends) == 2 * len(ALPHAS)
    cuts = {0, 9, *ends[:3], *(end + 9 for end in ends[:3]), ends[3] - 1, len(whole) - 1, len(whole)}
    for cut in sorted(cuts):
        (store.draft(step.key) / "rows.jsonl").write_bytes(whole[:cut])
        assert isinstance(execute(step, store), Finished), cut
        assert (results_of(store, step) / "rows.jsonl").read_bytes() == whole, cut
        shutil.rmtree(results_of(store, step))


def test_the_mean_of_many_models_is_written_once(between, tmp_path):
    """Though it has more alphas than a row, whose number a killed attempt has written."""
    models = tuple(between.tuned(f"pos {letter}") for letter in "abcb")
    step = Surface(models=models, points=((0.25, 0.25, 0.25),), data=between.surface("pos a", "pos b").data)
    store = Store(shutil.copytree(between.store.folder, tmp_path / "store"))
    complete([step], store)
    rows = (results_of(store, step) / "rows.jsonl").read_bytes()
    assert rows.count(b"\n") == 2
    shutil.rmtree(results_of(store, step))
    (store.draft(step.key) / "rows.jsonl").write_bytes(rows)
    complete([step], store)
    assert (results_of(store, step) / "rows.jsonl").read_bytes() == rows


def attempt_noting(step: Surface, store: Path, outside: Path, last: int | None, written: bool) -> None:
    """In a process of its own: compute the step, note every place that was measured, and die at the `last`th of them,
    before or after its numbers are written."""
    from babelscope.measures.formulas import survey as surveys

    survey = surveys.survey

    def noted(*given: Any) -> Any:
        for number, (point, found) in enumerate(survey(*given), 1):
            note(str(outside), repr(point))
            if number == last and not written:
                os.kill(os.getpid(), signal.SIGKILL)
            yield point, found
            if number == last:
                os.kill(os.getpid(), signal.SIGKILL)

    surveys.survey = noted
    execute(step, Store(store))


def attempt_until(
    last: int | None, written: bool, step: Surface, store: Store, outside: Path
) -> list[tuple[float, ...]]:
    """Compute the step and die at so many models; None: let it end. Gives what it measured."""
    outside.mkdir()
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["babelscope.measures.formulas.survey"])
    process = processes.Process(target=attempt_noting, args=(step, store.folder, outside, last, written))
    process.start()
    process.join(SOON)
    assert process.exitcode == (0 if last is None else -signal.SIGKILL)
    return noted_places(outside)


def noted_places(outside: Path) -> list[tuple[float, ...]]:
    file = outside / "journal"
    lines = file.read_text().splitlines() if file.exists() else []
    return [tuple(map(float, line.strip("()").split(","))) for line in lines]


def whole_cells(store: Store, step: Surface) -> bytes:
    """The lines of the draft that belong to finished models."""
    content = (store.draft(step.key) / "rows.jsonl").read_bytes()
    lines = content.splitlines(keepends=True)
    whole = sum(line.endswith(b"\n") for line in lines) // 2
    return b"".join(lines[: 2 * whole])


def test_a_plane_that_is_killed_ten_times_ends_as_an_unbroken_one(between, tmp_path):
    step = between.surface("pos a", "pos b", "pos c", points=CELLS)
    store, chance = without(between, step, tmp_path), random.Random(0)
    kills, measured_places, kept = sorted(chance.sample(range(1, 400), 10)), [], b""
    for goal in [*kills, None]:
        finished = kept.count(b"\n") // 2
        last, written = None if goal is None else goal - finished, chance.random() < 0.5
        places = attempt_until(last, written, step, store, tmp_path / str(goal))
        assert places == list(step.points[finished : finished + len(places)])  # none of those that are finished
        measured_places += places
        if goal:
            before, kept = kept, whole_cells(store, step)
            assert kept.startswith(before) and kept.count(b"\n") // 2 - finished == len(places) - (not written)
    assert CELLS <= len(measured_places) <= CELLS + len(kills)
    rows, unbroken = ((results_of(one, step) / "rows.jsonl").read_bytes() for one in (store, between.store))
    assert rows == unbroken and rows.startswith(kept)
    answer = babelscope("run", between.file, "--store", store.folder)
    assert answer.output.startswith("between: 0 steps computed") and answer.status == 0


@pytest.mark.parametrize("kind", [Surface, Angle])
def test_models_of_other_entities_are_not_combined(between, tmp_path, kind):
    """Their heads have the same shape, but not the same meaning."""
    known = between.surface("ner a", "ner b")
    first, second = known.models
    fields = {name: getattr(second, name) for name in Tune.model_fields}
    models = first, Tune(**fields | {"entity_types": second.entity_types[::-1]}), second
    step = Angle(models=models) if kind is Angle else Surface(models=models, points=((0.5, 0.5),), data=known.data)
    store = Store(tmp_path / "store")
    store.prepare()
    event = execute(step, store)
    assert isinstance(event, Failed) and "models of different entity types cannot be combined" in event.message
