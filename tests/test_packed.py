"""Models in small files: what is kept to the last bit, what is near, and what is refused."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from babelscope.core.errors import DataError, DivergedError, InputError
from babelscope.encoders.folder import CARD
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.packed import DIGEST, FORMAT, NOTE, STEPS, TYPICAL, pack, unpack
from babelscope.encoders.state import weights_of, word_embeddings_name
from babelscope.engine.brought_in import RECORD
from babelscope.face.cli import app
from babelscope.face.packed import write_packed, write_unpacked
from languages_brought_in import GEORGIAN, with_language

EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def folder(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an encoder with a language that has a tokenizer of its own, and with more embeddings than typical parts."""
    folder = tmp_path_factory.mktemp("model")
    grown = with_language(encoder, "ka", GEORGIAN)
    save_encoder(with_language(grown, "xx", [f"{first}{second}" for first in "бвгджз" for second in "аеио"]), folder)
    (folder / "README.md").write_text("An encoder, för alla\n", encoding="utf-8")
    (folder / RECORD).write_text('{"language": "xx"}\n', encoding="utf-8")
    (folder / "notes.bin").write_bytes(b"\xff")
    return folder


FEW = 64
"""Typical parts; there are more embeddings."""


def packed_with_few(folder: Path, file: Path) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("babelscope.encoders.packed.TYPICAL", FEW)
        return pack(folder, file)


@pytest.fixture(scope="module")
def packed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("packed") / "model.safetensors"
    assert packed_with_few(folder, file) == ["notes.bin"]
    return file


@pytest.fixture(scope="module")
def unpacked(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    unpack(packed, folder)
    return folder


def names(folder: Path) -> set[str]:
    return {place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file()}


def test_texts_are_kept_as_they_were(folder: Path, unpacked: Path) -> None:
    assert names(unpacked) == names(folder) - {"notes.bin"}
    assert (unpacked / CARD).read_text() == (folder / CARD).read_text() + NOTE
    for name in names(unpacked) - {"model.safetensors", CARD}:
        assert (unpacked / name).read_bytes() == (folder / name).read_bytes()


def test_vectors_are_kept_to_the_last_bit_and_matrices_to_half_a_step(folder: Path, unpacked: Path) -> None:
    before, after = (load_file(each / "model.safetensors") for each in (folder, unpacked))
    assert before.keys() == after.keys()
    for name in before.keys() - {EMBEDDINGS}:
        if before[name].ndim != 2:
            assert torch.equal(before[name], after[name])
        for row, near in zip(before[name].double(), after[name].double(), strict=True):
            assert (row - near).abs().max() <= row.abs().max() / STEPS / 2 * 1.0001


def test_parts_of_directions_become_the_nearest_typical_ones(folder: Path, packed: Path) -> None:
    """Against a search through all typical parts, row by row."""
    embeddings, kept = load_file(folder / "model.safetensors")[EMBEDDINGS].numpy(), load_file(packed)
    codes, typical = kept[f"{EMBEDDINGS} codes"].numpy(), kept[f"{EMBEDDINGS} typical"].float().numpy()
    width = typical.shape[2]
    assert len(embeddings) > FEW
    assert codes.shape == (len(embeddings), embeddings.shape[1] // width)
    for row, code in zip(embeddings, codes, strict=True):
        direction = row / (np.linalg.norm(row) or 1)
        for place, number in enumerate(code):
            distances = np.linalg.norm(typical[place] - direction[place * width : (place + 1) * width], axis=1)
            assert distances[number] <= distances.min() + 1e-3


def test_embeddings_keep_their_lengths_and_about_their_directions(folder: Path, unpacked: Path) -> None:
    before, after = (load_file(each / "model.safetensors")[EMBEDDINGS] for each in (folder, unpacked))
    torch.testing.assert_close(after.norm(dim=1), before.norm(dim=1), rtol=1e-3, atol=1e-6)
    assert torch.cosine_similarity(before, after).mean() > 0.9


def test_few_embeddings_lose_nothing_but_digits(encoder: Encoder, tmp_path: Path) -> None:
    """Where there are as many typical parts as rows, each row is its own."""
    save_encoder(encoder, tmp_path / "model")
    assert encoder.model.config.vocab_size <= TYPICAL
    pack(tmp_path / "model", tmp_path / "file")
    (tmp_path / "again").mkdir()
    unpack(tmp_path / "file", tmp_path / "again")
    name = word_embeddings_name(encoder)
    again = weights_of(load_encoder(tmp_path / "again"))[name]
    torch.testing.assert_close(again, weights_of(encoder)[name], rtol=0.01, atol=1e-4)


def test_a_model_reads_as_before(folder: Path, unpacked: Path) -> None:
    before, after = load_encoder(folder), load_encoder(unpacked)
    for language in ("en", "ka", "xx"):
        line = GEORGIAN[0]
        read = [each.reading(language).tokenizer(line)["input_ids"] for each in (before, after)]
        assert read[0] == read[1]


def test_the_same_folder_gives_the_same_file(folder: Path, packed: Path, tmp_path: Path) -> None:
    packed_with_few(folder, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == packed.read_bytes()


def test_what_is_no_model_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json: a file; what is packed is a model's folder; `babelscope"):
        write_packed(str(folder / "config.json"), tmp_path / "file")
    with pytest.raises(InputError, match="no such folder; `babelscope export"):
        write_packed(str(tmp_path / "none"), tmp_path / "file")
    with pytest.raises(InputError, match="already there"):
        write_packed(str(folder), folder / "config.json")
    assert not list(tmp_path.iterdir())


def test_weights_that_are_no_numbers_are_not_packed(encoder: Encoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path / "model")
    weights = load_file(tmp_path / "model" / "model.safetensors")
    weights[EMBEDDINGS][3, 5] = float("nan")
    save_file(weights, tmp_path / "model" / "model.safetensors", {"format": "pt"})
    with pytest.raises(DivergedError, match=f"{EMBEDDINGS}: 1 of"):
        pack(tmp_path / "model", tmp_path / "file")
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({f"{EMBEDDINGS} typical": torch.zeros(1, 2, 3)}, "damaged"),
        ({f"{EMBEDDINGS} odd": torch.zeros(1)}, "damaged"),
        (
            {"x codes": torch.zeros(9, 1, dtype=torch.uint8), "x typical": torch.zeros(1, 1, 10**6)},
            "are not what is packed",
        ),
        ({"files": []}, "its texts have no names"),
        ({"files": torch.zeros(9, dtype=torch.uint8)}, "damaged"),
        ({"files": {"../../config.json": "{}"}}, "is no file of a model's folder"),
        ({"files": {"languages/../x.json": "{}"}}, "is no file of a model's folder"),
        ({"files": {"/etc/x.json": "{}"}}, "is no file of a model's folder"),
        ({"files": {"config.json": 5}}, "is no file of a model's folder"),
    ],
)
def test_forged_files_are_refused_and_nothing_is_written(
    packed: Path, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    kept = load_file(packed)
    del kept[DIGEST]
    for name, value in change.items():
        if isinstance(value, dict | list):
            compressed = lzma.compress(json.dumps(value).encode())
            value = torch.frombuffer(bytearray(compressed), dtype=torch.uint8)
        kept[name] = value
    save_file(kept, tmp_path / "forged", {"format": FORMAT})
    with pytest.raises(DataError, match=said):
        write_unpacked(tmp_path / "forged", tmp_path / "model")
    assert [place.name for place in tmp_path.iterdir()] == ["forged"]


def test_a_file_with_a_flipped_bit_is_refused_wherever_it_is(packed: Path, tmp_path: Path) -> None:
    """Nothing but a digest can tell that a weight is another."""
    content = packed.read_bytes()
    for place in (*range(9, len(content), len(content) // 40), len(content) - 1):
        (tmp_path / "flipped").write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DataError, match="flipped: "):
            write_unpacked(tmp_path / "flipped", tmp_path / "model")


def test_a_file_that_was_packed_before_there_were_digests_is_read(packed: Path, unpacked: Path, tmp_path: Path) -> None:
    kept = load_file(packed)
    del kept[DIGEST]
    save_file(kept, tmp_path / "old", {"format": FORMAT})
    write_unpacked(tmp_path / "old", tmp_path / "model")
    weights = [load_file(folder / "model.safetensors") for folder in (tmp_path / "model", unpacked)]
    assert weights[0].keys() == weights[1].keys() and all(torch.equal(weights[0][n], weights[1][n]) for n in weights[0])


def test_a_file_whose_factors_would_fill_the_memory_is_refused(packed: Path, tmp_path: Path) -> None:
    forged = {"x steps": torch.zeros(1, 1_000_000, dtype=torch.int8), "x scales": torch.zeros(1_000_000)}
    save_file({**forged, "files": load_file(packed)["files"]}, tmp_path / "forged", {"format": FORMAT})
    with pytest.raises(DataError, match=r"damaged \(1000000 factors for 1 rows\); copy it again"):
        write_unpacked(tmp_path / "forged", tmp_path / "model")


@pytest.mark.parametrize("content", [b"", b"no safetensors"])
def test_files_of_other_formats_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataError, match="not a safetensors file"):
        write_unpacked(tmp_path / "file", tmp_path / "model")


def test_an_input_that_cannot_be_read_is_no_fault_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{tmp_path}: cannot be read"):
        write_unpacked(tmp_path, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_other_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not what babelscope pack writes"):
        write_unpacked(folder / "model.safetensors", tmp_path / "model")


def test_the_commands(folder: Path, tmp_path: Path) -> None:
    run = CliRunner()
    packed = run.invoke(app, ["pack", str(folder), "-o", str(tmp_path / "file")])
    assert packed.exit_code == 0, packed.output
    assert " MB, of " in packed.output
    assert "left out: notes.bin" in packed.output
    unpacked = run.invoke(app, ["unpack", str(tmp_path / "file"), "-o", str(tmp_path / "model")])
    assert unpacked.exit_code == 0, unpacked.output
    assert load_encoder(tmp_path / "model").languages.keys() == {"ka", "xx"}


def test_weights_that_the_model_is_not_loaded_from_are_left_out(folder: Path, tmp_path: Path) -> None:
    """Those of another file took the place of the model's own, which has the same names."""
    whole, other = tmp_path / "whole", tmp_path / "other"
    for place in (whole, other):
        save_encoder(load_encoder(folder), place)
    old = {name: torch.full_like(weight, 0.5) for name, weight in load_file(whole / "model.safetensors").items()}
    save_file(old, other / "old-checkpoint.safetensors", {"format": "pt"})
    left_out = [packed_with_few(place, tmp_path / f"{place.name}.packed") for place in (whole, other)]
    assert left_out == [[], ["old-checkpoint.safetensors"]]
    assert (tmp_path / "whole.packed").read_bytes() == (tmp_path / "other.packed").read_bytes()
