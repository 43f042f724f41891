"""The command `operate`."""

import errno
import json
import os
from typing import Literal

import pytest

from babelscope.core.errors import InputError
from babelscope.encoders.load import load_encoder
from babelscope.encoders.state import weights_of
from babelscope.face.operate import write_operated
from babelscope.surgery import Operation, apply
from command_line import babelscope


def same(first, second):
    first, second = weights_of(first), weights_of(second)
    return first.keys() == second.keys() and all(first[name].equal(second[name]) for name in first)


def test_an_operated_encoder_is_written_with_a_record(encoder_folder, tmp_path):
    options = ("--op", "reverse", "--op", "drop:last=1", "--op", "reinit:part=attention", "--seed", 3)
    done = babelscope("operate", encoder_folder, *options, "-o", tmp_path / "made")
    original = load_encoder(encoder_folder)
    expected = apply(original, ["reverse", "drop:last=1", "reinit:part=attention"], seed=3)
    assert same(load_encoder(tmp_path / "made"), expected)
    record = json.loads((tmp_path / "made" / "surgery.json").read_text())
    assert record["operations"] == ["reverse", "drop:last=1", "reinit:part=attention"]
    assert record["seed"] == 3
    assert record["encoder"]["name"].endswith("tiny")
    before, after = (sum(p.numel() for p in one.model.parameters()) for one in (original, expected))
    assert record["parameters"] == {"before": before, "after": after}
    assert done.status == 0 and f"{before:,} parameters before, {after:,} after" in done.output


def test_the_same_command_writes_the_same_bytes(encoder_folder, tmp_path):
    for name in ("one", "two"):
        assert babelscope("operate", encoder_folder, "--op", "oracle", "-o", tmp_path / name).status == 0
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"config.json", "model.safetensors", "surgery.json", "tokenizer.json"} <= set(files)
    assert all((tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes() for file in files)


def test_a_donor_is_another_encoder(encoder_folder, tmp_path):
    assert babelscope("operate", encoder_folder, "--op", "noise:share=1", "-o", tmp_path / "donor").status == 0
    graft = f"graft:layers=1,donor={tmp_path / 'donor'}"
    assert babelscope("operate", encoder_folder, "--op", graft, "-o", tmp_path / "made").status == 0
    original, donor, made = (
        weights_of(load_encoder(f)) for f in (encoder_folder, tmp_path / "donor", tmp_path / "made")
    )
    for name, weight in made.items():
        assert weight.equal((donor if ".layer.1." in name else original)[name]), name
    assert json.loads((tmp_path / "made" / "surgery.json").read_text())["donors"][0]["name"].endswith("donor")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--op", "turn"], "operation 'turn': no such operation"),
        (["--op", "drop:last=2"], "tiny has 2 layers; drop one at least, and keep one at least"),
        (["--op", "drop:last=1", "--op", "reinit:layers=1"], "/tiny after drop:last=1 has 1 layers, 0 to 0"),
        (["--op", "graft:donor=./nowhere"], "./nowhere: no such folder"),
        ([], "Missing option '--op'"),
        (["--op", "reverse", "--seed", "-1"], "Invalid value for '--seed'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(encoder_folder, tmp_path, options, message):
    answer = babelscope("operate", encoder_folder, *options, "-o", tmp_path / "made")
    assert answer.status == 2
    assert message in " ".join(answer.errors.split()).replace("│ ", "")
    assert not (tmp_path / "made").exists()


def test_the_folder_that_it_runs_in_is_not_replaced(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = babelscope("operate", encoder_folder, "--op", "reverse", "-o", ".")
    assert answer.status == 2 and "the folder that this runs in; give one that does not exist yet" in answer.errors
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_is_left_alone(encoder_folder, tmp_path):
    (tmp_path / "notes").write_text("mine")
    for folder in (tmp_path, tmp_path / "notes"):
        answer = babelscope("operate", encoder_folder, "--op", "reverse", "-o", folder)
        assert answer.status == 2 and "give one that does not exist yet" in answer.errors
    under_a_file = babelscope("operate", encoder_folder, "--op", "reverse", "-o", tmp_path / "notes" / "below")
    assert under_a_file.status == 2 and "cannot be written" in under_a_file.errors
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
    (tmp_path / "empty").mkdir()
    assert babelscope("operate", encoder_folder, "--op", "reverse", "-o", tmp_path / "empty").status == 0


@pytest.mark.parametrize("problem", ["Error while serializing: I/O error: No space left on device (os error 28)", None])
def test_a_full_disk_leaves_nothing_and_is_said(encoder_folder, tmp_path, monkeypatch, problem):
    """Libraries written in Rust have no other way to say what the system refuses."""

    def full(encoder, folder):
        (folder / "config.json").write_text("{}")
        raise Exception(problem) if problem else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("babelscope.encoders.load.save_encoder", full)
    answer = babelscope("operate", encoder_folder, "--op", "reverse", "-o", tmp_path / "made")
    assert answer.status == 2 and "made: cannot be written: No space left on device" in " ".join(answer.errors.split())
    assert list(tmp_path.iterdir()) == []


def test_an_operation_of_ones_own_that_fails_is_told_of_with_its_place(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(Operation, "kinds", dict(Operation.kinds))

    class Failing(Operation):
        """Raises whatever it raises."""

        operation: Literal["failing"] = "failing"

        def apply(self, encoder, seed, donors):
            raise IndexError("out of range")

    for texts, told in ((["failing"], "operation failing"), (["reverse", "failing"], "one of the .* reverse; failing")):
        with pytest.raises(InputError, match=rf"{told}: IndexError: out of range \(.*test_operate.py:\d+\)$"):
            write_operated(str(encoder_folder), texts, tmp_path / "made", 0)
    assert not (tmp_path / "made").exists()
