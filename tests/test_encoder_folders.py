"""Folders of encoders: what is wrong with one is said before anything is computed, and all that is read counts."""

import json
import os
import pickle
import re
import subprocess
import sys

import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import AutoConfig

from babelscope.core.errors import EncoderError
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.encoders.places import locate
from babelscope.steps import Load
from command_line import within

pytestmark = pytest.mark.usefixtures("in_process")


SHAPE = {
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
    "max_position_embeddings", "pad_token_id",
}  # fmt: skip


def test_unknown_family_says_what_to_add():
    with pytest.raises(EncoderError, match=r"'opt' are not known.*ANATOMY"):
        anatomy_of(AutoConfig.for_model("opt"))


def test_errors_name_what_is_wrong(tmp_path, encoder):
    with pytest.raises(EncoderError, match="no such folder"):
        load_encoder(tmp_path / "nowhere")
    with pytest.raises(EncoderError, match=r"no config\.json"):
        load_encoder(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(EncoderError, match=r"no weights; copy the encoder's model\.safetensors into it"):
        load_encoder(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(EncoderError, match="Pickled weights can run code"):
        load_encoder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(EncoderError, match="no tokenizer"):
        load_encoder(tmp_path)
    encoder.tokenizer.save_pretrained(tmp_path)
    with pytest.raises(EncoderError, match="cannot load the encoder"):
        load_encoder(tmp_path)
    with pytest.raises(EncoderError, match="cannot load the encoder 'no-such-encoder'"):
        load_encoder("no-such-encoder")


def test_damaged_weights_are_an_encoder_error(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\x00" * 100_000)
    with pytest.raises(EncoderError, match="cannot load the encoder"):
        load_encoder(tmp_path)


def test_wrong_shape_is_an_encoder_error(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "intermediate_size": 48}))
    with pytest.raises(EncoderError, match=r"do not fit the sizes.*intermediate"):
        load_encoder(tmp_path)


def test_a_name_that_the_library_does_not_know_is_said_to_be_one(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "hidden_act": "xx"}))
    with pytest.raises(EncoderError, match=r"it names 'xx', which transformers does not know; see its config.json"):
        load_encoder(tmp_path)


def test_missing_weights_are_an_encoder_error(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(EncoderError, match=r"weights are missing.*layer\.2"):
        load_encoder(tmp_path)


FORGIVEN = [
    *[("dtype", value) for value in (0, None, {"a": 1})],
    *[("pad_token_id", value) for value in (0, None)],
]
"""Odd values that transformers reads as an encoder all the same."""


UNCHECKED = ("use_cache", "hidden_act")
"""What transformers 5.0 takes as it is."""


WRONG_VALUES = st.sampled_from(["three", 0, None, [1], {"a": 1}])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(sorted({*SHAPE, "model_type", "hidden_act", "dtype", "use_cache"})), value=WRONG_VALUES)
def test_a_wrong_value_in_the_configuration_is_an_encoder_error(tmp_path, encoder, key, value):
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, key: value}))
    try:
        load_encoder(tmp_path)
    except EncoderError:
        return
    assert (key, value) in FORGIVEN or (key in UNCHECKED and transformers.__version__.startswith("5.0."))


SIZES = [
    ("num_hidden_layers", -1), ("num_hidden_layers", 0), ("num_hidden_layers", 10**6), ("num_hidden_layers", 10**18),
    ("hidden_size", -32), ("hidden_size", 10**6), ("vocab_size", 10**12), ("vocab_size", 0), ("num_labels", 10**9),
    ("intermediate_size", 10**9), ("max_position_embeddings", 10**9), ("type_vocab_size", 10**9),
    ("num_attention_heads", 10**9),
]  # fmt: skip


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_sizes_that_the_weights_cannot_have_are_refused_before_there_are_weights(tmp_path, encoder, name, size):
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, name: size}))
    for read in (load_encoder, locate):
        with within(5), pytest.raises(EncoderError, match=rf"config.json: {name} is {size:,}, .*\. Download or save"):
            read(str(tmp_path))


def test_quantised_weights_are_refused(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    name = next(name for name in weights if name.endswith("query.weight"))
    save_file(weights | {name: weights[name].to(torch.int8)}, tmp_path / "model.safetensors", {"format": "pt"})
    for read in (load_encoder, locate):
        with pytest.raises(EncoderError, match=rf"{name} is of I8, as weights are that were quantised"):
            read(str(tmp_path))


@pytest.mark.parametrize("name", ["num_hidden_layers", "hidden_size", "vocab_size", "type_vocab_size"])
@pytest.mark.parametrize("size", ["6", 6.5, True, [6]])
def test_a_size_that_is_no_whole_number_is_refused(tmp_path, encoder, name, size):
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, name: size}))
    for read in (load_encoder, locate):
        with pytest.raises(EncoderError, match=rf"{name} is {re.escape(repr(size))}, and should be a whole number"):
            read(str(tmp_path))


def test_what_a_configuration_wants_to_be_given_besides_states_is_not_given(encoder, tmp_path):
    """transformers saves no model that is to give attentions, and gives tuples where it should give names."""
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    wanted = {"output_attentions": True, "output_hidden_states": True, "return_dict": False}
    (tmp_path / "config.json").write_text(json.dumps({**config, **wanted}))
    again = load_encoder(tmp_path)
    save_encoder(again, tmp_path / "again")
    assert json.loads((tmp_path / "again" / "config.json").read_text()) == config
    assert again.backbone(torch.tensor([[1, 2]])).last_hidden_state.shape[:2] == (1, 2)


def test_weights_of_more_layers_than_the_configuration_has_are_refused(encoder, tmp_path):
    """A layer would be left out, and nothing would say so."""
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    layers = config["num_hidden_layers"]
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": layers - 1}))
    with pytest.raises(EncoderError, match=rf"weights of {layers} layers, but .* num_hidden_layers {layers - 1}\."):
        load_encoder(tmp_path)


class Trap:
    """An object whose pickle makes a folder when it is read."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_pickled_weights_are_refused_unread(tmp_path, encoder):
    folder, sprung = tmp_path / "encoder", tmp_path / "sprung"
    save_encoder(encoder, folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(sprung)))
    for refuse in (load_encoder, lambda path: locate(str(path))):
        with pytest.raises(EncoderError, match=r"no \*\.safetensors.*allow_pickle=True"):
            refuse(folder)
    assert not sprung.exists()


def test_pickled_weights_are_converted_as_the_message_says(tmp_path, encoder):
    old, new = tmp_path / "old", tmp_path / "new"
    save_encoder(encoder, old)
    (old / "model.safetensors").unlink()
    torch.save(encoder.model.state_dict(), old / "pytorch_model.bin")
    save_encoder(load_encoder(old, allow_pickle=True), new)
    weights = load_encoder(new).model.state_dict()
    assert all(torch.equal(weights[name], tensor) for name, tensor in encoder.model.state_dict().items())


CONFIGURATIONS = {
    "[" * 200_000: "nested too deep",
    '{"a":' * 200_000: "nested too deep",
    "": "not JSON",
    "{": "not JSON",
    "\ufeff{}": "not JSON",
    "[]": "type None are not known",
    '{"model_type": "opt"}': r"type 'opt' are not known.*ANATOMY",
    '{"model_type": ["bert"]}': r"type \['bert'\] are not known",
    '{"model_type": "bert"}': "no weights",
    '{"model_type": "bert", "hidden_dropout_prob": NaN}': "hidden_dropout_prob is nan, with which nothing can be",
    '{"model_type": "bert", "layer_norm_eps": 1e400}': "layer_norm_eps is inf, with which nothing can be",
    '{"model_type": "bert", "model_type": "gpt2"}': "the key 'model_type' is there twice",
}


@pytest.mark.parametrize("content", CONFIGURATIONS)
def test_what_cannot_be_an_encoder_is_refused_before_anything_is_computed(tmp_path, content):
    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(EncoderError, match=CONFIGURATIONS[content]) as caught:
        locate(str(tmp_path))
    assert str(tmp_path) in str(caught.value)


def test_locating_loads_no_torch(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    code = (
        "import sys; from babelscope.encoders.places import locate; locate(sys.argv[1]);"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_folder_that_changed_is_refused(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    place = locate(str(tmp_path))
    step = Load(name=place.name, content=place.content, place=place.path)
    assert step.build(results=None).name == place.name
    with (tmp_path / "config.json").open("a") as file:
        file.write("\n")
    with pytest.raises(EncoderError, match="have changed since the run was planned"):
        step.build(results=None)


def test_an_adapter_is_refused(tmp_path, encoder, monkeypatch):
    """With peft installed it would change the weights, and without it not; and it alone would be saved."""
    peft = pytest.importorskip("peft")
    save_encoder(encoder, tmp_path)
    config = peft.LoraConfig(target_modules=["query"], init_lora_weights=False)
    peft.get_peft_model(load_encoder(tmp_path).backbone, config).save_pretrained(tmp_path)
    for refuse in (load_encoder, lambda path: locate(str(path))):
        with pytest.raises(EncoderError, match=r"an adapter \(adapter_config.json\).*merge_and_unload"):
            refuse(tmp_path)
    monkeypatch.setattr("babelscope.encoders.load.check_folder", lambda folder, allow_pickle: None)  # as of the hub
    with pytest.raises(EncoderError, match="an adapter"):
        load_encoder(tmp_path)
