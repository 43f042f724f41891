"""Weights that are written: finite, and to be read by whoever may read other files."""

import os
import stat
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DivergedError, InputError
from babelscope.encoders.load import save_encoder
from babelscope.encoders.state import weights_of, with_weights
from babelscope.encoders.written import check_finite, non_finite
from babelscope.surgery import apply
from babelscope.tasks.design import Design
from babelscope.tasks.export import save_model
from babelscope.tasks.models import task_model
from babelscope.tasks.tag import Tagging
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from command_line import babelscope
from taggers import a_tagger


@pytest.fixture
def spoiled(encoder):
    """With one weight that is NaN."""
    weights = {name: weight.clone() for name, weight in weights_of(encoder).items()}
    next(weight for name, weight in weights.items() if name.endswith("layer.1.output.dense.weight"))[3, 4] = np.nan
    return replace(with_weights(encoder, weights), name="spoiled")


@given(
    st.lists(st.floats(width=16), max_size=9),
    st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]),
)
def test_every_weight_is_looked_at(values, dtype):
    weights = {"sound": torch.ones(3), "whole": torch.arange(5), "drawn": torch.tensor(values, dtype=dtype)}
    bad = sum(not np.isfinite(value) for value in weights["drawn"].double().tolist())
    assert non_finite(weights) == (f"drawn: {bad} of {len(values)} weights are NaN or infinite" if bad else None)


def test_a_sum_beyond_the_numbers_is_no_fault():
    check_finite({"large": torch.full((4,), 3e38)})


def test_an_operation_that_leaves_infinities_is_refused(encoder, tmp_path):
    large = deepcopy(encoder)
    for tensor in large.model.parameters():
        tensor.data *= 1e35
    with pytest.raises(InputError, match=r"operation noise:share=1000000.*word_embeddings\.weight: .* NaN or infinite"):
        apply(large, "noise:share=1e6")
    large.model.save_pretrained(tmp_path / "large")
    large.tokenizer.save_pretrained(tmp_path / "large")
    answer = babelscope("operate", tmp_path / "large", "--op", "noise:share=1e6", "-o", tmp_path / "made")
    assert answer.status == 2 and "weights are NaN or infinite" in answer.errors
    assert not (tmp_path / "made").exists()


def test_an_encoder_with_nan_is_not_written(spoiled, tmp_path):
    with pytest.raises(DivergedError, match=r"layer\.1\.output\.dense\.weight: 1 of 2,048 weights are NaN"):
        save_encoder(spoiled, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_an_encoder_is_not_silently_left_out_where_a_file_has_its_name(encoder, tmp_path):
    (tmp_path / "made").touch()
    with pytest.raises(FileExistsError):
        save_encoder(encoder, tmp_path / "made")


def test_a_tuned_model_with_nan_is_not_exported(spoiled, tmp_path):
    with pytest.raises(DivergedError, match=r"layer\.1\.output\.dense\.weight"):
        save_model(task_model(spoiled, Design("pos", head="", entity_types=())), tmp_path / "made")


def test_a_training_whose_last_step_leaves_infinities_keeps_no_weights(encoder, tagged, tmp_path):
    """Its last loss was finite, as it was taken before."""
    tagger = a_tagger(encoder)
    with pytest.raises(DivergedError, match="weights are NaN or infinite"):
        tune(tagger, Tagging(tagger, tagged), Tuning(learning_rate=1e39, steps=1, tokens_per_batch=128), 0, tmp_path)
    assert not (tmp_path / "best.safetensors").exists()


class Falling(Tagging):
    """Finds the model of the first step better than that of the second."""

    def evaluate(self, model):
        self.values.append(1 - len(self.values))
        return {"qaa": self.values[-1]}


def test_a_training_whose_last_step_alone_leaves_infinities_has_diverged(encoder, tagged, tmp_path):
    """Though an earlier step was the best, and its weights are sound."""
    tagger = a_tagger(encoder)
    Falling.values = []

    def spoil(done, total, **numbers):
        if done == total:
            next(tagger.parameters()).data[0] = float("inf")

    settings = Tuning(steps=2, tokens_per_batch=128, validate_every=1)
    with pytest.raises(DivergedError, match="weights are NaN or infinite"):
        tune(tagger, Falling(tagger, tagged), settings, 0, tmp_path, spoil)
    assert Falling.values == [1, 0]


@pytest.mark.parametrize(("umask", "mode"), [(0o002, 0o664), (0o022, 0o644), (0o077, 0o600)])
def test_files_have_the_modes_that_the_user_wants(encoder, tagged, tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        save_encoder(encoder, tmp_path / "encoder")
        tagger = a_tagger(encoder)
        tune(tagger, Tagging(tagger, tagged[:9]), Tuning(epochs=1, tokens_per_batch=128), 0, tmp_path / "tuned")
    finally:
        os.umask(before)
    files = [*(tmp_path / "encoder").iterdir(), *(tmp_path / "tuned").iterdir()]
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in files} == {file.name: mode for file in files}
    assert len(files) == 5
