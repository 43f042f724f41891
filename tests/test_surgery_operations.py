"""What each operation makes of the weights, computed again the slow way."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.state import weights_of
from babelscope.encoders.tap import hidden_states
from babelscope.surgery.declare import parse_operation
from babelscope.surgery.drop import drop
from babelscope.surgery.graft import graft
from babelscope.surgery.noise import noise
from babelscope.surgery.operate import operate
from babelscope.surgery.oracle import oracle
from babelscope.surgery.parts import chosen
from babelscope.surgery.permute import permute
from babelscope.surgery.quantise import quantise
from babelscope.surgery.reinit import reinit
from babelscope.surgery.repeat import repeat
from babelscope.surgery.rescale import rescale
from babelscope.surgery.reverse import reverse
from babelscope.surgery.shuffle import shuffle
from babelscope.surgery.transplant import transplant
from families import DECODERS, FAMILIES, family_model

WORDS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def bert(tokenizer):
    """A BERT of three layers whose vocabulary is the tokenizer's, and three rows more."""
    return Encoder(family_model("bert", layers=3, vocabulary=len(tokenizer) + 3), tokenizer, "bert")


@pytest.fixture(scope="module")
def donor(other_tokenizer):
    model = family_model("bert", layers=1, vocabulary=len(other_tokenizer))
    return noise(Encoder(model, other_tokenizer, "donor"), seed=9, share=1.0)


@pytest.fixture(scope="module")
def narrow(other_tokenizer):
    return Encoder(family_model("electra", layers=1, vocabulary=len(other_tokenizer)), other_tokenizer, "narrow")


def rows_of(encoder):
    """The word embeddings by piece."""
    table = encoder.model.get_input_embeddings().weight.detach()
    return {piece: table[number] for piece, number in encoder.tokenizer.get_vocab().items()}


def test_parts_are_drawn_as_the_whole_is(bert):
    whole, part = (weights_of(reinit(bert, 3, *which)) for which in (("all",), ("attention", [1])))
    drawn = [name for name in whole if "layer.1.attention" in name and "LayerNorm" not in name]
    assert len(drawn) == 8
    assert all(torch.equal(whole[name], part[name]) for name in drawn)


@pytest.mark.parametrize("match", ["magnitude", "variance"])
def test_rescale_keeps_each_tensors_scale_and_constants_their_initialiser(bert, match):
    before, fresh, after = weights_of(bert), weights_of(reinit(bert, 3)), weights_of(rescale(bert, 3, match=match))
    for name, new in after.items():
        old, drawn, made = (one.double().numpy() for one in (before[name], fresh[name], new))
        if old.ndim == 1:
            expected = np.ones_like(old) if name.endswith("LayerNorm.weight") else np.zeros_like(old)
        elif match == "magnitude":
            expected = drawn * np.abs(old).mean() / np.abs(drawn).mean()
        else:
            expected = drawn * np.sqrt(old.var() / drawn.var())
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-9, err_msg=name)


def test_oracle_keeps_the_elements_of_each_tensor(bert):
    before, after = weights_of(bert), weights_of(oracle(bert, 3))
    for name, old in before.items():
        assert torch.equal(old.flatten().sort().values, after[name].flatten().sort().values), name
        assert (old == after[name]).float().mean() < 0.5, name


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_noise_is_as_large_as_declared(bert, share):
    before, after = weights_of(bert), weights_of(noise(bert, 3, share=share))
    for name in (WORDS, "bert.encoder.layer.0.intermediate.dense.weight"):
        added = (after[name] - before[name]).std() / before[name].std()
        assert abs(added - share) < 0.05 * share
    assert not torch.equal(after[WORDS][:32] - before[WORDS][:32], added)


def test_noise_leaves_constants(encoder):
    """In a fresh encoder biases are 0 and have no spread."""
    after = noise(encoder, 3).model.state_dict()
    assert not after["bert.encoder.layer.0.output.dense.bias"].any()


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_quantise_rounds_to_the_nearest_of_its_values(bert, bits):
    before, after = weights_of(bert), weights_of(quantise(bert, bits=bits))
    for name, old in before.items():
        largest = old.abs().max().item()
        values = np.linspace(-largest, largest, 2**bits - 1)
        nearest = values[np.abs(old.numpy()[..., None] - values).argmin(-1)]
        error = np.abs(after[name].numpy() - nearest)
        assert np.quantile(error, 0.99) < 1e-6, name  # a weight half-way between two values may go either way
        assert len(after[name].unique()) <= 2**bits - 1


def test_shuffle_permutes_rows_within_classes(bert):
    before, after = rows_of(bert), rows_of(shuffle(bert, 3))
    source = {
        piece: next(other for other, old in before.items() if torch.equal(row, old)) for piece, row in after.items()
    }
    assert sorted(source.values()) == sorted(before)
    for piece, other in source.items():
        if piece in bert.tokenizer.all_special_tokens:
            assert other == piece
        assert bool(re.fullmatch("(##)?[A-Za-z]+", piece)) == bool(re.fullmatch("(##)?[A-Za-z]+", other))
    assert sum(piece != other for piece, other in source.items()) > 50
    beyond = len(bert.tokenizer)
    old, new = (weights_of(one)[WORDS][beyond:] for one in (bert, shuffle(bert, 3)))
    assert len(old) == 3 and torch.equal(old, new)


def test_shuffle_keeps_to_the_classes_given(bert):
    before, after = rows_of(bert), rows_of(shuffle(bert, 3, classes=["##.*", "[a-d]"]))
    for group in ("##.*", "[a-d]", "(?!##|[a-d]$).*"):
        members = [piece for piece in before if re.fullmatch(group, piece)]
        old, new = (sorted(rows[piece].tolist() for piece in members) for rows in (before, after))
        assert old == new, group


def test_transplant_takes_tokenizer_and_rows(bert, donor):
    made = transplant(bert, donor, 3)
    assert made.tokenizer is donor.tokenizer
    assert made.model.config.vocab_size == len(donor.tokenizer)
    assert rows_of(made).keys() == rows_of(donor).keys()
    assert all(torch.equal(row, rows_of(made)[piece]) for piece, row in rows_of(donor).items())
    head = made.model.get_output_embeddings()
    assert head.weight is made.model.get_input_embeddings().weight
    assert torch.equal(head.bias, donor.model.get_output_embeddings().bias)
    without_head = replace(donor, model=donor.backbone)
    assert not transplant(bert, without_head, 3).model.get_output_embeddings().bias.any()


def test_transplant_by_overlap_keeps_shared_pieces(bert, narrow):
    made, other = transplant(bert, narrow, 3, rows="overlap"), transplant(bert, narrow, 4, rows="overlap")
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


def test_a_bridge_of_least_squares_is_the_nearest_map(bert, narrow):
    own, given = rows_of(bert), rows_of(narrow)
    shared = sorted(own.keys() & given.keys())
    source, target = (np.stack([rows[piece].double().numpy() for piece in shared]) for rows in (given, own))
    solved = np.linalg.pinv(source) @ target
    made = rows_of(transplant(bert, narrow, 3, bridge="least-squares"))
    for piece, row in given.items():
        np.testing.assert_allclose(made[piece].numpy(), row.double().numpy() @ solved, atol=1e-5)


def test_a_random_bridge_is_linear_and_keeps_lengths(bert, narrow):
    made, given = rows_of(transplant(bert, narrow, 3, bridge="random")), rows_of(narrow)
    source, result = (np.stack([rows[piece].numpy() for piece in given]) for rows in (given, made))
    solved, *_ = np.linalg.lstsq(source, result, rcond=None)
    np.testing.assert_allclose(source @ solved, result, atol=1e-5)
    lengths = [np.linalg.norm(made[p]) / np.linalg.norm(given[p]) for p in given]
    assert 0.8 < np.mean(lengths) < 1.25


def test_a_bridge_between_equal_widths_maps_too(bert, donor):
    own, given = rows_of(bert), rows_of(donor)
    shared = sorted(own.keys() & given.keys())
    source, target = (np.stack([rows[piece].double().numpy() for piece in shared]) for rows in (given, own))
    made = rows_of(transplant(bert, donor, 3, bridge="least-squares"))
    error, before = (np.linalg.norm(np.stack([rows[p].numpy() for p in shared]) - target) for rows in (made, given))
    assert source.shape[1] == target.shape[1] and error < 0.8 * before


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in DECODERS])
def test_a_graft_needs_no_head_on_both_sides(family, tokenizer):
    whole = Encoder(family_model(family, vocabulary=len(tokenizer)), tokenizer, "whole")
    bare = noise(replace(whole, model=whole.backbone), seed=9, share=1.0)
    new, old = (weights_of(replace(one, model=one.backbone)) for one in (bare, whole))
    assert same_weights(weights_of(graft(replace(whole, model=whole.backbone), noise(whole, seed=9))), noise(whole, 9))
    made = graft(whole, bare, "attention", [1])
    taken = weights_of(replace(made, model=made.backbone))
    attention = set(chosen(bare, "attention", [1]))
    assert attention and all(torch.equal(taken[name], (new if name in attention else old)[name]) for name in taken)
    with pytest.raises(InputError, match=rf"bare \({family}, .*no head\) has no .* as whole"):
        graft(whole, replace(bare, name="bare"))


def same_weights(given, encoder):
    expected = weights_of(replace(encoder, model=encoder.backbone))
    return given.keys() == expected.keys() and all(torch.equal(given[name], expected[name]) for name in given)


def test_a_graft_is_within_a_family(tokenizer):
    one, other = (Encoder(family_model(family).base_model, tokenizer, family) for family in ("bert", "roberta"))
    with pytest.raises(InputError, match=r"roberta \(roberta, .*\) is of another family than bert \(bert,"):
        graft(one, other, "layers")


def test_widths_that_differ_need_a_bridge(bert, narrow):
    with pytest.raises(InputError, match="16 dimensions, the encoder's 32; give bridge=random"):
        transplant(bert, narrow, 3)


@pytest.mark.parametrize("padding", [0, 1, 5])
def test_positions_stay_where_the_padding_piece_moves(tokenizer, padding, tmp_path):
    """RoBERTa counts positions from the padding piece's id: a donor may have another."""
    roberta = Encoder(family_model("roberta", pad_token_id=1), tokenizer, "roberta")
    given = train_with_padding(tokenizer, padding)
    made = transplant(roberta, Encoder(family_model("bert"), given, "donor"), 3)
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
    made = transplant(untied, donor, 3)
    decoder = made.model.get_output_embeddings().weight
    assert decoder is not made.model.get_input_embeddings().weight
    assert torch.equal(decoder, donor.model.get_output_embeddings().weight)
    shuffled = weights_of(shuffle(untied, 3))
    assert torch.equal(shuffled["cls.predictions.decoder.weight"], weights_of(untied)["cls.predictions.decoder.weight"])


def test_modernbert_layers_keep_their_kind_of_attention_and_norms_their_place(tokenizer):
    encoder = Encoder(family_model("modernbert", layers=4), tokenizer, "modernbert")
    kinds = encoder.model.config.layer_types
    assert kinds == ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
    norms = {layer: weights_of(encoder)[f"model.layers.{layer}.attn_norm.weight"] for layer in (1, 2, 3)}

    def check(made, order, norm_sources):
        assert made.model.config.layer_types == [kinds[layer] for layer in order]
        layers = made.model.get_submodule("model.layers")
        assert [layer.attention_type for layer in layers] == [kinds[layer] for layer in order]
        assert not list(layers[0].attn_norm.parameters())
        for place, source in enumerate(norm_sources, 1):
            assert torch.equal(layers[place].attn_norm.weight, norms[source])

    check(reverse(encoder), [3, 2, 1, 0], [1, 2, 3])
    check(drop(encoder, every=2), [0, 2], [2])
    check(drop(encoder, layers=[0]), [1, 2, 3], [2, 3])
    check(repeat(encoder, [0]), [0, 0, 1, 2, 3], [1, 1, 2, 3])
    check(repeat(encoder, [2]), [0, 1, 2, 2, 3], [1, 2, 2, 3])


def test_dropped_layers_are_not_computed(bert):
    """The states of a prefix of the layers are those of the whole encoder."""
    ids = torch.randint(5, 60, (2, 7), generator=torch.Generator().manual_seed(0))
    batch = Batch(ids, torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(hidden_states(drop(bert, last=1), batch), hidden_states(bert, batch)[:3])


def test_permute_by_chance_takes_every_order(bert):
    query = "bert.encoder.layer.{}.attention.self.query.weight"
    old = weights_of(bert)

    def order(seed):
        new = weights_of(permute(bert, seed))
        return tuple(
            next(k for k in range(3) if torch.equal(new[query.format(i)], old[query.format(k)])) for i in range(3)
        )

    orders = {order(seed) for seed in range(20)}
    assert {tuple(sorted(one)) for one in orders} == {(0, 1, 2)}
    assert len(orders) == 6


def test_the_same_operation_draws_anew_at_each_place(bert):
    once, twice = (operate(bert, [parse_operation("noise")] * times, seed=3) for times in (1, 2))
    first = weights_of(once)[WORDS] - weights_of(bert)[WORDS]
    second = weights_of(twice)[WORDS] - weights_of(once)[WORDS]
    assert abs(torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1]) < 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: drop(one, last=3), "has 3 layers; drop one at least, and keep one at least"),
        (lambda one: drop(one, layers=[3]), "layer 3: bert has 3 layers, 0 to 2"),
        (lambda one: permute(one, 0, [0, 1]), r"^order 0\+1 must have each of the 3 layers"),
        (lambda one: repeat(one, [7]), "layer 7: bert has 3 layers"),
        (lambda one: reinit(one, 0, "positions", [1]), "'positions' is outside the layers"),
        (
            lambda one: operate(one, [parse_operation("graft:donor=d")], donors={"d": drop(one, last=1)}),
            r"operation graft:donor=d: the donor d \(bert, 2 layers of 32\) has no bert.encoder.layer.2.* of shape",
        ),
        (
            lambda one: operate(one, [parse_operation(text) for text in ("drop:last=1", "noise", "repeat:layers=2")]),
            "operation repeat:layers=2: layer 2: bert after drop:last=1; noise has 2 layers, 0 to 1",
        ),
        (lambda one: operate(one, [parse_operation("graft:donor=x")]), "the donor x is not given"),
    ],
)
def test_what_does_not_suit_the_encoder_is_refused(bert, call, message):
    with pytest.raises(InputError, match=message):
        call(bert)


def test_a_part_that_a_family_lacks_is_refused(tokenizer):
    rotary = Encoder(family_model("modernbert"), tokenizer, "rotary")
    with pytest.raises(InputError, match=r"rotary \(modernbert\) has no weights of part 'positions'"):
        reinit(rotary, 0, "positions")
