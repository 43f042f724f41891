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
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.surgery import apply, parse_operation
from babelscope.surgery.operations.transplant import Transplant
from babelscope.surgery.parts import chosen
from babelscope.world import World
from families import DECODERS, FAMILIES, family_model

WORDS = "bert.embeddings.word_embeddings.weight"


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


def rows_of(encoder):
    """The word embeddings by piece."""
    table = encoder.model.get_input_embeddings().weight.detach()
    return {piece: table[number] for piece, number in encoder.tokenizer.get_vocab().items()}


def test_parts_are_drawn_as_the_whole_is(bert):
    whole, part = (weights_of(apply(bert, text, 3)) for text in ("reinit", "reinit:part=attention,layers=1"))
    drawn = [name for name in whole if "layer.1.attention" in name and "LayerNorm" not in name]
    assert len(drawn) == 8
    assert all(torch.equal(whole[name], part[name]) for name in drawn)


@pytest.mark.parametrize("match", ["magnitude", "variance"])
def test_rescale_keeps_each_tensors_scale_and_constants_their_initialiser(bert, match):
    before, fresh, after = (
        weights_of(one) for one in (bert, apply(bert, "reinit", 3), apply(bert, f"rescale:match={match}", 3))
    )
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
    before, after = weights_of(bert), weights_of(apply(bert, "oracle", 3))
    for name, old in before.items():
        assert torch.equal(old.flatten().sort().values, after[name].flatten().sort().values), name
        assert (old == after[name]).float().mean() < 0.5, name


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_noise_is_as_large_as_declared(bert, share):
    before, after = weights_of(bert), weights_of(apply(bert, f"noise:share={share}", 3))
    for name in (WORDS, "bert.encoder.layer.0.intermediate.dense.weight"):
        added = (after[name] - before[name]).std() / before[name].std()
        assert abs(added - share) < 0.05 * share
    assert not torch.equal(after[WORDS][:32] - before[WORDS][:32], added)


def test_noise_leaves_constants(encoder):
    """In a fresh encoder biases are 0 and have no spread."""
    after = apply(encoder, "noise", 3).model.state_dict()
    assert not after["bert.encoder.layer.0.output.dense.bias"].any()


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_quantise_rounds_to_the_nearest_of_its_values(bert, bits):
    before, after = weights_of(bert), weights_of(apply(bert, f"quantise:bits={bits}"))
    for name, old in before.items():
        largest = old.abs().max().item()
        values = np.linspace(-largest, largest, 2**bits - 1)
        nearest = values[np.abs(old.numpy()[..., None] - values).argmin(-1)]
        error = np.abs(after[name].numpy() - nearest)
        assert np.quantile(error, 0.99) < 1e-6, name  # a weight half-way between two values may go either way
        assert len(after[name].unique()) <= 2**bits - 1


def test_shuffle_permutes_rows_within_classes(bert):
    before, after = rows_of(bert), rows_of(apply(bert, "shuffle", 3))
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
    old, new = (weights_of(one)[WORDS][beyond:] for one in (bert, apply(bert, "shuffle", 3)))
    assert len(old) == 3 and torch.equal(old, new)


def test_shuffle_keeps_to_the_classes_given(bert):
    before, after = rows_of(bert), rows_of(apply(bert, "shuffle:classes=##.* [a-d]", 3))
    for group in ("##.*", "[a-d]", "(?!##|[a-d]$).*"):
        members = [piece for piece in before if re.fullmatch(group, piece)]
        old, new = (sorted(rows[piece].tolist() for piece in members) for rows in (before, after))
        assert old == new, group


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


def test_noise_leaves_what_is_constant(tokenizer):
    """Of 64 times 0.1 rounding leaves a standard deviation above 0."""
    encoder = Encoder(family_model("bert", vocabulary=len(tokenizer)), tokenizer, "constant")
    norm = encoder.backbone.get_submodule("embeddings.LayerNorm")
    with torch.no_grad():
        norm.weight.fill_(0.1)
    noisy = weights_of(apply(encoder, "noise:share=1000"))
    (name,) = (name for name in noisy if name.endswith("embeddings.LayerNorm.weight"))
    assert torch.equal(noisy[name], norm.weight)


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

    check(apply(encoder, "reverse"), [3, 2, 1, 0], [1, 2, 3])
    check(apply(encoder, "drop:every=2"), [0, 2], [2])
    check(apply(encoder, "drop:layers=0"), [1, 2, 3], [2, 3])
    check(apply(encoder, "repeat:layers=0"), [0, 0, 1, 2, 3], [1, 1, 2, 3])
    check(apply(encoder, "repeat:layers=2"), [0, 1, 2, 2, 3], [1, 2, 2, 3])


def test_dropped_layers_are_not_computed(bert):
    """The states of a prefix of the layers are those of the whole encoder."""
    ids = torch.randint(5, 60, (2, 7), generator=torch.Generator().manual_seed(0))
    batch = Batch(ids, torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(hidden_states(apply(bert, "drop:last=1"), batch), hidden_states(bert, batch)[:3])


def test_permute_by_chance_takes_every_order(bert):
    query = "bert.encoder.layer.{}.attention.self.query.weight"
    old = weights_of(bert)

    def order(seed):
        new = weights_of(apply(bert, "permute", seed))
        return tuple(
            next(k for k in range(3) if torch.equal(new[query.format(i)], old[query.format(k)])) for i in range(3)
        )

    orders = {order(seed) for seed in range(20)}
    assert {tuple(sorted(one)) for one in orders} == {(0, 1, 2)}
    assert len(orders) == 6


def test_the_same_operation_draws_anew_at_each_place(bert):
    once, twice = (apply(bert, [parse_operation("noise")] * times, seed=3) for times in (1, 2))
    first = weights_of(once)[WORDS] - weights_of(bert)[WORDS]
    second = weights_of(twice)[WORDS] - weights_of(once)[WORDS]
    assert abs(torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1]) < 0.1


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("drop:last=3", "operation drop:last=3: bert has 3 layers; drop one at least, and keep one at least"),
        ("drop:layers=3", "layer 3: bert has 3 layers, 0 to 2"),
        ("permute:order=0+1", r"order 0\+1 must have each of the 3 layers"),
        ("repeat:layers=7", "layer 7: bert has 3 layers"),
        ("reinit:layers=3", "layer 3: bert has 3 layers"),
        (
            "graft:donor=short",
            r"operation graft:donor=short: the donor short \(bert, 2 layers of 32\) has no bert.*layer.2.* of shape",
        ),
        (
            ["drop:last=1", "noise", "repeat:layers=2"],
            "operation repeat:layers=2: layer 2: bert after drop:last=1; noise has 2 layers, 0 to 1",
        ),
        ("graft:donor=x", "the donor x is not given"),
        ("turn", "operation 'turn': no such operation"),
    ],
)
def test_what_does_not_suit_the_encoder_is_refused(bert, texts, message):
    with pytest.raises(InputError, match=message):
        apply(bert, texts, donors={"short": apply(bert, "drop:last=1")})


def test_a_part_that_a_family_lacks_is_refused(tokenizer):
    rotary = Encoder(family_model("modernbert"), tokenizer, "rotary")
    with pytest.raises(InputError, match=r"rotary \(modernbert\) has no weights of part 'positions'"):
        apply(rotary, "reinit:part=positions")
