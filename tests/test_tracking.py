"""Trackers are told what a run tells, and change nothing of it."""

from __future__ import annotations

import sys
from collections import defaultdict
from types import ModuleType, SimpleNamespace

import pytest

from babelscope.core.errors import InputError, StoreError
from babelscope.core.row import Row
from babelscope.engine import course, tracking
from babelscope.engine.course import Courses, Point, course_file, course_of
from babelscope.engine.events import Finished, Progressed
from babelscope.engine.store import Store
from babelscope.engine.tracking import Tracked, run_name, tracker_at
from babelscope.face.job import job_of
from babelscope.steps import Evaluate, Tune
from command_line import babelscope, declaration, write_study

pytestmark = pytest.mark.usefixtures("in_process")


class Kept:
    """A tracker that keeps what it is told."""

    def __init__(self, place: str = "", study: str = ""):
        self.place, self.study, self.is_closed = place, study, False
        self.told: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))

    def add(self, run, step, numbers):
        for name, value in numbers.items():
            self.told[run][name][step] = value

    def close(self):
        self.is_closed = True


@pytest.fixture
def study(tmp_path, encoder_folder):
    declared = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None)
    return write_study(tmp_path / "study.yaml", declared)


def test_a_run_tells_its_trackers_all_rows_and_computes_the_same(study, tmp_path, monkeypatch):
    made: list[Kept] = []
    monkeypatch.setitem(tracking.TRACKERS, "kept", lambda *given: made.append(Kept(*given)) or made[-1])
    arguments = ("run", study, "--jobs", 1)
    assert babelscope(*arguments, "--store", tmp_path / "plain").status == 0
    assert babelscope(*arguments, "--store", tmp_path / "tracked", "--track", "kept:somewhere").status == 0
    plain, tracked = (job_of(str(study), None, tmp_path / name) for name in ("plain", "tracked"))
    assert plain.rows() == tracked.rows()
    (tracker,) = made
    assert (tracker.place, tracker.study, tracker.is_closed) == ("somewhere", "tiny", True)
    for step in tracked.plan.steps.values():
        told = tracker.told[run_name(step)]
        for row in tracked.store.rows(step.key):
            name = "/".join(filter(None, (row.split, row.dataset or row.language, row.measure)))
            assert told[name][row.step or 0] == row.value
    assert not list((tmp_path / "tracked" / "logs").glob("*.course"))  # what has finished is in rows


def test_evaluations_belong_to_the_run_of_their_model(study, tmp_path):
    steps = job_of(str(study), None, tmp_path / "store").plan.steps.values()
    tunes, evaluations = ([step for step in steps if isinstance(step, kind)] for kind in (Tune, Evaluate))
    assert {run_name(step) for step in evaluations} == {run_name(step) for step in tunes}
    assert len({run_name(step) for step in tunes}) == len(tunes)


def test_tensorboard_has_what_was_told(tmp_path):
    proto = pytest.importorskip("tensorboardX.proto.event_pb2")
    tracker = tracker_at(f"tensorboard:{tmp_path / 'board'}", "mine@x")
    for step, value in ((1, 2.5), (2, 1.25)):
        tracker.add("tune a/b on world:qaa", step, {"train/loss": value})
    tracker.close()
    (file,) = (tmp_path / "board" / "mine_x" / "tune_a_b_on_world_qaa").iterdir()
    events = [proto.Event.FromString(record) for record in _records(file.read_bytes())]
    told = [(event.step, value.tag, value.simple_value) for event in events for value in event.summary.value]
    assert told == [(1, "train/loss", 2.5), (2, "train/loss", 1.25)]


def _records(content: bytes) -> list[bytes]:
    """Of a file of TensorFlow: length in 8 bytes, its check sum in 4, the record, its check sum in 4."""
    records = []
    while content:
        length = int.from_bytes(content[:8], "little")
        records.append(content[12 : 12 + length])
        content = content[16 + length :]
    return records


def test_mlflow_is_told_runs_and_metrics(monkeypatch):
    calls: list[tuple] = []

    class Client:
        def __init__(self, tracking_uri):
            calls.append(("at", tracking_uri))

        def get_experiment_by_name(self, name):
            return None

        def create_experiment(self, name):
            calls.append(("experiment", name))
            return "7"

        def create_run(self, experiment, run_name):
            calls.append(("run", experiment, run_name))
            return SimpleNamespace(info=SimpleNamespace(run_id="r1"))

        def log_batch(self, run, metrics):
            calls.extend((run, metric.key, metric.value, metric.step) for metric in metrics)

        def set_terminated(self, run):
            calls.append(("end", run))

    entities = ModuleType("mlflow.entities")
    entities.Metric = lambda key, value, timestamp, step: SimpleNamespace(key=key, value=value, step=step)
    mlflow = ModuleType("mlflow")
    mlflow.MlflowClient, mlflow.entities = Client, entities
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    tracker = tracker_at("mlflow:http://localhost:5000", "mine")
    tracker.add("tune", 3, {"dev/world:qaa>cyrillic/accuracy": 0.5})
    tracker.close()
    assert calls == [
        ("at", "http://localhost:5000"), ("experiment", "mine"), ("run", "7", "tune"),
        ("r1", "dev/world_qaa_cyrillic/accuracy", 0.5, 3), ("end", "r1"),
    ]  # fmt: skip


@pytest.mark.parametrize("given", ["tensorbord:x", "tensorboard", "tensorboard:", "wandb:x"])
def test_other_trackers_are_refused(given):
    with pytest.raises(InputError, match="give tensorboard:FOLDER"):
        tracker_at(given, "mine")


def test_a_tracker_that_is_not_installed_says_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(InputError, match=r"pip install 'babelscope\[tensorboard\]'"):
        tracker_at("tensorboard:x", "mine")


def test_a_server_that_does_not_answer_is_named(monkeypatch):
    def refuse(address, study):
        raise RuntimeError(f"API request to {address} failed: Connection refused")

    monkeypatch.setitem(tracking.TRACKERS, "mlflow", refuse)
    with pytest.raises(InputError, match=r"--track mlflow:http://127\.0\.0\.1:1: RuntimeError: .* Connection refused"):
        tracker_at("mlflow:http://127.0.0.1:1", "mine")


def test_a_folder_that_cannot_be_written_is_said_to_be_one(tmp_path):
    pytest.importorskip("tensorboardX")
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as error:
        tracker_at(f"tensorboard:{tmp_path / 'file' / 'x'}", "mine")
    assert "Start the server" not in str(error.value)


def test_a_tracker_that_fails_is_let_go_of_and_the_others_go_on(study, tmp_path, monkeypatch):
    class Broken(Kept):
        def add(self, run, step, numbers):
            raise OSError("no route")

    job, kept, said = job_of(str(study), None, tmp_path / "store"), Kept(), []
    key = next(iter(job.plan.steps))
    monkeypatch.setattr(Store, "rows", lambda store, key: [Row("accuracy", 0.5, split="test", language="qaa")])
    tracked = Tracked(job.plan, job.store, [Broken(), kept], said.append)
    for event in (Progressed(key, 1, 9, {"loss": 2.0}), Progressed(key, 2, 9, {"loss": 1.0}), Finished(key, 1.0)):
        tracked(event)
    tracked.close()
    assert said == ["Broken is told no more of this run: no route"] and kept.is_closed
    # The second number of a running step comes too soon to be told.
    assert kept.told[run_name(job.plan.steps[key])] == {"running/loss": {1: 2.0}, "test/qaa/accuracy": {0: 0.5}}


def test_rows_that_cannot_be_read_end_no_run(study, tmp_path, monkeypatch):
    job, kept, said = job_of(str(study), None, tmp_path / "store"), Kept(), []
    key, asked = next(iter(job.plan.steps)), []

    def rows(store, key):
        asked.append(key)
        raise StoreError("it does not answer")

    monkeypatch.setattr(Store, "rows", rows)
    Tracked(job.plan, job.store, [], said.append)(Finished(key, 1.0))
    assert not asked and not said, "nobody is told"
    Tracked(job.plan, job.store, [kept], said.append)(Finished(key, 1.0))
    assert asked == [key] and not kept.told
    assert said == [f"trackers are not told of {job.plan.steps[key].title}: it does not answer"]


def test_a_course_is_kept_while_a_step_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "INTERVAL", 0.0)
    store, key = Store(tmp_path / "store"), "a" * 64
    store.prepare()
    told = Courses(store)
    for done in (*range(1, 400), *range(300, 1001)):  # it was lost, and went on from a checkpoint
        told(Progressed(key, done, 1000, {"loss": 1 / done}))
    assert len(course_file(store, key).read_text().splitlines()) <= course.LINES + 80
    with course_file(store, key).open("a") as file:
        file.write("[1, 2")
    points = course_of(store, key)
    assert [point.done for point in points] == sorted({point.done for point in points})
    assert points[0] == Point(1, 1000, {"loss": 1.0}) and len(points) > 100
    told(Finished(key, 1.0))
    assert course_of(store, key) == [] and not course_file(store, key).exists()


@pytest.mark.parametrize(
    "line",
    [
        '["a", 2, {}]', "[[1], 2, {}]", "[1, 2, []]", "[1, 2]", "[1e400, 2, {}]", "[" * 100_000, "{}", "[1, 2,",
        '[1, 2, {"loss": "x"}]',
    ],
)  # fmt: skip
def test_what_is_damaged_in_a_course_is_left_out(tmp_path, line):
    store, key = Store(tmp_path / "store"), "a" * 64
    store.prepare()
    lines = ['[3, 4, {"loss": NaN, "rate": 1}]', line, '[2, 4, {"loss": 0.5}]']
    course_file(store, key).write_text("".join(f"{each}\n" for each in lines))
    assert course_of(store, key) == [Point(2, 4, {"loss": 0.5}), Point(3, 4, {"rate": 1.0})]
