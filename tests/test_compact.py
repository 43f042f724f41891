"""`keep: compact`: best weights are kept rounded, in a quarter of the bytes, and are these wherever they are read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from babelscope.core.errors import InputError, StudyError
from babelscope.engine.forecast import bytes_of
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.between import check_alike
from babelscope.steps import Evaluate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from babelscope.tuning.checkpoint import module_weights, read_weights
from babelscope.tuning.compact import ROW_STEP, START, STEPS, compacted, restored
from command_line import babelscope, declaration, write_study

pytestmark = pytest.mark.usefixtures("in_process")

weights = arrays(np.float32, array_shapes(min_dims=1, max_dims=3, max_side=5), elements=st.floats(-4, 4, width=32))


@given(weights, st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1e-3, 1.0]))
@example(np.ones((1, 1), dtype=np.float32), 2**32 - 1, 1e-6)
def test_a_weight_is_no_further_off_than_half_a_step_of_its_row(start, seed, size):
    """Step by step: what is kept of an entry is a whole number of steps, and times the step it is the entry's move."""
    moved = (size * np.random.default_rng(seed).standard_normal(start.shape)).astype(np.float32)
    begun, trained = torch.from_numpy(start), torch.from_numpy(start + moved)
    kept = compacted({"w": begun}, {"w": trained})
    found = restored({"w": begun}, kept)["w"]
    if start.ndim == 1:
        assert torch.equal(found, trained)
        return
    for row, (before, after) in enumerate(zip(begun, trained, strict=True)):
        largest = max((float(abs(move)) for move in (after - before).flatten()), default=0.0)
        allowed = largest / STEPS / 2 * 1.001 + 1e-6  # and last digits of float32
        assert float((found[row] - after).abs().max()) <= allowed
    assert ("w" in kept) == (not torch.equal(begun, trained)), "a move can be less than a last digit"
    if "w" in kept:
        assert kept["w"].dtype == torch.int8 and kept["w" + ROW_STEP].shape == (len(start),)


def test_what_has_not_moved_is_not_kept_and_comes_back_bit_by_bit():
    start = {"frozen": torch.randn(3, 4), "row": torch.randn(3, 4), "bias": torch.randn(4)}
    trained = {**start, "row": start["row"].clone(), "bias": start["bias"] + 1e-3}
    trained["row"][1] += 0.5
    kept = compacted(start, trained)
    assert kept.keys() == {"row", "row" + ROW_STEP, "bias", START}
    found = restored(start, kept)
    assert torch.equal(found["frozen"], start["frozen"]) and torch.equal(found["bias"], trained["bias"])
    assert torch.equal(found["row"][[0, 2]], start["row"][[0, 2]])
    assert torch.allclose(found["row"][1], trained["row"][1], atol=0.5 / STEPS)


class Ran:
    """A study that has run once with each `keep`."""

    def __init__(self, folder, encoder):
        self.study = write_study(
            folder / "study.yaml",
            declaration(encoder, seeds=[0], surgeries=[None], retrieval=None, schedules=[None, "freeze:1"]),
        )
        self.stores = {keep: Store(folder / keep) for keep in ("best", "compact")}
        for keep in self.stores:
            answer = babelscope("run", self.study, "--with", f"keep={keep}", "--store", folder / keep, "--jobs", 1)
            assert answer.status == 0, answer.errors

    def plan(self, keep):
        return compile_study(load_study(self.study, {"keep": keep}))

    def tunings(self, keep):
        return [step for step in self.plan(keep).steps.values() if isinstance(step, Tune)]


@pytest.fixture(scope="module")
def ran(tmp_path_factory, encoder_folder):
    return Ran(tmp_path_factory.mktemp("ran"), encoder_folder)


def test_rounded_weights_have_keys_of_their_own(ran):
    best, compact = (ran.plan(keep).steps for keep in ("best", "compact"))
    scored = [{key for key, step in steps.items() if isinstance(step, Tune | Evaluate)} for steps in (best, compact)]
    assert len(scored[0]) == len(scored[1]) and not scored[0] & scored[1]


def test_a_quarter_of_the_bytes_are_kept_and_models_are_next_to_the_same(ran):
    for whole, rounded in zip(ran.tunings("best"), ran.tunings("compact"), strict=True):
        files = [ran.stores[keep].place_of(step.key) for keep, step in (("best", whole), ("compact", rounded))]
        best, small = files[0] / "best.safetensors", files[1] / "rounded.safetensors"
        assert not (files[1] / "best.safetensors").exists()
        assert small.stat().st_size < 0.4 * best.stat().st_size  # of rows as short as these a step is much
        assert bytes_of(rounded) == bytes_of(whole) // 4
        model = rounded.model(FinishedSteps(ran.stores["compact"]))
        exact, found = read_weights(best), {name: each.detach() for name, each in module_weights(model.module).items()}
        largest = max(float((exact[name] - found[name]).abs().max()) for name in exact)
        assert 0 < largest < 1e-3
        assert {
            name: tensor.shape for name, tensor in rounded.weights(FinishedSteps(ran.stores["compact"])).items()
        } == {name: tensor.shape for name, tensor in exact.items()}


def test_an_export_is_of_the_rounded_weights(ran, tmp_path):
    (key, *_) = [step.key for step in ran.tunings("compact")]
    answer = babelscope("export", key[:12], "-o", tmp_path / "model", "--store", ran.stores["compact"].folder)
    assert answer.status == 0, answer.errors


def test_lines_and_angles_are_not_measured_on_rounded_weights(ran, encoder_folder, tmp_path):
    line = {"measure": "interpolation", "tasks": ["pos"], "evaluate": ["world:qaa"]}
    declared = declaration(encoder_folder, measures=[line], retrieval=None, keep="compact")
    with pytest.raises(StudyError, match="keep: compact rounds weights, and interpolation would measure that"):
        load_study(write_study(tmp_path / "study.yaml", declared))
    with pytest.raises(InputError, match=r"its weights were rounded \(keep: compact\)"):
        check_alike([ran.tunings("best")[0], ran.tunings("compact")[0]])


def test_moves_from_other_bits_are_refused():
    """A start that is drawn or computed anew can differ in its last digits on another machine."""
    start = {"w": torch.linspace(-1, 1, 12).view(3, 4), "b": torch.zeros(3)}
    trained = {name: weight + 0.01 for name, weight in start.items()}
    kept = compacted(start, trained)
    other = start | {"w": start["w"].nextafter(torch.tensor(2.0))}
    with pytest.raises(InputError, match="come out with other bits here"):
        restored(other, kept)
    del kept[START]  # as before there was a digest
    torch.testing.assert_close(restored(other, kept)["w"], trained["w"], atol=1e-4, rtol=0)
