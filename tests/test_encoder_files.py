"""Which files of an encoder's folder are its weights: each of them is in its digest."""

import hashlib
import json

import pytest
from safetensors.torch import load_file, save_file

from babelscope.core.errors import EncoderError
from babelscope.core.hashing import folder_digest
from babelscope.encoders.folder import FILES
from babelscope.encoders.heads import has_mlm_head
from babelscope.encoders.load import load_located, save_encoder
from babelscope.encoders.places import locate

pytestmark = pytest.mark.usefixtures("in_process")


def in_parts(encoder, folder, second="rest/weights.safetensors"):
    """Save an encoder with half of its weights in a file that an index names."""
    save_encoder(encoder, folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = {name: "first.safetensors" if place % 2 else second for place, name in enumerate(weights)}
    for file in set(names.values()):
        (folder / file).parent.mkdir(exist_ok=True)
        save_file({name: weights[name] for name in weights if names[name] == file}, folder / file, {"format": "pt"})
    index = {"metadata": {}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def spoil_a_weight(file):
    """Make the last number another one."""
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 128]))


def test_weights_in_a_folder_that_an_index_names_count(tmp_path, encoder):
    in_parts(encoder, tmp_path)
    before = locate(str(tmp_path))
    assert has_mlm_head(str(tmp_path)) is True
    assert len(load_located(before).model.state_dict()) == len(encoder.model.state_dict())
    spoil_a_weight(tmp_path / "rest" / "weights.safetensors")
    assert locate(str(tmp_path)).content != before.content
    with pytest.raises(EncoderError, match="have changed since the run was planned"):
        load_located(before)


@pytest.mark.parametrize("through_an_index", [False, True])
def test_weights_that_the_configuration_names_count(tmp_path, encoder, through_an_index):
    in_parts(encoder, tmp_path)
    (tmp_path / "model.safetensors.index.json").rename(tmp_path / "rest" / "named.safetensors.index.json")
    named = "rest/named.safetensors.index.json" if through_an_index else "rest/weights.safetensors"
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "transformers_weights": named}))
    before = locate(str(tmp_path)).content
    spoil_a_weight(tmp_path / "rest" / "weights.safetensors")
    changed = locate(str(tmp_path)).content
    assert changed != before
    with (tmp_path / "rest" / "named.safetensors.index.json").open("a") as file:
        file.write("\n")
    assert (locate(str(tmp_path)).content != changed) == through_an_index


@pytest.mark.parametrize("place", ["../outside.safetensors", "/outside.safetensors", "rest/../../outside.safetensors"])
def test_weights_outside_of_the_folder_are_refused(tmp_path, encoder, place):
    in_parts(encoder, tmp_path / "encoder")
    index = tmp_path / "encoder" / "model.safetensors.index.json"
    index.write_text(index.read_text().replace("rest/weights.safetensors", place))
    with pytest.raises(EncoderError, match=f"names weights in {place}"):
        locate(str(tmp_path / "encoder"))


@pytest.mark.parametrize("content", ["", "[]", '{"weight_map": 3}', '{"weight_map": {"a": 3}}', "[" * 100_000])
def test_an_index_that_is_none_names_no_weights(tmp_path, encoder, content):
    save_encoder(encoder, tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(content)
    assert locate(str(tmp_path)).content == folder_digest(tmp_path, FILES)


def test_the_digest_of_an_ordinary_folder_is_of_its_files_alone(tmp_path, encoder):
    """As it is in the keys of stored results."""
    save_encoder(encoder, tmp_path)
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    text = json.dumps(files, sort_keys=True, separators=(",", ":"))
    assert locate(str(tmp_path)).content == hashlib.sha256(text.encode()).hexdigest()
