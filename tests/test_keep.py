"""`keep: rows` as users meet it: a tiny study with and without its weights."""

import pytest

from babelscope.engine.forecast import ROW_BYTES, peak_bytes
from babelscope.engine.store import Store
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from command_line import babelscope, declaration, transfer, write_study
from test_forecast import in_float32

pytestmark = pytest.mark.usefixtures("in_process")

ROWS = ("--with", "keep=rows")


class Ran:
    """A study that has run once with each `keep`, in a store each."""

    def __init__(self, folder, encoder):
        self.folder = folder
        changes = {"seeds": [0], "surgeries": [None], "retrieval": None}
        self.study = write_study(folder / "study.yaml", declaration(encoder, **changes))
        more = transfer(evaluate=["world:qaa", "world:qab", "world:qae"])
        self.extended = write_study(folder / "extended.yaml", declaration(encoder, **changes, tasks={"pos": more}))
        for keep in ("best", "rows"):
            self.run(self.study, keep)
        self.plan = compile_study(load_study(self.study))
        [self.tuning] = [key for key, step in self.plan.steps.items() if isinstance(step, Tune)]

    def run(self, study, keep):
        answer = babelscope("run", study, "--with", f"keep={keep}", "--store", self.folder / keep, "--jobs", 1)
        assert answer.status == 0, answer.errors
        return answer

    def rows(self, study, keep):
        file = self.folder / f"{study.stem}-{keep}.csv"
        answer = babelscope("rows", study, "--store", self.folder / keep, "-o", file)
        assert (answer.status, answer.errors) == (0, ""), answer.errors
        return file.read_bytes()

    def weights(self, keep):
        return Store(self.folder / keep).place_of(self.tuning) / "best.safetensors"


@pytest.fixture(scope="module")
def ran(tmp_path_factory, encoder_folder):
    return Ran(tmp_path_factory.mktemp("ran"), encoder_folder)


def test_what_is_kept_is_in_no_key(ran):
    assert compile_study(load_study(ran.study, {"keep": "rows"})).steps.keys() == ran.plan.steps.keys()
    assert find_study("first-look", {"keep": "rows"}).keep == "rows"
    answer = babelscope("plan", ran.study, "--with", "keep=all")
    assert answer.status == 2 and "keep" in answer.errors and "'best', 'rows' or 'compact'" in answer.errors


def test_rows_are_the_same_to_the_byte_and_weights_are_gone(ran):
    assert ran.rows(ran.study, "best") == ran.rows(ran.study, "rows")
    assert ran.weights("best").is_file() and not ran.weights("rows").exists()
    assert "without weights" not in babelscope("store", "verify", "--store", ran.folder / "best").output
    told = babelscope("store", "verify", "--store", ran.folder / "rows").output
    assert "5 of 5 results are as they were published, 1 of them without weights, which were dropped" in told


@pytest.mark.parametrize(("at_once", "models", "rows"), [(1, 7, 2), (2, 14, 0)])
def test_the_most_that_a_plan_takes(ran, encoder_folder, at_once, models, rows):
    """By hand: a training has its best weights and two checkpoints of three times that; an evaluation has a few rows.

    One at a time the second tuning begins when both evaluations of the first are done, and its weights are gone.
    """
    plan = compile_study(load_study(ran.study, {"seeds": [0, 1], "tasks.pos.baselines": []}))
    evaluations = sorted((s for s in plan.steps.values() if isinstance(s, Evaluate)), key=lambda s: s.model.seed)
    weights = in_float32(encoder_folder)
    assert peak_bytes(Plan.of(evaluations), at_once) == models * weights + rows * ROW_BYTES
    assert peak_bytes(Plan.of([]), at_once) is None


def test_the_plan_says_what_it_takes_at_most(ran):
    told = " ".join(babelscope("plan", ran.study, *ROWS, "--store", ran.folder / "rows").output.split())
    assert "keep: rows: at most about" in told and "compute again" not in told
    assert "keep: rows" not in babelscope("plan", ran.study, "--store", ran.folder / "rows").output


def test_sizes_are_those_of_the_files(ran):
    lines = {}
    for keep in ("best", "rows"):
        answer = babelscope("store", "sizes", "--store", ran.folder / keep)
        lines[keep] = next(line.rstrip() for line in answer.output.splitlines() if line.startswith("Tune"))
    size = f"{ran.weights('best').stat().st_size / 1000:.1f} kB"
    assert lines["best"].split("  ")[0] == "Tune" and lines["best"].count(size) == 2
    assert lines["rows"].count(size) == 1 and lines["rows"].endswith(size)


def test_an_extended_study_computes_them_again_and_has_the_same_rows(ran):
    told = " ".join(babelscope("plan", ran.extended, *ROWS, "--store", ran.folder / "rows").output.split())
    assert "1 of them to compute again since their weights were dropped" in told
    for keep in ("best", "rows"):
        assert "failed" not in ran.run(ran.extended, keep).errors
    assert ran.rows(ran.extended, "best") == ran.rows(ran.extended, "rows")
    manifest = Store(ran.folder / "rows").manifest(ran.tuning)
    assert "notes" not in manifest and not ran.weights("rows").exists()


def test_an_export_computes_them_again_and_says_so(ran, tmp_path):
    exported = {}
    for keep in ("best", "rows"):
        answer = babelscope("export", ran.tuning[:12], "-o", tmp_path / keep, "--store", ran.folder / keep)
        assert answer.status == 0, answer.errors
        exported[keep] = (tmp_path / keep / "model.safetensors").read_bytes()
        told = f"of result {ran.tuning[:12]} was dropped (keep: rows): it is computed again now"
        assert (told in " ".join(answer.errors.split())) == (keep == "rows")
    assert exported["best"] == exported["rows"] and ran.weights("rows").is_file()
    ran.run(ran.study, "rows")  # which has them dropped again
    assert not ran.weights("rows").exists()
