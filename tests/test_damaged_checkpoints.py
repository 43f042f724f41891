"""Checkpoints that are not as they were written: a run does not go on from them, and says so or begins anew."""

import pytest
import torch

from babelscope.core.errors import StepError
from babelscope.tasks.tag import Tagging
from babelscope.tuning.checkpoint import kept_weights, module_weights, write_weights
from babelscope.tuning.loop import tune
from taggers import QUICK, StoppedError, a_tagger, same_weights, stop_at


@pytest.mark.parametrize("kept", [0, 1, 9, 60])
def test_what_is_written_after_a_damaged_line_counts(kept, tmp_path):
    """Weights of the same run, beside which the rest of an earlier line stands."""
    path = tmp_path / "best.safetensors"
    for value in (1.0, 2.0):
        write_weights(path, {"w": torch.full((3,), value)}, "run")
        own = kept_weights(path, "run")
        path.with_suffix(".runs").write_bytes(path.with_suffix(".runs").read_bytes().strip()[:kept])
    assert own["w"].tolist() == [2.0] * 3
    with pytest.raises(StepError, match="is not as it was written"):
        kept_weights(path, "run")


@pytest.mark.parametrize("change", ["folder", "link", "nothing", "noise"])
def test_what_says_whose_the_best_weights_are_can_be_damaged(change, encoder, tagged, tmp_path):
    """The training begins again then, and no link is followed."""

    def run(folder, progress=lambda done, total, **numbers: None):
        tagger = a_tagger(encoder)
        settings = QUICK.model_copy(update={"validate_every": 1})
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        tune(tagger, task, settings, 0, tmp_path / folder / "draft", progress, checkpoint_seconds=0.0)
        return module_weights(tagger)

    with pytest.raises(StoppedError):
        run("one", stop_at(2))
    runs, elsewhere = tmp_path / "one/draft/best.runs", tmp_path / "elsewhere"
    elsewhere.write_bytes(runs.read_bytes())
    runs.unlink()
    if change == "folder":
        runs.mkdir()
    elif change == "link":
        runs.symlink_to(elsewhere)
    elif change == "noise":
        runs.write_bytes(b"\xff\x00\n" * 9)
    before = elsewhere.read_bytes()
    with pytest.warns(UserWarning, match="begins again"):
        again = run("one")
    assert elsewhere.read_bytes() == before
    assert same_weights(again, run("whole"))
    assert [path.name for path in (tmp_path / "one/draft").iterdir()] == ["best.safetensors"]


def spoil_header(content):
    return b"\x00" * len(content)


def cut_in_half(content):
    return content[: len(content) // 2]


def lose_state(content):
    return content.replace(b'"state"', b'"stale"')


def flip_a_sign(content):
    """Of the last number."""
    return content[:-1] + bytes([content[-1] ^ 128])


def without_digest(content):
    """As older versions wrote it."""
    return content.replace(b'"sha256"', b'"sha257"')


def another_state(content):
    """The digest is of the state, too."""
    return content.replace(b'\\"without_best\\": 0', b'\\"without_best\\": 1')


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        *((name, spoil) for name in ("checkpoint", "best") for spoil in (flip_a_sign, without_digest, cut_in_half)),
        *(("checkpoint", spoil) for spoil in (spoil_header, lose_state, another_state, lambda content: b"")),
        ("best", None),
    ],
)
def test_what_is_not_as_it_was_written_is_not_gone_on_from(encoder, tagged, tmp_path, name, spoil):
    def run(folder, progress):
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        settings = QUICK.model_copy(update={"validate_every": 1})
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        history = tune(tagger, task, settings, 0, folder, progress, checkpoint_seconds=0.0)
        return module_weights(tagger), history

    with pytest.raises(StoppedError):
        run(tmp_path / "spoiled", stop_at(2))
    file = tmp_path / "spoiled" / f"{name}.safetensors"
    before = file.read_bytes()
    file.unlink()
    if spoil:
        file.write_bytes(spoil(before))
        assert file.read_bytes() != before
    steps = []
    with pytest.warns(UserWarning, match=rf"{name}\.safetensors: gone, damaged, another run.*begins again"):
        again = run(tmp_path / "spoiled", lambda done, total, **numbers: steps.append(done))
    whole = run(tmp_path / "whole", lambda done, total, **numbers: None)
    assert steps[0] == 1
    assert same_weights(again[0], whole[0])
    assert again[1] == whole[1]


def test_weights_that_change_on_the_disk_are_not_kept(encoder, tagged, tmp_path, monkeypatch):
    """Between being written and being taken."""

    def spoilt(path, weights, run):
        write_weights(path, weights, run)
        path.write_bytes(flip_a_sign(path.read_bytes()))

    monkeypatch.setattr("babelscope.tuning.loop.write_weights", spoilt)
    tagger = a_tagger(encoder)
    with pytest.raises(StepError, match=r"best\.safetensors: is not as it was written"):
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path)
