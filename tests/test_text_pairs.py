"""A text and its translation as pairs: each is one sequence, whose sides have the types that the family has."""

from __future__ import annotations

import pytest
import torch

from babelscope.corpora.parallel import WorldPairs
from babelscope.encoders.anatomy import reads_types
from babelscope.tasks.mlm import MaskedLanguageModelling, hidden_logits
from babelscope.world import World
from families import DECODERS, FAMILIES, family_model


def test_pairs_of_the_world_say_the_same_and_are_in_no_other_data():
    world = World()
    pairs = WorldPairs(languages=("qaa", "qab"), sentences=50).read()
    twins = WorldPairs(languages=("qaa", "qad"), sentences=20).read()
    assert [first for first, _ in twins] == [first for first, _ in pairs[:20]]
    parallel = [" ".join(one.sentences["qaa"].forms) for one in world.parallel(["qaa"], 50)]
    assert not set(parallel) & {first for first, _ in pairs}
    assert WorldPairs(languages=("qaa", "qaa"), sentences=5).read() == [(first, first) for first, _ in pairs[:5]]


def test_a_pair_is_one_sequence_with_types_masked_on_both_sides(tokenizer):
    pairs = [("the cat sees a tree", "кот видит"), ("the dog " * 9, "кот")]
    task = MaskedLanguageModelling(tokenizer, ["the cat"], 12, 0.5, pairs=pairs, types=True)
    alone, short, cut = task.pieces.batch(torch.arange(3).numpy()).ids.tolist()
    assert tokenizer.decode(alone, skip_special_tokens=True) == "the cat"
    assert short == tokenizer(*pairs[0], truncation="longest_first", max_length=12, padding="max_length")["input_ids"]
    last = tokenizer("кот")["input_ids"][1:]
    assert len(cut) == 12 and cut[-len(last) :] == last
    types = task.pieces.batch(torch.arange(3).numpy()).types.tolist()
    assert set(types[0]) == {0} and types[2] == [0] * (12 - len(last)) + [1] * len(last)
    sides = set()
    for seed in range(20):
        masked = task.batch(torch.arange(1, 2).numpy(), torch.Generator().manual_seed(seed))
        assert not set(masked.answers.tolist()) & set(tokenizer.all_special_ids)
        sides |= set(masked.batch.types.flatten()[masked.hidden].tolist())
    assert sides == {0, 1}


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in DECODERS])
def test_every_family_reads_pairs_with_the_types_it_has(family, tokenizer):
    """Against the model itself, called on the same pieces and types."""
    model = family_model(family, vocabulary=len(tokenizer)).eval()
    types = reads_types(model.config)
    task = MaskedLanguageModelling(tokenizer, [], 20, 0.3, pairs=[("the cat", "кот видит")] * 2, types=types)
    masked = task.batch(torch.arange(2).numpy(), torch.Generator().manual_seed(0))
    assert (masked.batch.types is not None) == types
    named = {"token_type_ids": masked.batch.types} if types else {}
    with torch.no_grad():
        expected = model(input_ids=masked.batch.ids, attention_mask=masked.batch.real, **named).logits
        torch.testing.assert_close(
            hidden_logits(model, masked), expected.flatten(0, 1)[masked.hidden], atol=1e-4, rtol=1e-4
        )
