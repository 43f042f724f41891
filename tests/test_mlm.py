import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from transformers import PreTrainedTokenizerFast

from babelscope.core.errors import InputError
from babelscope.encoders.pieces import Batch, Pieces
from babelscope.tasks import mlm
from babelscope.tasks.mlm import HeldOut, MaskedBatch, MaskedLanguageModelling, Masking, hidden_logits


def drawn(masking, batch, seed=0):
    return masking.draw(batch, torch.Generator().manual_seed(seed))


def test_perplexity_equals_token_by_token(encoder, sentences):
    """The slow way: one sentence at a time through the whole model, one softmax a hidden piece."""
    held_out = HeldOut.of(encoder.tokenizer, sentences[:20], 24)
    total, count = 0.0, 0
    for ids, places in zip(held_out.pieces, held_out.places, strict=True):
        shown = torch.tensor(ids)[None].clone()
        shown[0, places] = encoder.tokenizer.mask_token_id
        with torch.no_grad():
            logits = encoder.model(input_ids=shown).logits[0].double()
        for place in places:
            odds = [math.exp(logit) for logit in logits[place].tolist()]
            total -= math.log(odds[ids[place]] / sum(odds))
            count += 1
    assert held_out.perplexity(encoder.model) == pytest.approx(math.exp(total / count), rel=1e-6)


def test_two_evaluations_agree_exactly(encoder, sentences):
    first, second = (HeldOut.of(encoder.tokenizer, sentences, 24).perplexity(encoder.model) for _ in range(2))
    assert first == second


def test_fixed_masks_belong_to_the_sentence_not_to_its_place(encoder, sentences, monkeypatch):
    forward = HeldOut.of(encoder.tokenizer, sentences, 24)
    backward = HeldOut.of(encoder.tokenizer, sentences[::-1], 24)
    assert [places.tolist() for places in forward.places] == [places.tolist() for places in backward.places[::-1]]
    losses = forward.losses(encoder.model)
    np.testing.assert_allclose(losses, backward.losses(encoder.model)[::-1], rtol=1e-5)
    monkeypatch.setattr(mlm, "evaluation_tokens", lambda device: 1)
    one_by_one = HeldOut.of(encoder.tokenizer, sentences, 24)
    assert len(one_by_one.batches.on(encoder.model.device)) > len(forward.batches.on(encoder.model.device))
    np.testing.assert_allclose(losses, one_by_one.losses(encoder.model), rtol=1e-5)


def test_another_seed_hides_other_pieces(encoder, sentences):
    first, second = (HeldOut.of(encoder.tokenizer, sentences, 24, seed=seed) for seed in (0, 1))
    assert [places.tolist() for places in first.places] != [places.tolist() for places in second.places]


def test_training_step_equals_the_full_head(encoder, sentences):
    task = MaskedLanguageModelling(encoder.tokenizer, sentences, 24, rate=0.3)
    masked = task.batch(np.arange(16), torch.Generator().manual_seed(0))
    labels = torch.full_like(masked.batch.ids.flatten(), -100)
    labels[masked.hidden] = masked.answers
    ids, real, *_ = masked.batch
    full = encoder.model(input_ids=ids, attention_mask=real.long(), labels=labels.view_as(ids)).loss
    ours = task.loss(encoder.model, masked)
    assert abs(ours.item() - full.item()) < 1e-5
    parameters = list(encoder.model.parameters())
    for mine, theirs in zip(torch.autograd.grad(ours, parameters), torch.autograd.grad(full, parameters), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)


def test_hidden_pieces_are_shown_in_the_declared_shares(tokenizer):
    ids = torch.randint(5, len(tokenizer), (200, 100), generator=torch.Generator().manual_seed(0))
    masked = drawn(Masking(tokenizer, 0.3), Batch(ids, torch.ones_like(ids, dtype=torch.bool)))
    shown = masked.batch.ids.flatten()[masked.hidden]
    assert len(shown) / ids.numel() == pytest.approx(0.3, abs=0.02)
    assert (shown == tokenizer.mask_token_id).float().mean() == pytest.approx(0.8, abs=0.02)
    # A random piece is now and then the right one.
    assert (shown == masked.answers).float().mean() == pytest.approx(0.1 + 0.1 / len(tokenizer), abs=0.02)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 89), max_size=9).map(lambda ids: [2, *ids, 7, 3]), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
    st.integers(0, 2**63 - 1),
)
def test_masking_hides_ordinary_pieces_and_changes_nothing_else(tokenizer, sequences, rate, seed):
    pieces = Pieces.of(sequences, padding_id=0)
    masking = Masking(tokenizer, rate)
    batch = pieces.batch(np.arange(len(sequences)))
    fixed = masking.hide(batch, masking.fix(pieces, seed))
    for masked in (drawn(masking, batch, seed), fixed):
        hidden = torch.zeros(batch.ids.numel(), dtype=torch.bool).index_fill(0, masked.hidden, True).view_as(batch.ids)
        assert hidden.any()
        assert not (hidden & ~batch.real).any()
        assert not set(batch.ids[hidden].tolist()) & set(range(5))
        assert torch.equal(batch.ids[hidden], masked.answers)
        assert torch.equal(batch.ids[~hidden], masked.batch.ids[~hidden])
    ordinary = [[piece for piece in sequence if piece > 4] for sequence in sequences]
    assert len(fixed.hidden) == sum(max(1, round(rate * len(known))) for known in ordinary)


def test_a_vocabulary_may_have_gaps():
    vocabulary = {piece: number for number, piece in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog"])}
    special = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    pipeline = Tokenizer(WordPiece(vocabulary | {"[MASK]": 20, "barks": 30}, unk_token=special["unk_token"]))
    masking = Masking(PreTrainedTokenizerFast(tokenizer_object=pipeline, **special), 0.9)
    batch = Pieces.of([[4, 5, 30]] * 200, padding_id=0).batch(np.arange(200))
    masked = drawn(masking, batch)
    assert set(masked.answers.tolist()) == {4, 5, 30}
    assert set(masked.batch.ids.flatten().tolist()) <= {0, 1, 2, 3, 4, 5, 20, 30}


def test_head_is_computed_on_hidden_pieces_only(encoder):
    batch = Batch(torch.full((2, 8), 7), torch.ones(2, 8, dtype=torch.bool))
    hidden = torch.tensor([3, 9])
    assert hidden_logits(encoder.model, MaskedBatch(batch, hidden, hidden)).shape == (2, len(encoder.tokenizer))


def test_sentences_without_a_known_piece_are_left_out(encoder, sentences):
    task = MaskedLanguageModelling(encoder.tokenizer, ["漢字", *sentences[:3], ""], 24)
    assert len(task.lengths) == 3
    with pytest.raises(InputError, match="knows no piece"):
        _ = MaskedLanguageModelling(encoder.tokenizer, ["漢字"], 24).lengths
    with pytest.raises(InputError, match="knows no piece"):
        HeldOut.of(encoder.tokenizer, ["漢字"], 24)


def test_perplexity_skips_unknown_sentences_but_keeps_their_place(encoder):
    losses = HeldOut.of(encoder.tokenizer, ["the cat", "漢字", "кот"], 24).losses(encoder.model)
    assert losses[:, 1].tolist() == [1, 0, 1]


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1])
def test_masking_rate_is_a_share(tokenizer, rate):
    with pytest.raises(InputError, match="masking rate"):
        Masking(tokenizer, rate)
