from pathlib import Path

import numpy as np
import pytest
import torch

from babelscope.core.errors import EncoderError
from babelscope.encoders.anatomy import anatomy_of, max_positions
from babelscope.encoders.load import Encoder, load_encoder, load_located, save_encoder
from babelscope.encoders.pieces import Batch, Frame, Pieces, by_length, encode_sentences
from babelscope.encoders.places import locate
from babelscope.encoders.tap import hidden_states, sentence_states
from babelscope.tasks.mlm import MaskedBatch, hidden_logits
from families import DECODERS, FAMILIES, family_model

pytestmark = pytest.mark.usefixtures("in_process")


def some_batch():
    ids = torch.randint(5, 90, (3, 9), generator=torch.Generator().manual_seed(1))
    real = torch.arange(9) < torch.tensor([[9], [6], [4]])
    return Batch(ids.masked_fill(~real, 0), real)


@pytest.mark.parametrize("model_type", FAMILIES)
def test_anatomy_names_what_exists(model_type):
    model = family_model(model_type)
    anatomy = anatomy_of(model.config)
    backbone = model.get_submodule(anatomy.backbone) if anatomy.head else model
    assert backbone is model.base_model
    assert backbone.get_submodule(anatomy.word_embeddings) is model.get_input_embeddings()
    assert len(backbone.get_submodule(anatomy.layers)) == 2


@pytest.mark.parametrize("model_type", [name for name in FAMILIES if name not in DECODERS])
def test_head_on_hidden_pieces_equals_the_full_head(model_type):
    model, batch = family_model(model_type), some_batch()
    hidden = torch.tensor([1, 4, 10, 19])
    with torch.no_grad():
        full = model(input_ids=batch.ids, attention_mask=batch.real.long()).logits.flatten(0, 1)[hidden]
        logits = hidden_logits(model, MaskedBatch(batch, hidden, hidden))
    torch.testing.assert_close(logits, full)


@pytest.mark.parametrize("made", [True, False], ids=["made", "loaded"])
def test_a_convolution_reads_padded_batches(made, tokenizer, tmp_path):
    """It was an error in a batch of sentences that are not all as long as each other."""
    settings = {"conv_kernel_size": 3, "conv_act": "gelu"}
    model, batch = family_model("deberta-v2", vocabulary=len(tokenizer) + 9, **settings), some_batch()
    save_encoder(Encoder(model, tokenizer, "it"), tmp_path)
    backbone = (model if made else load_encoder(tmp_path).model).base_model
    with torch.no_grad():
        padded = backbone(input_ids=batch.ids, attention_mask=batch.attention_mask).last_hidden_state
        alone = backbone(input_ids=batch.ids[2:, :4]).last_hidden_state
    torch.testing.assert_close(padded[2:, :4], alone)


@pytest.mark.parametrize("model_type", FAMILIES)
def test_longest_sequence_is_read(model_type):
    model = family_model(model_type)
    longest = max_positions(model.config)
    with torch.no_grad():
        states = model.base_model(input_ids=torch.full((1, longest), 7)).last_hidden_state
    assert states.shape == (1, longest, 32)


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.parametrize("head", [True, False])
def test_every_family_is_saved_and_loaded(model_type, head, tokenizer, tmp_path):
    model = family_model(model_type, vocabulary=len(tokenizer) + 9)  # families' classes of tokenizers add pieces
    original = Encoder(model if head else model.base_model, tokenizer, "it")
    save_encoder(original, tmp_path)
    loaded = load_encoder(tmp_path)
    assert loaded.has_mlm_head is (head and model_type not in DECODERS)
    weights, again = original.model.state_dict(), loaded.model.state_dict()
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_batches_hold_the_sequences():
    sequences = [[5, 6, 7], [8], [9, 10]]
    batch = Pieces.of(sequences, padding_id=0).batch(np.array([2, 0]))
    assert batch.ids.tolist() == [[9, 10, 0], [5, 6, 7]]
    assert batch.real.tolist() == [[True, True, False], [True, True, True]]


def test_long_sentence_becomes_several_sequences(tokenizer):
    text = "the small cat sees the old dog ."
    pieces, owners = encode_sentences(tokenizer, ["cat", text, ""], max_length=6)
    bare = tokenizer(text, add_special_tokens=False)["input_ids"]
    inner = [piece for ids, owner in zip(pieces, owners, strict=True) if owner == 1 for piece in ids[1:-1].tolist()]
    assert inner == bare
    assert max(pieces.lengths) == 6
    assert owners.tolist() == [0, *[1] * -(-len(bare) // 4), 2]


def test_frame_is_what_the_tokenizer_adds(tokenizer):
    assert Frame.of(tokenizer) == Frame(before=(2,), after=(3,))


def test_evaluation_batches_cover_everything_within_the_budget():
    lengths = np.random.default_rng(0).integers(1, 30, 200)
    batches = by_length(lengths, 64)
    assert sorted(np.concatenate(batches)) == list(range(200))
    assert max(lengths[batch].max() * len(batch) for batch in batches) <= 64


def test_hidden_states_begin_with_embeddings_and_end_with_the_last_layer(encoder):
    batch = some_batch()
    states = hidden_states(encoder, batch)
    last = encoder.backbone(input_ids=batch.ids, attention_mask=batch.real.long()).last_hidden_state
    assert states.shape == (3, 3, 9, 32)
    torch.testing.assert_close(states[0], encoder.backbone.embeddings(input_ids=batch.ids))
    torch.testing.assert_close(states[-1], last)


def test_sentence_states_equal_one_sentence_at_a_time(encoder):
    texts = ["the cat sees the dog .", "кот", "the small small old green bird likes the tree ."]
    together = sentence_states(encoder, texts)
    for number, text in enumerate(texts):
        ids = torch.tensor([encoder.tokenizer(text)["input_ids"]])
        states = encoder.backbone(input_ids=ids, output_hidden_states=True).hidden_states
        alone = torch.stack([layer[0, 1:-1].mean(dim=0) for layer in states])
        torch.testing.assert_close(together[:, number], alone, atol=1e-5, rtol=1e-5)


def test_sentence_longer_than_the_encoder_is_read_whole(encoder):
    text = " ".join(["the cat sees a small dog"] * 8)
    bare = encoder.tokenizer(text, add_special_tokens=False)["input_ids"]
    room = encoder.max_length - 2
    total = torch.zeros(32)
    for start in range(0, len(bare), room):
        ids = torch.tensor([[2, *bare[start : start + room], 3]])
        total += encoder.backbone(input_ids=ids).last_hidden_state[0, 1:-1].sum(dim=0).detach()
    assert len(bare) > room
    torch.testing.assert_close(sentence_states(encoder, [text])[-1, 0], total / len(bare), atol=1e-5, rtol=1e-5)


@pytest.fixture
def no_network(monkeypatch):
    def refused(*given):
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", refused)
    monkeypatch.setattr("socket.getaddrinfo", refused)


def test_a_shipped_name_is_loaded_from_the_package(no_network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world-natural").mkdir()  # is not what is meant
    shipped, located = load_encoder("world-natural"), load_located(locate("world-natural"))
    assert shipped.name == located.name == "world-natural"
    assert shipped.tokenizer.get_vocab() == located.tokenizer.get_vocab()
    weights = located.model.state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in shipped.model.state_dict().items())


def test_a_path_is_a_folder_whatever_its_name(no_network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EncoderError, match="world-natural: no such folder"):
        load_encoder(Path("world-natural"))


def test_a_shipped_encoder_is_found_again_in_another_installation(no_network):
    place = locate("world-natural")
    moved = place._replace(path="/gone/babelscope/encoders/shipped/world-natural")
    assert load_located(moved).name == "world-natural"
    with pytest.raises(EncoderError, match="have changed since the run was planned"):
        load_located(moved._replace(content="another"))
