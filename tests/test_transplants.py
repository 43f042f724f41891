"""Rows and parts from a donor: transplants with and without a bridge, grafts, and which donors are refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.state import weights_of
from babelscope.encoders.tap import hidden_states
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.surgery import apply
from babelscope.surgery.operations.transplant import Transplant
from babelscope.surgery.parts import chosen
from babelscope.world import World
from families import DECODERS, FAMILIES, byte_level_tokenizer, family_model
from word_rows import rows_of


@pytest.fixture(scope="module")
def bert(tokenizer):
    """A BERT of three layers whose vocabulary is the tokenizer's, and three rows more."""
    return Encoder(family_model("bert", layers=3, vocabulary=len(tokenizer) + 3), tokenizer, "bert")


@pytest.fixture(scope="module")
def donor(other_tokenizer):
    model = family_model("bert", layers=1, vocabulary=len(other_tokenizer))
    return apply(Encoder(model, other_tokenizer, "donor"), "noise:share=1", 9)


@pytest.fixture(scope="module")
def narrow(other_tokenizer):
    return Encoder(family_model("electra", layers=1, vocabulary=len(other_tokenizer)), other_tokenizer, "narrow")


def transplanted(encoder, donor, seed, **fields):
    return apply(encoder, Transplant(donor="donor", **fields), seed, {"donor": donor})


def test_transplant_takes_tokenizer_and_rows(bert, donor):
    made = transplanted(bert, donor, 3)
    assert made.tokenizer is donor.tokenizer
    assert made.model.config.vocab_size == len(donor.tokenizer)
    assert rows_of(made).keys() == rows_of(donor).keys()
    assert all(torch.equal(row, rows_of(made)[piece]) for piece, row in rows_of(donor).items())
    head = made.model.get_output_embeddings()
    assert head.weight is made.model.get_input_embeddings().weight
    assert torch.equal(head.bias, donor.model.get_output_embeddings().bias)
    without_head = replace(donor, model=donor.backbone)
    assert not transplanted(bert, without_head, 3).model.get_output_embeddings().bias.any()


def test_transplant_by_overlap_keeps_shared_pieces(bert, narrow):
    made, other = transplanted(bert, narrow, 3, rows="overlap"), transplanted(bert, narrow, 4, rows="overlap")
    own, new = rows_of(bert), rows_of(made)
    shared = own.keys() & new.keys()
    assert 10 < len(shared) < len(new)
    assert all(torch.equal(own[piece], new[piece]) for piece in shared)
    fresh = [piece for piece in new if piece not in own]
    assert not any(torch.equal(new[piece], rows_of(other)[piece]) for piece in fresh)
    spread = torch.stack([new[piece] for piece in fresh]).std().item()
    assert abs(spread - bert.model.config.initializer_range) < 0.1 * bert.model.config.initializer_range
    bias = made.model.get_output_embeddings().bias
    for piece, number in made.tokenizer.get_vocab().items():
        old = bert.model.get_output_embeddings().bias[bert.tokenizer.get_vocab()[piece]] if piece in own else 0
        assert bias[number] == old


def test_transplant_by_overlap_from_the_same_vocabulary_changes_nothing(sentences):
    """Signs are two tokens each in a byte-level vocabulary, with a space before them and without."""
    tokenizer = byte_level_tokenizer([*sentences, "end ."] * 20, 300)
    assert {".", "Ġ."} <= tokenizer.get_vocab().keys()
    encoder = Encoder(family_model("gpt2", layers=1, vocabulary=len(tokenizer)), tokenizer, "gpt2")
    made = transplanted(encoder, encoder, 3, rows="overlap")
    assert torch.equal(made.model.get_input_embeddings().weight, encoder.model.get_input_embeddings().weight)


def test_a_bridge_of_least_squares_is_the_nearest_map(bert, narrow):
    own, given = rows_of(bert), rows_of(narrow)
    shared = sorted(own.keys() & given.keys())
    source, target = (np.stack([rows[piece].double().numpy() for piece in shared]) for rows in (given, own))
    solved = np.linalg.pinv(source) @ target
    made = rows_of(transplanted(bert, narrow, 3, bridge="least-squares"))
    for piece, row in given.items():
        np.testing.assert_allclose(made[piece].numpy(), row.double().numpy() @ solved, atol=1e-5)


def test_a_random_bridge_is_linear_and_keeps_lengths(bert, narrow):
    made, given = rows_of(transplanted(bert, narrow, 3, bridge="random")), rows_of(narrow)
    source, result = (np.stack([rows[piece].numpy() for piece in given]) for rows in (given, made))
    solved, *_ = np.linalg.lstsq(source, result, rcond=None)
    np.testing.assert_allclose(source @ solved, result, atol=1e-5)
    lengths = [np.linalg.norm(made[p]) / np.linalg.norm(given[p]) for p in given]
    assert 0.8 < np.mean(lengths) < 1.25


def test_a_bridge_between_equal_widths_maps_too(bert, donor):
    own, given = rows_of(bert), rows_of(donor)
    shared = sorted(own.keys() & given.keys())
    source, target = (np.stack([rows[piece].double().numpy() for piece in shared]) for rows in (given, own))
    made = rows_of(transplanted(bert, donor, 3, bridge="least-squares"))
    error, before = (np.linalg.norm(np.stack([rows[p].numpy() for p in shared]) - target) for rows in (made, given))
    assert source.shape[1] == target.shape[1] and error < 0.8 * before


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in DECODERS])
def test_a_graft_needs_no_head_on_both_sides(family, tokenizer):
    whole = Encoder(family_model(family, vocabulary=len(tokenizer)), tokenizer, "whole")
    bare = apply(replace(whole, model=whole.backbone), "noise:share=1", 9)
    new, old = (weights_of(replace(one, model=one.backbone)) for one in (bare, whole))
    noisy = apply(whole, "noise", 9)
    assert same_weights(
        weights_of(apply(replace(whole, model=whole.backbone), "graft:donor=noisy", donors={"noisy": noisy})), noisy
    )
    made = apply(whole, "graft:part=attention,layers=1,donor=bare", donors={"bare": bare})
    taken = weights_of(replace(made, model=made.backbone))
    attention = set(chosen(bare, "attention", [1]))
    assert attention and all(torch.equal(taken[name], (new if name in attention else old)[name]) for name in taken)
    with pytest.raises(InputError, match=rf"bare \({family}, .*no head\) has no .* as whole"):
        apply(whole, "graft:donor=bare", donors={"bare": bare})


def same_weights(given, encoder):
    expected = weights_of(replace(encoder, model=encoder.backbone))
    return given.keys() == expected.keys() and all(torch.equal(given[name], expected[name]) for name in given)


@pytest.mark.parametrize(
    ("setting", "value"), [("num_attention_heads", 4), ("hidden_act", "relu"), ("layer_norm_eps", 0.01)]
)
def test_a_graft_is_from_a_donor_that_computes_alike(tokenizer, setting, value):
    """The same shapes can be other functions: heads, what is between matrices, norms."""
    encoder, donor = (Encoder(family_model("bert", vocabulary=len(tokenizer)), tokenizer, name) for name in "ab")
    setattr(donor.model.config, setting, value)
    with pytest.raises(InputError, match=rf"the donor b .* has {setting} {value} in its config.json, and a .* has "):
        apply(encoder, "graft:donor=b", donors={"b": donor})


def test_a_graft_is_from_a_donor_whose_layers_are_of_the_same_kinds(tokenizer):
    """Layers that see near words alone move with their weights: of five, layer 2 alone is the same when reversed."""
    encoder = Encoder(family_model("modernbert", layers=5, vocabulary=len(tokenizer)), tokenizer, "a")
    donor = replace(apply(encoder, "reverse"), name="b")
    for part in ("part=all", "part=layers", "part=attention,layers=0"):
        problem = "layer 0, counted from 0, is sliding_attention in the donor b .*, and full_attention in a "
        with pytest.raises(InputError, match=problem):
            apply(encoder, f"graft:donor=b,{part}", donors={"b": donor})
    made = apply(encoder, "graft:donor=b,part=layers,layers=2", donors={"b": donor})
    taken = chosen(encoder, "layers", [2])
    assert all(torch.equal(weights_of(made)[name], weights_of(donor)[name]) for name in taken)
    apply(encoder, "graft:donor=b,part=word-embeddings", donors={"b": donor})


@pytest.mark.parametrize("part", ["all", "word-embeddings"])
def test_a_graft_takes_no_embeddings_of_other_pieces(part):
    """Of two tokenizers of one size, the rows of one would stand under the numbers of the other."""
    world = World()
    pieces = [train_wordpiece(world.text(code, 500), 200) for code in ("qaa", "qab")]
    first, second = (Encoder(family_model("bert", vocabulary=200), each, "ab"[k]) for k, each in enumerate(pieces))
    alike = sum(pieces[1].get_vocab().get(piece) == number for piece, number in pieces[0].get_vocab().items())
    with pytest.raises(InputError, match=rf"an entry for each piece, of which .* have {alike} of 200 in common"):
        apply(first, f"graft:part={part},donor=b", donors={"b": second})
    made = apply(first, "graft:part=layers,donor=b", donors={"b": second})
    assert all(torch.equal(weights_of(made)[name], weights_of(second)[name]) for name in chosen(first, "layers"))


def test_a_graft_leaves_no_decoder_behind(tokenizer):
    """One that is not tied has no place in an encoder whose is; all else has."""
    tied = Encoder(family_model("bert", vocabulary=len(tokenizer)), tokenizer, "tied")
    untied = Encoder(family_model("bert", vocabulary=len(tokenizer), tie_word_embeddings=False), tokenizer, "untied")
    with pytest.raises(InputError, match=r"tied \(.*\) ties cls.predictions.decoder.weight to its word embeddings"):
        apply(tied, "graft:donor=untied", donors={"untied": untied})
    taken = weights_of(apply(tied, "graft:part=layers,donor=untied", donors={"untied": untied}))
    layers = chosen(tied, "layers")
    assert all(torch.equal(taken[name], weights_of(untied)[name]) for name in layers)


def test_a_graft_is_within_a_family(tokenizer):
    one, other = (Encoder(family_model(family).base_model, tokenizer, family) for family in ("bert", "roberta"))
    with pytest.raises(InputError, match=r"roberta \(roberta, .*\) is of another family than bert \(bert,"):
        apply(one, "graft:part=layers,donor=roberta", donors={"roberta": other})


def test_widths_that_differ_need_a_bridge(bert, narrow):
    with pytest.raises(InputError, match="16 dimensions, the encoder's 32; give bridge=random"):
        transplanted(bert, narrow, 3)


@pytest.mark.parametrize("padding", [0, 1, 5])
def test_positions_stay_where_the_padding_piece_moves(tokenizer, padding, tmp_path):
    """RoBERTa counts positions from the padding piece's id: a donor may have another."""
    roberta = Encoder(family_model("roberta", pad_token_id=1), tokenizer, "roberta")
    given = train_with_padding(tokenizer, padding)
    made = transplanted(roberta, Encoder(family_model("bert"), given, "donor"), 3)
    assert made.model.config.pad_token_id == given.pad_token_id == padding
    assert made.max_length == roberta.max_length == 24
    save_encoder(made, tmp_path)
    positions = "roberta.embeddings.position_embeddings.weight"
    old, new = weights_of(roberta)[positions], weights_of(load_encoder(tmp_path))[positions]
    assert torch.equal(old[2:], new[padding + 1 :])
    ids = torch.full((1, made.max_length), 7)
    assert hidden_states(made, Batch(ids, torch.ones_like(ids, dtype=torch.bool))).isfinite().all()


def train_with_padding(tokenizer, number):
    """The tokenizer, with the piece of that number to pad."""
    from transformers import PreTrainedTokenizerFast

    piece = tokenizer.convert_ids_to_tokens(number)
    names = {f"{role}_token": getattr(tokenizer, f"{role}_token") for role in ("unk", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer, **names, pad_token=piece)


def test_untied_decoders_are_transplanted_too(tokenizer, donor):
    untied = Encoder(family_model("bert", tie_word_embeddings=False), tokenizer, "untied")
    made = transplanted(untied, donor, 3)
    decoder = made.model.get_output_embeddings().weight
    assert decoder is not made.model.get_input_embeddings().weight
    assert torch.equal(decoder, donor.model.get_output_embeddings().weight)
    shuffled = weights_of(apply(untied, "shuffle", 3))
    assert torch.equal(shuffled["cls.predictions.decoder.weight"], weights_of(untied)["cls.predictions.decoder.weight"])
