import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.surgery import apply


def weights(encoder):
    return {name: tensor.clone() for name, tensor in encoder.model.state_dict().items()}


def same(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


def test_reinit_is_a_function_of_its_seed_and_leaves_its_input(encoder):
    before = weights(encoder)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, again, other = (weights(apply(encoder, "reinit", seed)) for seed in (1, 1, 2))
    assert same(before, weights(encoder))
    assert torch.equal(torch.get_rng_state(), state)
    assert same(first, again)
    assert not same(first, other)
    assert first.keys() == before.keys()


def test_reinit_draws_every_matrix_anew(encoder):
    fresh = apply(encoder, "reinit", 1)
    for (name, old), new in zip(encoder.model.named_parameters(), fresh.model.parameters(), strict=True):
        if old.ndim > 1:
            assert not torch.equal(old, new), name
            spread = encoder.model.config.initializer_range
            assert abs(new.std().item() - spread) < 0.2 * spread, name
        else:
            assert torch.equal(new, torch.ones_like(new) if "LayerNorm.weight" in name else torch.zeros_like(new)), name


def test_reinit_keeps_the_rest(encoder):
    fresh = apply(encoder, "reinit", 1)
    assert fresh.model.config.to_dict() == encoder.model.config.to_dict()
    assert fresh.tokenizer is encoder.tokenizer
    assert fresh.name == encoder.name
    assert fresh.has_mlm_head
    assert fresh.model.get_output_embeddings().weight is fresh.model.get_input_embeddings().weight


@pytest.mark.parametrize("seed", [-1, float("nan"), 1.5, True, "x", None])
def test_a_seed_that_is_none_is_refused(encoder, seed):
    with pytest.raises(InputError, match="should be a whole number from 0"):
        apply(encoder, "reinit", seed)
