"""What each operation makes of the weights, computed again the slow way."""

import re

import numpy as np
import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.state import weights_of
from babelscope.encoders.tap import hidden_states
from babelscope.surgery import apply, parse_operation
from families import family_model
from word_rows import rows_of

WORDS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def bert(tokenizer):
    """A BERT of three layers whose vocabulary is the tokenizer's, and three rows more."""
    return Encoder(family_model("bert", layers=3, vocabulary=len(tokenizer) + 3), tokenizer, "bert")


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


def test_noise_leaves_what_is_constant(tokenizer):
    """Of 64 times 0.1 rounding leaves a standard deviation above 0."""
    encoder = Encoder(family_model("bert", vocabulary=len(tokenizer)), tokenizer, "constant")
    norm = encoder.backbone.get_submodule("embeddings.LayerNorm")
    with torch.no_grad():
        norm.weight.fill_(0.1)
    noisy = weights_of(apply(encoder, "noise:share=1000"))
    (name,) = (name for name in noisy if name.endswith("embeddings.LayerNorm.weight"))
    assert torch.equal(noisy[name], norm.weight)


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
